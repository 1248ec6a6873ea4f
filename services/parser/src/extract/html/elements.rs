//! How single elements are written.

use std::rc::Rc;

use htmd::element_handler::{ElementHandler, HandlerResult, Handlers};
use htmd::{Element, Node};

use super::super::lines::fenced;
use super::tree::{attribute, below, one_line, own_text, tag, text_below};

/// An element that is written by a function of it; what gives no text is left out.
pub(super) struct Written(pub(super) fn(&dyn Handlers, &Element<'_>) -> String);

impl ElementHandler for Written {
    fn handle(&self, handlers: &dyn Handlers, element: Element) -> Option<HandlerResult> {
        let text = (self.0)(handlers, &element);
        (!text.is_empty()).then(|| text.into())
    }
}

/// A heading is one line, and bold by itself.
pub(super) fn heading(handlers: &dyn Handlers, element: &Element<'_>) -> String {
    let inner = handlers.walk_children(element.node).content;
    let line = one_line(&inner.replace("**", ""));
    if line.is_empty() {
        return String::new();
    }
    let level = element
        .tag
        .chars()
        .filter_map(|c| c.to_digit(10))
        .find_map(|level| usize::try_from(level).ok())
        .unwrap_or(1);
    format!("\n\n{} {line}\n\n", "#".repeat(level))
}

/// A link is its text; where it leads to is noise in a passage. Addresses to write to or to call
/// are kept, because they are what is asked for.
pub(super) fn link(handlers: &dyn Handlers, element: &Element<'_>) -> String {
    let inner = handlers.walk_children(element.node).content;
    let href = attribute(element.node, "href").unwrap_or_default();
    let address = ["mailto:", "tel:"]
        .iter()
        .find_map(|scheme| href.strip_prefix(scheme));
    let address = address
        .and_then(|address| address.split('?').next())
        .unwrap_or_default();
    let plain = |text: &str| {
        text.chars()
            .filter(|c| c.is_alphanumeric())
            .collect::<String>()
    };
    if address.is_empty() || plain(&inner).contains(&plain(address)) {
        return inner;
    }
    format!("{} ({address})", inner.trim_end())
}

/// A picture is its description.
pub(super) fn picture(_handlers: &dyn Handlers, element: &Element<'_>) -> String {
    one_line(&attribute(element.node, "alt").unwrap_or_default())
}

/// Preformatted text is a fenced block, whether it is code or not: its line ends count.
pub(super) fn code(_handlers: &dyn Handlers, element: &Element<'_>) -> String {
    let text = text_below(element.node);
    let text = text.trim_end();
    let text = text.strip_prefix('\n').unwrap_or(text);
    if text.trim().is_empty() {
        return String::new();
    }
    let code = below(element.node).find(|node| tag(node) == Some("code"));
    let language = code
        .iter()
        .chain([element.node])
        .find_map(|node| language(&attribute(node, "class")?))
        .unwrap_or_default();
    format!("\n\n{}\n\n", fenced(text, &language))
}

/// The language among the classes of a code block.
fn language(classes: &str) -> Option<String> {
    let class = classes.split_whitespace().find_map(|class| {
        class
            .strip_prefix("language-")
            .or_else(|| class.strip_prefix("lang-"))
    })?;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '+' | '-' | '#' | '_' | '.');
    class.chars().all(is_name).then(|| class.to_owned())
}

/// A raised number is marked, or 10 to the third would read 103.
pub(super) fn raised(handlers: &dyn Handlers, element: &Element<'_>) -> String {
    let inner = handlers.walk_children(element.node).content;
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '−');
    if !inner.is_empty() && inner.chars().all(is_number) {
        return format!("^{inner}");
    }
    inner
}

/// Text that no longer holds stays, and stays struck.
pub(super) fn struck(handlers: &dyn Handlers, element: &Element<'_>) -> String {
    let inner = handlers.walk_children(element.node).content;
    let text = inner.trim();
    if text.is_empty() || text.contains('\n') {
        return inner;
    }
    format!("~~{text}~~")
}

/// A formula is its TeX source, where the page carries that.
pub(super) fn formula(handlers: &dyn Handlers, element: &Element<'_>) -> String {
    let annotation = below(element.node).find(|node| {
        tag(node) == Some("annotation")
            && attribute(node, "encoding").as_deref() == Some("application/x-tex")
    });
    let source = annotation
        .map(|node| text_below(&node))
        .or_else(|| attribute(element.node, "alttext"))
        .map(|source| one_line(&source))
        .filter(|source| !source.is_empty());
    match source {
        Some(source) => format!("${source}$"),
        None => handlers.walk_children(element.node).content,
    }
}

/// A list of terms: each with what is said about it.
pub(super) fn terms(handlers: &dyn Handlers, element: &Element<'_>) -> String {
    let mut out = String::from("\n\n");
    let mut terms = Vec::new();
    for node in term_parts(element.node) {
        let inner = handlers.walk_children(&node).content;
        let inner = inner.trim();
        if tag(&node) == Some("dt") {
            terms.push(one_line(inner));
            continue;
        }
        out.push_str("- ");
        if !terms.is_empty() {
            out.push_str(&std::mem::take(&mut terms).join(", "));
            out.push_str(": ");
        }
        // What has several lines stays in the item.
        out.push_str(&inner.replace('\n', "\n  "));
        out.push('\n');
    }
    for term in terms {
        out.extend(["- ", term.as_str(), "\n"]);
    }
    out.push('\n');
    out
}

/// `dt` and `dd`, which may stand in groups.
fn term_parts(list: &Rc<Node>) -> Vec<Rc<Node>> {
    let mut found = Vec::new();
    for child in list.children.borrow().iter() {
        match tag(child) {
            Some("dt" | "dd") => found.push(Rc::clone(child)),
            Some("div") => found.extend(
                child
                    .children
                    .borrow()
                    .iter()
                    .filter(|part| matches!(tag(part), Some("dt" | "dd")))
                    .map(Rc::clone),
            ),
            _ => {}
        }
    }
    found
}

/// A text with its reading beside it: the text, so that it can be found, then the reading.
pub(super) fn ruby(_handlers: &dyn Handlers, element: &Element<'_>) -> String {
    let (mut base, mut reading) = (String::new(), String::new());
    let mut stack = vec![(Rc::clone(element.node), false)];
    while let Some((node, in_reading)) = stack.pop() {
        let in_reading = match tag(&node) {
            Some("rp") => continue,
            Some("rt" | "rtc") => true,
            _ => in_reading,
        };
        if let Some(text) = own_text(&node) {
            let out = if in_reading { &mut reading } else { &mut base };
            out.push_str(text.trim());
        }
        let children = node.children.borrow();
        stack.extend(
            children
                .iter()
                .rev()
                .map(|child| (Rc::clone(child), in_reading)),
        );
    }
    if reading.is_empty() {
        return base;
    }
    format!("{base} ({reading})")
}
