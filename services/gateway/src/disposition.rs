//! The name under which a browser saves a file (RFC 6266, RFC 8187).

use std::fmt::Write as _;

/// The value of `Content-Disposition` for a file called `name`: it is saved, never shown.
pub fn attachment(name: &str) -> String {
    let name: String = name.chars().map(harmless).collect();
    let plain: String = name.chars().map(plain).collect();
    let mut value = format!("attachment; filename=\"{plain}\"");
    if plain != name {
        value.push_str("; filename*=UTF-8''");
        for byte in name.bytes() {
            if is_attr_char(byte) {
                value.push(char::from(byte));
            } else {
                // Writing to a string cannot fail.
                write!(value, "%{byte:02X}").ok();
            }
        }
    }
    value
}

/// What would lead out of the folder, break the header, or turn the shown name around.
fn harmless(c: char) -> char {
    let turns =
        matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if c.is_control() || turns || matches!(c, '/' | '\\') {
        '_'
    } else {
        c
    }
}

/// For readers that know ASCII only.
fn plain(c: char) -> char {
    if c.is_ascii() && c != '"' && c != '%' {
        c
    } else {
        '_'
    }
}

fn is_attr_char(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_and_whole() {
        for (name, expect) in [
            ("plan.md", "attachment; filename=\"plan.md\""),
            ("a b.md", "attachment; filename=\"a b.md\""),
            (
                "Übersicht 1.pdf",
                "attachment; filename=\"_bersicht 1.pdf\"; \
                 filename*=UTF-8''%C3%9Cbersicht%201.pdf",
            ),
            (
                "a\"; x=\".html",
                "attachment; filename=\"a_; x=_.html\"; filename*=UTF-8''a%22%3B%20x%3D%22.html",
            ),
            ("../\r\nup\\x", "attachment; filename=\"..___up_x\""),
            ("gpj.\u{202e}exe", "attachment; filename=\"gpj._exe\""),
        ] {
            assert_eq!(attachment(name), expect, "{name}");
        }
    }
}
