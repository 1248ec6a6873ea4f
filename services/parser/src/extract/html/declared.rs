//! The encoding that a web page says it is in, as far as the HTML standard's prescan goes.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// The declaration stands here, or nowhere. Twice what the standard looks at, for long comments.
const PRESCAN_BYTES: usize = 2048;

/// The encoding of a `<meta charset>`, its older form, or an XML declaration.
pub(in super::super) fn encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..bytes.len().min(PRESCAN_BYTES)).unwrap_or(bytes);
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let label =
        in_tags(&head, "<meta", "charset").or_else(|| in_tags(&head, "<?xml", "encoding"))?;
    let found = Encoding::for_label(label.as_bytes())?;
    // Whoever could read the declaration has not read UTF-16.
    if found == UTF_16LE || found == UTF_16BE {
        Some(UTF_8)
    } else {
        Some(found)
    }
}

/// The value after `key` in the first tag `start` that has it.
fn in_tags<'a>(head: &'a str, start: &str, key: &str) -> Option<&'a str> {
    head.split(start).skip(1).find_map(|rest| {
        let tag = rest.split('>').next()?;
        let (_, value) = tag.split_once(key)?;
        let value = value.trim_start().strip_prefix('=')?.trim_start();
        let value = value.trim_start_matches(['"', '\'']);
        let end =
            value.find(|c: char| matches!(c, '"' | '\'' | ';' | '?' | '/') || c.is_whitespace());
        let label = value.get(..end.unwrap_or(value.len()))?;
        (!label.is_empty()).then_some(label)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declaration_is_read() {
        #[track_caller]
        fn check(head: &str, expect: Option<&str>) {
            let found = encoding(head.as_bytes()).map(Encoding::name);
            assert_eq!(found, expect, "{head}");
        }
        check("<meta charset=\"iso-8859-2\">", Some("ISO-8859-2"));
        check("<META CHARSET=koi8-r />", Some("KOI8-R"));
        check(
            "<meta name=a><meta http-equiv=\"Content-Type\" content=\"text/html; charset=Shift_JIS\">",
            Some("Shift_JIS"),
        );
        check(
            "<?xml version='1.0' encoding='windows-1250'?>",
            Some("windows-1250"),
        );
        check("<meta charset=\"utf-16\">", Some("UTF-8"));
        check("<meta charset=\"no-such\">", None);
        check("<p>charset=koi8-r</p>", None);
        check("", None);
    }
}
