//! Plain text of a message as Markdown.

use super::super::lines::escape_marks;

/// How lines were broken for sending: RFC 3676.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Breaks {
    /// Where the writer put them.
    #[default]
    Fixed,
    /// A space before a break says that the line goes on.
    Flowed {
        /// That space is not part of the text.
        delete_space: bool,
    },
}

/// `text` as Markdown in which nothing becomes a heading by chance.
pub(super) fn to_markdown(text: &str, breaks: Breaks) -> String {
    let text = match breaks {
        Breaks::Fixed => text.to_owned(),
        Breaks::Flowed { delete_space } => joined(text, delete_space),
    };
    without_underlines(&escape_marks(&text))
}

/// `text` with its flowed lines joined.
fn joined(text: &str, delete_space: bool) -> String {
    let mut out = String::with_capacity(text.len());
    // The depth of quotation of the line that goes on.
    let mut open: Option<usize> = None;
    for line in text.lines() {
        let body = line.trim_start_matches('>');
        let depth = line.len() - body.len();
        let body = body.strip_prefix(' ').unwrap_or(body);
        if open != Some(depth) {
            if open.is_some() {
                out.push('\n');
            }
            if depth > 0 {
                out.extend(std::iter::repeat_n('>', depth));
                out.push(' ');
            }
        }
        // The mark of a signature ends with a space and does not go on.
        if body.ends_with(' ') && body != "-- " {
            out.push_str(if delete_space {
                body.strip_suffix(' ').unwrap_or(body)
            } else {
                body
            });
            open = Some(depth);
        } else {
            out.push_str(body);
            out.push('\n');
            open = None;
        }
    }
    if open.is_some() {
        out.push('\n');
    }
    out
}

/// `text` with an empty line before rows of `-` and `=`: right below a line, Markdown takes them
/// for the underline of a heading, and in e-mail they part signatures and footers. Underlines as
/// long as a line that stands alone are left.
fn without_underlines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut before, mut last) = ("", "");
    for line in text.lines() {
        let row = line.trim();
        let is_row =
            !row.is_empty() && (row.chars().all(|c| c == '-') || row.chars().all(|c| c == '='));
        let title = last.trim().chars().count();
        let is_underline =
            row.len() > 2 && before.trim().is_empty() && row.len().abs_diff(title) < 3;
        if is_row && title > 0 && !is_underline {
            out.push('\n');
        }
        out.push_str(line);
        out.push('\n');
        (before, last) = (last, line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flowed_lines_are_joined() {
        #[track_caller]
        fn check(text: &str, delete_space: bool, expect: &str) {
            assert_eq!(to_markdown(text, Breaks::Flowed { delete_space }), expect);
        }
        check("one \ntwo\nthree\n", false, "one two\nthree\n");
        check("was  \nrecently\n", true, "was recently\n");
        check("日本 \n語\n", true, "日本語\n");
        check("> one \n> two\nmine \nis\n", false, "> one two\nmine is\n");
        check(">> a \n> b \nc", false, ">> a \n> b \nc\n");
        check(" >not a quote\nx\n", false, ">not a quote\nx\n");
        check("Ann\n-- \nsales\n", false, "Ann\n\n-- \nsales\n");
    }

    #[test]
    fn rows_of_dashes_are_no_headings() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            assert_eq!(to_markdown(text, Breaks::Fixed), expect);
        }
        check("Ann\n-- \nsales\n", "Ann\n\n-- \nsales\n");
        check(
            "bye\n-------------------\nfooter\n",
            "bye\n\n-------------------\nfooter\n",
        );
        check("\nAgenda\n------\nx\n", "\nAgenda\n------\nx\n");
        check("a\nAgenda\n------\n", "a\nAgenda\n\n------\n");
        check("# 5 things\n", "\\# 5 things\n");
    }
}
