//! Judged questions through the whole pipeline, against what the engines give on their own.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use ibid_tests::harness::command;
use ibid_tests::workspace;
use serde_json::Value;

/// Folder, nDCG@10 of all-MiniLM-L6-v2 (fp32, exact), and the least of the keyword engine: BM25 of
/// the corpus' README, or what this program found once for Chinese, where that has plain words.
const SETS: [(&str, f64, f64); 5] = [
    ("cranfield", 0.356, 0.333),
    ("squad2-sample", 0.813, 0.863),
    ("xquad-en", 0.944, 0.967),
    ("xquad-tr", 0.402, 0.893),
    ("xquad-zh", 0.243, 0.96),
];
/// The gain of those reference scores.
const MEASURE: &str = "ndcg_exponential@10";
/// A document longer than the model's window is several chunks here and was cut there.
const DENSE_TOLERANCE: f64 = 0.02;
/// How little an English model sees of other languages depends on where texts are cut.
const FOREIGN_TOLERANCE: f64 = 0.06;
const KEYWORD_TOLERANCE: f64 = 0.005;
/// What fusion may lose to the better engine on one set, and has to gain on the mean of all.
const MOST_LOST: f64 = 0.002;
const LEAST_GAIN: f64 = 0.01;
const LIMIT: Duration = Duration::from_mins(19);

fn mean(set: &Value, configuration: &str) -> Result<f64> {
    let all = set["configurations"].as_array().context("no outcomes")?;
    let named = all.iter().find(|outcome| outcome["name"] == configuration);
    let value = named.and_then(|outcome| outcome["mean"].get(MEASURE)?.as_f64());
    value.with_context(|| format!("no {MEASURE} of `{configuration}`"))
}

#[tokio::test]
async fn judged_questions_find_what_the_engines_alone_find() -> Result<()> {
    let Some(corpus) = workspace::corpus_or_skip("retrieval") else {
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let cache = folder.path().join("cache").display().to_string();
    let sets = SETS.map(|(name, ..)| corpus.join("retrieval").join(name).display().to_string());
    let mut arguments = vec![
        "--json",
        "eval",
        "retrieval",
        "--timed",
        "0",
        "--cache",
        &cache,
    ];
    arguments.extend(sets.iter().map(String::as_str));
    let data = folder.path().join("data");
    let done = command::output(command::start(&data, &arguments)?, LIMIT).await?;
    ensure!(done.code == Some(0), "{}", done.stderr);
    let evaluation: Value = serde_json::from_str(&done.stdout)?;

    let mut table = format!(
        "{:<14} {:>9} {:>8} {:>9} {:>8} {:>8}\n",
        "nDCG@10", "dense", "wanted", "keyword", "wanted", "default"
    );
    let (mut off, mut gains) = (Vec::new(), Vec::new());
    for ((name, dense_wanted, keyword_wanted), set) in SETS
        .into_iter()
        .zip(evaluation["sets"].as_array().context("no sets")?)
    {
        ensure!(set["name"] == name, "{name} is called {}", set["name"]);
        ensure!(
            set["taken_in"]["failed"] == 0,
            "{name}: {}",
            set["taken_in"]
        );
        let noted: Vec<&Value> = set["configurations"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|outcome| outcome["noted"] != 0)
            .collect();
        ensure!(
            noted.is_empty(),
            "{name}: {} outcomes have notes",
            noted.len()
        );
        let (dense, keyword) = (mean(set, "dense")?, mean(set, "keyword")?);
        let default = mean(set, "default")?;
        writeln!(
            table,
            "{name:<14} {dense:>9.4} {dense_wanted:>8.3} {keyword:>9.4} {keyword_wanted:>8.3} {default:>8.4}"
        )?;
        let tolerance = if dense_wanted < 0.5 && name.starts_with("xquad") {
            FOREIGN_TOLERANCE
        } else {
            DENSE_TOLERANCE
        };
        if (dense - dense_wanted).abs() > tolerance {
            off.push(format!(
                "{name}: dense {dense:.4}, wanted {dense_wanted} ± {tolerance}"
            ));
        }
        if keyword < keyword_wanted - KEYWORD_TOLERANCE {
            off.push(format!(
                "{name}: keyword {keyword:.4}, wanted {keyword_wanted}"
            ));
        }
        let gain = default - dense.max(keyword);
        if gain < -MOST_LOST {
            off.push(format!("{name}: the default loses {gain:.4}"));
        }
        gains.push(gain);
    }
    let mean_gain = gains.iter().sum::<f64>() / gains.len() as f64;
    writeln!(table, "mean gain over the better engine {mean_gain:.4}")?;
    if mean_gain < LEAST_GAIN {
        off.push(format!("the mean gain is {mean_gain:.4}"));
    }
    println!("{table}");
    ensure!(off.is_empty(), "{}\n{table}", off.join("\n"));
    Ok(())
}
