//! Judged questions in the BEIR layout, and the measure they are judged by.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

/// A document to be found.
#[derive(Debug, Clone, Deserialize)]
pub struct Document {
    /// Its id in the judgements.
    #[serde(rename = "_id")]
    pub id: String,
    /// Its title; may be empty.
    #[serde(default)]
    pub title: String,
    /// Its text; may be empty.
    #[serde(default)]
    pub text: String,
}

/// A question.
#[derive(Debug, Clone, Deserialize)]
pub struct Query {
    /// Its id in the judgements.
    #[serde(rename = "_id")]
    pub id: String,
    /// As asked.
    pub text: String,
}

/// Grade per document, above 0 only.
pub type Grades = HashMap<String, u32>;

/// A set of documents, questions and judgements.
#[derive(Debug, Clone)]
pub struct Set {
    /// All documents.
    pub documents: Vec<Document>,
    /// The questions that have a judgement.
    pub queries: Vec<Query>,
    /// Grades per question id.
    pub grades: HashMap<String, Grades>,
}

impl Set {
    /// Reads `corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv` of `folder`.
    ///
    /// # Errors
    /// A file is missing or does not decode.
    pub fn read(folder: &Path) -> Result<Self> {
        let text = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).with_context(|| format!("reading `{}`", path.display()))
        };
        let mut grades: HashMap<String, Grades> = HashMap::new();
        for line in text("qrels/test.tsv")?.lines().skip(1) {
            let fields: Vec<&str> = line.split('\t').collect();
            let [query, document, grade] = fields.as_slice() else {
                continue;
            };
            let grade: i64 = grade
                .trim()
                .parse()
                .with_context(|| format!("grade in `{line}`"))?;
            if let Some(grade) = u32::try_from(grade).ok().filter(|grade| *grade > 0) {
                let of_query = grades.entry((*query).to_owned()).or_default();
                of_query.insert((*document).to_owned(), grade);
            }
        }
        let mut queries: Vec<Query> = lines(&text("queries.jsonl")?)?;
        queries.retain(|query| grades.contains_key(&query.id));
        Ok(Self {
            documents: lines(&text("corpus.jsonl")?)?,
            queries,
            grades,
        })
    }
}

fn lines<T: for<'de> Deserialize<'de>>(text: &str) -> Result<Vec<T>> {
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| serde_json::from_str(line).with_context(|| format!("line `{line}`")))
        .collect()
}

/// nDCG over the first `k` of `ranking`, with 2^grade − 1 as gain and log2(rank + 1) as discount
/// (Burges et al. 2005): the form with which the corpus' reference scores were made. 0 without
/// grades.
pub fn ndcg(ranking: &[String], grades: &Grades, k: usize) -> f64 {
    let gain = |grades: &mut dyn Iterator<Item = u32>| -> f64 {
        let ranked = grades.take(k).zip(1..);
        ranked
            .map(|(grade, rank)| (f64::from(grade).exp2() - 1.0) / f64::from(rank + 1).log2())
            .sum()
    };
    let found = gain(
        &mut ranking
            .iter()
            .map(|id| grades.get(id).copied().unwrap_or(0)),
    );
    let mut best: Vec<u32> = grades.values().copied().collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    let ideal = gain(&mut best.into_iter());
    if ideal > 0.0 { found / ideal } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ndcg_on_paper() {
        #[track_caller]
        fn check(ranking: &[&str], grades: &[(&str, u32)], expect: f64) {
            let ranking: Vec<String> = ranking.iter().map(|id| (*id).to_owned()).collect();
            let grades = grades
                .iter()
                .map(|(id, grade)| ((*id).to_owned(), *grade))
                .collect();
            let value = ndcg(&ranking, &grades, 10);
            assert!((value - expect).abs() < 1e-9, "{value} is not {expect}");
        }
        check(&["a"], &[("a", 1)], 1.0);
        check(&["x", "a"], &[("a", 1)], 1.0 / 3_f64.log2());
        check(
            &["b", "a"],
            &[("a", 3), ("b", 1)],
            (1.0 + 7.0 / 3_f64.log2()) / (7.0 + 1.0 / 3_f64.log2()),
        );
        check(&[], &[("a", 1)], 0.0);
        check(&["a"], &[], 0.0);
        let late: Vec<String> = (0..10)
            .map(|n| format!("x{n}"))
            .chain(["a".to_owned()])
            .collect();
        let late: Vec<&str> = late.iter().map(String::as_str).collect();
        check(&late, &[("a", 1)], 0.0);
    }
}
