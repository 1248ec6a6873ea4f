//! An XML text as a tree, as far as it goes.

use quick_xml::Reader;
use quick_xml::escape::unescape_with;
use quick_xml::events::{BytesStart, Event};

use super::super::data::MOST_NESTED;
use super::super::{ExtractError, charset};
use super::entities::Entities;

/// Elements and texts of a file that is still read; the tree of so many takes some 400 MB.
const MOST_NODES: usize = 3_000_000;

/// An element; names are without prefixes.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) children: Vec<Node>,
}

#[derive(Debug)]
pub(super) enum Node {
    Element(Element),
    Text(String),
}

impl Element {
    /// The elements right below.
    pub(super) fn elements(&self) -> impl Iterator<Item = &Self> {
        self.children.iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// The first element of this name right below.
    pub(super) fn child(&self, name: &str) -> Option<&Self> {
        self.elements().find(|element| element.name == name)
    }

    /// The value of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(key, _)| key == name)?;
        Some(&found.1)
    }

    /// Whether it holds text right below.
    pub(super) fn has_text(&self) -> bool {
        let is_text = |node: &Node| matches!(node, Node::Text(text) if !text.trim().is_empty());
        self.children.iter().any(is_text)
    }

    pub(super) fn has_elements(&self) -> bool {
        self.elements().next().is_some()
    }

    /// All text within it, as it stands.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        self.push_text(&mut out);
        out
    }

    fn push_text(&self, out: &mut String) {
        for node in &self.children {
            match node {
                Node::Text(text) => out.push_str(text),
                Node::Element(element) => element.push_text(out),
            }
        }
    }

    /// All text within it in one line.
    pub(super) fn line(&self) -> String {
        let text = self.text();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// What was read.
pub(super) struct Tree<'a> {
    /// The outermost element.
    pub(super) root: Option<Element>,
    /// The text from where the XML is broken, if it is.
    pub(super) rest: Option<&'a str>,
    pub(super) doubts: Vec<String>,
}

/// Reads `text`, the text of a whole file.
///
/// # Errors
/// When it holds too many elements.
pub(super) fn parse(text: &str) -> Result<Tree<'_>, ExtractError> {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.allow_dangling_amp = true;
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    let mut builder = Builder::default();
    let mut rest = None;
    loop {
        match reader.read_event() {
            Ok(Event::Eof) => break,
            Ok(event) => builder.add(event),
            Err(_broken) => {
                let at = usize::try_from(reader.error_position()).unwrap_or(usize::MAX);
                rest = Some(at.min(text.len()));
                break;
            }
        }
        if builder.nodes > MOST_NODES {
            return Err(ExtractError::TooLarge {
                what: "it holds more than 3,000,000 elements".to_owned(),
            });
        }
    }
    let rest = rest.map(|mut at| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        text.split_at(at)
    });
    let mut doubts = builder.doubts();
    if let Some((before, _)) = rest {
        let line = before.matches('\n').count() + 1;
        doubts.push(format!(
            "the XML breaks off at line {line}; the rest is read without tags"
        ));
    } else if !builder.open.is_empty() {
        doubts.push("the XML ends before its elements do".to_owned());
    }
    Ok(Tree {
        root: builder.finish(),
        rest: rest.map(|(_, rest)| rest),
        doubts,
    })
}

#[derive(Default)]
struct Builder {
    open: Vec<Element>,
    /// Open elements beyond the deepest level that is kept apart.
    beyond: usize,
    done: Option<Element>,
    nodes: usize,
    entities: Entities,
    flattened: bool,
}

impl Builder {
    fn add(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::Empty(tag) => {
                self.start(&tag);
                self.end();
            }
            Event::End(_) => self.end(),
            Event::Text(text) => self.text(&text.decode().unwrap_or_default()),
            Event::CData(text) => self.text(&text.decode().unwrap_or_default()),
            Event::DocType(doctype) => {
                self.entities.declare(&doctype.decode().unwrap_or_default());
            }
            Event::GeneralRef(entity) => {
                let name = entity.decode().unwrap_or_default();
                match entity.resolve_char_ref() {
                    Ok(Some(c)) => self.text(c.encode_utf8(&mut [0; 4])),
                    Ok(None) => {
                        let text = self.entities.resolve(&name);
                        self.text(&text);
                    }
                    Err(_) => {}
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>) {
        self.nodes += 1;
        if self.open.len() >= MOST_NESTED {
            self.beyond += 1;
            self.flattened = true;
            self.text(" ");
            return;
        }
        let text_of = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut attributes = Vec::new();
        for attribute in tag.attributes().with_checks(false).flatten() {
            let key = attribute.key;
            if key.as_namespace_binding().is_some() {
                continue;
            }
            self.nodes += 1;
            let value = text_of(&attribute.value);
            let known = |name: &str| quick_xml::escape::resolve_xml_entity(name);
            let value = unescape_with(&value, known).map_or_else(|_| value.clone(), Into::into);
            attributes.push((text_of(key.local_name().as_ref()), charset::clean(&value)));
        }
        self.open.push(Element {
            name: text_of(tag.local_name().as_ref()),
            attributes,
            children: Vec::new(),
        });
    }

    fn end(&mut self) {
        if self.beyond > 0 {
            self.beyond -= 1;
            self.text(" ");
            return;
        }
        let Some(element) = self.open.pop() else {
            return;
        };
        match self.open.last_mut() {
            Some(around) => around.children.push(Node::Element(element)),
            None if self.done.is_none() => self.done = Some(element),
            // More than one root: what follows stands below the first.
            None => {
                if let Some(done) = &mut self.done {
                    done.children.push(Node::Element(element));
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        let Some(open) = self.open.last_mut() else {
            // Text around the root is none of XML, and still text.
            if !text.trim().is_empty() {
                let done = self.done.get_or_insert_default();
                done.children.push(Node::Text(charset::clean(text)));
            }
            return;
        };
        let text = charset::clean(text);
        if let Some(Node::Text(before)) = open.children.last_mut() {
            before.push_str(&text);
        } else if !text.is_empty() {
            self.nodes += 1;
            open.children.push(Node::Text(text));
        }
    }

    fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        let mut doubt = |applies: bool, text: String| {
            if applies {
                doubts.push(text);
            }
        };
        let deep = format!("elements nested deeper than {MOST_NESTED} are read as plain text");
        doubt(self.flattened, deep);
        let endless = "entities that expand without end are left out";
        doubt(self.entities.endless, endless.to_owned());
        let external = "parts outside the file are not loaded";
        doubt(self.entities.external, external.to_owned());
        doubts
    }

    fn finish(mut self) -> Option<Element> {
        self.beyond = 0;
        while !self.open.is_empty() {
            self.end();
        }
        self.done
    }
}
