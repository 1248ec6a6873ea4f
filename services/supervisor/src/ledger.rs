//! Page ledgers in words: ranges of pages, and why they could not be read.

use serde::Serialize;

/// Pages that could not be read for one and the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// Their numbers, in order.
    pub pages: Vec<u32>,
    /// Why.
    pub reason: String,
}

/// Gathers pages by reason, in the order in which each reason is met first.
pub fn gaps(pages: impl IntoIterator<Item = (u32, String)>) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = Vec::new();
    for (number, reason) in pages {
        match gaps.iter_mut().find(|gap| gap.reason == reason) {
            Some(gap) => gap.pages.push(number),
            None => gaps.push(Gap {
                pages: vec![number],
                reason,
            }),
        }
    }
    gaps
}

/// `page 3`, `pages 3–7, 9`; the rest is counted from the twelfth range on.
pub fn pages(numbers: &[u32]) -> String {
    const MOST_RANGES: usize = 12;
    let ranges = ranges(numbers);
    let noun = if numbers.len() == 1 { "page" } else { "pages" };
    let mut shown: Vec<String> = ranges
        .iter()
        .take(MOST_RANGES)
        .map(|&(first, last)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}–{last}")
            }
        })
        .collect();
    let left: u32 = ranges
        .iter()
        .skip(MOST_RANGES)
        .map(|(first, last)| last - first + 1)
        .sum();
    if left > 0 {
        shown.push(format!("and {left} more"));
    }
    format!("{noun} {}", shown.join(", "))
}

fn ranges(numbers: &[u32]) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if last.saturating_add(1) == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges
}

/// `113 of 311 pages readable`; nothing when all are.
pub fn coverage(pages: u32, missing: u32) -> Option<String> {
    let coverage = shared::contract::Coverage::of(pages, missing)?;
    Some(format!("{coverage} readable"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_told_as_ranges() {
        for (numbers, expect) in [
            (vec![3], "page 3"),
            (vec![3, 4], "pages 3–4"),
            (vec![1, 3, 4, 5, 9], "pages 1, 3–5, 9"),
            ((1..=2000).collect(), "pages 1–2000"),
            (
                (0..20).map(|n| n * 2 + 1).collect(),
                "pages 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, and 8 more",
            ),
        ] {
            assert_eq!(pages(&numbers), expect);
        }
    }

    #[test]
    fn gaps_are_gathered_by_reason() {
        let missing = [(2, "a scan"), (3, "a scan"), (5, "torn"), (9, "a scan")];
        let gaps = gaps(missing.map(|(number, reason)| (number, reason.to_owned())));
        let told: Vec<_> = gaps
            .iter()
            .map(|gap| (gap.pages.as_slice(), gap.reason.as_str()))
            .collect();
        assert_eq!(told, [(&[2, 3, 9][..], "a scan"), (&[5][..], "torn")]);
    }

    #[test]
    fn coverage_is_told_of_what_is_not_whole() {
        assert_eq!(coverage(311, 198).unwrap(), "113 of 311 pages readable");
        assert_eq!(coverage(1, 1).unwrap(), "0 of 1 page readable");
        assert_eq!(coverage(311, 0), None);
    }
}
