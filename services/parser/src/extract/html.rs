//! Web pages: one page, because a web page has none. The tree is pruned first; what is left
//! becomes Markdown in which links are their text and pictures their description, so that nothing
//! in it is loaded from elsewhere.

mod declared;
mod elements;
mod prune;
mod table;
mod tree;

use htmd::HtmlToMarkdown;
use htmd::options::{BulletListMarker, Options};

pub(super) use self::declared::encoding as declared_encoding;
use self::elements::Written;
use super::markdown::Names;
use super::{ExtractError, Extraction, Extractor, Input, charset, only_page};

pub(super) struct HtmlExtractor;

impl Extractor for HtmlExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let decoded = charset::decode_declared(input.bytes, declared::encoding(input.bytes));
        let (mut markdown, pruned) = convert(&decoded.text)?;
        if let Some(title) = pruned.title.as_ref().filter(|_| !pruned.has_main_heading) {
            markdown = format!("# {title}\n\n{markdown}");
        }
        let names = Names::of(&markdown);
        let doubts = decoded.doubts();
        Ok(Extraction {
            title: pruned.title.or(names.title),
            pages: vec![only_page(markdown, names.heading, doubts)],
            notes: pruned.notes,
            ..Extraction::default()
        })
    }
}

/// A piece of HTML that stands in another document, as Markdown.
///
/// # Errors
/// When it cannot be read at all.
pub(super) fn fragment(html: &str) -> Result<String, ExtractError> {
    Ok(convert(html)?.0)
}

fn convert(html: &str) -> Result<(String, prune::Pruned), ExtractError> {
    let converter = converter();
    let damaged = |error: std::io::Error| ExtractError::Damaged {
        what: error.kind().to_string(),
    };
    let tree = converter.html_to_tree(html).map_err(damaged)?;
    for (frames, text) in prune::unparsed(&tree) {
        let inner = converter.html_to_tree(&text).map_err(damaged)?;
        prune::adopt(&frames, &inner);
    }
    let pruned = prune::prune(&tree);
    Ok((tidy(&converter.tree_to_markdown(&tree)), pruned))
}

fn converter() -> HtmlToMarkdown {
    let options = Options {
        bullet_list_marker: BulletListMarker::Dash,
        ul_bullet_spacing: 1,
        ol_number_spacing: 1,
        ..Options::default()
    };
    HtmlToMarkdown::builder()
        .options(options)
        .scripting_enabled(false)
        .add_handler(
            vec!["h1", "h2", "h3", "h4", "h5", "h6"],
            Written(elements::heading),
        )
        .add_handler(vec!["a"], Written(elements::link))
        .add_handler(vec!["img"], Written(elements::picture))
        .add_handler(vec!["pre"], Written(elements::code))
        .add_handler(vec!["sup"], Written(elements::raised))
        .add_handler(vec!["del", "s", "strike"], Written(elements::struck))
        .add_handler(vec!["dl"], Written(elements::terms))
        .add_handler(vec!["ruby"], Written(elements::ruby))
        .add_handler(vec!["math"], Written(elements::formula))
        .add_handler(vec!["table"], table::TableHandler::default())
        .build()
}

/// `markdown` without control characters that entities may bring, soft hyphens, runs of empty
/// lines, and spaces before a line. Fenced blocks stay as they are.
fn tidy(markdown: &str) -> String {
    let clean = charset::clean(markdown);
    let mut out = String::with_capacity(clean.len());
    let (mut empty, mut fence) = (0, None);
    for line in clean.lines() {
        if let Some(mark) = fence {
            out.push('\n');
            out.push_str(line);
            fence = (line != mark).then_some(mark);
            continue;
        }
        // A break without width stands where a program put an anchor.
        let line = line.trim_end_matches('\u{200b}');
        if line.trim().is_empty() {
            empty += 1;
            continue;
        }
        if !out.is_empty() {
            out.push_str(if empty > 0 { "\n\n" } else { "\n" });
        }
        empty = 0;
        fence = line
            .starts_with("```")
            .then(|| line.trim_end_matches(|c| c != '`'));
        // Two and more make a part of the list item above.
        let indent = line.len() - line.trim_start_matches(' ').len();
        let line = if indent == 1 { line.trim_start() } else { line };
        out.extend(line.chars().filter(|c| *c != '\u{ad}'));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests;
