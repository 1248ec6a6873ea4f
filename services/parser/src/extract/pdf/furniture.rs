//! Headers and footers that repeat from page to page: kept where they first stand, so that a
//! search finds them once and no sentence is cut by them.

use std::collections::HashMap;
use std::ops::Range;

use super::squeeze::squeeze;

/// Shorter documents keep all they have.
const FEWEST_PAGES: usize = 4;
/// Lines at the top and at the bottom that may be furniture.
const ZONE_LINES: usize = 3;
const MAX_CHARACTERS: usize = 120;
/// A line is furniture when it stands on this share of the pages: left and right pages may differ.
const SHARE: f64 = 0.4;
/// What is numbered like pages and is not: each page of a workbook may begin with one.
const COUNTED: [&str; 16] = [
    "chapter", "section", "question", "slide", "exercise", "lesson", "week", "day", "step", "item",
    "part", "unit", "figure", "table", "kapitel", "aufgabe",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Zone {
    Top,
    Bottom,
}

/// A line that may be furniture.
struct Candidate {
    page: usize,
    line: usize,
    /// Its number less the page's, where it has just one.
    offset: Option<i64>,
    /// The line with its digits.
    whole: String,
}

/// Takes repeated headers and footers from all `pages` but the first that has them. Returns how
/// many lines went.
pub(super) fn strip(pages: &mut [&mut String]) -> usize {
    if pages.len() < FEWEST_PAGES {
        return 0;
    }
    let mut groups: HashMap<(Zone, String), Vec<Candidate>> = HashMap::new();
    for (page, text) in pages.iter().enumerate() {
        let lines: Vec<&str> = text.lines().collect();
        for (zone, line) in zones(&lines) {
            let Some(text) = lines.get(line).and_then(|line| words(line)) else {
                continue;
            };
            let (key, offset) = key(text, page);
            groups.entry((zone, key)).or_default().push(Candidate {
                page,
                line,
                offset,
                whole: squeeze(text),
            });
        }
    }
    let mut dropped: Vec<Vec<usize>> = vec![Vec::new(); pages.len()];
    for ((_, key), group) in groups {
        let on = group.len() as f64;
        if group.len() < FEWEST_PAGES || on < SHARE * pages.len() as f64 || !repeats(&key, &group) {
            continue;
        }
        for candidate in group.iter().skip(1) {
            if let Some(lines) = dropped.get_mut(candidate.page) {
                lines.push(candidate.line);
            }
        }
    }
    let mut count = 0;
    for (text, lines) in pages.iter_mut().zip(&dropped) {
        count += lines.len();
        if !lines.is_empty() {
            **text = without(text, lines);
        }
    }
    count
}

/// The lines of a page's top and bottom that say something. One that is both is of the top.
fn zones(lines: &[&str]) -> Vec<(Zone, usize)> {
    let spoken: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, _)| index)
        .collect();
    let Range { start, end } = ZONE_LINES..spoken.len().saturating_sub(ZONE_LINES).max(ZONE_LINES);
    let top = spoken.iter().take(start).map(|line| (Zone::Top, *line));
    let bottom = spoken.iter().skip(end).map(|line| (Zone::Bottom, *line));
    top.chain(bottom).collect()
}

/// The words of a line that may be furniture: not a list item, a table's row or a long one.
fn words(line: &str) -> Option<&str> {
    let line = line.trim();
    let is_block = line.starts_with(['|', '>', '`']) || line.starts_with("- ");
    let text = line.trim_start_matches('#').trim();
    (!is_block && !text.is_empty() && text.chars().count() <= MAX_CHARACTERS).then_some(text)
}

/// What `text` has on every page, and by how much its number is more than the page's.
fn key(text: &str, page: usize) -> (String, Option<i64>) {
    let squeezed = squeeze(text);
    let page = i64::try_from(page).unwrap_or(i64::MAX);
    if let Some(number) = roman(&squeezed) {
        return ("0".to_owned(), Some(number - page));
    }
    let mut key = String::with_capacity(squeezed.len());
    for c in squeezed.chars() {
        match c {
            '0'..='9' if key.ends_with('0') => {}
            '0'..='9' => key.push('0'),
            c => key.push(c),
        }
    }
    (key, page_number(text).map(|number| number - page))
}

/// A number that stands apart at either end of a line, as page numbers do.
fn page_number(text: &str) -> Option<i64> {
    let mut words = text.split(|c: char| c.is_whitespace() || matches!(c, '|' | '•' | '·'));
    let number = |word: Option<&str>| {
        let word = word?.trim_matches(|c: char| !c.is_alphanumeric());
        word.parse::<i64>().ok()
    };
    number(words.next()).or_else(|| number(words.next_back()))
}

/// A page number in small roman numerals.
fn roman(text: &str) -> Option<i64> {
    if text.is_empty() || text.len() > 8 {
        return None;
    }
    let digit = |c: char| match c {
        'i' => Some(1),
        'v' => Some(5),
        'x' => Some(10),
        'l' => Some(50),
        'c' => Some(100),
        _ => None,
    };
    let (mut sum, mut highest) = (0, 0);
    for value in text.chars().rev().map(digit) {
        let value = value?;
        sum += if value < highest { -value } else { value };
        highest = highest.max(value);
    }
    Some(sum)
}

/// Whether a group says the same on each page, or counts them: a number that goes its own way is
/// the document's text.
fn repeats(key: &str, group: &[Candidate]) -> bool {
    if !key.contains('0') {
        return true;
    }
    let same = group
        .first()
        .is_some_and(|first| group.iter().all(|other| other.whole == first.whole));
    if same {
        return key != "0";
    }
    if COUNTED.iter().any(|word| key.starts_with(word)) {
        return false;
    }
    let mut offsets: HashMap<Option<i64>, usize> = HashMap::new();
    for candidate in group {
        *offsets.entry(candidate.offset).or_default() += 1;
    }
    // "Page 3 of 12" has two numbers, the second always the same.
    let counts_all = key.matches('0').count() == 2 && key.ends_with('0') && key.contains("of0");
    // A numbering may begin anew: roman for the front pages, arabic after them.
    let most: usize = offsets
        .into_iter()
        .filter(|(_, n)| *n >= 3)
        .map(|(_, n)| n)
        .sum();
    counts_all || (most * 5 >= group.len() * 4 && group.iter().any(|one| one.offset.is_some()))
}

fn without(text: &str, lines: &[usize]) -> String {
    let kept = text
        .lines()
        .enumerate()
        .filter(|(index, _)| !lines.contains(index));
    let kept: Vec<&str> = kept.map(|(_, line)| line).collect();
    kept.join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(page: impl Fn(usize) -> String, count: usize) -> (Vec<String>, usize) {
        let mut pages: Vec<String> = (1..=count).map(page).collect();
        let mut borrowed: Vec<&mut String> = pages.iter_mut().collect();
        let dropped = strip(&mut borrowed);
        (pages, dropped)
    }

    #[track_caller]
    fn check(page: impl Fn(usize) -> String, dropped: usize, second: &str) {
        let (pages, count) = pages(&page, 6);
        assert_eq!((count, pages[1].as_str()), (dropped, second));
        assert_eq!(pages[0], page(1), "the first page keeps all");
    }

    #[test]
    fn headers_and_footers_are_kept_once() {
        let body =
            |n| format!("Body number {n} of its own, word{n}\n\nmore{n}\n\n- and{n}\n\nyet{n}");
        let check = |top: &dyn Fn(usize) -> String, bottom: &dyn Fn(usize) -> String, dropped| {
            check(
                |n| format!("{}\n\n{}\n\n{}", top(n), body(n), bottom(n)),
                dropped,
                &body(2),
            );
        };
        check(
            &|_| "# Annual Report".to_owned(),
            &|n| format!("### Page {n}"),
            10,
        );
        check(
            &|_| "Report 2023".to_owned(),
            &|n| format!("Page {n} of 6"),
            10,
        );
        check(
            &|n| format!("{} Report", n + 40),
            &|_| "Secret".to_owned(),
            10,
        );
        let roman = ["i", "ii", "iii", "iv", "v", "vi"];
        check(&|n| roman[n - 1].to_owned(), &|_| "Secret".to_owned(), 10);
    }

    #[test]
    fn what_is_text_stays() {
        let all =
            |n: usize| format!("# Chapter {n}\n\nText {n} begins and\n\n- the same item\n\n|a|");
        check(all, 0, &all(2));
        let prices = |n: usize| format!("Price {}\n\nbody{n} words\n\nTotal {}", n * 7, n * n);
        check(prices, 0, &prices(2));
        let years = |n: usize| format!("Who did what in {n}?\n\n{}", "x".repeat(n));
        assert_eq!(pages(years, 3).1, 0, "a short document keeps all");
        let single = |n: usize| format!("body{n}");
        check(
            |n| single(n).replace(char::is_numeric, ["a", "b", "c", "d", "e", "f"][n - 1]),
            0,
            "bodyb",
        );
    }
}
