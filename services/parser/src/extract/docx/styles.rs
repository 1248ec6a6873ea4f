//! Styles whose text is hidden.

use std::collections::{BTreeMap, BTreeSet};

use super::super::office::xml::{Tag, Visit, split, visit};

/// Styles that a style may be based on, one upon the other.
const MOST_BASES: usize = 16;

/// The ids of styles whose text is hidden.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct HiddenStyles {
    ids: BTreeSet<String>,
}

impl HiddenStyles {
    /// From the part with the styles.
    pub(super) fn read(xml: &str) -> Self {
        let mut styles = Styles::default();
        visit(xml, &mut styles);
        let ids = styles
            .of_id
            .keys()
            .filter(|id| styles.hides(id))
            .cloned()
            .collect();
        Self { ids }
    }

    /// Whether the text of style `id` is hidden.
    pub(super) fn has(&self, id: &str) -> bool {
        self.ids.contains(id)
    }
}

#[derive(Default)]
struct Style {
    base: Option<String>,
    hides: Option<bool>,
}

#[derive(Default)]
struct Styles {
    of_id: BTreeMap<String, Style>,
    current: Option<String>,
    /// Within the properties of a part of a table.
    in_table: bool,
}

impl Styles {
    fn hides(&self, id: &str) -> bool {
        let mut id = Some(id);
        for _ in 0..MOST_BASES {
            let Some(style) = id.and_then(|id| self.of_id.get(id)) else {
                return false;
            };
            if let Some(hides) = style.hides {
                return hides;
            }
            id = style.base.as_deref();
        }
        false
    }
}

impl Visit for Styles {
    fn open(&mut self, tag: &Tag<'_>) {
        if tag.local() == "style" {
            self.current = tag.attribute("styleId");
            if let Some(id) = &self.current {
                self.of_id.entry(id.clone()).or_default();
            }
            return;
        }
        self.in_table |= tag.local() == "tblStylePr";
        let current = self.current.as_ref().filter(|_| !self.in_table);
        let Some(style) = current.and_then(|id| self.of_id.get_mut(id)) else {
            return;
        };
        match tag.local() {
            "basedOn" => style.base = tag.attribute("val"),
            "vanish" => style.hides = Some(is_on(tag)),
            _ => {}
        }
    }

    fn text(&mut self, _text: &str) {}

    fn close(&mut self, name: &str) {
        match split(name).1 {
            "style" => self.current = None,
            "tblStylePr" => self.in_table = false,
            _ => {}
        }
    }
}

/// Whether a property that may say no says yes.
pub(super) fn is_on(tag: &Tag<'_>) -> bool {
    !matches!(
        tag.attribute("val").as_deref(),
        Some("0" | "false" | "off" | "none")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hiding_is_inherited() {
        let style = |id: &str, inner: &str| {
            format!("<w:style w:type=\"paragraph\" w:styleId=\"{id}\">{inner}</w:style>")
        };
        let xml = [
            style("Note", "<w:rPr><w:vanish/></w:rPr>"),
            style("Sub", "<w:basedOn w:val=\"Note\"/>"),
            style(
                "Back",
                "<w:basedOn w:val=\"Sub\"/><w:rPr><w:vanish w:val=\"0\"/></w:rPr>",
            ),
            style("Loop", "<w:basedOn w:val=\"Loop\"/>"),
            style(
                "Table",
                "<w:tblStylePr><w:rPr><w:vanish/></w:rPr></w:tblStylePr>",
            ),
        ];
        let hidden = HiddenStyles::read(&format!("<w:styles>{}</w:styles>", xml.concat()));
        let ids: Vec<_> = hidden.ids.iter().map(String::as_str).collect();
        assert_eq!(ids, ["Note", "Sub"]);
    }
}
