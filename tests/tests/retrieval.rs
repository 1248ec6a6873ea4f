//! Judged questions through the whole pipeline, against what the engines give on their own.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use ibid_tests::beir::{Set, ndcg};
use ibid_tests::harness::{Harness, Upload};
use ibid_tests::workspace;
use shared::contract::{Filter, Question};

/// Folder, and nDCG@10 of all-MiniLM-L6-v2 (fp32, exact) and of BM25, from the corpus' README.
const SETS: [(&str, f64, f64); 3] = [
    ("cranfield", 0.356, 0.333),
    ("squad2-sample", 0.813, 0.863),
    ("xquad-en", 0.944, 0.967),
];
/// A document longer than the model's window is several chunks here and was cut there.
const DENSE_TOLERANCE: f64 = 0.01;
/// The reference ran k1 = 0.9, b = 0.4; tantivy has 1.2 and 0.75.
const KEYWORD_TOLERANCE: f64 = 0.03;
const LIMIT: Duration = Duration::from_mins(15);
/// Documents judged per question.
const K: usize = 10;
/// Passages asked for, so that a document with several chunks does not crowd out the others.
const PASSAGES: u32 = 30;

fn path_of(set: &str, id: &str) -> String {
    format!("/{set}/{id}.txt")
}

async fn ingest(harness: &Harness, name: &str, set: &Set) -> Result<()> {
    let uploads = set
        .documents
        .iter()
        .filter(|document| !(document.title.clone() + &document.text).trim().is_empty());
    let admitted: Vec<_> = stream::iter(uploads)
        .map(|document| async move {
            let text = format!("{}\n{}\n", document.title.trim(), document.text.trim());
            let upload = Upload {
                path: path_of(name, &document.id),
                collection: name.to_owned(),
                bytes: text.trim_start().as_bytes().to_vec(),
                ..Upload::default()
            };
            harness.client().add(&upload).await
        })
        .buffer_unordered(4)
        .try_collect()
        .await?;
    let all = harness.client().documents(None, None).await?.len();
    harness.client().wait_until_final(all, LIMIT).await?;
    let documents = harness.client().documents(Some(name), None).await?;
    ensure!(
        documents.len() == admitted.len(),
        "{} of {} documents",
        documents.len(),
        admitted.len()
    );
    let unfound = documents.iter().find(|document| !document.searchable);
    ensure!(unfound.is_none(), "not searchable: {unfound:?}");
    Ok(())
}

/// Mean nDCG@10 over the judged questions; a document counts by its best chunk.
async fn evaluate(harness: &Harness, name: &str, set: &Set, semantic_weight: f32) -> Result<f64> {
    let values: Vec<f64> = stream::iter(&set.queries)
        .map(|query| async move {
            let question = Question {
                text: query.text.clone(),
                k: PASSAGES,
                semantic_weight: Some(semantic_weight),
                filter: Filter {
                    collections: vec![name.parse()?],
                    documents: Vec::new(),
                },
                ..Question::default()
            };
            let reply = harness.client().search(&question).await?;
            ensure!(reply.notes.is_empty(), "notes: {:?}", reply.notes);
            let mut ranking: Vec<String> = Vec::new();
            for passage in reply.passages {
                let id = passage.hit.name.trim_end_matches(".txt").to_owned();
                if !ranking.contains(&id) {
                    ranking.push(id);
                }
            }
            let grades = set
                .grades
                .get(&query.id)
                .context("a question without judgement")?;
            Ok(ndcg(&ranking, grades, K))
        })
        .buffer_unordered(4)
        .try_collect()
        .await?;
    Ok(values.iter().sum::<f64>() / values.len() as f64)
}

#[tokio::test]
async fn judged_questions_find_what_the_engines_alone_find() -> Result<()> {
    let Some(corpus) = workspace::corpus_or_skip("retrieval") else {
        return Ok(());
    };
    let harness = Harness::start(&[]).await?;
    let mut table = format!(
        "{:<14} {:>9} {:>8} {:>9} {:>8} {:>8}\n",
        "nDCG@10", "dense", "wanted", "keyword", "wanted", "RRF"
    );
    let mut off = Vec::new();
    for (name, dense_wanted, keyword_wanted) in SETS {
        let set = Set::read(&corpus.join("retrieval").join(name))?;
        ingest(&harness, name, &set)
            .await
            .with_context(|| harness.log_tail())?;
        let dense = evaluate(&harness, name, &set, 1.0).await?;
        let keyword = evaluate(&harness, name, &set, 0.0).await?;
        let fused = evaluate(&harness, name, &set, 0.5).await?;
        writeln!(
            table,
            "{name:<14} {dense:>9.4} {dense_wanted:>8.3} {keyword:>9.4} {keyword_wanted:>8.3} {fused:>8.4}"
        )?;
        if (dense - dense_wanted).abs() > DENSE_TOLERANCE {
            off.push(format!(
                "{name}: dense {dense:.4}, wanted {dense_wanted} ± {DENSE_TOLERANCE}"
            ));
        }
        if (keyword - keyword_wanted).abs() > KEYWORD_TOLERANCE {
            off.push(format!(
                "{name}: keyword {keyword:.4}, wanted {keyword_wanted} ± {KEYWORD_TOLERANCE}"
            ));
        }
    }
    println!("{table}");
    ensure!(off.is_empty(), "{}\n{table}", off.join("\n"));
    Ok(())
}
