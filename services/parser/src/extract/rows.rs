//! Rows of Markdown tables, without padding: white space costs tokens and says nothing.

mod pages;

pub(super) use pages::Pages;

/// Adds `cells` to `out` as a row of at least `columns` cells.
pub(super) fn push_row<'a>(
    out: &mut String,
    cells: impl IntoIterator<Item = &'a str>,
    columns: usize,
) {
    out.push('|');
    let mut count = 0;
    for cell in cells {
        push_cell(out, cell);
        count += 1;
    }
    for _ in count..columns {
        out.push_str("  |");
    }
    out.push('\n');
}

/// Adds the row between a table's header and its body.
pub(super) fn push_rule(out: &mut String, columns: usize) {
    out.push('|');
    for _ in 0..columns {
        out.push_str(" --- |");
    }
    out.push('\n');
}

/// A cell is one line, and only a bare `|` ends it.
fn push_cell(out: &mut String, cell: &str) {
    out.push(' ');
    let mut gap = false;
    for c in cell.trim().chars() {
        match c {
            '\n' => gap = true,
            ' ' | '\t' if gap => {}
            c => {
                if std::mem::take(&mut gap) && !out.ends_with(' ') {
                    out.push(' ');
                }
                if c == '|' {
                    out.push('\\');
                }
                out.push(c);
            }
        }
    }
    out.push_str(" |");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_their_text_and_their_borders() {
        #[track_caller]
        fn check(cells: &[&str], columns: usize, expect: &str) {
            let mut out = String::new();
            push_row(&mut out, cells.iter().copied(), columns);
            assert_eq!(out, expect);
        }
        check(&["a", "1,234.50"], 0, "| a | 1,234.50 |\n");
        check(&["a|b", "two\n \nlines"], 3, "| a\\|b | two lines |  |\n");
        check(&[" \n ", ""], 2, "|  |  |\n");
        check(&["one \n two", "a  b"], 0, "| one two | a  b |\n");
    }
}
