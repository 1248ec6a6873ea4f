//! Page labels: the numbers printed on pages (ISO 32000-2, 12.4.2).

use std::collections::BTreeMap;

use lopdf::{Dictionary, Document};

use super::objects::{array, dictionary, resolve, text_string};

/// A number tree deeper than this is a loop.
const MAX_DEPTH: u32 = 24;
/// A roman or letter label longer than this is no label.
const MAX_NUMBER: i64 = 4999;

/// How the pages from an index on are labelled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Style {
    kind: Option<u8>,
    prefix: String,
    start: i64,
}

/// The labels of a document of `pages` pages, by physical page from 1, where they differ from the
/// physical number.
pub(super) fn of(document: &Document, pages: usize) -> BTreeMap<u32, String> {
    let mut styles = BTreeMap::new();
    if let Some(root) = document
        .catalog()
        .ok()
        .and_then(|catalog| dictionary(document, catalog, b"PageLabels"))
    {
        collect(document, root, 0, &mut styles);
    }
    label(&styles, pages)
}

fn label(styles: &BTreeMap<u32, Style>, pages: usize) -> BTreeMap<u32, String> {
    let count = u32::try_from(pages).unwrap_or(u32::MAX);
    (0..count)
        .filter_map(|index| {
            let (first, style) = styles.range(..=index).next_back()?;
            let text = style.text(i64::from(index - first));
            let physical = index + 1;
            (!text.is_empty() && text != physical.to_string()).then_some((physical, text))
        })
        .collect()
}

fn collect(document: &Document, node: &Dictionary, depth: u32, styles: &mut BTreeMap<u32, Style>) {
    if depth > MAX_DEPTH {
        return;
    }
    if let Some(entries) = array(document, node, b"Nums") {
        for pair in entries.chunks_exact(2) {
            let [index, style] = pair else { continue };
            let index = index
                .as_i64()
                .ok()
                .and_then(|index| u32::try_from(index).ok());
            let style = document
                .dereference(style)
                .ok()
                .and_then(|(_, style)| style.as_dict().ok());
            if let (Some(index), Some(style)) = (index, style) {
                styles.insert(index, Style::of(document, style));
            }
        }
    }
    for kid in array(document, node, b"Kids").unwrap_or_default() {
        if let Some(kid) = document
            .dereference(kid)
            .ok()
            .and_then(|(_, kid)| kid.as_dict().ok())
        {
            collect(document, kid, depth + 1, styles);
        }
    }
}

impl Style {
    fn of(document: &Document, node: &Dictionary) -> Self {
        let name = resolve(document, node, b"S").and_then(|name| name.as_name().ok());
        Self {
            kind: name.and_then(|name| name.first().copied()),
            prefix: resolve(document, node, b"P")
                .and_then(text_string)
                .unwrap_or_default(),
            start: resolve(document, node, b"St")
                .and_then(|start| start.as_i64().ok())
                .unwrap_or(1),
        }
    }

    fn text(&self, offset: i64) -> String {
        let number = self.start.saturating_add(offset);
        let numeral = match self.kind {
            Some(b'D') => number.to_string(),
            Some(b'r') => roman(number),
            Some(b'R') => roman(number).to_uppercase(),
            Some(b'a') => letters(number),
            Some(b'A') => letters(number).to_uppercase(),
            _ => String::new(),
        };
        format!("{}{numeral}", self.prefix)
    }
}

fn roman(mut number: i64) -> String {
    const NUMERALS: [(i64, &str); 13] = [
        (1000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    if !(1..=MAX_NUMBER).contains(&number) {
        return number.to_string();
    }
    let mut out = String::new();
    for (value, numeral) in NUMERALS {
        while number >= value {
            out.push_str(numeral);
            number -= value;
        }
    }
    out
}

/// a … z, aa … zz, aaa …
fn letters(number: i64) -> String {
    let (Ok(index), true) = (usize::try_from(number - 1), number <= MAX_NUMBER) else {
        return number.to_string();
    };
    let letter = char::from(b'a' + u8::try_from(index % 26).unwrap_or(0));
    std::iter::repeat_n(letter, index / 26 + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(kind: u8, prefix: &str, start: i64) -> Style {
        Style {
            kind: Some(kind),
            prefix: prefix.to_owned(),
            start,
        }
    }

    #[test]
    fn numerals() {
        #[track_caller]
        fn check(style: &Style, offset: i64, expect: &str) {
            assert_eq!(style.text(offset), expect);
        }
        check(&style(b'r', "", 1), 3, "iv");
        check(&style(b'R', "", 1994), 0, "MCMXCIV");
        check(&style(b'a', "", 1), 25, "z");
        check(&style(b'A', "", 1), 27, "BB");
        check(&style(b'D', "A-", 1), 6, "A-7");
        check(
            &Style {
                kind: None,
                prefix: "Cover".to_owned(),
                start: 1,
            },
            0,
            "Cover",
        );
        check(&style(b'r', "", 0), 0, "0");
        check(&style(b'a', "", i64::MAX), 1, &i64::MAX.to_string());
    }

    #[test]
    fn only_labels_that_differ_are_kept() {
        let styles = BTreeMap::from([(0, style(b'r', "", 1)), (2, style(b'D', "", 1))]);
        let labels = label(&styles, 5);
        let expect = [(1, "i"), (2, "ii"), (3, "1"), (4, "2"), (5, "3")];
        assert_eq!(
            labels,
            expect.map(|(page, label)| (page, label.to_owned())).into()
        );
        assert!(label(&BTreeMap::from([(0, style(b'D', "", 1))]), 4).is_empty());
        assert!(label(&BTreeMap::new(), 4).is_empty());
    }
}
