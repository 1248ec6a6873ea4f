//! Markdown blocks set apart where the first reader runs them together.

/// Lines as Markdown, with a blank line between a list and what follows it, and before a heading
/// and a table.
pub(super) fn part(lines: &[String]) -> String {
    let mut out = String::new();
    let mut before = Kind::Blank;
    let mut in_fence = false;
    for line in lines {
        let is_fence = line.trim_start().starts_with("```");
        let kind = if in_fence || is_fence {
            Kind::Code
        } else {
            Kind::of(line)
        };
        in_fence ^= is_fence;
        if !out.is_empty() {
            out.push('\n');
        }
        if before.parts_from(kind) {
            out.push('\n');
        }
        out.push_str(line);
        before = kind;
    }
    out
}

/// A paragraph that ends within a sentence goes on in the next one when that is at least this
/// long; shorter lines may be a list.
const FEWEST_BYTES: usize = 60;

/// Lines where a paragraph that a column's end broke within a sentence is whole again.
pub(super) fn heal(lines: Vec<String>) -> Vec<String> {
    let mut healed: Vec<String> = Vec::with_capacity(lines.len());
    let mut in_fence = false;
    for line in lines {
        in_fence ^= line.trim_start().starts_with("```");
        let (last, before) = match healed.as_slice() {
            [.., before, last] => (last.as_str(), before.as_str()),
            _ => ("x", ""),
        };
        let goes_on = !in_fence
            && last.is_empty()
            && before.len() >= FEWEST_BYTES
            && is_paragraph(before)
            && before.ends_with(|c: char| c.is_lowercase() || matches!(c, ',' | '-'))
            && line.starts_with(char::is_lowercase);
        if goes_on {
            healed.pop();
            if let Some(paragraph) = healed.last_mut() {
                paragraph.push(' ');
                paragraph.push_str(&line);
            }
        } else {
            healed.push(line);
        }
    }
    healed
}

fn is_paragraph(line: &str) -> bool {
    matches!(Kind::of(line), Kind::Text { .. }) && !line.contains('\t')
}

/// Lines with the stamp that preprints carry along their edge, which the first reader sets into
/// the text as a heading, after all else.
pub(super) fn move_stamp(mut lines: Vec<String>) -> Vec<String> {
    let found = lines.iter_mut().find_map(|line| {
        let end = stamp_end(line)?;
        let rest = line.split_off(end);
        Some(std::mem::replace(line, rest.trim_start().to_owned()))
    });
    if let Some(stamp) = found {
        let stamp = stamp.trim_start_matches('#').trim().to_owned();
        lines.extend([String::new(), stamp]);
        // Where the stamp stood alone two blank lines are left.
        lines.dedup_by(|next, last| next.is_empty() && last.is_empty());
    }
    lines
}

/// Where `# arXiv:2004.04906v3 [cs.CL] 30 Sep 2020` ends in a line that begins so.
fn stamp_end(line: &str) -> Option<usize> {
    let text = line.trim_start_matches('#').trim_start();
    if !line.starts_with('#') || !text.starts_with("arXiv:") {
        return None;
    }
    let (before, after) = text.split_once("] ")?;
    let mut words = after.splitn(3, ' ');
    let (day, month, year) = (words.next()?, words.next()?, words.next()?);
    let is_date = day.parse::<u8>().is_ok()
        && month.len() == 3
        && year.get(..4)?.bytes().all(|digit| digit.is_ascii_digit());
    let date = day.len() + month.len() + "  2020".len();
    (is_date && before.len() < 40)
        .then_some(line.len() - text.len() + before.len() + "] ".len() + date)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blank,
    Heading,
    Item,
    Row,
    Code,
    /// A text line, and whether it may go on from the line before.
    Text {
        goes_on: bool,
    },
}

impl Kind {
    fn of(line: &str) -> Self {
        let text = line.trim_start();
        match text.chars().next() {
            None => Self::Blank,
            Some('#') => Self::Heading,
            Some('|') => Self::Row,
            Some('-' | '*' | '+') if text.get(1..2) == Some(" ") => Self::Item,
            Some(c) if c.is_ascii_digit() && is_numbered(text) => Self::Item,
            Some(c) => Self::Text {
                goes_on: c.is_lowercase() || text.len() < line.len(),
            },
        }
    }

    fn parts_from(self, next: Self) -> bool {
        match (self, next) {
            (Self::Blank | Self::Code, _)
            | (_, Self::Blank | Self::Code)
            | (Self::Row, Self::Row) => false,
            (Self::Heading | Self::Row, _) | (_, Self::Heading | Self::Row) => true,
            (Self::Item, Self::Text { goes_on }) => !goes_on,
            _ => false,
        }
    }
}

fn is_numbered(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    text.len() - rest.len() <= 3 && (rest.starts_with(". ") || rest.starts_with(") "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_lines(change: fn(Vec<String>) -> Vec<String>, markdown: &str, expect: &str) {
        let lines = markdown.lines().map(str::to_owned).collect();
        assert_eq!(change(lines).join("\n"), expect);
    }

    #[test]
    fn broken_paragraphs_are_whole() {
        let long = "A paragraph of a first column that is long enough and goes on with some";
        let joined = format!("{long} of the words.\n\nNext");
        check_lines(heal, &format!("{long}\n\nof the words.\n\nNext"), &joined);
        let ended = format!("{long}.\n\nof the words");
        check_lines(heal, &ended, &ended);
        check_lines(heal, "apple\n\nbanana", "apple\n\nbanana");
        let row = format!("|{long}\n\nof the words");
        check_lines(heal, &row, &row);
        let item = format!("- {long}\n\nof the words");
        check_lines(heal, &item, &item);
    }

    #[test]
    fn a_stamp_is_moved_to_the_end() {
        let stamp = "arXiv:2004.04906v3 [cs.CL] 30 Sep 2020";
        check_lines(
            move_stamp,
            &format!("some\n\n# {stamp}of them\n\nend"),
            &format!("some\n\nof them\n\nend\n\n{stamp}"),
        );
        check_lines(
            move_stamp,
            &format!("some\n\n# {stamp}\n\nend"),
            &format!("some\n\nend\n\n{stamp}"),
        );
        check_lines(
            move_stamp,
            "# arXiv: a history\n\nx",
            "# arXiv: a history\n\nx",
        );
    }

    #[test]
    fn blocks_stand_apart() {
        #[track_caller]
        fn check(markdown: &str, expect: &str) {
            let lines: Vec<_> = markdown.lines().map(str::to_owned).collect();
            assert_eq!(part(&lines), expect);
        }
        check("- a\n- b\nAfter it", "- a\n- b\n\nAfter it");
        check(
            "- a long\nitem goes on\n  and on",
            "- a long\nitem goes on\n  and on",
        );
        check("1. one\n2. two\n## Next", "1. one\n2. two\n\n## Next");
        check(
            "text\n|a|b|\n|---|---|\ntext",
            "text\n\n|a|b|\n|---|---|\n\ntext",
        );
        check("```\n- x\nY\n# z\n```\nEnd", "```\n- x\nY\n# z\n```\nEnd");
        check("one\ntwo\n\nthree", "one\ntwo\n\nthree");
        check("# A\ntext", "# A\n\ntext");
    }
}
