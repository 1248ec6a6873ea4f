//! The bytes and the text of a part, as well as they can be had.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use encoding_rs::Encoding;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{MessagePart, MimeHeaders as _, PartType};

use super::super::charset;

const DAMAGED: &str = "a part is cut off or damaged; what can be read of it is there";

/// Takes what other programs leave out or in at the end.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A part's text with what is doubtful about it.
pub(super) struct Text {
    pub(super) text: String,
    pub(super) doubt: Option<String>,
}

/// The text of `part`, which lies in `raw`.
pub(super) fn text(part: &MessagePart<'_>, raw: &[u8]) -> Text {
    let label = part
        .content_type()
        .and_then(|kind| kind.attribute("charset"));
    let known = label.is_some_and(|label| charset_decoder(label.as_bytes()).is_some());
    let parsed = match &part.body {
        PartType::Text(text) | PartType::Html(text) => text.as_ref(),
        _ => "",
    };
    if known && !part.is_encoding_problem && is_right(parsed, label) {
        let text = charset::clean(parsed);
        return Text { text, doubt: None };
    }
    let bytes = bytes(part, raw);
    let declared = label.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    let decoded = charset::decode_declared(&bytes, declared);
    let unknown = label.is_some() && declared.is_none() && !known && !bytes.is_ascii();
    let doubt = if part.is_encoding_problem {
        Some(DAMAGED.to_owned())
    } else if unknown {
        let taken = decoded.encoding;
        Some(format!(
            "a part names an encoding that is not known; it was read as {taken}"
        ))
    } else {
        decoded.doubts().into_iter().next()
    };
    Text {
        text: decoded.text,
        doubt,
    }
}

/// Whether the parsed text can be taken: nothing was replaced, and the label is not the one that
/// programs write who do not know.
fn is_right(parsed: &str, label: Option<&str>) -> bool {
    let vague = label.is_some_and(|label| label.to_ascii_lowercase().contains("ascii"));
    !parsed.contains('\u{fffd}') && (!vague || parsed.is_ascii())
}

/// The file that `part` is, and whether it is damaged.
pub(super) fn file<'m>(
    part: &'m MessagePart<'_>,
    raw: &'m [u8],
) -> (Cow<'m, [u8]>, Option<String>) {
    let doubt = part.is_encoding_problem.then(|| DAMAGED.to_owned());
    let content = match &part.body {
        PartType::Binary(bytes) | PartType::InlineBinary(bytes) if doubt.is_none() => {
            Cow::Borrowed(bytes.as_ref())
        }
        PartType::Text(text) | PartType::Html(text) if doubt.is_none() => {
            // As it was before someone put a label on it, unless only the label says what it is.
            let bytes = bytes(part, raw);
            if std::str::from_utf8(&bytes).is_ok() || text.contains('\u{fffd}') {
                bytes
            } else {
                Cow::Borrowed(text.as_bytes())
            }
        }
        _ => bytes(part, raw),
    };
    (content, doubt)
}

/// The bytes of `part` without their transfer encoding, whatever state that is in.
fn bytes<'m>(part: &MessagePart<'_>, raw: &'m [u8]) -> Cow<'m, [u8]> {
    let range = usize::try_from(part.offset_body)
        .ok()
        .zip(usize::try_from(part.offset_end).ok());
    let packed = range
        .and_then(|(start, end)| raw.get(start..end))
        .unwrap_or_default();
    let encoding = part.content_transfer_encoding().unwrap_or_default().trim();
    if encoding.eq_ignore_ascii_case("base64") {
        Cow::Owned(base64(packed))
    } else if encoding.eq_ignore_ascii_case("quoted-printable") {
        let strict = quoted_printable_decode(packed);
        Cow::Owned(strict.unwrap_or_else(|| quoted_printable(packed)))
    } else {
        Cow::Borrowed(packed)
    }
}

/// Base64 of which characters may be wrong or missing: those are passed over.
fn base64(packed: &[u8]) -> Vec<u8> {
    let is_of_it = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let mut kept: Vec<u8> = packed.iter().copied().filter(is_of_it).collect();
    // One character alone is less than a byte.
    if kept.len() % 4 == 1 {
        kept.pop();
    }
    LENIENT.decode(&kept).unwrap_or_default()
}

/// Quoted-printable in which `=` may stand for itself.
fn quoted_printable(packed: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(packed.len());
    let mut rest = packed;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'=' {
            out.push(byte);
            continue;
        }
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        if let Some(value) = digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            out.push(value);
            rest = after.get(2..).unwrap_or_default();
        } else if let Some(next) = after.strip_prefix(b"\r\n").or(after.strip_prefix(b"\n")) {
            rest = next;
        } else {
            out.push(byte);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_encodings_give_what_is_left() {
        assert_eq!(base64(b"SGVsbG8gd29ybGQh"), b"Hello world!");
        assert_eq!(base64(b"SGVs\r\nbG8*gd29y"), b"Hello wor");
        assert_eq!(base64(b"SGVsb"), b"Hel");
        assert_eq!(base64(b"SGVsbA=="), b"Hell");
        assert_eq!(quoted_printable(b"a=3Db =\nc =zz ="), b"a=b c =zz =");
    }
}
