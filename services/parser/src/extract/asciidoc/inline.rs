//! Marks within a line of AsciiDoc.

use std::collections::HashMap;

/// Text that attributes may add to one line, in bytes.
const MOST_BYTES: usize = 10_000;
/// Macros whose text is what stands in brackets.
const MACROS: [&str; 10] = [
    "link",
    "xref",
    "kbd",
    "btn",
    "menu",
    "pass",
    "stem",
    "latexmath",
    "asciimath",
    "image",
];

/// The attributes of the document, which stand in its text by name.
#[derive(Default)]
pub(super) struct Inline {
    attributes: HashMap<String, String>,
}

impl Inline {
    pub(super) fn define(&mut self, name: &str, value: &str) {
        self.attributes.insert(name.to_owned(), value.to_owned());
    }

    /// `line` with macros as their text.
    pub(super) fn of(&self, line: &str) -> String {
        let line = self.with_attributes(line);
        let line = without_references(&line);
        let mut out = String::with_capacity(line.len());
        let mut rest = line.as_str();
        while let Some((before, after)) = rest.split_once('[') {
            let Some((inner, after)) = closed(after) else {
                out.push_str(before);
                out.push('[');
                rest = after;
                continue;
            };
            push_bracketed(&mut out, before, inner);
            rest = after;
        }
        out.push_str(rest);
        for (mark, text) in [
            ("**", ""),
            ("__", ""),
            ("\"`", "“"),
            ("`\"", "”"),
            ("'`", "‘"),
            ("`'", "’"),
        ] {
            // Marks that may stand within a word.
            if out.contains(mark) {
                out = out.replace(mark, text);
            }
        }
        out
    }

    fn with_attributes(&self, line: &str) -> String {
        let mut out = String::with_capacity(line.len());
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let named = after
                .split_once('}')
                .and_then(|(name, after)| Some((self.attribute(name)?, after)));
            match named {
                Some((value, after)) if out.len() + value.len() < line.len() + MOST_BYTES => {
                    out.push_str(value);
                    rest = after;
                }
                _ => {
                    out.push('{');
                    rest = after;
                }
            }
        }
        out.push_str(rest);
        out
    }

    fn attribute(&self, name: &str) -> Option<&str> {
        match name {
            "nbsp" | "sp" => Some(" "),
            "empty" | "zwsp" => Some(""),
            "plus" => Some("+"),
            "asterisk" => Some("*"),
            "vbar" => Some("|"),
            "amp" => Some("&"),
            "lt" => Some("<"),
            "gt" => Some(">"),
            _ => self.attributes.get(name).map(String::as_str),
        }
    }
}

/// What is in brackets that are open, up to the one that closes them.
fn closed(text: &str) -> Option<(&str, &str)> {
    let mut open = 1_usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' => open += 1,
            ']' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some((text.get(..at)?, text.get(at + 1..)?));
        }
    }
    None
}

/// Writes `before[inner]`.
fn push_bracketed(out: &mut String, before: &str, inner: &str) {
    let start = before.rfind(|c: char| c.is_whitespace() || matches!(c, '(' | '"' | '*' | '_'));
    let start = start.map_or(0, |at| {
        at + before
            .get(at..)
            .and_then(|rest| rest.chars().next())
            .map_or(1, char::len_utf8)
    });
    let (text, target) = before.split_at(start);
    let is_address = target.contains("://");
    let mail = target.strip_prefix("mailto:");
    let named = target
        .split_once(':')
        .filter(|(name, _)| MACROS.contains(name));
    if let Some(address) = mail {
        out.push_str(text);
        match first_value(inner).as_str() {
            "" => out.push_str(address),
            label => out.extend([label, " (", address, ")"]),
        }
    } else if let Some((name, path)) = named {
        out.push_str(text);
        let label = first_value(inner);
        match (name, label.is_empty()) {
            ("pass" | "stem" | "latexmath" | "asciimath", _) => out.push_str(inner),
            ("menu", false) => out.extend([path, " > ", label.as_str()]),
            ("image", true) => {}
            (_, true) => out.push_str(path.trim_start_matches(':')),
            (_, false) => out.push_str(&label),
        }
    } else if is_address {
        out.push_str(text);
        let label = first_value(inner);
        out.push_str(if label.is_empty() { target } else { &label });
    } else if let Some(text) = before.strip_suffix("footnote:") {
        out.push_str(text.trim_end());
        out.extend([" (", inner, ")"]);
    } else if inner.starts_with(['#', '[']) || (inner.starts_with('.') && inner.len() > 1) {
        // An anchor or a role.
        out.push_str(before);
    } else {
        out.push_str(before);
        out.extend(["[", inner, "]"]);
    }
}

/// The first value of an attribute list, without its quotes and without `[`.
pub(super) fn first_value(list: &str) -> String {
    let list = list.split_once('[').map_or(list, |(_, list)| list);
    let list = list.trim_end_matches(']');
    let quoted = list.strip_prefix('"').and_then(|list| list.split_once('"'));
    let first = match quoted {
        Some((first, _)) => first,
        // A comma parts attributes only where one with a name follows.
        None if list.contains('=') => list.split(',').next().unwrap_or_default(),
        None => list,
    };
    let first = first.trim().trim_end_matches('^');
    if first.contains('=') {
        return String::new();
    }
    first.to_owned()
}

/// `<<id,text>>` as its text.
fn without_references(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("<<") {
        out.push_str(before);
        let Some((inner, after)) = after.split_once(">>") else {
            out.push_str("<<");
            rest = after;
            continue;
        };
        out.push_str(inner.split_once(',').map_or(inner, |(_, text)| text).trim());
        rest = after;
    }
    out.push_str(rest);
    out
}
