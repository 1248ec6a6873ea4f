//! The keyword index on tantivy.

mod bm25f;
mod open;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rayon::ThreadPool;
use shared::language::Language;
use tantivy::merge_policy::{LogMergePolicy, NoMergePolicy};
use tantivy::query::{BoostQuery, PhraseQuery};
use tantivy::{Index, IndexReader, IndexWriter, Searcher, SegmentReader, TantivyDocument, Term};

use self::bm25f::{Scores, WeighedField, Word};
use self::open::Commit;
use super::analysis::{self, Fields, KEY};
use super::{
    AllowedChunks, ChunkKey, KeywordChanges, KeywordDocument, KeywordError, KeywordHits,
    KeywordIndex, KeywordQuery, Opened, Sight,
};

/// What a word weighs in the text, in a heading above it, in the document's name.
const FIELD_WEIGHTS: [f32; 3] = [1.0, 0.8, 0.5];

/// What an identifier weighs as a whole, beside its parts, which are words of the text.
const IDENTIFIER_WEIGHT: f32 = 0.25;

/// What a phrase that stands word for word weighs, beside its words.
const PHRASE_WEIGHT: f32 = 2.0;

/// Languages that a question is stemmed by when its own is not known.
const MOST_LANGUAGES: usize = 6;

/// A keyword index in one folder, scored by BM25 over its fields as one (see `bm25f`).
///
/// Writing runs on the given pool, so that commits and merges have its priority.
pub struct TantivyIndex {
    folder: PathBuf,
    pool: Arc<ThreadPool>,
    fields: Fields,
    index: Index,
    reader: IndexReader,
    /// Absent only while a purge swaps writers, or after that failed.
    writer: Mutex<Option<IndexWriter>>,
    sequence: AtomicU64,
}

impl TantivyIndex {
    /// Opens the index in `folder`. A missing, damaged or outdated one is replaced by an empty one
    /// at sequence 0 and the answer says why: the caller then fills it from the catalog.
    ///
    /// # Errors
    /// When the folder cannot be written or another process has the index open.
    pub fn open(folder: &Path, pool: Arc<ThreadPool>) -> Result<(Self, Opened), KeywordError> {
        let (schema, fields) = analysis::schema();
        let found = pool.install(|| open::open(folder, &schema))?;
        let sequence = AtomicU64::new(found.opened.sequence());
        let index = Self {
            folder: folder.to_owned(),
            pool,
            fields,
            index: found.index,
            reader: found.reader,
            writer: Mutex::new(Some(found.writer)),
            sequence,
        };
        Ok((index, found.opened))
    }

    /// Runs `work` with the writer on the pool; what it left uncommitted when it failed is rolled
    /// back.
    fn write<T: Send>(
        &self,
        action: &'static str,
        work: impl FnOnce(&mut IndexWriter) -> tantivy::Result<T> + Send,
    ) -> Result<T, KeywordError> {
        self.pool.install(|| {
            let mut slot = self.writer.lock();
            let mut writer = match slot.take() {
                Some(writer) => writer,
                None => open::writer(&self.index, &self.folder)?,
            };
            let result = work(&mut writer);
            if result.is_err() {
                // A writer that cannot roll back is dropped; the next call opens a new one.
                writer.rollback().map_err(|source| KeywordError::Engine {
                    action: "roll back a change of",
                    source,
                })?;
            }
            *slot = Some(writer);
            result.map_err(|source| KeywordError::Engine { action, source })
        })
    }

    /// Commits what the writer holds as `sequence` and shows it to searches.
    fn commit(&self, writer: &mut IndexWriter, sequence: u64) -> tantivy::Result<()> {
        let mut commit = writer.prepare_commit()?;
        commit.set_payload(&Commit::at(sequence).to_payload());
        commit.commit()?;
        self.reader.reload()?;
        self.sequence.store(sequence, Ordering::Release);
        Ok(())
    }

    fn document(&self, from: &KeywordDocument) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        let language = Language::of(&from.text);
        document.add_i64(self.fields.key, from.key);
        if let Some(language) = language {
            document.add_text(self.fields.language, language.as_str());
        }
        let parts = [&from.text, &from.heading_path, &from.name];
        for (field, part) in self.fields.of_words().into_iter().zip(parts) {
            let terms = analysis::document_terms(part, language);
            document.add_pre_tokenized_text(field, terms.words);
            if !terms.identifiers.tokens.is_empty() {
                document.add_pre_tokenized_text(self.fields.identifiers, terms.identifiers);
            }
        }
        document
    }

    /// The languages to stem a question by: its own, if it is known and some chunk is in it, else
    /// those of the chunks, the commonest first.
    fn languages(
        &self,
        searcher: &Searcher,
        query: &KeywordQuery,
    ) -> tantivy::Result<Vec<Language>> {
        let asked = query.language.or_else(|| Language::of(&query.text));
        let mut present: BTreeMap<Language, u32> = BTreeMap::new();
        for segment in searcher.segment_readers() {
            let index = segment.inverted_index(self.fields.language)?;
            let mut terms = index.terms().stream()?;
            while let Some((term, info)) = terms.next() {
                let code = std::str::from_utf8(term)
                    .ok()
                    .and_then(|code| code.parse().ok());
                if let Some(language) = code {
                    *present.entry(language).or_default() += info.doc_freq;
                }
            }
        }
        if let Some(asked) = asked.filter(|asked| present.contains_key(asked)) {
            return Ok(vec![asked]);
        }
        let mut languages: Vec<(Language, u32)> = present.into_iter().collect();
        languages.sort_by_key(|(_, chunks)| Reverse(*chunks));
        let languages = languages.into_iter().map(|(language, _)| language);
        Ok(languages.take(MOST_LANGUAGES).collect())
    }

    fn add_phrase(&self, phrase: &str, scores: &mut Scores<'_>) -> tantivy::Result<()> {
        let terms = analysis::phrase_terms(phrase);
        let places: BTreeSet<usize> = terms.iter().map(|(place, _)| *place).collect();
        if places.len() < 2 {
            return Ok(());
        }
        for (field, weight) in self.fields.of_words().into_iter().zip(FIELD_WEIGHTS) {
            let term =
                |(place, term): &(usize, String)| (*place, Term::from_field_text(field, term));
            let phrase = PhraseQuery::new_with_offset(terms.iter().map(term).collect());
            scores.add_query(&BoostQuery::new(Box::new(phrase), weight * PHRASE_WEIGHT))?;
        }
        Ok(())
    }

    /// The `k` best for a bag of words, each in any field, and for phrases: no query syntax, so
    /// that any text can be asked.
    fn ask(
        &self,
        query: &KeywordQuery,
        k: usize,
        allowed: Option<&AllowedChunks>,
    ) -> tantivy::Result<KeywordHits> {
        let searcher = self.reader.searcher();
        let languages = self.languages(&searcher, query)?;
        let terms = analysis::question_terms(&query.text, &languages);
        let weighed = |(field, weight)| WeighedField::new(&searcher, field, weight);
        let fields = self.fields.of_words().into_iter().zip(FIELD_WEIGHTS);
        let fields = fields.map(weighed).collect::<tantivy::Result<Vec<_>>>()?;
        let whole = [weighed((self.fields.identifiers, 1.0))?];
        let mut scores = Scores::new(&searcher);
        let mut sight = Sight::default();
        for word in &terms.words {
            let is_known = scores.add_word(Word {
                forms: &word.forms,
                fields: &fields,
                weight: word.times as f32,
            })?;
            sight.terms += 1;
            sight.known += u32::from(is_known);
        }
        for identifier in &terms.identifiers {
            scores.add_word(Word {
                forms: std::slice::from_ref(identifier),
                fields: &whole,
                weight: IDENTIFIER_WEIGHT,
            })?;
        }
        for phrase in &query.phrases {
            self.add_phrase(phrase, &mut scores)?;
        }
        let mut hits = Vec::new();
        // Where nothing may be found nothing is scored.
        let segments = searcher.segment_readers().iter().filter(|_| k > 0);
        for segment in segments {
            hits.extend(of_segment(&scores, segment, allowed)?);
        }
        let best_first =
            |a: &(ChunkKey, f32), b: &(ChunkKey, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if (1..hits.len()).contains(&k) {
            hits.select_nth_unstable_by(k - 1, best_first);
            hits.truncate(k);
        }
        hits.sort_unstable_by(best_first);
        Ok(KeywordHits { hits, sight })
    }
}

/// What of `segment` scores and may be found.
fn of_segment(
    scores: &Scores<'_>,
    segment: &SegmentReader,
    allowed: Option<&AllowedChunks>,
) -> tantivy::Result<Vec<(ChunkKey, f32)>> {
    let keys = segment.fast_fields().i64(KEY)?;
    let found = scores
        .of(segment)?
        .into_iter()
        .filter_map(|(document, score)| {
            let key = keys
                .first(document)
                .filter(|_| !segment.is_deleted(document))?;
            let is_allowed = allowed.is_none_or(|allowed| allowed.contains(key));
            is_allowed.then_some((key, score))
        });
    Ok(found.collect())
}

#[cfg(test)]
impl TantivyIndex {
    /// Whether `term` stands in any field's dictionary, even if no chunk has it any more.
    pub(super) fn has_term(&self, term: &str) -> bool {
        let searcher = self.reader.searcher();
        let fields = [self.fields.text, self.fields.heading_path, self.fields.name];
        searcher.segment_readers().iter().any(|segment| {
            fields.iter().any(|field| {
                let inverted = segment.inverted_index(*field).unwrap();
                inverted.terms().get(term).unwrap().is_some()
            })
        })
    }
}

impl KeywordIndex for TantivyIndex {
    fn sequence(&self) -> u64 {
        self.sequence.load(Ordering::Acquire)
    }

    fn apply(&self, changes: &KeywordChanges) -> Result<(), KeywordError> {
        let mut keys = changes
            .upserts
            .iter()
            .map(|document| document.key)
            .chain(changes.deletes.iter().copied());
        if let Some(key) = keys.find(|key| *key <= 0) {
            return Err(KeywordError::Key { key });
        }
        let removed: HashSet<ChunkKey> = changes.deletes.iter().copied().collect();
        self.write("write to", |writer| {
            for key in &removed {
                writer.delete_term(analysis::key_term(self.fields, *key));
            }
            for document in changes
                .upserts
                .iter()
                .filter(|new| !removed.contains(&new.key))
            {
                writer.delete_term(analysis::key_term(self.fields, document.key));
                writer.add_document(self.document(document))?;
            }
            self.commit(writer, changes.sequence.max(self.sequence()))
        })
    }

    fn search(
        &self,
        query: &KeywordQuery,
        k: usize,
        allowed: Option<&AllowedChunks>,
    ) -> Result<KeywordHits, KeywordError> {
        let k = k.min(allowed.map_or(usize::MAX, AllowedChunks::len));
        self.ask(query, k, allowed)
            .map_err(|source| KeywordError::Engine {
                action: "search",
                source,
            })
    }

    fn keys(&self) -> Result<Vec<ChunkKey>, KeywordError> {
        let listed = || {
            let mut all = Vec::new();
            for segment in self.reader.searcher().segment_readers() {
                let keys = segment.fast_fields().i64(KEY)?;
                all.extend(segment.doc_ids_alive().filter_map(|id| keys.first(id)));
            }
            all.sort_unstable();
            Ok(all)
        };
        listed().map_err(|source| KeywordError::Engine {
            action: "list the keys of",
            source,
        })
    }

    fn purge(&self) -> Result<(), KeywordError> {
        self.pool.install(|| {
            let mut slot = self.writer.lock();
            let engine = |source| KeywordError::Engine {
                action: "purge",
                source,
            };
            // Merges on the way would race with ours for the same segments: wait for them, and go
            // on with a writer that starts none until we are done.
            if let Some(writer) = slot.take() {
                writer.wait_merging_threads().map_err(engine)?;
            }
            let mut writer = open::writer(&self.index, &self.folder)?;
            writer.set_merge_policy(Box::new(NoMergePolicy));
            for segment in self.index.searchable_segment_metas().map_err(engine)? {
                if segment.num_deleted_docs() > 0 {
                    writer.merge(&[segment.id()]).wait().map_err(engine)?;
                }
            }
            // The reader lets go of the old segments before their files can be removed.
            self.reader.reload().map_err(engine)?;
            writer.garbage_collect_files().wait().map_err(engine)?;
            writer.set_merge_policy(Box::new(LogMergePolicy::default()));
            *slot = Some(writer);
            Ok(())
        })
    }

    fn clear(&self) -> Result<(), KeywordError> {
        self.write("empty", |writer| {
            writer.delete_all_documents()?;
            self.commit(writer, 0)?;
            writer.garbage_collect_files().wait()?;
            Ok(())
        })
    }
}
