//! What a sheet's part says around its cells: what is hidden and what is merged. Only what stands
//! before and behind the cells is parsed; rows are searched for the one attribute that matters.

use std::ops::ControlFlow;

use crate::extract::parts::xml::{Step, attribute, flag, number, walk};
use crate::extract::sheets::grid::{Area, Sheet};

/// Merged areas of a sheet; there is no use in more.
const MOST_MERGED: usize = 100_000;

/// The tag of a row.
const MOST_TAG_BYTES: usize = 1024;

pub(super) fn add(xml: &[u8], sheet: &mut Sheet) {
    // Parts in UTF-16 do not occur but in tests.
    let Ok(text) = std::str::from_utf8(xml) else {
        return;
    };
    let data = text.find("sheetData").unwrap_or(text.len());
    let end = text.rfind("sheetData").unwrap_or(text.len());
    let (head, rest) = text.split_at(data);
    let (rows, tail) = rest.split_at(end.saturating_sub(data).min(rest.len()));
    columns(head, sheet);
    hidden_rows(rows, sheet);
    merged(tail, sheet);
}

fn columns(head: &str, sheet: &mut Sheet) {
    walk(head.as_bytes(), |step| {
        if let Step::Open(tag) = step
            && tag.local_name().as_ref() == b"col"
            && flag(tag, "hidden")
            && let (Some(first), Some(last)) = (number(tag, "min"), number(tag, "max"))
        {
            sheet
                .hidden_columns
                .add(first.saturating_sub(1), last.saturating_sub(1));
        }
        ControlFlow::Continue(())
    });
}

/// The tags of hidden rows, found by their attribute.
fn hidden_rows(rows: &str, sheet: &mut Sheet) {
    for (at, _) in rows.match_indices(" hidden=\"") {
        let (before, after) = rows.split_at(at);
        // A tag is short; what is not is text that looks like one.
        let before = before.as_bytes().iter().rev().take(MOST_TAG_BYTES);
        let after = after.as_bytes().iter().take(MOST_TAG_BYTES);
        let start = before.clone().position(|byte| *byte == b'<');
        let length = after.clone().position(|byte| *byte == b'>');
        let (Some(back), Some(length)) = (start, length) else {
            continue;
        };
        let start = at - back - 1;
        let tag = rows.get(start..at + length + 1).unwrap_or_default();
        walk(tag.as_bytes(), |step| {
            if let Step::Open(tag) = step
                && tag.local_name().as_ref() == b"row"
                && flag(tag, "hidden")
                && let Some(row) = number(tag, "r").and_then(|row| row.checked_sub(1))
            {
                sheet.hidden_rows.add(row, row);
            }
            ControlFlow::Break(())
        });
    }
}

fn merged(tail: &str, sheet: &mut Sheet) {
    // The end of the cells' own tag comes first.
    let tail = tail.split_once('>').map_or("", |(_, tail)| tail);
    walk(tail.as_bytes(), |step| {
        if let Step::Open(tag) = step
            && tag.local_name().as_ref() == b"mergeCell"
            && let Some(area) = attribute(tag, "ref").and_then(|area| Area::parse(&area))
        {
            sheet.merged.push(area);
        }
        if sheet.merged.len() < MOST_MERGED {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
}
