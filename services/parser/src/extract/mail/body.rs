//! The text of a message, once, although it comes in several forms.

use shared::format::Format;

use super::super::{ExtractError, Input};
use super::page::one_line;
use super::{Mail, Piece, quote};

/// The web page is taken, for its lists and tables, unless it says less than this part of what the
/// plain text says, in per cent.
const FULL_ENOUGH: usize = 90;

/// The fuller form of the text as Markdown, earlier messages marked.
pub(super) fn write(mail: &mut Mail<'_>, input: &Input<'_>) -> String {
    let plain = std::mem::take(&mut mail.body.plain);
    let html = std::mem::take(&mut mail.body.html);
    let has_page = |pieces: &[Piece]| pieces.iter().any(|piece| !matches!(piece, Piece::Plain(_)));
    if !has_page(&html) {
        let pieces = if plain.is_empty() { html } else { plain };
        return joined(mail, input, &pieces);
    }
    if plain == html || plain.is_empty() {
        return joined(mail, input, &html);
    }
    let doubts = mail.doubts.len();
    let page = joined(mail, input, &html);
    let text: String = plain
        .iter()
        .map(|piece| match piece {
            Piece::Plain(text) => text.as_str(),
            _ => "",
        })
        .collect();
    if weight(&page) * 100 >= weight(&text) * FULL_ENOUGH {
        return page;
    }
    mail.doubts.truncate(doubts);
    joined(mail, input, &plain)
}

fn joined(mail: &mut Mail<'_>, input: &Input<'_>, pieces: &[Piece]) -> String {
    let mut out = String::new();
    for piece in pieces {
        let text = match piece {
            Piece::Plain(text) => text.clone(),
            Piece::Html(page) => converted(mail, input, Format::Html, page.as_bytes()),
            Piece::Rtf(bytes) => converted(mail, input, Format::Rtf, bytes),
        };
        if !out.is_empty() && !text.is_empty() {
            out.push('\n');
        }
        out.push_str(text.trim_matches('\n'));
        out.push('\n');
    }
    quote::mark(out.trim_matches('\n'))
}

/// A body that a reader of its own turns into Markdown.
fn converted(mail: &mut Mail<'_>, input: &Input<'_>, format: Format, bytes: &[u8]) -> String {
    let extraction = match input.part(format, bytes) {
        Ok(extraction) => extraction,
        Err(error) => {
            mail.doubts.push(unread(&error));
            return String::new();
        }
    };
    mail.doubts.extend(extraction.notes);
    let mut text = String::new();
    for page in extraction.pages {
        text.push_str(&page.markdown);
        mail.doubts.extend(page.record.doubts);
    }
    let subject = mail.subject.as_deref().map(one_line);
    let text = without_title(&text, subject.as_deref());
    one_level_down(&without_frames(text))
}

fn unread(error: &ExtractError) -> String {
    format!("the text of the message is not read: {error}")
}

/// `text` without its first heading if that repeats the subject.
fn without_title<'t>(text: &'t str, subject: Option<&str>) -> &'t str {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    match first.strip_prefix("# ") {
        Some(title) if Some(title.trim()) == subject => rest,
        _ => text,
    }
}

/// `markdown` with tables of one column as paragraphs: in messages they are frames around the
/// text. Spaces part the paragraphs of a cell.
fn without_frames(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let lines: Vec<&str> = markdown.lines().collect();
    let mut rest = lines.as_slice();
    while let Some((line, after)) = rest.split_first() {
        if after.first() != Some(&"| --- |") || !line.starts_with("| ") {
            out.push_str(line);
            out.push('\n');
            rest = after;
            continue;
        }
        let length = rest.iter().take_while(|row| row.starts_with('|')).count();
        let (rows, others) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        for row in rows.iter().filter(|row| **row != "| --- |") {
            let cell = row
                .strip_prefix("| ")
                .and_then(|row| row.strip_suffix(" |"));
            for paragraph in cell.unwrap_or(row).replace("\\|", "|").split("  ") {
                let paragraph = paragraph.trim();
                if !paragraph.is_empty() {
                    out.push_str(paragraph);
                    out.push_str("\n\n");
                }
            }
        }
        rest = others;
    }
    out
}

/// `markdown` with its headings below that of the page.
fn one_level_down(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut fence: Option<&str> = None;
    for line in markdown.lines() {
        if let Some(mark) = fence {
            fence = (line.trim() != mark).then_some(mark);
        } else if line.starts_with("```") {
            fence = Some(line.trim_end_matches(|c| c != '`'));
        } else {
            let depth = line.len() - line.trim_start_matches('#').len();
            let is_heading = (1..6).contains(&depth)
                && line.get(depth..).is_some_and(|rest| rest.starts_with(' '));
            if is_heading {
                out.push('#');
            }
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// Letters and digits of `text`, without those of addresses of web pages: plain texts spell them
/// out where web pages link.
fn weight(text: &str) -> usize {
    text.split_whitespace()
        .filter(|word| !word.contains("://"))
        .map(|word| word.chars().filter(|c| c.is_alphanumeric()).count())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_no_tables() {
        assert_eq!(
            without_frames(
                "a\n\n| Hi,  you owe 3 \\| 4 |\n| --- |\n| Bye |\n\n| a | b |\n| --- | --- |\n"
            ),
            "a\n\nHi,\n\nyou owe 3 | 4\n\nBye\n\n\n| a | b |\n| --- | --- |\n"
        );
    }

    #[test]
    fn headings_go_one_level_down() {
        assert_eq!(
            one_level_down("# A\n\n```\n# no\n```\n#tag\n###### six\n"),
            "## A\n\n```\n# no\n```\n#tag\n###### six\n"
        );
    }
}
