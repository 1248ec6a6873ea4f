//! nDCG@10 over judged questions, against the reference in the corpus' own README.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{KeywordChanges, KeywordDocument, KeywordIndex, TantivyIndex};
use crate::background;

#[derive(Deserialize)]
struct Record {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    text: String,
}

/// The corpus folder, or `None` when this machine has none.
fn corpus() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let corpus = std::env::var_os("IBID_CORPUS").map_or_else(beside, PathBuf::from);
    corpus.is_dir().then_some(corpus)
}

fn records(path: &Path) -> Vec<Record> {
    let lines = fs::read_to_string(path).unwrap();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Grades of the judged documents, by question.
fn grades(path: &Path) -> HashMap<String, HashMap<String, f64>> {
    let mut grades: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for line in fs::read_to_string(path).unwrap().lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let grade = columns[2].trim().parse().unwrap();
        grades
            .entry(columns[0].to_owned())
            .or_default()
            .insert(columns[1].to_owned(), grade);
    }
    grades
}

/// Discounted gain of grades in this order, as TREC's `ndcg_cut_10` has it: the gain is the grade.
fn gain(grades: impl IntoIterator<Item = f64>) -> f64 {
    grades
        .into_iter()
        .take(10)
        .zip(2_i32..)
        .map(|(grade, rank)| grade / f64::from(rank).log2())
        .sum()
}

fn ndcg_at_10(set: &Path) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let (index, _) = TantivyIndex::open(folder.path(), background::pool(1).unwrap()).unwrap();
    let documents = records(&set.join("corpus.jsonl"));
    let upserts = (1..)
        .zip(&documents)
        .map(|(key, document)| KeywordDocument {
            key,
            text: format!("{}\n{}", document.title, document.text),
            ..KeywordDocument::default()
        })
        .collect();
    index
        .apply(&KeywordChanges {
            upserts,
            deletes: Vec::new(),
            sequence: 1,
        })
        .unwrap();

    let grades = grades(&set.join("qrels/test.tsv"));
    let mut scores = Vec::new();
    for question in records(&set.join("queries.jsonl")) {
        let Some(judged) = grades.get(&question.id).filter(|judged| !judged.is_empty()) else {
            continue;
        };
        let hits = index
            .search(&question.text.as_str().into(), 10, None)
            .unwrap()
            .hits;
        let found = hits.iter().map(|(key, _)| {
            let document = &documents[usize::try_from(key - 1).unwrap()];
            judged.get(&document.id).copied().unwrap_or_default()
        });
        let mut ideal: Vec<f64> = judged.values().copied().collect();
        ideal.sort_by(|a, b| b.total_cmp(a));
        scores.push(gain(found) / gain(ideal));
    }
    scores.iter().sum::<f64>() / scores.len() as f64
}

/// `least` is a little under what was found when it was written. The reference of the corpus'
/// README has 0.333, 0.863, 0.967, 0.893 and, for plain words in Chinese, 0.107.
fn check(set: &str, least: f64) {
    let Some(corpus) = corpus() else {
        println!("skipped: no corpus folder, set IBID_CORPUS");
        return;
    };
    let ndcg = ndcg_at_10(&corpus.join("retrieval").join(set));
    println!("{set}: nDCG@10 {ndcg:.4}, at least {least:.3}");
    assert!(ndcg >= least, "{set}: {ndcg:.4} against {least:.3}");
}

#[test]
fn cranfield() {
    check("cranfield", 0.345);
}

#[test]
fn squad2_sample() {
    check("squad2-sample", 0.9);
}

#[test]
fn xquad_en() {
    check("xquad-en", 0.97);
}

#[test]
fn xquad_tr() {
    check("xquad-tr", 0.935);
}

#[test]
fn xquad_zh() {
    check("xquad-zh", 0.96);
}
