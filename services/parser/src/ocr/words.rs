//! Tesseract's table of words (TSV) put together to lines and paragraphs.

use crate::extract::{Recognized, clean};

/// The table's columns: level, page, block, paragraph, line, word, left, top, width, height,
/// confidence, text.
const COLUMNS: usize = 12;
/// Below this, signs without a letter or digit are specks and rules of the picture.
const SURE_OF_A_SIGN: f32 = 60.0;
/// More text than any page has.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// A word with its line.
struct Word<'a> {
    /// Block, paragraph, line.
    line: (u32, u32, u32),
    confidence: f32,
    text: &'a str,
}

/// The words of `table`, line by line.
pub(super) fn assemble(table: &str) -> Recognized {
    let mut text = String::new();
    let mut before: Option<(u32, u32, u32)> = None;
    let (mut weight, mut sum) = (0.0, 0.0);
    for word in table.lines().filter_map(parse) {
        if text.len() + word.text.len() > MAX_TEXT_BYTES {
            break;
        }
        let glue = match before {
            None => "",
            Some(line) if line == word.line => " ",
            Some((block, paragraph, _)) if (block, paragraph) == (word.line.0, word.line.1) => "\n",
            Some(_) => "\n\n",
        };
        text.push_str(glue);
        text.push_str(word.text);
        before = Some(word.line);
        let letters = word.text.chars().count() as f32;
        weight += letters;
        sum += letters * word.confidence;
    }
    Recognized {
        text: as_markdown(&clean(&text)),
        confidence: (weight > 0.0).then(|| (sum / weight / 100.0).clamp(0.0, 1.0)),
    }
}

/// A row that is a word; the others are pages, blocks and lines, or the heading.
fn parse(row: &str) -> Option<Word<'_>> {
    let mut columns = row.splitn(COLUMNS, '\t');
    let level = columns.next()?;
    if level != "5" {
        return None;
    }
    let mut number = || columns.next()?.trim().parse::<u32>().ok();
    let _page = number()?;
    let line = (number()?, number()?, number()?);
    let confidence = columns.nth(5)?.parse::<f32>().ok()?;
    let text = columns.next()?.trim();
    let is_sign = !text.chars().any(char::is_alphanumeric);
    if text.is_empty() || confidence < 0.0 || (is_sign && confidence < SURE_OF_A_SIGN) {
        return None;
    }
    Some(Word {
        line,
        confidence,
        text,
    })
}

/// Lines as Markdown takes them for text: rules go, words broken at a line's end are joined, and
/// what would be a heading or code is none.
fn as_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let has_words = line.chars().any(char::is_alphanumeric);
        if !has_words {
            if line.is_empty() && !out.is_empty() && !out.ends_with("\n\n") {
                out.push('\n');
            }
            continue;
        }
        let line = line.trim_start_matches(['#', '>', '`', '~', ' ']);
        let line = match broken_word(&out, line) {
            Some(end) => {
                // The hyphen and the line's end.
                out.truncate(out.len() - 2);
                let (end, rest) = line.split_at_checked(end).unwrap_or((line, ""));
                out.push_str(end);
                out.push('\n');
                rest.trim_start()
            }
            None => line,
        };
        if !line.is_empty() {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.trim().to_owned()
}

/// How many bytes of `line` belong to a word that `before` ends with a hyphen in.
fn broken_word(before: &str, line: &str) -> Option<usize> {
    let mut backwards = before.strip_suffix("-\n")?.chars().rev();
    let is_word = backwards.next()?.is_lowercase() && backwards.next()?.is_alphabetic();
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    let starts_small = line.starts_with(char::is_lowercase);
    (is_word && starts_small).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADING: &str = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\t\
                           width\theight\tconf\ttext\n";

    fn table(words: &[(&str, f32, &str)]) -> String {
        let rows = words
            .iter()
            .enumerate()
            .map(|(index, (line, confidence, text))| {
                let line = line.replace('.', "\t");
                format!("5\t1\t{line}\t{index}\t10\t10\t40\t12\t{confidence}\t{text}\n")
            });
        let outer = "1\t1\t0\t0\t0\t0\t0\t0\t100\t100\t-1\t\n4\t1\t1\t1\t1\t0\t0\t0\t9\t9\t-1\t\n";
        HEADING.to_owned() + outer + &rows.collect::<String>()
    }

    #[test]
    fn words_become_lines_and_paragraphs() {
        #[track_caller]
        fn check(words: &[(&str, f32, &str)], expect: &str) {
            assert_eq!(assemble(&table(words)).text, expect);
        }
        check(
            &[
                ("1.1.1", 96.0, "Total"),
                ("1.1.1", 91.5, "$821.14"),
                ("1.1.2", 90.0, "Paid"),
                ("1.2.1", 90.0, "Thank"),
                ("2.1.1", 90.0, "you"),
            ],
            "Total $821.14\nPaid\n\nThank\n\nyou",
        );
        check(&[], "");
        check(
            &[
                ("1.1.1", 5.0, "|"),
                ("1.1.1", 95.0, "—"),
                ("1.1.1", 80.0, "a"),
            ],
            "— a",
        );
        check(
            &[
                ("1.1.1", 95.0, "----"),
                ("1.1.2", 80.0, "words"),
                ("1.1.3", 95.0, "===="),
            ],
            "words",
        );
        check(
            &[
                ("1.1.1", 95.0, "#"),
                ("1.1.1", 95.0, "12"),
                ("1.1.2", 95.0, "#3"),
            ],
            "12\n3",
        );
    }

    #[test]
    fn words_broken_at_a_line_end_are_joined() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            assert_eq!(as_markdown(text), expect);
        }
        check("an exam-\nple of it", "an example\nof it");
        check("an exam-\nple", "an example");
        check("Jean-\nLuc", "Jean-\nLuc");
        check("pages 4-\n7", "pages 4-\n7");
        check("a-\nb", "a-\nb");
        check("one\n\n\n\ntwo", "one\n\ntwo");
    }

    #[test]
    fn confidence_weighs_words_by_their_letters() {
        #[track_caller]
        fn check(words: &[(&str, f32, &str)], expect: Option<f32>) {
            let confidence = assemble(&table(words)).confidence;
            let close = match (confidence, expect) {
                (Some(got), Some(expect)) => (got - expect).abs() < 1e-4,
                (got, expect) => got == expect,
            };
            assert!(close, "{confidence:?}");
        }
        check(
            &[("1.1.1", 90.0, "abcdefgh"), ("1.1.1", 40.0, "ij")],
            Some(0.8),
        );
        check(&[("1.1.1", 120.0, "a")], Some(1.0));
        check(&[], None);
    }

    #[test]
    fn rows_that_are_no_words_are_left_out() {
        for row in [
            "",
            "5",
            "5\t1\t1",
            "5\tx\t1\t1\t1\t1\t0\t0\t1\t1\t90\tword",
            "\t\t\t",
        ] {
            assert_eq!(assemble(row), Recognized::default(), "{row}");
        }
    }
}
