//! The keyword index on tantivy.

mod open;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rayon::ThreadPool;
use tantivy::collector::{FilterCollector, TopDocs};
use tantivy::merge_policy::{LogMergePolicy, NoMergePolicy};
use tantivy::query::{BooleanQuery, BoostQuery, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, Index, IndexReader, IndexWriter, Searcher, TantivyDocument, Term};

use self::open::Commit;
use super::analysis::{self, Fields, KEY};
use super::{
    AllowedChunks, ChunkKey, KeywordChanges, KeywordDocument, KeywordError, KeywordHits,
    KeywordIndex, KeywordQuery, Opened, Sight,
};

/// What a word in a heading above the chunk weighs against one in its text.
const HEADING_BOOST: f32 = 0.5;

/// What a word in the document's name weighs against one in the text.
const NAME_BOOST: f32 = 0.5;

/// A keyword index in one folder. BM25 with tantivy's fixed k1 = 1.2 and b = 0.75 (Robertson and
/// Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009), summed over the
/// fields.
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
        document.add_i64(self.fields.key, from.key);
        document.add_text(self.fields.text, &from.text);
        document.add_text(self.fields.heading_path, &from.heading_path);
        document.add_text(self.fields.name, &from.name);
        document
    }

    /// A bag of words, each in any field: no query syntax, so that any text can be asked.
    fn query(&self, text: &str) -> Option<BooleanQuery> {
        let boosts = [
            (self.fields.text, 1.0),
            (self.fields.heading_path, HEADING_BOOST),
            (self.fields.name, NAME_BOOST),
        ];
        let mut clauses: Vec<Box<dyn Query>> = Vec::new();
        for (word, times) in analysis::question_terms(text) {
            for (field, boost) in boosts {
                let term = Term::from_field_text(field, &word);
                let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
                clauses.push(Box::new(BoostQuery::new(
                    Box::new(query),
                    boost * times as f32,
                )));
            }
        }
        (!clauses.is_empty()).then(|| BooleanQuery::union(clauses))
    }

    fn find(
        &self,
        query: &BooleanQuery,
        k: usize,
        allowed: Option<&AllowedChunks>,
    ) -> tantivy::Result<Vec<(ChunkKey, f32)>> {
        let searcher = self.reader.searcher();
        // It makes room for as many hits as it is asked for.
        let k = k
            .min(usize::try_from(searcher.num_docs()).unwrap_or(usize::MAX))
            .max(1);
        let best = TopDocs::with_limit(k).order_by_score();
        let found = match allowed {
            None => searcher.search(query, &best)?,
            Some(allowed) => {
                let allowed = allowed.clone();
                let is_allowed = move |key: ChunkKey| allowed.contains(key);
                searcher.search(
                    query,
                    &FilterCollector::new(KEY.to_owned(), is_allowed, best),
                )?
            }
        };
        let mut hits = with_keys(&searcher, &found)?;
        hits.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Ok(hits)
    }
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

/// Looks up the chunk key of every hit.
fn with_keys(
    searcher: &Searcher,
    found: &[(f32, DocAddress)],
) -> tantivy::Result<Vec<(ChunkKey, f32)>> {
    let mut hits = Vec::with_capacity(found.len());
    for (segment_ord, segment) in (0_u32..).zip(searcher.segment_readers()) {
        let mut here = found
            .iter()
            .filter(|(_, at)| at.segment_ord == segment_ord)
            .peekable();
        if here.peek().is_none() {
            continue;
        }
        let keys = segment.fast_fields().i64(KEY)?;
        hits.extend(here.filter_map(|(score, at)| Some((keys.first(at.doc_id)?, *score))));
    }
    Ok(hits)
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
        let Some(query) = self.query(&query.text).filter(|_| k > 0) else {
            return Ok(KeywordHits::default());
        };
        self.find(&query, k, allowed)
            .map(|hits| KeywordHits {
                hits,
                sight: Sight::default(),
            })
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
