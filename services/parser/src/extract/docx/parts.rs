//! What stands in a document's smaller parts: its title, headers, footers and comments.

use std::collections::BTreeSet;

use super::super::office::lines::{self, Line};
use super::super::office::package::Package;

/// The parts that anydoc leaves out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) title: Option<String>,
    /// Lines to be put after the text, each saying what it is.
    pub(super) lines: Vec<String>,
    seen: BTreeSet<String>,
}

impl Parts {
    /// What can be read of them: none is needed.
    pub(super) fn read(package: &Package) -> Self {
        let mut parts = Self::default();
        for name in package.names() {
            if let Some(label) = label_of(name)
                && let Some(xml) = package.xml(name)
            {
                parts.add(label, &xml);
            }
        }
        parts
    }

    fn add(&mut self, label: &str, xml: &str) {
        let lines = lines::office(xml);
        if label == COMMENT {
            for Line { author, text } in lines {
                let author = author.map(|author| format!(" by {author}"));
                self.push(format!("{label}{}: {text}", author.unwrap_or_default()));
            }
            return;
        }
        let text: Vec<String> = lines.into_iter().map(|line| line.text).collect();
        let text = text.join("; ");
        if text.is_empty() {
            return;
        }
        if label == TITLE {
            self.title = Some(text);
        } else {
            self.push(format!("{label}: {text}"));
        }
    }

    /// Sections repeat their headers.
    fn push(&mut self, line: String) {
        if self.seen.insert(line.clone()) {
            self.lines.push(line);
        }
    }
}

const TITLE: &str = "Title";
const COMMENT: &str = "Comment";

/// What the part called `name` holds.
fn label_of(name: &str) -> Option<&'static str> {
    if name == "docProps/core.xml" {
        return Some(TITLE);
    }
    let name = name.strip_prefix("word/")?.strip_suffix(".xml")?;
    let is = |stem: &str| {
        let number = name.strip_prefix(stem);
        number.is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()))
    };
    if is("header") {
        Some("Page header")
    } else if is("footer") {
        Some("Page footer")
    } else if is("comments") {
        Some(COMMENT)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_known_by_name() {
        assert_eq!(label_of("word/header12.xml"), Some("Page header"));
        assert_eq!(label_of("word/comments.xml"), Some("Comment"));
        assert_eq!(label_of("word/headers/a.xml"), None);
        assert_eq!(label_of("word/commentsExtended.xml"), None);
    }
}
