//! `ibid show`: how a document was read, page by page, and what of it the model gets to read.

mod diff;
mod table;

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use serde_json::json;
use shared::contract::{DocumentView, Locator, PageView};
use shared::format::Format;

use super::{find_document, gateway, password};
use crate::cli::ShowArgs;
use crate::client::{Gateway, Ledger};
use crate::error::{CommandResult, Complaint};
use crate::output;
use crate::screen::Screen;

/// Pages of a ledger, more than any document has.
const ALL: usize = 1_000_000;

/// Shows a document's ledger, one of its pages, or where two readings of that page disagree.
pub(super) async fn run(args: ShowArgs, json: bool) -> CommandResult {
    let gateway = gateway()?;
    let all = find_document::all(&gateway, None).await?;
    let id = find_document::one(&all, &args.document)?.id.clone();
    // The view of a single document tells more than its line in the listing.
    let view = gateway.document(&id).await?;
    let Some(wanted) = &args.page else {
        return ledger(&gateway, &view, args.missing, json).await;
    };
    let ledger = gateway.ledger(&id, false, ALL).await?;
    let found = find_page(&ledger, wanted)?;
    if args.diff {
        let physical = physical(&view, found)?;
        let password = password::given(&args.password)?;
        return diff::run(&gateway, &view, (physical, password), json).await;
    }
    page(&gateway, &view, found.record.number, json).await
}

async fn ledger(
    gateway: &Gateway,
    view: &DocumentView,
    missing: bool,
    json: bool,
) -> CommandResult {
    // A document that shows no version has no ledger, and its view says why.
    let ledger = if view.searchable {
        Some(gateway.ledger(&view.id, missing, ALL).await?)
    } else {
        None
    };
    if json {
        output::json(&json!({ "document": view, "ledger": ledger }))?;
    } else {
        table::print(view, ledger.as_ref())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints exactly what the model will read; where the page stands goes to standard error, so that
/// the text can be piped.
async fn page(gateway: &Gateway, view: &DocumentView, number: u32, json: bool) -> CommandResult {
    let page = gateway.page_text(&view.id, number).await?;
    if json {
        output::json(&page)?;
        return Ok(ExitCode::SUCCESS);
    }
    let screen = Screen::stderr();
    screen.line(table::headline(view, &page.page));
    screen.finish();
    let mut out = io::stdout().lock();
    if out.is_terminal() {
        // Document text must not drive the terminal.
        writeln!(out, "{}", output::text(&page.markdown).trim_end())?;
    } else {
        out.write_all(page.markdown.as_bytes())?;
    }
    Ok(super::success_if(page.page.record.error.is_none()))
}

/// The page that people mean: by its number, else by the label printed on it.
fn find_page<'a>(ledger: &'a Ledger, wanted: &str) -> Result<&'a PageView, Complaint> {
    let wanted = wanted.trim();
    let number: Option<u32> = wanted.parse().ok();
    let pages = &ledger.pages;
    let by_number = pages.iter().find(|page| Some(page.record.number) == number);
    let by_label = || {
        let same = |label: &str| label == wanted;
        let alike = |label: &str| label.to_lowercase() == wanted.to_lowercase();
        let labelled = |is: &dyn Fn(&str) -> bool| {
            pages
                .iter()
                .find(|page| label(&page.record.locator).is_some_and(is))
        };
        labelled(&same).or_else(|| labelled(&alike))
    };
    by_number.or_else(by_label).ok_or_else(|| {
        Complaint::new(
            format!("the document has no page `{}`", output::name(wanted)),
            match pages.len() {
                0 => "`ibid show DOCUMENT` says why it has no pages".to_owned(),
                count => format!("give a number from 1 to {count}, or a label printed on a page"),
            },
        )
    })
}

fn label(locator: &Locator) -> Option<&str> {
    match locator {
        Locator::PdfPage {
            label: Some(label), ..
        } => Some(label),
        Locator::Sheet { name, .. } | Locator::Part { name } => Some(name),
        Locator::Entry { path, .. } => Some(path),
        _ => None,
    }
}

/// The number of the page within its PDF, which two readers have read.
fn physical(view: &DocumentView, page: &PageView) -> Result<u32, Complaint> {
    match &page.record.locator {
        Locator::PdfPage { physical, .. } if view.format == Format::Pdf => Ok(*physical),
        _ => Err(Complaint::new(
            "only the pages of a PDF are read by two readers",
            "leave `--diff` out",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn page(number: u32, locator: &Value) -> Value {
        json!({ "number": number, "locator": locator, "method": "native", "characters": 1 })
    }

    #[test]
    fn a_page_is_found_by_its_number_and_then_by_its_label() {
        let pdf = |number: u32, label: &str| {
            page(
                number,
                &json!({ "kind": "pdf_page", "physical": number, "label": label }),
            )
        };
        let sheet = json!({ "kind": "sheet", "name": "Prices", "rows": [2, 40] });
        let ledger: Ledger = serde_json::from_value(json!({
            "pages": [pdf(1, "i"), pdf(2, "IV"), pdf(3, "1"), pdf(4, "311"), page(5, &sheet)],
            "total": 5
        }))
        .unwrap();
        let check = |wanted: &str, expect: Option<u32>| {
            let found = find_page(&ledger, wanted);
            match (found, expect) {
                (Ok(page), expect) => assert_eq!(Some(page.record.number), expect, "{wanted}"),
                (Err(error), None) => {
                    assert!(error.to_string().contains("from 1 to 5"), "{error}");
                }
                (Err(error), expect) => panic!("{wanted}: {error}, not {expect:?}"),
            }
        };
        check("1", Some(1));
        check("iv", Some(2));
        check("i", Some(1));
        check("311", Some(4));
        check("prices", Some(5));
        check("6", None);
        check("xx", None);
    }
}
