//! BM25 over several fields as one (Robertson, Zaragoza and Taylor, "Simple BM25 extension to
//! multiple weighted fields", 2004).
//!
//! With a score for each field, added, a word that stands in text, heading and name counts three
//! times over, and a document that has one word everywhere outranks one that has all words once.
//! Here the frequencies are added before they are saturated.

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::Postings as _;
use tantivy::query::{EnableScoring, Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Searcher, SegmentReader, TERMINATED, Term};

/// How soon more of a word adds nothing, and how much the length of a field counts: 0.9 and 0.4,
/// as Anserini has them for passages (Yang, Fang and Lin, "Anserini: Reproducible Ranking
/// Baselines Using Lucene", 2018).
const K1: f32 = 0.9;
const B: f32 = 0.4;

/// A field that words are looked for in.
#[derive(Debug, Clone, Copy)]
pub(super) struct WeighedField {
    pub(super) field: Field,
    /// What a word in it weighs.
    pub(super) weight: f32,
}

/// A word of a question.
#[derive(Debug, Clone)]
pub(super) struct Word<'a> {
    /// Its forms; in each document the one that scores best counts.
    pub(super) forms: &'a [String],
    /// The fields it is looked for in, as one.
    pub(super) fields: &'a [WeighedField],
    /// What it weighs beside other words.
    pub(super) weight: f32,
}

/// What documents score, by segment.
pub(super) struct Scores<'a> {
    searcher: &'a Searcher,
    documents: f32,
    words: Vec<ScoredWord<'a>>,
    /// Queries whose own scores are added.
    besides: Vec<Box<dyn Weight>>,
}

struct ScoredWord<'a> {
    word: Word<'a>,
    /// Of each form.
    rarity: Vec<f32>,
}

impl<'a> Scores<'a> {
    /// Prepares `words`.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn new(searcher: &'a Searcher, words: Vec<Word<'a>>) -> tantivy::Result<Self> {
        let documents: u32 = searcher
            .segment_readers()
            .iter()
            .map(SegmentReader::max_doc)
            .sum();
        let mut scores = Self {
            searcher,
            documents: documents as f32,
            words: Vec::with_capacity(words.len()),
            besides: Vec::new(),
        };
        for word in words {
            let rarity = word
                .forms
                .iter()
                .map(|form| scores.rarity(form, word.fields));
            let rarity = rarity.collect::<tantivy::Result<_>>()?;
            scores.words.push(ScoredWord { word, rarity });
        }
        Ok(scores)
    }

    /// Adds what `query` scores, by its own rule.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn add(&mut self, query: &dyn tantivy::query::Query) -> tantivy::Result<()> {
        let scoring = EnableScoring::enabled_from_searcher(self.searcher);
        self.besides.push(query.weight(scoring)?);
        Ok(())
    }

    /// Inverse document frequency, over 0. A form is taken to be in as many documents as have it
    /// in the field where it is commonest.
    fn rarity(&self, form: &str, fields: &[WeighedField]) -> tantivy::Result<f32> {
        let mut most = 0;
        for field in fields {
            let having = self
                .searcher
                .doc_freq(&Term::from_field_text(field.field, form))?;
            most = most.max(having);
        }
        let having = most as f32;
        Ok(((self.documents - having + 0.5) / (having + 0.5)).ln_1p())
    }

    /// Scores over 0 of the documents of `segment`, those deleted included, in no order.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn of(&self, segment: &SegmentReader) -> tantivy::Result<Vec<(DocId, f32)>> {
        let size = segment.max_doc() as usize;
        let (mut total, mut best, mut frequency) =
            (Sums::new(size), Sums::new(size), Sums::new(size));
        for ScoredWord { word, rarity } in &self.words {
            for (form, rarity) in word.forms.iter().zip(rarity) {
                for field in word.fields {
                    self.add_frequencies(segment, form, *field, &mut frequency)?;
                }
                frequency.drain(|document, frequency| {
                    best.raise(document, rarity * frequency / (K1 + frequency));
                });
            }
            best.drain(|document, score| total.add(document, word.weight * score));
        }
        for weight in &self.besides {
            let mut found = weight.scorer(segment, 1.0)?;
            let mut document = found.doc();
            while document != TERMINATED {
                total.add(document, found.score());
                document = found.advance();
            }
        }
        let mut scores = Vec::new();
        total.drain(|document, score| scores.push((document, score)));
        Ok(scores)
    }

    /// Adds how often `form` stands in `field`, weighed, and less in longer ones.
    fn add_frequencies(
        &self,
        segment: &SegmentReader,
        form: &str,
        WeighedField { field, weight }: WeighedField,
        into: &mut Sums,
    ) -> tantivy::Result<()> {
        let index = segment.inverted_index(field)?;
        let term = Term::from_field_text(field, form);
        let Some(mut postings) = index.read_postings(&term, IndexRecordOption::WithFreqs)? else {
            return Ok(());
        };
        let lengths = segment.get_fieldnorms_reader(field)?;
        let shares = self.shares(field, weight)?;
        let mut document = postings.doc();
        while document != TERMINATED {
            let share = shares.get(usize::from(lengths.fieldnorm_id(document)));
            let share = share.copied().unwrap_or_default();
            into.add(document, share * postings.term_freq() as f32);
            document = postings.advance();
        }
        Ok(())
    }

    /// What one occurrence counts in a field of each length class.
    fn shares(&self, field: Field, weight: f32) -> tantivy::Result<Vec<f32>> {
        let mut tokens = 0;
        for segment in self.searcher.segment_readers() {
            tokens += segment.inverted_index(field)?.total_num_tokens();
        }
        let mean = (tokens as f32 / self.documents.max(1.0)).max(1.0);
        let share = |class| {
            let length = FieldNormReader::id_to_fieldnorm(class) as f32;
            weight / (1.0 - B + B * length / mean)
        };
        Ok((0..=u8::MAX).map(share).collect())
    }
}

/// A number for each document of a segment, most of them 0.
struct Sums {
    values: Vec<f32>,
    /// Those that are not 0.
    documents: Vec<DocId>,
}

impl Sums {
    fn new(size: usize) -> Self {
        Self {
            values: vec![0.0; size],
            documents: Vec::new(),
        }
    }

    fn change(&mut self, document: DocId, value: impl FnOnce(f32) -> f32) {
        if let Some(at) = self.values.get_mut(document as usize) {
            if *at == 0.0 {
                self.documents.push(document);
            }
            *at = value(*at);
        }
    }

    /// `value` must be over 0.
    fn add(&mut self, document: DocId, value: f32) {
        self.change(document, |before| before + value);
    }

    fn raise(&mut self, document: DocId, value: f32) {
        self.change(document, |before| before.max(value));
    }

    /// Hands out all that are not 0, and leaves none.
    fn drain(&mut self, mut take: impl FnMut(DocId, f32)) {
        for document in self.documents.drain(..) {
            if let Some(at) = self.values.get_mut(document as usize) {
                take(document, std::mem::take(at));
            }
        }
    }
}
