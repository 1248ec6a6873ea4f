//! Whether two runs made the same.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Result, bail};
use shared::contract::DumpRow;

/// Least cosine between two vectors of the same text. The order in which texts meet in a batch
/// differs from run to run, and with it the order of a few float additions.
const LEAST_COSINE: f64 = 0.9999;
/// Differences told in full.
const TOLD: usize = 5;

/// Checks that `found` has the rows of `expected`: source, place, headings and text exactly,
/// vectors by cosine.
///
/// # Errors
/// The first differences.
pub fn compare(expected: &[DumpRow], found: &[DumpRow]) -> Result<()> {
    let expected = by_chunk(expected)?;
    let found = by_chunk(found)?;
    let mut differences = Vec::new();
    for (key, row) in &expected {
        match found.get(key) {
            None => differences.push(format!("{key:?} is missing")),
            Some(other) => {
                differences.extend(difference(row, other).map(|what| format!("{key:?}: {what}")));
            }
        }
    }
    let extra = found.keys().filter(|key| !expected.contains_key(*key));
    differences.extend(extra.map(|key| format!("{key:?} is too much")));
    if differences.is_empty() {
        return Ok(());
    }
    let mut text = format!(
        "{} differences between {} expected and {} found rows",
        differences.len(),
        expected.len(),
        found.len()
    );
    for difference in differences.iter().take(TOLD) {
        write!(text, "\n{difference}")?;
    }
    bail!(text)
}

type Key<'a> = (&'a str, &'a str, u32);

fn by_chunk(rows: &[DumpRow]) -> Result<BTreeMap<Key<'_>, &DumpRow>> {
    let mut map = BTreeMap::new();
    for row in rows {
        let key = (
            row.collection.as_str(),
            row.path.as_str(),
            row.chunk_id.index,
        );
        if map.insert(key, row).is_some() {
            bail!("{key:?} is in the dump twice");
        }
    }
    Ok(map)
}

fn difference(expected: &DumpRow, found: &DumpRow) -> Option<String> {
    if expected.chunk_id != found.chunk_id {
        return Some(format!(
            "chunk id {} became {}",
            expected.chunk_id, found.chunk_id
        ));
    }
    if expected.spans != found.spans {
        return Some(format!(
            "spans {:?} became {:?}",
            expected.spans, found.spans
        ));
    }
    if expected.heading_path != found.heading_path {
        return Some(format!(
            "headings {:?} became {:?}",
            expected.heading_path, found.heading_path
        ));
    }
    if expected.text != found.text {
        return Some("the text differs".to_owned());
    }
    let cosine = cosine(&expected.vector.0, &found.vector.0);
    (cosine.is_nan() || cosine < LEAST_COSINE).then(|| format!("cosine of the vectors is {cosine}"))
}

/// Cosine of two vectors; NaN when their lengths differ or one is zero.
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    if a.len() != b.len() {
        return f64::NAN;
    }
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(x, y)| f64::from(*x) * f64::from(*y))
            .sum()
    };
    dot(a, b) / (dot(a, a).sqrt() * dot(b, b).sqrt())
}

#[cfg(test)]
mod tests {
    use shared::contract::{Span, Vector};

    use super::*;

    fn row(path: &str, index: u32, text: &str, vector: &[f32]) -> DumpRow {
        DumpRow {
            collection: "default".parse().unwrap(),
            path: path.to_owned(),
            chunk_id: format!("{}_{index}", "0".repeat(32)).parse().unwrap(),
            spans: vec![Span {
                page: 1,
                start: 0,
                end: 4,
            }],
            heading_path: Vec::new(),
            text: text.to_owned(),
            vector: Vector(vector.to_vec()),
        }
    }

    #[test]
    fn every_kind_of_difference_is_found() {
        let base = || {
            vec![
                row("a", 0, "text", &[1.0, 0.0]),
                row("b", 0, "more", &[0.0, 1.0]),
            ]
        };
        let check =
            |found: Vec<DumpRow>, expect: Option<&str>| match (compare(&base(), &found), expect) {
                (Ok(()), None) => {}
                (Err(error), Some(part)) => assert!(error.to_string().contains(part), "{error}"),
                (result, expect) => panic!("{result:?}, expected {expect:?}"),
            };
        check(base(), None);
        check(base().into_iter().rev().collect(), None);
        check(vec![base().remove(0)], Some("missing"));
        check(
            [base(), vec![row("c", 0, "x", &[1.0])]].concat(),
            Some("too much"),
        );
        check([base(), base()].concat(), Some("twice"));
        check(
            vec![row("a", 0, "texT", &[1.0, 0.0]), base().remove(1)],
            Some("text differs"),
        );
        check(
            vec![row("a", 0, "text", &[1.0, 0.1]), base().remove(1)],
            Some("cosine"),
        );
        check(
            vec![row("a", 0, "text", &[1.0]), base().remove(1)],
            Some("cosine"),
        );
        check(
            vec![row("a", 0, "text", &[0.0, 0.0]), base().remove(1)],
            Some("cosine"),
        );
        check(
            vec![row("a", 0, "text", &[1.0, 1e-4]), base().remove(1)],
            None,
        );
    }
}
