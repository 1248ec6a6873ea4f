//! What forms hold and notes say: not part of a page's text, but read by whoever looks at it
//! (ISO 32000-2, 12.5 and 12.7). Links and mark-up have nothing of their own.

use std::collections::HashSet;

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::objects::{
    array, dictionary, follow, integer, name, one_line, resolve, text, text_string,
};

/// Annotations of one page that are read.
const MOST: usize = 2000;
/// A field deeper within others than this is a loop.
const MAX_DEPTH: usize = 32;
const MAX_CHARACTERS: usize = 10_000;
/// Field flags, by the bit's value (tables 228 and 230 of ISO 32000-1).
const PASSWORD: i64 = 1 << 13;
const RADIO: i64 = 1 << 15;
const PUSH_BUTTON: i64 = 1 << 16;
/// Annotation flags: hidden, and not shown on the screen.
const HIDDEN: i64 = (1 << 1) | (1 << 5);

/// A page's form fields and notes, one line each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Spoken {
    /// `name: value`; a box is ticked or not.
    pub(super) fields: Vec<String>,
    pub(super) notes: Vec<String>,
}

impl Spoken {
    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.notes.is_empty()
    }

    /// `markdown` with what was found as lists after it, but for what it says already.
    pub(super) fn append(&self, markdown: &mut String) {
        let text = markdown.clone();
        let said: HashSet<&str> = text.lines().map(str::trim).collect();
        for (title, lines) in [("Form fields", &self.fields), ("Notes", &self.notes)] {
            let new = lines.iter().filter(|line| !said.contains(line.as_str()));
            let list: Vec<_> = new.map(|line| format!("- {line}")).collect();
            if list.is_empty() {
                continue;
            }
            let gap = if markdown.is_empty() { "" } else { "\n\n" };
            for part in [gap, title, ":\n\n", &list.join("\n")] {
                markdown.push_str(part);
            }
        }
    }
}

pub(super) fn of(document: &Document, page: ObjectId) -> Spoken {
    let mut spoken = Spoken::default();
    let Ok(page) = document.get_dictionary(page) else {
        return spoken;
    };
    for annotation in array(document, page, b"Annots")
        .unwrap_or_default()
        .iter()
        .take(MOST)
    {
        let Some(node) = follow(document, annotation).and_then(|node| node.as_dict().ok()) else {
            continue;
        };
        match name(document, node, b"Subtype") {
            Some(b"Widget") => spoken.fields.extend(field(document, node)),
            Some(
                b"Text" | b"FreeText" | b"Stamp" | b"Highlight" | b"Underline" | b"StrikeOut"
                | b"Squiggly" | b"Caret" | b"Line" | b"Square" | b"Circle" | b"Ink",
            ) => {
                spoken.notes.extend(note(document, node));
            }
            _ => {}
        }
    }
    spoken.fields.dedup();
    spoken
}

fn note(document: &Document, node: &Dictionary) -> Option<String> {
    let says = bounded(&text(document, node, b"Contents")?);
    let is_hidden = integer(document, node, b"F").is_some_and(|flags| flags & HIDDEN != 0);
    let mark = if is_hidden { " (hidden)" } else { "" };
    Some(match text(document, node, b"T") {
        Some(author) => format!("{author}: {says}{mark}"),
        None => format!("{says}{mark}"),
    })
}

/// A field's line; an empty text field is none.
fn field(document: &Document, widget: &Dictionary) -> Option<String> {
    let lineage = lineage(document, widget);
    let value_of = |key: &[u8]| lineage.iter().find_map(|node| resolve(document, node, key));
    let flags = value_of(b"Ff")
        .and_then(|flags| flags.as_i64().ok())
        .unwrap_or(0);
    let label = label(document, &lineage);
    match value_of(b"FT").and_then(|kind| kind.as_name().ok())? {
        b"Btn" if flags & PUSH_BUTTON != 0 => None,
        b"Btn" => {
            let state = name(document, widget, b"AS").unwrap_or(b"Off");
            let is_on = state != b"Off";
            if flags & RADIO != 0 {
                let choice = one_line(&String::from_utf8_lossy(state))?;
                return is_on.then(|| format!("{}{choice}", prefix(label)));
            }
            let state = if is_on { "ticked" } else { "not ticked" };
            Some(format!("{}: {state}", label?))
        }
        b"Tx" if flags & PASSWORD != 0 => None,
        _ => {
            let value = value(document, value_of(b"V")?)?;
            Some(format!("{}{value}", prefix(label)))
        }
    }
}

fn prefix(label: Option<String>) -> String {
    label.map(|label| format!("{label}: ")).unwrap_or_default()
}

/// A widget and the fields it belongs to, from the inside.
fn lineage<'a>(document: &'a Document, widget: &'a Dictionary) -> Vec<&'a Dictionary> {
    let parents = std::iter::successors(Some(widget), |node| dictionary(document, node, b"Parent"));
    parents.take(MAX_DEPTH).collect()
}

/// The name for people, or else the innermost one without its index: `a[0].name[0]` is `name`.
fn label(document: &Document, lineage: &[&Dictionary]) -> Option<String> {
    let find = |key: &[u8]| lineage.iter().find_map(|node| text(document, node, key));
    let bare = |name: String| {
        let name = name.rsplit('.').next().unwrap_or_default();
        name.split('[').next().and_then(one_line)
    };
    find(b"TU")
        .or_else(|| find(b"T").and_then(bare))
        .map(|label| bounded(&label))
}

/// A text, one choice or several.
fn value(document: &Document, value: &Object) -> Option<String> {
    let values = match value {
        Object::Array(values) => values.as_slice(),
        one => std::slice::from_ref(one),
    };
    let texts = values
        .iter()
        .filter_map(|value| match follow(document, value)? {
            Object::Stream(stream) => {
                let bytes = stream
                    .get_plain_content_with_limit(super::open::MAX_STREAM_BYTES)
                    .ok()?;
                text_string(&Object::string_literal(bytes))
            }
            Object::Name(name) => Some(String::from_utf8_lossy(name).into_owned()),
            other => text_string(other),
        });
    let line = one_line(&texts.collect::<Vec<_>>().join(", "))?;
    Some(bounded(&line))
}

fn bounded(text: &str) -> String {
    text.chars().take(MAX_CHARACTERS).collect()
}

/// Whether the form is one of XFA, whose text only its own program lays out.
pub(super) fn is_dynamic(document: &Document) -> bool {
    let form = document
        .catalog()
        .ok()
        .and_then(|catalog| dictionary(document, catalog, b"AcroForm"));
    form.is_some_and(|form| resolve(document, form, b"XFA").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(annotation: &str, fields: &[&str], notes: &[&str]) {
        let file = format!(
            "%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Count \
             1/Kids[3 0 R]>>\nendobj\n3 0 obj\n<</Type/Page/Parent 2 0 R/Annots[5 0 \
             R]>>\nendobj\n5 0 obj\n<<{annotation}>>\nendobj\n6 0 obj\n<</T(form1[0])/FT/Tx/V(above)\
             /Parent 6 0 R>>\nendobj\ntrailer\n<</Root 1 0 R/Size 9>>\nstartxref\n0\n%%EOF"
        );
        let document = super::super::open::load(file.as_bytes(), None)
            .unwrap()
            .unwrap();
        let page = document.page_iter().next().unwrap();
        let spoken = of(&document, page);
        assert_eq!(
            (spoken.fields, spoken.notes),
            (owned(fields), owned(notes)),
            "{annotation}"
        );
    }

    fn owned(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn fields_and_notes_speak() {
        check(
            "/Subtype/Widget/FT/Tx/T(page.city[0])/V(Kraków)",
            &["city: KrakÃ³w"],
            &[],
        );
        check(
            "/Subtype/Widget/FT/Tx/T(a)/TU(Your name)/V<FEFF0141>",
            &["Your name: Ł"],
            &[],
        );
        check("/Subtype/Widget/FT/Tx/T(a)/V()", &[], &[]);
        check("/Subtype/Widget/FT/Tx/T(pin)/Ff 8192/V(1234)", &[], &[]);
        check(
            "/Subtype/Widget/FT/Btn/T(agree)/AS/Yes",
            &["agree: ticked"],
            &[],
        );
        check(
            "/Subtype/Widget/FT/Btn/T(agree)",
            &["agree: not ticked"],
            &[],
        );
        check(
            "/Subtype/Widget/FT/Btn/T(size)/Ff 32768/AS/Large",
            &["size: Large"],
            &[],
        );
        check("/Subtype/Widget/FT/Btn/T(size)/Ff 32768/AS/Off", &[], &[]);
        check("/Subtype/Widget/FT/Btn/T(send)/Ff 65536", &[], &[]);
        check(
            "/Subtype/Widget/FT/Ch/T(c)/V[(one)(two)]",
            &["c: one, two"],
            &[],
        );
        check("/Subtype/Widget/Parent 6 0 R", &["form1: above"], &[]);
        check(
            "/Subtype/Text/Contents(check this)/T(Ana)",
            &[],
            &["Ana: check this"],
        );
        check(
            "/Subtype/FreeText/F 2/Contents(secret)",
            &[],
            &["secret (hidden)"],
        );
        check("/Subtype/Link/Contents(click)", &[], &[]);
    }

    #[test]
    fn lists_follow_the_text() {
        let mut markdown = "Text\nc: d".to_owned();
        let spoken = Spoken {
            fields: owned(&["a: b", "c: d"]),
            notes: owned(&["e"]),
        };
        spoken.append(&mut markdown);
        assert_eq!(
            markdown,
            "Text\nc: d\n\nForm fields:\n\n- a: b\n\nNotes:\n\n- e"
        );
    }
}
