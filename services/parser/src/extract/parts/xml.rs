//! Walking through XML parts. A part that breaks off gives what came before.

use std::ops::ControlFlow;

use quick_xml::Reader;
use quick_xml::escape::{resolve_xml_entity, unescape};
use quick_xml::events::{BytesStart, Event};

/// What comes next in a part. Names are without their prefix.
pub(in crate::extract) enum Step<'a> {
    /// An element begins.
    Open(&'a BytesStart<'a>),
    /// An element ends, be it empty.
    Close(&'a [u8]),
    /// Text, with entities resolved; one run may come in pieces.
    Text(&'a str),
}

/// Walks through `xml` until its end or until `step` breaks. `false` when the part is malformed.
pub(in crate::extract) fn walk(
    xml: &[u8],
    mut step: impl FnMut(Step<'_>) -> ControlFlow<()>,
) -> bool {
    let mut reader = Reader::from_reader(xml);
    reader.config_mut().check_end_names = false;
    reader.config_mut().allow_unmatched_ends = true;
    loop {
        let Ok(event) = reader.read_event() else {
            return false;
        };
        let flow = match event {
            Event::Start(tag) => step(Step::Open(&tag)),
            Event::Empty(tag) => match step(Step::Open(&tag)) {
                ControlFlow::Continue(()) => step(Step::Close(tag.local_name().as_ref())),
                done @ ControlFlow::Break(()) => done,
            },
            Event::End(tag) => step(Step::Close(tag.local_name().as_ref())),
            Event::Text(text) => step(Step::Text(&text.decode().unwrap_or_default())),
            Event::CData(text) => step(Step::Text(&text.decode().unwrap_or_default())),
            Event::GeneralRef(entity) => {
                if let Ok(Some(c)) = entity.resolve_char_ref() {
                    step(Step::Text(c.encode_utf8(&mut [0; 4])))
                } else {
                    let name = entity.decode().unwrap_or_default();
                    step(Step::Text(resolve_xml_entity(&name).unwrap_or_default()))
                }
            }
            Event::Eof => return true,
            _ => ControlFlow::Continue(()),
        };
        if flow.is_break() {
            return true;
        }
    }
}

/// The value of an attribute, by its name without prefix.
pub(in crate::extract) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag
        .attributes()
        // Looking for attributes given twice takes quadratic time.
        .with_checks(false)
        .filter_map(Result::ok)
        .find(|attribute| attribute.key.local_name().as_ref() == name.as_bytes())?;
    let raw = String::from_utf8_lossy(&found.value);
    Some(unescape(&raw).map_or_else(|_odd| raw.to_string(), std::borrow::Cow::into_owned))
}

/// An attribute that is a number.
pub(in crate::extract) fn number(tag: &BytesStart<'_>, name: &str) -> Option<u32> {
    attribute(tag, name)?.trim().parse().ok()
}

/// An attribute that says yes or no.
pub(in crate::extract) fn flag(tag: &BytesStart<'_>, name: &str) -> bool {
    attribute(tag, name).is_some_and(|value| matches!(value.trim(), "1" | "true" | "on"))
}
