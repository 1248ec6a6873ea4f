//! RSS and Atom: each entry with its heading, date, author, and content as Markdown.

use super::super::data::Pages;
use super::super::html;
use super::super::lines::escape_marks;
use super::super::markdown::demoted;
use super::tree::{Element, Node};

/// Parts of an entry that hold its text, the longest kind first.
const CONTENT: [&str; 5] = ["encoded", "content", "description", "summary", "subtitle"];
/// Parts that say nothing to a reader.
const MACHINERY: [&str; 8] = [
    "guid",
    "id",
    "commentRss",
    "comments",
    "enclosure",
    "thumbnail",
    "origLink",
    "docs",
];

pub(super) fn is_feed(root: &Element) -> bool {
    match root.name.as_str() {
        "rss" => root.child("channel").is_some(),
        "RDF" => root.child("item").is_some(),
        "feed" => root.child("entry").is_some() || root.child("title").is_some(),
        _ => false,
    }
}

pub(super) fn write(pages: &mut Pages, root: &Element) {
    let channel = root.child("channel").unwrap_or(root);
    write_entry(pages, channel, 1);
    let entries = channel.elements();
    // In RSS 1.0 the entries stand beside the channel.
    let beside = root.elements().filter(|_| root.name == "RDF");
    for entry in entries.chain(beside).filter(|element| is_entry(element)) {
        write_entry(pages, entry, 2);
    }
}

fn is_entry(element: &Element) -> bool {
    matches!(element.name.as_str(), "item" | "entry") && element.has_elements()
}

fn write_entry(pages: &mut Pages, entry: &Element, level: usize) {
    let title = entry.child("title").map(from_html).unwrap_or_default();
    pages.heading(level, &title);
    let mut lines = String::new();
    let mut categories: Vec<String> = Vec::new();
    for child in entry.elements() {
        let name = child.name.as_str();
        if name == "category" {
            let term = child.attribute("label").or_else(|| child.attribute("term"));
            categories.push(term.map_or_else(|| child.line(), str::to_owned));
        } else if name != "title" && !CONTENT.contains(&name) && !MACHINERY.contains(&name) {
            push_line(&mut lines, child);
        }
    }
    if !categories.is_empty() {
        lines.extend(["- category: ", &categories.join(", "), "\n"]);
    }
    pages.block(&lines);
    let mut written = String::new();
    for name in CONTENT {
        for part in entry.elements().filter(|child| child.name == name) {
            let markdown = demoted(&from_html(part), level);
            if !repeats(&written, &markdown) {
                pages.block(&markdown);
                written.push_str(&markdown);
            }
        }
    }
}

/// `- date: …`, for what has a text of its own.
fn push_line(lines: &mut String, child: &Element) {
    let name = match child.name.as_str() {
        "pubDate" | "published" | "date" => "date",
        "creator" | "author" => "author",
        "item" | "entry" | "image" => return,
        name => name,
    };
    let own = child
        .child("name")
        .map_or_else(|| child.line(), Element::line);
    let text = if own.is_empty() && name == "link" {
        let is_itself = matches!(
            child.attribute("rel"),
            Some("self" | "hub" | "replies" | "edit")
        );
        let link = child.attribute("href").filter(|_| !is_itself);
        link.unwrap_or_default().to_owned()
    } else {
        own
    };
    if !text.is_empty() {
        lines.extend(["- ", name, ": ", text.as_str(), "\n"]);
    }
}

/// Whether `text` is a beginning of what is written already, as summaries are.
fn repeats(written: &str, text: &str) -> bool {
    let letters = |text: &str| {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.take(10_000).collect::<String>()
    };
    let text = letters(text);
    let start: String = text.chars().take(80).collect();
    start.is_empty() || letters(written).contains(&start)
}

/// The text of an element that may hold HTML, escaped or not, as Markdown.
fn from_html(element: &Element) -> String {
    let mut page = String::new();
    push_html(element, &mut page);
    if !page.contains(['<', '&']) {
        return escape_marks(page.trim());
    }
    html::fragment(&page).map_or_else(|_| element.line(), |text| text.trim().to_owned())
}

fn push_html(element: &Element, out: &mut String) {
    for node in &element.children {
        match node {
            // Escaped HTML has become HTML by reading the XML.
            Node::Text(text) => out.push_str(text),
            Node::Element(child) => {
                out.extend(["<", child.name.as_str(), ">"]);
                push_html(child, out);
                out.extend(["</", child.name.as_str(), ">"]);
            }
        }
    }
}
