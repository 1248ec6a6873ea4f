//! BM25 over several fields as one (Robertson, Zaragoza and Taylor, "Simple BM25 extension to
//! multiple weighted fields", 2004).
//!
//! With a score for each field, added, a word that stands in text, heading and name counts three
//! times over, and a document that has one word everywhere outranks one that has all words once.
//! Here the frequencies are added before they are saturated.

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::Postings as _;
use tantivy::query::{EnableScoring, Query, Weight};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Searcher, SegmentReader, TERMINATED, Term};

/// How soon more of a word adds nothing, and how much the length of a field counts: 0.9 and 0.4,
/// as Anserini has them for passages (Yang, Fang and Lin, "Anserini: Reproducible Ranking
/// Baselines Using Lucene", 2018).
const K1: f32 = 0.9;
const B: f32 = 0.4;

/// A field that words are looked for in.
#[derive(Debug)]
pub(super) struct WeighedField {
    field: Field,
    /// What one occurrence counts, by tantivy's class of the field's length: less in longer ones.
    shares: Vec<f32>,
}

impl WeighedField {
    /// `field`, in which a word weighs `weight`.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn new(searcher: &Searcher, field: Field, weight: f32) -> tantivy::Result<Self> {
        let mut tokens = 0;
        for segment in searcher.segment_readers() {
            tokens += segment.inverted_index(field)?.total_num_tokens();
        }
        let mean = (tokens as f32 / documents(searcher).max(1.0)).max(1.0);
        let share = |class| {
            let length = FieldNormReader::id_to_fieldnorm(class) as f32;
            weight / (1.0 - B + B * length / mean)
        };
        Ok(Self {
            field,
            shares: (0..=u8::MAX).map(share).collect(),
        })
    }

    /// Adds how often `form` stands here, weighed, by document of `segment`.
    fn add_frequencies(
        &self,
        segment: &SegmentReader,
        form: &str,
        into: &mut Sums,
    ) -> tantivy::Result<()> {
        let index = segment.inverted_index(self.field)?;
        let term = Term::from_field_text(self.field, form);
        let Some(mut postings) = index.read_postings(&term, IndexRecordOption::WithFreqs)? else {
            return Ok(());
        };
        let lengths = segment.get_fieldnorms_reader(self.field)?;
        let mut document = postings.doc();
        while document != TERMINATED {
            let share = self.shares.get(usize::from(lengths.fieldnorm_id(document)));
            let share = share.copied().unwrap_or_default();
            into.add(document, share * postings.term_freq() as f32);
            document = postings.advance();
        }
        Ok(())
    }
}

/// A word of a question.
#[derive(Debug)]
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
    /// Each with the inverse document frequencies of its forms.
    words: Vec<(Word<'a>, Vec<f32>)>,
    /// Queries whose own scores are added.
    besides: Vec<Box<dyn Weight>>,
}

impl<'a> Scores<'a> {
    /// Nothing scores yet.
    pub(super) fn new(searcher: &'a Searcher) -> Self {
        Self {
            searcher,
            words: Vec::new(),
            besides: Vec::new(),
        }
    }

    /// Adds a word; whether some document has it.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn add_word(&mut self, word: Word<'a>) -> tantivy::Result<bool> {
        let all = documents(self.searcher);
        let mut is_known = false;
        let mut rarities = Vec::with_capacity(word.forms.len());
        for form in word.forms {
            // A form is taken to be in as many documents as have it where it is commonest.
            let mut having = 0;
            for field in word.fields {
                let term = Term::from_field_text(field.field, form);
                having = having.max(self.searcher.doc_freq(&term)?);
            }
            is_known = is_known || having > 0;
            let having = having as f32;
            rarities.push(((all - having + 0.5) / (having + 0.5)).ln_1p());
        }
        self.words.push((word, rarities));
        Ok(is_known)
    }

    /// Adds what `query` scores, by its own rule.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn add_query(&mut self, query: &dyn Query) -> tantivy::Result<()> {
        let scoring = EnableScoring::enabled_from_searcher(self.searcher);
        self.besides.push(query.weight(scoring)?);
        Ok(())
    }

    /// Scores over 0 of the documents of `segment`, those deleted included, in no order.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub(super) fn of(&self, segment: &SegmentReader) -> tantivy::Result<Vec<(DocId, f32)>> {
        let size = segment.max_doc() as usize;
        let (mut total, mut best, mut frequency) =
            (Sums::new(size), Sums::new(size), Sums::new(size));
        for (word, rarities) in &self.words {
            for (form, rarity) in word.forms.iter().zip(rarities) {
                for field in word.fields {
                    field.add_frequencies(segment, form, &mut frequency)?;
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
}

/// Documents in all segments, those deleted included, as in the frequencies of terms.
fn documents(searcher: &Searcher) -> f32 {
    let segments = searcher.segment_readers().iter();
    segments.map(SegmentReader::max_doc).sum::<u32>() as f32
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
