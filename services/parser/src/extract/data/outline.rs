//! Writes values as sections, tables and lists.

use super::super::lines::escape_marks;
use super::Value;
use super::pages::Pages;
use super::table::Table;

/// A value of more bytes is a section of its own.
const LARGE_BYTES: usize = 600;
/// Scalars that are written in one line, in bytes.
const LINE_BYTES: usize = 200;
/// The deepest level of a section's heading.
const MOST_LEVELS: usize = 4;
/// Spaces before a list item say no more from here on.
const MOST_INDENTED: usize = 8;
/// Members that name what a record is about, the best first.
const NAMES: [&str; 6] = ["name", "title", "label", "key", "id", "@id"];

/// Writes `value` into `pages`, its sections with headings from `level` on.
pub(in super::super) fn write(pages: &mut Pages, value: &Value, level: usize) {
    if let Some(table) = Table::of(value) {
        table.write(pages);
        return;
    }
    match value {
        Value::Scalar(text) => pages.block(&paragraphs(text)),
        Value::Record(members) => write_record(pages, members, level),
        Value::List(items) => write_items(pages, items, level, ""),
    }
}

/// The short members come first, so that none of them seems to belong to a section.
fn write_record(pages: &mut Pages, members: &[(String, Value)], level: usize) {
    let (large, small): (Vec<_>, Vec<_>) = members
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .partition(|(_, value)| level <= MOST_LEVELS && is_section(value));
    let mut lines = String::new();
    for (key, value) in small {
        push_lines(&mut lines, key, value, 0);
    }
    pages.block(&lines);
    for (key, value) in large {
        pages.heading(level, key);
        match value {
            Value::List(items) if Table::of(value).is_none() => {
                write_items(pages, items, level + 1, key);
            }
            _ => write(pages, value, level + 1),
        }
    }
}

/// Items one after the other; those that are large are sections.
fn write_items(pages: &mut Pages, items: &[Value], level: usize, key: &str) {
    let mut scalars = String::new();
    for (item, number) in items.iter().zip(1..) {
        if item.is_empty() {
            continue;
        }
        if let Value::Scalar(text) = item
            && !is_large(item)
        {
            push_item(&mut scalars, "", text, 0);
            continue;
        }
        pages.block(&std::mem::take(&mut scalars));
        let is_section = level <= MOST_LEVELS && is_large(item);
        if is_section {
            pages.heading(level, &label(item, key, number));
            write(pages, item, level + 1);
            continue;
        }
        let mut lines = String::new();
        match item {
            Value::Record(members) => {
                for (key, value) in members {
                    push_lines(&mut lines, key, value, 0);
                }
            }
            _ => push_lines(&mut lines, &number.to_string(), item, 0),
        }
        pages.record(&lines);
    }
    pages.block(&scalars);
}

/// What an item is called: by its own name where it has one.
fn label(item: &Value, key: &str, number: usize) -> String {
    let own = NAMES.iter().find_map(|name| item.get(name)?.text());
    let own = own
        .map(str::trim)
        .filter(|own| !own.is_empty() && own.len() <= 100);
    match (own, key) {
        (Some(own), "") => own.to_owned(),
        (Some(own), key) => format!("{key} {number}: {own}"),
        (None, "") => number.to_string(),
        (None, key) => format!("{key} {number}"),
    }
}

/// Whether a member stands apart from the rest.
fn is_section(value: &Value) -> bool {
    is_large(value) || (matches!(value, Value::List(_)) && Table::of(value).is_some())
}

fn is_large(value: &Value) -> bool {
    value.weight(LARGE_BYTES) > LARGE_BYTES
}

/// `key: value`, with what lies within it below.
fn push_lines(out: &mut String, key: &str, value: &Value, depth: usize) {
    if value.is_empty() {
        return;
    }
    match value {
        Value::Scalar(text) => push_item(out, key, text, depth),
        Value::Record(members) => {
            push_item(out, key, "", depth);
            for (key, value) in members {
                push_lines(out, key, value, depth + 1);
            }
        }
        Value::List(items) => match one_line(items) {
            Some(line) => push_item(out, key, &line, depth),
            None => {
                for (item, number) in items.iter().zip(1..) {
                    push_lines(out, &format!("{key} {number}"), item, depth);
                }
            }
        },
    }
}

/// Short scalars of a list in one line.
pub(super) fn one_line(items: &[Value]) -> Option<String> {
    let texts: Option<Vec<&str>> = items.iter().map(Value::text).collect();
    let line = texts?.join(", ");
    (line.len() <= LINE_BYTES && !line.contains('\n')).then_some(line)
}

fn push_item(out: &mut String, key: &str, text: &str, depth: usize) {
    let indent = "  ".repeat(depth.min(MOST_INDENTED));
    out.push_str(&indent);
    out.push_str("- ");
    out.extend(key.chars().map(|c| if c == '\n' { ' ' } else { c }));
    if !key.is_empty() {
        out.push(':');
    }
    for (index, line) in text.trim().lines().enumerate() {
        if index > 0 {
            out.push('\n');
            out.push_str(&indent);
            out.push_str("  ");
            out.push_str(&escape_marks(line.trim()));
        } else if !key.is_empty() {
            out.push(' ');
            out.push_str(line);
        } else {
            out.push_str(&escape_marks(line));
        }
    }
    out.push('\n');
}

/// A text that stands by itself.
fn paragraphs(text: &str) -> String {
    escape_marks(text.trim())
}
