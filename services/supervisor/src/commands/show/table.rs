//! A page ledger as a table.

use shared::contract::{DocumentState, DocumentView, PageRecord, PageView, ReadMethod};

use crate::client::Ledger;
use crate::commands::list;
use crate::error::Complaint;
use crate::ledger::coverage;
use crate::output::{self, count, name, style, text, thousands};

/// Prints what is known of the whole document, then its pages.
pub(super) fn print(view: &DocumentView, ledger: Option<&Ledger>) -> Result<(), Complaint> {
    let title = ledger.and_then(|ledger| ledger.title.as_deref());
    output::line(style().bold().apply_to(name(&view.path)))?;
    if let Some(title) = title {
        output::line(format!("title     {}", name(title)))?;
    }
    output::line(format!("state     {}", standing(view)))?;
    output::line(format!("id        {}", view.id))?;
    if let Some(error) = &view.error {
        output::line(format!("reason    {}", text(&error.message)))?;
        output::line(format!("remedy    {}", text(&error.remedy)))?;
    }
    let notes = ledger.map_or(&view.notes, |ledger| &ledger.notes);
    for note in notes {
        output::line(format!("note      {}", text(note)))?;
    }
    let Some(ledger) = ledger else {
        return Ok(());
    };
    output::line("")?;
    if ledger.pages.is_empty() {
        return Ok(output::line("every page was read")?);
    }
    let head = [
        "page",
        "where",
        "read by",
        "characters",
        "chunks",
        "remarks",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(ledger.pages.iter().map(row));
    Ok(output::table(&rows)?)
}

/// `partial, PDF, 113 of 311 pages readable, 240 chunks, made by an earlier version`.
fn standing(view: &DocumentView) -> String {
    let read = coverage(view.pages, view.missing_count)
        .unwrap_or_else(|| count(view.pages.into(), "page"));
    let mut parts = vec![list::state(view.state), view.format.name().to_owned(), read];
    parts.push(count(view.chunks.into(), "chunk"));
    if view.searchable && !matches!(view.state, DocumentState::Ready | DocumentState::Partial) {
        parts.push("an earlier version can be found meanwhile".to_owned());
    }
    if view.outdated {
        parts.push(
            "made by an earlier version of the program: `ibid retry` reads it again".to_owned(),
        );
    }
    parts.join(", ")
}

/// One line for a page: `plan.pdf, p.iv (4), text layer, 1,204 characters; two columns`.
pub(super) fn headline(view: &DocumentView, page: &PageView) -> String {
    let record = &page.record;
    let place = place(record);
    let mut line = name(&view.name);
    if place != "–" {
        line = format!("{line}, {place}");
    }
    line = format!(
        "{line} · page {} · {}",
        record.number,
        method(record.method)
    );
    if record.method != ReadMethod::Missing {
        line = format!("{line} · {}", count(record.characters, "character"));
    }
    let remarks = remarks(record);
    if remarks.is_empty() {
        line
    } else {
        format!("{line} · {remarks}")
    }
}

fn row(page: &PageView) -> Vec<String> {
    let record = &page.record;
    let method_text = method(record.method);
    let method = match record.method {
        ReadMethod::Missing => style().red().apply_to(method_text).to_string(),
        ReadMethod::Ocr | ReadMethod::Fallback => {
            style().yellow().apply_to(method_text).to_string()
        }
        ReadMethod::Native | ReadMethod::TextLayer => method_text.to_owned(),
    };
    vec![
        record.number.to_string(),
        place(record),
        method,
        thousands(record.characters),
        chunks(page),
        remarks(record),
    ]
}

/// Where the page stands, or a dash where its document has no places.
fn place(record: &PageRecord) -> String {
    record
        .locator
        .short()
        .map_or_else(|| "–".to_owned(), |place| name(&place))
}

pub(super) fn method(method: ReadMethod) -> &'static str {
    match method {
        ReadMethod::Native => "its own text",
        ReadMethod::TextLayer => "text layer",
        ReadMethod::Fallback => "second reader",
        ReadMethod::Ocr => "OCR",
        ReadMethod::Missing => "missing",
    }
}

/// Numbers of the chunks, which are in order: `4`, `4–7`.
fn chunks(page: &PageView) -> String {
    match (page.chunks.first(), page.chunks.last()) {
        (Some(first), Some(last)) if first.index != last.index => {
            format!("{}–{}", first.index, last.index)
        }
        (Some(first), _) => first.index.to_string(),
        _ => "–".to_owned(),
    }
}

fn remarks(record: &PageRecord) -> String {
    let all: Vec<&str> = record
        .error
        .iter()
        .chain(&record.doubts)
        .map(String::as_str)
        .collect();
    name(&all.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_page_is_told_on_one_line() {
        let view = crate::commands::find_document::tests::document(1, "/x/plan.pdf");
        let page: PageView = serde_json::from_value(json!({
            "number": 4, "locator": { "kind": "pdf_page", "physical": 4, "label": "iv" },
            "method": "text_layer", "characters": 1204, "doubts": ["two\u{1b} columns"],
            "chunks": [format!("{}_7", "0".repeat(32)), format!("{}_9", "0".repeat(32))]
        }))
        .unwrap();
        assert_eq!(
            headline(&view, &page),
            "plan.pdf, p.iv (4) · page 4 · text layer · 1,204 characters · two\\u{1b} columns"
        );
        let expect = [
            "4",
            "p.iv (4)",
            "text layer",
            "1,204",
            "7–9",
            "two\\u{1b} columns",
        ];
        assert_eq!(row(&page), expect);

        let missing: PageView = serde_json::from_value(json!({
            "number": 2, "locator": { "kind": "block", "number": 1 }, "method": "missing",
            "characters": 0, "error": "needs OCR"
        }))
        .unwrap();
        assert_eq!(
            headline(&view, &missing),
            "plan.pdf · page 2 · missing · needs OCR"
        );
        assert_eq!(row(&missing)[4], "–");
    }
}
