//! Entities: what `&name;` stands for, within bounds.

use std::collections::HashMap;

use quick_xml::escape::resolve_xml_entity;

use super::super::html;

/// Text that all entities of a file may expand to. Real ones are names and phrases.
const MOST_BYTES: usize = 64 * 1024;
/// Entities within entities.
const MOST_NESTED: u32 = 8;

/// The entities of a file.
#[derive(Default)]
pub(super) struct Entities {
    declared: HashMap<String, String>,
    /// Names that HTML knows, looked up so far.
    known: HashMap<String, Option<String>>,
    spent: usize,
    /// Whether some were left out because they expand without end.
    pub(super) endless: bool,
    /// Whether some stand for parts outside the file.
    pub(super) external: bool,
}

impl Entities {
    /// Reads the declarations of a document type; the first of a name holds.
    pub(super) fn declare(&mut self, doctype: &str) {
        for declaration in doctype.split("<!ENTITY").skip(1) {
            let declaration = declaration.trim_start();
            let Some((name, rest)) = declaration.split_once(char::is_whitespace) else {
                continue;
            };
            let rest = rest.trim_start();
            let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
            let value = quote.and_then(|quote| rest.split(quote).nth(1));
            match value {
                Some(value) => {
                    let value = || value.to_owned();
                    self.declared.entry(name.to_owned()).or_insert_with(value);
                }
                None => self.external |= name != "%" && rest.starts_with(['S', 'P']),
            }
        }
    }

    /// The text that `&name;` stands for; what is not known stays as it is.
    pub(super) fn resolve(&mut self, name: &str) -> String {
        if let Some(text) = resolve_xml_entity(name) {
            return text.to_owned();
        }
        let mut out = String::new();
        self.expand(name, 0, &mut out);
        out
    }

    fn expand(&mut self, name: &str, depth: u32, out: &mut String) {
        let Some(value) = self.declared.get(name).cloned() else {
            out.push_str(&self.by_html(name));
            return;
        };
        self.spent += value.len();
        if depth >= MOST_NESTED || self.spent > MOST_BYTES {
            self.endless = true;
            return;
        }
        // A value may hold tags; its text is what counts here.
        let value = super::without_tags(&value);
        let mut rest = value.as_str();
        while let Some((before, after)) = rest.split_once('&') {
            out.push_str(before);
            let Some((inner, after)) = after.split_once(';') else {
                out.push('&');
                rest = after;
                continue;
            };
            match inner.strip_prefix('#') {
                Some(number) => out.extend(character(number)),
                None => self.expand(inner, depth + 1, out),
            }
            rest = after;
        }
        out.push_str(rest);
    }

    /// Feeds use the names of HTML without declaring them.
    fn by_html(&mut self, name: &str) -> String {
        let as_it_is = || format!("&{name};");
        let is_name = name.len() <= 32 && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_name {
            return as_it_is();
        }
        if let Some(text) = resolve_xml_entity(name) {
            return text.to_owned();
        }
        if self.known.len() > 500 {
            return as_it_is();
        }
        let look_up = || {
            // Words around it keep what is only space.
            let page = html::fragment(&format!("a&{name};b")).ok()?;
            let text = page.trim().strip_prefix('a')?.strip_suffix('b')?;
            (!text.starts_with('&') && !text.starts_with("\\&")).then(|| text.to_owned())
        };
        let known = self.known.entry(name.to_owned()).or_insert_with(look_up);
        known.clone().unwrap_or_else(as_it_is)
    }
}

/// The character of `x20` or `32`.
fn character(number: &str) -> Option<char> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(code)
}
