//! Where the two readings of a PDF page disagree: word by word, whatever Markdown adds.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use parser::readings::{self, Readings};
use serde::Serialize;
use serde_json::json;
use shared::contract::{DocumentView, ErrorBody};
use shared::secret::Password;
use shared::settings;
use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

use crate::client::Gateway;
use crate::commands::service;
use crate::error::{CommandResult, Complaint};
use crate::output::{self, count, name, style, text};

/// Words shown before and after a disagreement.
const CONTEXT: usize = 5;
/// Beyond, the rest counts as one disagreement.
const COMPARE_WITHIN: Duration = Duration::from_secs(5);
/// Signs with which Markdown marks structure; they are no part of a word.
const MARKS: [char; 7] = ['#', '|', '*', '_', '`', '>', '\\'];

/// A place where the readings differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Place {
    before: String,
    first: String,
    second: String,
    after: String,
}

/// Reads the original again, in a limited child of this program, and prints the differences.
pub(super) async fn run(
    gateway: &Gateway,
    view: &DocumentView,
    (page, password): (u32, Option<Password>),
    json: bool,
) -> CommandResult {
    let file = gateway.original(&view.id).await?;
    let mut settings: parser::Settings = settings::load("parser")?;
    settings.child_arguments = service::readings_arguments(page);
    let plan = settings
        .plan()
        .map_err(|error| Complaint::new(error, "start `ibid` by its full path"))?;
    let read = readings::read(plan, file, view.name.clone(), password).await;
    let Readings { first, second } = read.map_err(complain)?;
    let (first, second) = match (first, second) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(why), _) => return Err(one_reading("first", &why)),
        (_, Err(why)) => return Err(one_reading("second", &why)),
    };
    let places = places(&words(&first), &words(&second));
    if json {
        output::json(&json!({ "page": page, "first": first, "second": second, "places": places }))?;
    } else {
        print(view, page, &places)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn complain(error: parser::error::PoolError) -> Complaint {
    match error {
        parser::error::PoolError::Extract(error) => {
            let mut body = ErrorBody::from(error);
            if body.code == shared::contract::ErrorCode::PasswordNeeded {
                "give `--password`, `--password-file FILE` or IBID_PASSWORD"
                    .clone_into(&mut body.remedy);
            }
            body.into()
        }
        other => Complaint::new(other, "run `ibid doctor`"),
    }
}

fn one_reading(which: &str, why: &str) -> Complaint {
    Complaint::new(
        format!("the page has no {which} reading: {why}"),
        "leave `--diff` out to see the one there is",
    )
}

fn print(view: &DocumentView, page: u32, places: &[Place]) -> Result<(), Complaint> {
    for place in places {
        let mut line = Vec::new();
        if !place.before.is_empty() {
            line.push(format!("… {}", text(&place.before)));
        }
        if !place.first.is_empty() {
            let gone = format!("[-{}-]", text(&place.first));
            line.push(style().red().apply_to(gone).to_string());
        }
        if !place.second.is_empty() {
            let more = format!("{{+{}+}}", text(&place.second));
            line.push(style().green().apply_to(more).to_string());
        }
        if !place.after.is_empty() {
            line.push(format!("{} …", text(&place.after)));
        }
        output::line(line.join(" "))?;
    }
    let document = name(&view.name);
    output::line(if places.is_empty() {
        format!("both readings of page {page} of {document} have the same words")
    } else {
        format!(
            "{} of page {page} of {document}: [-only the first reading-] {{+only the second+}}",
            count(places.len() as u64, "disagreement")
        )
    })?;
    Ok(())
}

/// A word as it stands, and as it is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Word<'a> {
    shown: &'a str,
    compared: String,
}

/// The words of `text`, without the marks of Markdown.
fn words(text: &str) -> Vec<Word<'_>> {
    text.split_whitespace()
        .map(|shown| Word {
            shown,
            compared: shown.chars().filter(|c| !MARKS.contains(c)).collect(),
        })
        .filter(|word| word.compared.chars().any(|c| c != '-' && c != ':'))
        .collect()
}

fn places(first: &[Word<'_>], second: &[Word<'_>]) -> Vec<Place> {
    let compared = |words: &[Word<'_>]| -> Vec<String> {
        words.iter().map(|word| word.compared.clone()).collect()
    };
    let deadline = Instant::now() + COMPARE_WITHIN;
    let ops = capture_diff_slices_deadline(
        Algorithm::Myers,
        &compared(first),
        &compared(second),
        Some(deadline),
    );
    group_diff_ops(ops, CONTEXT)
        .iter()
        .flat_map(|group| in_group(group, first, second))
        .collect()
}

fn in_group(group: &[DiffOp], first: &[Word<'_>], second: &[Word<'_>]) -> Vec<Place> {
    let equal = |op: Option<&DiffOp>| {
        op.filter(|op| op.tag() == DiffTag::Equal)
            .map(|op| words_of(first, op.old_range()))
    };
    let mut found = Vec::new();
    for (index, op) in group.iter().enumerate() {
        if op.tag() == DiffTag::Equal {
            continue;
        }
        let before = index.checked_sub(1).and_then(|before| group.get(before));
        let one = joined(&words_of(first, op.old_range()));
        let two = joined(&words_of(second, op.new_range()));
        if is_hyphenation(&one, &two) {
            continue;
        }
        found.push(Place {
            before: last_words(&equal(before).unwrap_or_default()),
            first: one,
            second: two,
            after: first_words(&equal(group.get(index + 1)).unwrap_or_default()),
        });
    }
    found
}

/// Whether the two differ in words that one of them has as they are cut at a line's end.
fn is_hyphenation(one: &str, two: &str) -> bool {
    one.replace("- ", "") == two.replace("- ", "")
}

fn words_of<'a>(words: &[Word<'a>], range: std::ops::Range<usize>) -> Vec<&'a str> {
    let words = words.get(range).unwrap_or_default();
    words.iter().map(|word| word.shown).collect()
}

fn joined(words: &[&str]) -> String {
    words.join(" ")
}

fn last_words(words: &[&str]) -> String {
    let from = words.len().saturating_sub(CONTEXT);
    joined(words.get(from..).unwrap_or_default())
}

fn first_words(words: &[&str]) -> String {
    joined(words.get(..CONTEXT).unwrap_or(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(first: &str, second: &str, expect: &[(&str, &str)]) {
        let found = places(&words(first), &words(second));
        let found: Vec<_> = found
            .iter()
            .map(|place| (place.first.as_str(), place.second.as_str()))
            .collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn what_markdown_adds_is_no_disagreement() {
        check("", "", &[]);
        check(
            "# The *Rent*\n\n| Month | Pounds |\n|---|---:|\n| May | 340 |\n\n- `one`\\_two",
            "The Rent\nMonth Pounds\nMay 340\none_two",
            &[],
        );
    }

    #[test]
    fn a_word_cut_at_a_line_s_end_is_no_disagreement() {
        check("a comple-\nmentary word", "a complementary word", &[]);
        check(
            "an open-domain word",
            "an opendomain word",
            &[("open-domain", "opendomain")],
        );
    }

    #[test]
    fn words_that_one_reading_lacks_or_has_otherwise_are_shown() {
        check(
            "The rent is 340 pounds a month, due on the first day.",
            "The rent is 34O pounds a month, due on the very first day. Signed",
            &[("340", "34O"), ("", "very"), ("", "Signed")],
        );
        let place = &places(
            &words("one two three four five six seven eight nine"),
            &words("one two three four five six SEVEN eight nine"),
        )[0];
        assert_eq!(place.before, "two three four five six");
        assert_eq!(
            (place.first.as_str(), place.after.as_str()),
            ("seven", "eight nine")
        );
    }
}
