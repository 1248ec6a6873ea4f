//! XML that marks up a text (DocBook, TEI, JATS, DITA and their like): in its order, titles as
//! headings, paragraphs as paragraphs.

use super::super::data::Pages;
use super::super::lines::{escape_marks, fenced};
use super::tree::{Element, Node};
use super::values::aside;

const PARAGRAPHS: [&str; 14] = [
    "p",
    "para",
    "simpara",
    "paragraph",
    "l",
    "ab",
    "u",
    "line",
    "text",
    "body",
    "quote",
    "note",
    "abstract",
    "shortdesc",
];
const TITLES: [&str; 6] = [
    "title",
    "head",
    "heading",
    "caption",
    "article-title",
    "bridgehead",
];
const ITEMS: [&str; 6] = ["li", "item", "listitem", "list-item", "step", "member"];
const CODE: [&str; 8] = [
    "programlisting",
    "screen",
    "codeblock",
    "literallayout",
    "pre",
    "verbatim",
    "code-block",
    "synopsis",
];
const TABLES: [&str; 4] = ["table", "informaltable", "table-wrap", "simpletable"];
const ROWS: [&str; 4] = ["tr", "row", "strow", "sthead"];
/// Attributes that only a program reads.
const MACHINERY: [&str; 10] = [
    "id",
    "class",
    "style",
    "lang",
    "space",
    "role",
    "version",
    "schemaLocation",
    "base",
    "rend",
];

/// Whether an XML text is rather a document than data: it has paragraphs, or text with elements
/// in it.
pub(super) fn is_document(element: &Element) -> bool {
    let is_mixed = element.has_text() && element.has_elements();
    is_mixed
        || matches!(element.name.as_str(), "p" | "para" | "simpara")
        || element.elements().any(is_document)
}

pub(super) fn write(pages: &mut Pages, root: &Element) {
    write_element(pages, root, 1);
}

/// The text of the elements called `names`, each as a paragraph.
pub(super) fn write_words(pages: &mut Pages, element: &Element, names: &[&str]) {
    for child in element.elements() {
        if names.contains(&child.name.as_str()) {
            pages.block(&escape_marks(&child.line()));
        } else {
            write_words(pages, child, names);
        }
    }
}

fn write_element(pages: &mut Pages, element: &Element, level: usize) {
    let name = element.name.as_str();
    if TITLES.contains(&name) {
        pages.heading(level.saturating_sub(1).max(1), &element.line());
    } else if CODE.contains(&name) {
        let text = element.text();
        if !text.trim().is_empty() {
            pages.block(&fenced(text.trim_start_matches('\n'), ""));
        }
    } else if TABLES.contains(&name) && write_table(pages, element, level) {
    } else if !element.has_elements() || (element.has_text() && !holds_blocks(element)) {
        pages.block(&escape_marks(&paragraph(element)));
    } else {
        write_container(pages, element, level);
    }
}

/// An element of elements, and perhaps text between them.
fn write_container(pages: &mut Pages, element: &Element, level: usize) {
    let attributes: Vec<_> = element
        .attributes
        .iter()
        .filter(|(key, _)| !MACHINERY.contains(&key.as_str()))
        .map(|(key, value)| format!("{key}: {value}"))
        .collect();
    if !attributes.is_empty() {
        pages.block(&format!("{} ({})", element.name, attributes.join(", ")));
    }
    let is_titled = element
        .elements()
        .any(|child| TITLES.contains(&child.name.as_str()));
    let level = if is_titled { level + 1 } else { level };
    let is_item = ITEMS.contains(&element.name.as_str());
    let mut items = String::new();
    for node in &element.children {
        match node {
            Node::Text(text) if text.trim().is_empty() => {}
            Node::Text(text) => {
                pages.block(&std::mem::take(&mut items));
                pages.block(&escape_marks(text.trim()));
            }
            Node::Element(child) if is_item && !child.has_elements() => {
                pages.block(&format!("- {}", child.line()));
            }
            Node::Element(child) if is_simple_item(child) => {
                items.push_str(&paragraph(child));
                items.push('\n');
            }
            Node::Element(child) => {
                pages.block(&std::mem::take(&mut items));
                write_element(pages, child, level);
            }
        }
    }
    pages.block(&items);
}

fn is_simple_item(element: &Element) -> bool {
    ITEMS.contains(&element.name.as_str()) && !holds_blocks(element)
}

/// Whether there are paragraphs, lists or tables in it.
fn holds_blocks(element: &Element) -> bool {
    element.elements().any(|child| {
        let name = child.name.as_str();
        let is_block = PARAGRAPHS.contains(&name)
            || ITEMS.contains(&name)
            || CODE.contains(&name)
            || TABLES.contains(&name)
            || TITLES.contains(&name);
        is_block || holds_blocks(child)
    })
}

/// An element with text, in one line.
fn paragraph(element: &Element) -> String {
    let name = element.name.as_str();
    let text = element.line();
    if text.is_empty() && element.attributes.is_empty() {
        return String::new();
    }
    if ITEMS.contains(&name) {
        return format!("- {text}");
    }
    if PARAGRAPHS.contains(&name) || (element.has_text() && element.has_elements()) {
        return text;
    }
    let aside = aside(element);
    match (text.is_empty(), aside.is_empty()) {
        (false, false) => format!("{name}: {text} ({aside})"),
        (true, false) => format!("{name} ({aside})"),
        _ => format!("{name}: {text}"),
    }
}

/// Rows of cells; `false` when there are none.
fn write_table(pages: &mut Pages, table: &Element, level: usize) -> bool {
    let mut rows = Vec::new();
    collect_rows(table, &mut rows);
    let columns = rows
        .iter()
        .map(|row| row.elements().count())
        .max()
        .unwrap_or(0);
    if columns == 0 {
        return false;
    }
    for title in table
        .elements()
        .filter(|child| TITLES.contains(&child.name.as_str()))
    {
        pages.heading(level, &title.line());
    }
    let cells = |row: &Element| {
        let mut cells: Vec<_> = row.elements().map(Element::line).collect();
        cells.resize(columns, String::new());
        cells
    };
    let mut rows = rows.into_iter().map(cells);
    let header = rows.next().unwrap_or_default();
    let mut is_alone = true;
    for row in rows {
        pages.row(&header, &row.iter().map(String::as_str).collect::<Vec<_>>());
        is_alone = false;
    }
    if is_alone {
        pages.block(&header.join(" "));
    }
    pages.end_table();
    true
}

fn collect_rows<'a>(element: &'a Element, rows: &mut Vec<&'a Element>) {
    for child in element.elements() {
        if ROWS.contains(&child.name.as_str()) {
            rows.push(child);
        } else {
            collect_rows(child, rows);
        }
    }
}
