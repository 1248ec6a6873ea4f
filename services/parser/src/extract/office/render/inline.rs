//! Text within a block.

use anydoc::model::Inline;

use super::Renderer;

impl Renderer<'_> {
    /// A paragraph; its own line breaks are kept as two spaces and a line end.
    pub(super) fn paragraph(&mut self, content: &[Inline]) -> String {
        let mut text = String::new();
        self.push(content, &mut text);
        let lines: Vec<String> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(escaped)
            .collect();
        lines.join("  \n")
    }

    /// `content` as one line.
    pub(super) fn in_a_line(&mut self, content: &[Inline]) -> String {
        let mut text = String::new();
        self.push(content, &mut text);
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ")
    }

    fn push(&mut self, content: &[Inline], out: &mut String) {
        for inline in content {
            match inline {
                Inline::Text { text, .. } => out.push_str(text),
                Inline::Link { content, target } => {
                    let before = out.len();
                    self.push(content, out);
                    if out.len() == before {
                        push_address(target, out);
                    }
                }
                Inline::Image { alt, .. } => push_apart(alt, out),
                Inline::Anchor(_) => {}
                Inline::NoteRef(id) => {
                    if let Some(number) = self.number_of(id) {
                        out.push_str("[^");
                        out.push_str(&number.to_string());
                        out.push(']');
                    }
                }
                Inline::LineBreak => out.push('\n'),
                Inline::Math(tex) if tex.trim().is_empty() => {}
                Inline::Math(tex) => out.extend(["$", tex.trim(), "$"]),
                Inline::Checkbox(checked) => {
                    out.push_str(anydoc::model::checkbox_text(*checked));
                }
            }
        }
    }
}

/// A link without a text shows where it leads.
fn push_address(target: &anydoc::model::LinkTarget, out: &mut String) {
    if let anydoc::model::LinkTarget::External(address) = target {
        out.push_str(address);
    }
}

/// The description of a picture, which is not a part of the sentence around it.
fn push_apart(alt: &str, out: &mut String) {
    let alt = alt.trim();
    if alt.is_empty() {
        return;
    }
    if !out.is_empty() && !out.ends_with(char::is_whitespace) {
        out.push(' ');
    }
    out.push_str(alt);
    out.push(' ');
}

/// A line of text that Markdown does not take for a heading, a quotation, a rule or code.
fn escaped(line: &str) -> String {
    let marks = line.trim_start_matches('#');
    let is_heading = marks.len() < line.len() && (marks.is_empty() || marks.starts_with(' '));
    let is_only = |c: char| line.chars().all(|other| other == c || other == ' ');
    let is_rule = ['-', '=', '*', '_'].into_iter().any(is_only);
    let is_fence = line.starts_with("```") || line.starts_with("~~~");
    if is_heading || is_rule || is_fence || line.starts_with(['>', '|']) {
        format!("\\{line}")
    } else {
        line.to_owned()
    }
}
