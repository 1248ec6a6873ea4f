//! An evaluation as Markdown.

use super::configuration::{AVERAGE, DEFAULT, DENSE, KEYWORD};
use super::outcome::{Evaluation, Outcome, SetOutcome};
use crate::evaluation::measure::Scores;
use crate::evaluation::reference::Reference;
use crate::evaluation::statistics::SEED;
use crate::output::thousands;

/// The default may be this much below the better engine before a set counts as lost.
const SLACK: f64 = 0.002;

/// Rows of cells below a header. The first `left` columns are text, the others numbers.
pub(super) fn grid(header: &[&str], left: usize, rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let own = |cells: &[&str]| line(cells.iter().map(|cell| (*cell).to_owned()).collect());
    let rule = (0..header.len()).map(|column| if column < left { "---" } else { "---:" });
    let mut lines = vec![own(header), own(&rule.collect::<Vec<_>>())];
    lines.extend(rows.iter().map(|row| {
        // A bar in a name would part the cell.
        line(row.iter().map(|cell| cell.replace('|', "\\|")).collect())
    }));
    lines.join("\n")
}

/// The whole report.
pub(super) fn markdown(evaluation: &Evaluation) -> String {
    let mut parts = vec![introduction(evaluation), ndcg(evaluation)];
    parts.extend(verdict(evaluation));
    parts.extend(tuned(evaluation));
    parts.push(measures(evaluation));
    parts.extend(latencies(evaluation));
    parts.extend(references(evaluation));
    parts.extend(noted(evaluation));
    parts.join("\n\n")
}

fn introduction(evaluation: &Evaluation) -> String {
    let how = &evaluation.how;
    format!(
        "Model {}, parser {}, chunker {}; {}; {} passages per question, a document counts by its \
         best passage; {}.",
        how.model,
        how.parser,
        how.chunker,
        how.half.name(),
        how.passages,
        evaluation.made_at
    )
}

fn ndcg(evaluation: &Evaluation) -> String {
    let names = names(evaluation);
    let mut header = vec!["nDCG@10", "documents", "questions"];
    header.extend(names.iter().map(String::as_str));
    header.extend(["default, 95 %", "to the better engine", "p"]);
    let mut rows: Vec<Vec<String>> = evaluation
        .sets
        .iter()
        .map(|set| ndcg_row(set, &names))
        .collect();
    if evaluation.sets.len() > 1 {
        rows.push(mean_row(evaluation, &names));
    }
    format!(
        "{}\n\nGain is the grade, as `ndcg_cut` of `trec_eval` has it. Intervals are of the \
         bootstrap, p of the paired randomisation test; seed {SEED}.",
        grid(&header, 1, &rows)
    )
}

fn ndcg_row(set: &SetOutcome, names: &[String]) -> Vec<String> {
    let mut row = vec![
        set.name.clone(),
        thousands(set.documents as u64),
        thousands(set.questions as u64),
    ];
    row.extend(names.iter().map(|name| {
        set.configuration(name)
            .map_or_else(String::new, |outcome| three(outcome.mean.ndcg_10))
    }));
    let interval = set.configuration(DEFAULT).map(|o| o.ndcg_interval);
    row.push(interval.map_or_else(String::new, |i| {
        format!("{}–{}", three(i.low), three(i.high))
    }));
    match &set.against {
        Some(against) => {
            row.push(signed(against.difference.mean));
            row.push(p(against.difference.p));
        }
        None => row.extend([String::new(), String::new()]),
    }
    row
}

fn mean_row(evaluation: &Evaluation, names: &[String]) -> Vec<String> {
    let mut row = vec!["mean".to_owned(), String::new(), String::new()];
    row.extend(names.iter().map(|name| {
        let scores: Vec<f64> = evaluation
            .sets
            .iter()
            .filter_map(|set| Some(set.configuration(name)?.mean.ndcg_10))
            .collect();
        three(mean(&scores))
    }));
    let differences = differences(evaluation);
    row.extend([String::new(), signed(mean(&differences)), String::new()]);
    row
}

/// Whether the default earns its place.
fn verdict(evaluation: &Evaluation) -> Option<String> {
    let differences = differences(evaluation);
    let kept = differences.iter().filter(|d| **d >= -SLACK).count();
    let all = differences.len();
    (all > 0).then(|| {
        format!(
            "The default is no worse than the better engine (−{SLACK}) on {kept} of {all} sets; \
             the mean difference is {} points.",
            points(mean(&differences))
        )
    })
}

/// Hundredths, one place.
fn points(value: f64) -> String {
    let text = format!("{:.1}", (100.0 * value).abs());
    let sign = match value {
        _ if text == "0.0" => "",
        value if value < 0.0 => "−",
        _ => "+",
    };
    format!("{sign}{text}")
}

fn differences(evaluation: &Evaluation) -> Vec<f64> {
    let against = evaluation
        .sets
        .iter()
        .filter_map(|set| set.against.as_ref());
    against.map(|against| against.difference.mean).collect()
}

fn tuned(evaluation: &Evaluation) -> Option<String> {
    let tuned = evaluation.tuned.as_ref()?;
    let rows: Vec<Vec<String>> = tuned
        .tried
        .iter()
        .map(|(name, score)| vec![name.clone(), three(*score)])
        .collect();
    Some(format!(
        "`tuned` is `{}`, the best fixed weight on the half that is tuned on:\n\n{}",
        tuned.configuration.name,
        grid(&["tuning half", "mean nDCG@10"], 1, &rows)
    ))
}

type Column = (&'static str, fn(&Scores) -> f64);

const COLUMNS: [Column; 8] = [
    ("MRR@10", |s| s.mrr_10),
    ("recall@10", |s| s.recall_10),
    ("recall@100", |s| s.recall_100),
    ("P@5", |s| s.precision_5),
    ("P@10", |s| s.precision_10),
    ("hit@1", |s| s.hit_1),
    ("hit@5", |s| s.hit_5),
    ("hit@10", |s| s.hit_10),
];

fn measures(evaluation: &Evaluation) -> String {
    let mut header = vec!["set", "configuration"];
    header.extend(COLUMNS.iter().map(|(name, _)| *name));
    let rows = each(evaluation, |outcome| {
        let cells = COLUMNS.iter().map(|(_, value)| three(value(&outcome.mean)));
        Some(cells.collect())
    });
    grid(&header, 2, &rows)
}

fn latencies(evaluation: &Evaluation) -> Option<String> {
    let header = [
        "set",
        "configuration",
        "p50 ms",
        "p95 ms",
        "embed",
        "vector",
        "keyword",
        "fuse",
        "rerank",
        "pack",
        "http",
    ];
    let steps = header.get(4..).unwrap_or_default();
    let rows = each(evaluation, |outcome| {
        let latency = outcome.latency.as_ref()?;
        let step = |name: &str| {
            let found = latency.steps.iter().find(|step| step.name == name);
            found.map_or_else(String::new, |step| one(step.p50_ms))
        };
        let mut cells = vec![one(latency.p50_ms), one(latency.p95_ms)];
        cells.extend(steps.iter().map(|name| step(name)));
        Some(cells)
    });
    (!rows.is_empty()).then(|| {
        format!(
            "{}\n\nOne question after the other, 10 passages each, from the HTTP request to the \
             whole reply; of the steps the median.",
            grid(&header, 2, &rows)
        )
    })
}

/// A row per set and configuration that `cells` has something to say of.
fn each(
    evaluation: &Evaluation,
    cells: impl Fn(&Outcome) -> Option<Vec<String>>,
) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for set in &evaluation.sets {
        for outcome in &set.configurations {
            if let Some(cells) = cells(outcome) {
                let mut row = vec![set.name.clone(), outcome.configuration.name.clone()];
                row.extend(cells);
                rows.push(row);
            }
        }
    }
    rows
}

fn references(evaluation: &Evaluation) -> Option<String> {
    let mut rows = Vec::new();
    for set in &evaluation.sets {
        for reference in &set.references {
            let ours = ours(set, reference, &evaluation.how.model);
            rows.push(vec![
                set.name.clone(),
                reference.system.clone(),
                reference.source.clone(),
                three(reference.score),
                ours.map_or_else(String::new, three),
            ]);
        }
    }
    let header = ["set", "system", "source", "nDCG@10", "ours"];
    (!rows.is_empty()).then(|| grid(&header, 3, &rows))
}

/// Our score for what a reference measured, with its gain; none for another model.
fn ours(set: &SetOutcome, reference: &Reference, model: &str) -> Option<f64> {
    let system = reference.system.to_lowercase();
    let plain = |text: &str| text.to_lowercase().replace('-', "");
    let name = match system.split([' ', ',']).next()? {
        "bm25" => KEYWORD,
        "average" => AVERAGE,
        named if plain(model).contains(&plain(named)) => DENSE,
        _ => return None,
    };
    let mean = set.configuration(name)?.mean;
    Some(if reference.is_exponential() {
        mean.ndcg_exponential_10
    } else {
        mean.ndcg_10
    })
}

fn noted(evaluation: &Evaluation) -> Option<String> {
    let noted: usize = evaluation
        .sets
        .iter()
        .flat_map(|set| &set.configurations)
        .map(|outcome| outcome.noted)
        .sum();
    (noted > 0).then(|| {
        format!(
            "**{} came with a note, such as an engine that did not answer: the figures are not \
             to be trusted.**",
            crate::output::count(noted as u64, "question")
        )
    })
}

fn names(evaluation: &Evaluation) -> Vec<String> {
    let first = evaluation.sets.first();
    let all = first.map_or(&[][..], |set| &set.configurations);
    all.iter()
        .map(|outcome| outcome.configuration.name.clone())
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / (values.len() as f64).max(1.0)
}

/// Three places.
pub(super) fn three(value: f64) -> String {
    format!("{value:.3}")
}

fn one(value: f64) -> String {
    format!("{value:.1}")
}

/// With its sign, three places.
pub(super) fn signed(value: f64) -> String {
    let text = format!("{:.3}", value.abs());
    if text == "0.000" {
        return text;
    }
    format!("{}{text}", if value < 0.0 { "−" } else { "+" })
}

/// A p value.
pub(super) fn p(value: f64) -> String {
    if value < 0.001 {
        "< 0.001".to_owned()
    } else {
        three(value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::outcome::tests::{evaluation, outcome, set};
    use super::*;

    #[test]
    fn the_table_has_a_row_per_set_and_says_whether_the_default_earns_its_place() {
        let sets = vec![
            set(
                "cranfield",
                vec![
                    outcome(KEYWORD, &[0.2, 0.4]),
                    outcome(DENSE, &[0.5, 0.5]),
                    outcome(DEFAULT, &[0.6, 0.6]),
                ],
            ),
            set(
                "b|c",
                vec![
                    outcome(KEYWORD, &[0.5, 0.5]),
                    outcome(DENSE, &[0.1, 0.1]),
                    outcome(DEFAULT, &[0.4, 0.5]),
                ],
            ),
        ];
        let text = markdown(&evaluation(sets));
        let line = |part: &str| {
            let found = text.lines().find(|line| line.starts_with(part));
            found.unwrap_or_else(|| panic!("{part}:\n{text}"))
        };
        assert!(line("| nDCG@10 | documents | questions | keyword | dense | default |").len() > 40);
        let row = line("| cranfield | 4,000 | 2 | 0.300 | 0.500 | 0.600 |");
        assert!(row.contains("| +0.100 |"), "{row}");
        assert!(line("| b\\|c |").contains("| −0.050 |"));
        assert!(line("| mean |").contains("| 0.400 | 0.300 | 0.525 |  | +0.025 |"));
        let verdict = line("The default is");
        assert!(
            verdict.contains("on 1 of 2 sets") && verdict.contains("is +2.5 points"),
            "{verdict}"
        );
        assert!(text.contains("| cranfield | MiniLM | reference of the corpus | 0.356 |"));
        assert!(!text.contains("not to be trusted") && !text.contains("p50"));
    }

    #[test]
    fn a_reference_stands_beside_the_same_system_with_its_own_gain() {
        let mut keyword = outcome(KEYWORD, &[0.2]);
        keyword.mean.ndcg_exponential_10 = 0.7;
        let set = set("x", vec![keyword, outcome(DENSE, &[0.5])]);
        let check = |system: &str, source: &str, model: &str, expect: Option<f64>| {
            let reference = Reference {
                system: system.to_owned(),
                score: 0.0,
                source: source.to_owned(),
            };
            assert_eq!(ours(&set, &reference, model), expect, "{system} {model}");
        };
        check("BM25", "reference of the corpus", "m", Some(0.7));
        check("BM25", "published (BEIR, MTEB)", "m", Some(0.2));
        check(
            "MiniLM",
            "published (BEIR, MTEB)",
            "all-MiniLM-L6-v2-fp32",
            Some(0.5),
        );
        check(
            "bge-small",
            "published (BEIR, MTEB)",
            "all-MiniLM-L6-v2-fp32",
            None,
        );
        check(
            "bge-small",
            "published (BEIR, MTEB)",
            "bge-small-en-v1.5-fp32",
            Some(0.5),
        );
        check("average 50/50", "published (BEIR, MTEB)", "m", None);
    }

    #[test]
    fn numbers_read_well() {
        for (value, expect) in [
            (0.0004, "0.000"),
            (-0.0004, "0.000"),
            (0.01, "+0.010"),
            (-2.5, "−2.500"),
        ] {
            assert_eq!(signed(value), expect);
        }
        assert_eq!(p(0.000_1), "< 0.001");
        assert_eq!(p(0.04), "0.040");
    }
}
