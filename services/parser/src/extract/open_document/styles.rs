//! Styles whose text, or whose slides, are hidden.

use std::collections::BTreeSet;

use super::super::office::xml::{Tag, Visit, split};

/// The names of styles that hide.
#[derive(Debug, Default)]
pub(super) struct HiddenStyles {
    names: BTreeSet<String>,
    current: Option<String>,
}

impl HiddenStyles {
    /// Whether the style that `tag` names by its attribute `style-name` hides it.
    pub(super) fn hides(&self, tag: &Tag<'_>) -> bool {
        tag.attribute("style-name")
            .is_some_and(|name| self.names.contains(&name))
    }
}

impl Visit for HiddenStyles {
    fn open(&mut self, tag: &Tag<'_>) {
        match tag.local() {
            "style" => self.current = tag.attribute("name"),
            "text-properties" if tag.attribute("display").as_deref() == Some("none") => {
                self.names.extend(self.current.clone());
            }
            "drawing-page-properties"
                if tag.attribute("visibility").as_deref() == Some("hidden") =>
            {
                self.names.extend(self.current.clone());
            }
            _ => {}
        }
    }

    fn text(&mut self, _text: &str) {}

    fn close(&mut self, name: &str) {
        if split(name).1 == "style" {
            self.current = None;
        }
    }
}
