//! Takes out of a page what is no text to read: programs, styles, menus, and what is not shown.

use std::rc::Rc;

use htmd::Node;

use super::tree::{attribute, below, one_line, own_text, tag, text_below, text_node};

/// Deeper elements are kept as plain text. Pages that people write stay below 100; the converter
/// recurses, and its stack holds for thousands.
const MAX_DEPTH: usize = 200;

/// The elements whose content the parser leaves as text, because browsers with frames do not read
/// it, and that text.
pub(super) fn unparsed(document: &Rc<Node>) -> Vec<(Rc<Node>, String)> {
    let raw = |node: &Rc<Node>| matches!(tag(node), Some("noframes" | "noembed"));
    below(document)
        .filter(raw)
        .map(|node| (Rc::clone(&node), text_below(&node)))
        .collect()
}

/// Puts what is below `inner`, a page of its own, into `frames`.
pub(super) fn adopt(frames: &Rc<Node>, inner: &Rc<Node>) {
    let body = below(inner).find(|node| tag(node) == Some("body"));
    let children = body.map(|body| std::mem::take(&mut *body.children.borrow_mut()));
    let children = children.unwrap_or_default();
    for child in &children {
        child.parent.set(Some(Rc::downgrade(frames)));
    }
    *frames.children.borrow_mut() = children;
}

/// What pruning found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Pruned {
    /// The page's title.
    pub(super) title: Option<String>,
    /// Whether a heading of the first level is left.
    pub(super) has_main_heading: bool,
    /// What was left out or changed.
    pub(super) notes: Vec<String>,
}

/// What an element is to a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// To be read.
    Text,
    /// A list of links to other pages.
    Menu,
    /// Not shown.
    Hidden,
    /// Never text.
    Machinery,
}

fn part(node: &Node) -> Part {
    let Some(tag) = tag(node) else {
        return Part::Text;
    };
    match tag {
        "head" | "script" | "style" | "template" | "svg" | "iframe" | "object" | "embed"
        | "canvas" | "audio" | "video" | "map" | "datalist" | "title" => return Part::Machinery,
        "noscript" => return Part::Hidden,
        _ => {}
    }
    if attribute(node, "hidden").is_some_and(|value| value != "until-found") || is_unstyled(node) {
        Part::Hidden
    } else if tag == "nav" || attribute(node, "role").as_deref() == Some("navigation") {
        Part::Menu
    } else {
        Part::Text
    }
}

/// Whether the element's own style hides it. Style sheets are not read.
fn is_unstyled(node: &Node) -> bool {
    attribute(node, "style").is_some_and(|style| {
        let style: String = style.to_ascii_lowercase().split_whitespace().collect();
        style
            .split(';')
            .any(|rule| rule.starts_with("display:none") || rule.starts_with("visibility:hidden"))
    })
}

/// Letters of each part.
#[derive(Default)]
struct Letters {
    text: usize,
    menu: usize,
    hidden: usize,
}

/// Prunes the tree below `document`.
///
/// A menu goes only if the rest has at least as much text, hidden text only if some is shown: what
/// is all there is, is the page.
pub(super) fn prune(document: &Rc<Node>) -> Pruned {
    let letters = letters(document);
    let without_menus = letters.menu > 0 && letters.text >= letters.menu;
    let without_hidden = letters.text + letters.menu > 0;
    let mut pruned = Pruned {
        title: title(document),
        ..Pruned::default()
    };
    let goes = |node: &Rc<Node>| match part(node) {
        Part::Text => false,
        Part::Menu => without_menus,
        Part::Hidden => without_hidden,
        Part::Machinery => true,
    };
    let mut flattened = false;
    let mut stack = vec![(Rc::clone(document), 0_usize)];
    while let Some((node, depth)) = stack.pop() {
        node.children.borrow_mut().retain(|child| !goes(child));
        // The text of a table is in its cells, or lost.
        let frames_cells = matches!(
            tag(&node),
            Some("table" | "thead" | "tbody" | "tfoot" | "tr")
        );
        if depth >= MAX_DEPTH && !frames_cells {
            flattened |= flatten(&node, goes);
            continue;
        }
        pruned.has_main_heading |= tag(&node) == Some("h1") && !text_below(&node).trim().is_empty();
        let children = node.children.borrow();
        stack.extend(children.iter().map(|child| (Rc::clone(child), depth + 1)));
    }
    let mut note = |applies: bool, text: &str| {
        if applies {
            pruned.notes.push(text.to_owned());
        }
    };
    note(without_menus, "menus are left out");
    note(
        without_hidden && letters.hidden > 0,
        "text that is not shown is left out",
    );
    note(
        !without_hidden && letters.hidden > 0,
        "all text is hidden until a program shows it",
    );
    note(
        flattened,
        "elements nested deeper than 200 are read as plain text",
    );
    pruned
}

/// Puts the text below `node` in place of its elements; whether there were any.
fn flatten(node: &Rc<Node>, goes: impl Fn(&Rc<Node>) -> bool) -> bool {
    if node
        .children
        .borrow()
        .iter()
        .all(|child| tag(child).is_none())
    {
        return false;
    }
    let mut text = String::new();
    let mut stack = node.children.borrow().clone();
    stack.reverse();
    while let Some(node) = stack.pop() {
        if goes(&node) {
            continue;
        }
        if let Some(own) = own_text(&node) {
            text.push_str(&own);
        } else {
            text.push(' ');
        }
        stack.extend(node.children.borrow().iter().rev().cloned());
    }
    let leaf = text_node(text);
    leaf.parent.set(Some(Rc::downgrade(node)));
    // What is taken out ends without recursion, by the tree's own drop.
    *node.children.borrow_mut() = vec![leaf];
    true
}

fn letters(document: &Rc<Node>) -> Letters {
    let mut letters = Letters::default();
    let mut stack = vec![(Rc::clone(document), Part::Text)];
    while let Some((node, around)) = stack.pop() {
        let inside = match (part(&node), around) {
            (Part::Machinery, _) => continue,
            (Part::Hidden, _) | (_, Part::Hidden) => Part::Hidden,
            (Part::Menu, _) | (_, Part::Menu) => Part::Menu,
            (Part::Text, around) => around,
        };
        if let Some(text) = own_text(&node) {
            let count = text.chars().filter(|c| c.is_alphanumeric()).count();
            match inside {
                Part::Menu => letters.menu += count,
                Part::Hidden => letters.hidden += count,
                Part::Text | Part::Machinery => letters.text += count,
            }
        }
        let children = node.children.borrow();
        stack.extend(children.iter().map(|child| (Rc::clone(child), inside)));
    }
    letters
}

/// The text of the first `<title>`, which is that of the page: those of drawings come later.
fn title(document: &Rc<Node>) -> Option<String> {
    let found = below(document).find(|node| tag(node) == Some("title"))?;
    let title = one_line(&text_below(&found));
    (!title.is_empty()).then_some(title)
}
