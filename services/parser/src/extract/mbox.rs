//! A mailbox: messages one after the other, each behind a line `From …`. Every message is a page;
//! what is attached to it follows.

use std::borrow::Cow;

use shared::contract::{PageRecord, ReadMethod};

use super::mail::{self, Place};
use super::{ExtractError, ExtractedPage, Extraction, Extractor, Input, charset};

const FROM: &[u8] = b"From ";

pub(super) struct MboxExtractor;

impl Extractor for MboxExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let starts = postmarks(input.bytes);
        if starts.is_empty() {
            return Err(ExtractError::Damaged {
                what: "no message of a mailbox begins in it".to_owned(),
            });
        }
        let ends = starts.iter().skip(1).copied();
        let ends = ends.chain(std::iter::once(input.bytes.len()));
        let mut pages = Vec::new();
        for ((start, end), number) in starts.iter().copied().zip(ends).zip(1..) {
            let message = input.bytes.get(start..end).unwrap_or_default();
            let message = unquoted(without_postmark(message));
            pages.extend(message_pages(input, &message, number));
        }
        Ok(Extraction {
            pages,
            ..Extraction::default()
        })
    }
}

/// The pages of a message. One that is broken does not hold up the others.
fn message_pages(input: &Input<'_>, message: &[u8], number: u32) -> Vec<ExtractedPage> {
    let place = Place::message(number);
    let error = match mail::read(message) {
        Ok(mail) => return mail.pages(input, &place),
        Err(error) => error,
    };
    let text = charset::decode(message).text;
    let has_text = !text.trim().is_empty();
    let record = PageRecord {
        number: 1,
        locator: shared::contract::Locator::Message { number },
        method: if has_text {
            ReadMethod::Native
        } else {
            ReadMethod::Missing
        },
        characters: 0,
        doubts: Vec::new(),
        error: (!has_text).then(|| "the message is empty".to_owned()),
    };
    let mut page = ExtractedPage {
        record,
        markdown: String::new(),
    };
    if has_text {
        page.record
            .doubts
            .push(format!("read as plain text, because {error}"));
        page.markdown = format!("{}\n", mail::plain_page(&text).trim_end());
    }
    vec![page]
}

/// Where messages begin.
pub(super) fn postmarks(bytes: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut at, mut nothing_yet) = (0, true);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        // The first line needs to look like no more: all else is what follows.
        if line.starts_with(FROM) && (nothing_yet || is_postmark(line)) {
            found.push(at);
        }
        nothing_yet &= line.trim_ascii().is_empty();
        at += line.len();
    }
    found
}

/// `From ann@x.example Thu Feb 29 08:15:00 2024`: a day of the week, a time and a year, which
/// sentences that begin with the word hardly have. No empty line is asked for before it, because
/// some programs write none.
fn is_postmark(line: &[u8]) -> bool {
    const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let Some(line) = line
        .get(..line.len().min(400))
        .and_then(|line| std::str::from_utf8(line).ok())
    else {
        return false;
    };
    let words = || line.split_whitespace().skip(1);
    let is_year = |word: &str| {
        word.len() == 4
            && word
                .parse()
                .is_ok_and(|year: u32| (1970..2100).contains(&year))
    };
    let is_time = |word: &str| {
        let mut parts = word.split(':');
        let hour = parts.next().and_then(|hour| hour.parse::<u32>().ok());
        let minute = parts.next().and_then(|minute| minute.parse::<u32>().ok());
        hour.is_some_and(|hour| hour < 25) && minute.is_some_and(|minute| minute < 60)
    };
    let has_day = || words().any(|word| DAYS.contains(&word.trim_end_matches(',')));
    words().any(is_year) && words().any(is_time) && has_day()
}

/// `message` without its line `From …`.
pub(super) fn without_postmark(message: &[u8]) -> &[u8] {
    if !message.starts_with(FROM) {
        return message;
    }
    let end = message.iter().position(|byte| *byte == b'\n');
    let rest = end.and_then(|end| message.get(end + 1..));
    rest.unwrap_or_default()
}

/// `message` with lines `>From ` as they were before a mailbox had to hold them.
fn unquoted(message: &[u8]) -> Cow<'_, [u8]> {
    let is_quoted = |line: &[u8]| {
        let body = line
            .iter()
            .position(|byte| *byte != b'>')
            .unwrap_or(line.len());
        body > 0 && line.get(body..).is_some_and(|rest| rest.starts_with(FROM))
    };
    if !message.split(|byte| *byte == b'\n').any(is_quoted) {
        return Cow::Borrowed(message);
    }
    let mut out = Vec::with_capacity(message.len());
    for line in message.split_inclusive(|byte| *byte == b'\n') {
        let skip = usize::from(is_quoted(line));
        out.extend_from_slice(line.get(skip..).unwrap_or_default());
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests;
