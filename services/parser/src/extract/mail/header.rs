//! Who wrote to whom, and when, in the one form that all messages get.

use mail_parser::{Address, DateTime, HeaderName, HeaderValue, Message};

use super::super::charset;
use super::page::one_line;

/// `Name <address>`, or the one that there is.
pub(in crate::extract) fn address(name: Option<&str>, address: Option<&str>) -> Option<String> {
    let clean = |text: &str| one_line(text.trim().trim_matches(['"', '\'']));
    let name = name.map(clean).filter(|name| !name.is_empty());
    let address = address.map(one_line).filter(|address| !address.is_empty());
    match (name, address) {
        (Some(name), Some(address)) if !name.contains(&address) => {
            Some(format!("{name} <{address}>"))
        }
        (name, address) => name.or(address),
    }
}

/// The people that the headers `name` name.
pub(super) fn people(message: &Message<'_>, name: &HeaderName<'_>) -> Vec<String> {
    let mut all = Vec::new();
    for header in message
        .headers()
        .iter()
        .filter(|header| header.name == *name)
    {
        match &header.value {
            HeaderValue::Address(Address::List(list)) => {
                all.extend(
                    list.iter()
                        .filter_map(|one| address(one.name(), one.address())),
                );
            }
            HeaderValue::Address(Address::Group(groups)) => {
                for group in groups {
                    let members = group.addresses.iter();
                    let before = all.len();
                    all.extend(members.filter_map(|one| address(one.name(), one.address())));
                    if all.len() == before {
                        all.extend(group.name.as_deref().map(one_line));
                    }
                }
            }
            _ => {
                let raw = raw(message, header.offset_start, header.offset_end);
                all.extend(Some(raw).filter(|raw| !raw.is_empty()));
            }
        }
    }
    all
}

/// The text of the header `name`.
pub(super) fn text(message: &Message<'_>, name: &HeaderName<'_>) -> Option<String> {
    let header = message
        .headers()
        .iter()
        .find(|header| header.name == *name)?;
    let parsed = header.value.as_text().map(one_line);
    // Bytes without a label are guessed better over the whole of them.
    let text = match parsed {
        Some(text) if !text.contains('\u{fffd}') => text,
        _ => raw(message, header.offset_start, header.offset_end),
    };
    (!text.is_empty()).then_some(text)
}

/// When the message was sent, as far as that can be understood.
pub(super) fn date(message: &Message<'_>) -> Option<String> {
    let header = message
        .headers()
        .iter()
        .find(|header| header.name == HeaderName::Date)?;
    match header.value.as_datetime() {
        Some(date) if date.is_valid() => Some(date_of(date)),
        _ => {
            Some(raw(message, header.offset_start, header.offset_end)).filter(|raw| !raw.is_empty())
        }
    }
}

/// `2024-02-29 08:15:00 +01:00`.
pub(in crate::extract) fn date_of(date: &DateTime) -> String {
    let sign = if date.tz_before_gmt { '-' } else { '+' };
    format!(
        "{:04}-{:02}-{:02} {:02}:{:02}:{:02} {sign}{:02}:{:02}",
        date.year,
        date.month,
        date.day,
        date.hour,
        date.minute,
        date.second,
        date.tz_hour,
        date.tz_minute
    )
}

fn raw(message: &Message<'_>, start: u32, end: u32) -> String {
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    let bytes = range.and_then(|(start, end)| message.raw_message().get(start..end));
    one_line(&charset::decode(bytes.unwrap_or_default()).text)
}
