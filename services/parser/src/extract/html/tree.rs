//! Looking at the parser's tree. Nothing here recurses: how deep a tree is, its file decides.

use std::rc::Rc;

use htmd::Node;
use markup5ever_rcdom::NodeData;

/// The tag of an element; `None` for text and the rest.
pub(super) fn tag(node: &Node) -> Option<&str> {
    match &node.data {
        NodeData::Element { name, .. } => Some(&name.local),
        _ => None,
    }
}

/// The value of an element's attribute.
pub(super) fn attribute(node: &Node, wanted: &str) -> Option<String> {
    let NodeData::Element { attrs, .. } = &node.data else {
        return None;
    };
    let attrs = attrs.borrow();
    let found = attrs.iter().find(|attr| &*attr.name.local == wanted)?;
    Some(found.value.to_string())
}

/// A text node with `text`.
pub(super) fn text_node(text: String) -> Rc<Node> {
    Node::new(NodeData::Text {
        contents: std::cell::RefCell::new(text.into()),
    })
}

/// The text of a text node.
pub(super) fn own_text(node: &Node) -> Option<String> {
    match &node.data {
        NodeData::Text { contents } => Some(contents.borrow().to_string()),
        _ => None,
    }
}

/// The nodes below `node` in the order of the text.
pub(super) fn below(node: &Rc<Node>) -> Below {
    let mut stack = node.children.borrow().clone();
    stack.reverse();
    Below { stack }
}

pub(super) struct Below {
    stack: Vec<Rc<Node>>,
}

impl Iterator for Below {
    type Item = Rc<Node>;

    fn next(&mut self) -> Option<Rc<Node>> {
        let node = self.stack.pop()?;
        self.stack
            .extend(node.children.borrow().iter().rev().cloned());
        Some(node)
    }
}

/// All text below `node` as it stands.
pub(super) fn text_below(node: &Rc<Node>) -> String {
    below(node)
        .filter_map(|node| match tag(&node) {
            Some("br") => Some("\n".to_owned()),
            _ => own_text(&node),
        })
        .collect()
}

/// `text` in one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
