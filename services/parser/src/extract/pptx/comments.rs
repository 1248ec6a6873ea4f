//! Comments on slides, as older and newer programs write them.

use std::collections::BTreeMap;

use super::super::office::package::Package;
use super::super::office::xml::{Tag, Visit, split, visit};

/// The names of those who comment, by what stands for them.
#[derive(Debug, Default)]
pub(super) struct Authors {
    names: BTreeMap<String, String>,
}

impl Authors {
    /// From the parts that list them.
    pub(super) fn read(package: &Package) -> Self {
        let mut authors = Self::default();
        for part in ["ppt/commentAuthors.xml", "ppt/authors.xml"] {
            if let Some(xml) = package.xml(part) {
                visit(&xml, &mut authors);
            }
        }
        authors
    }

    /// The comments on the slide `part`, a line each.
    pub(super) fn comments_on(&self, package: &Package, part: &str) -> Vec<String> {
        let mut comments = Comments::default();
        for relation in package.relations(part) {
            if relation.kind == "comments"
                && let Some(xml) = package.xml(&relation.part)
            {
                visit(&xml, &mut comments);
            }
        }
        let line = |(author, text): (Option<String>, String)| {
            let name = author.and_then(|author| self.names.get(&author));
            let by = name.map(|name| format!(" by {name}")).unwrap_or_default();
            format!("Comment{by}: {text}")
        };
        comments.found.into_iter().map(line).collect()
    }
}

impl Visit for Authors {
    fn open(&mut self, tag: &Tag<'_>) {
        if matches!(tag.local(), "cmAuthor" | "author")
            && let (Some(id), Some(name)) = (tag.attribute("id"), tag.attribute("name"))
        {
            self.names.insert(id, name);
        }
    }

    fn text(&mut self, _text: &str) {}

    fn close(&mut self, _name: &str) {}
}

#[derive(Default)]
struct Comments {
    found: Vec<(Option<String>, String)>,
    author: Option<String>,
    is_text: bool,
    text: String,
}

impl Comments {
    fn end(&mut self) {
        let words: Vec<&str> = self.text.split_whitespace().collect();
        if !words.is_empty() {
            self.found.push((self.author.clone(), words.join(" ")));
        }
        self.text.clear();
    }
}

impl Visit for Comments {
    fn open(&mut self, tag: &Tag<'_>) {
        match tag.local() {
            "cm" | "reply" => {
                self.end();
                self.author = tag.attribute("authorId");
            }
            "text" | "t" => self.is_text = true,
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.is_text {
            self.text.push_str(text);
        }
    }

    fn close(&mut self, name: &str) {
        match split(name).1 {
            "cm" | "reply" => self.end(),
            "p" => self.text.push(' '),
            "text" | "t" => self.is_text = false,
            _ => {}
        }
    }
}
