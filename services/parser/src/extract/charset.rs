//! From bytes to text: which encoding, and which characters are let through.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};

/// Text with the encoding it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The text, cleaned by [`clean`].
    pub text: String,
    /// The encoding's WHATWG name.
    pub encoding: &'static str,
    /// Whether some bytes made no sense in it; each stands as U+FFFD.
    pub lossy: bool,
}

impl Decoded {
    /// What a reader should know about the text.
    pub(super) fn doubts(&self) -> Vec<String> {
        let lost = || format!("some bytes are not {} and stand as U+FFFD", self.encoding);
        self.lossy.then(lost).into_iter().collect()
    }
}

/// Decodes a whole text file.
///
/// A byte order mark decides; else UTF-16 by its pattern of zero bytes; else UTF-8 if it is valid
/// or nearly so; else what chardetng finds most likely over the whole file.
pub fn decode(bytes: &[u8]) -> Decoded {
    decode_declared(bytes, None)
}

/// Decodes a file that names its own encoding: that is taken after a byte order mark and the
/// pattern of UTF-16, if all bytes make sense in it and they are not UTF-8.
pub(super) fn decode_declared(bytes: &[u8], declared: Option<&'static Encoding>) -> Decoded {
    let (encoding, body) = match Encoding::for_bom(bytes) {
        Some((encoding, length)) => (encoding, bytes.get(length..).unwrap_or_default()),
        None => (declared_or_guess(bytes, declared), bytes),
    };
    let (text, lossy) = encoding.decode_without_bom_handling(body);
    Decoded {
        text: clean(&text),
        encoding: encoding.name(),
        lossy,
    }
}

fn declared_or_guess(bytes: &[u8], declared: Option<&'static Encoding>) -> &'static Encoding {
    let fits = |encoding: &&'static Encoding| {
        encoding
            .decode_without_bom_handling_and_without_replacement(bytes)
            .is_some()
    };
    // In a single-byte encoding all bytes make sense, but hardly any text in one is UTF-8.
    let is_utf8 = || !bytes.is_ascii() && std::str::from_utf8(bytes).is_ok();
    utf16_without_mark(bytes)
        .or_else(|| declared.filter(|_| !is_utf8()).filter(fits))
        .unwrap_or_else(|| guess(bytes))
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    if let Some(encoding) = utf16_without_mark(bytes) {
        return encoding;
    }
    // ISO-2022-JP is pure ASCII on the wire, so it has to be asked for before UTF-8.
    if bytes.contains(&0x1b) && detect(bytes) == ISO_2022_JP {
        return ISO_2022_JP;
    }
    if nearly_utf8(bytes) {
        UTF_8
    } else {
        detect(bytes)
    }
}

fn detect(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Deny)
}

/// Mostly-Latin UTF-16 has a zero in every other byte.
fn utf16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let (mut even, mut odd) = (0_usize, 0_usize);
    for (index, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == 0) {
        if index % 2 == 0 { even += 1 } else { odd += 1 }
    }
    let half = bytes.len() / 2;
    if half == 0 {
        None
    } else if odd * 5 >= half * 4 && even * 10 <= half {
        Some(UTF_16LE)
    } else if even * 5 >= half * 4 && odd * 10 <= half {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Valid UTF-8, or UTF-8 with a few broken places: at most one per twenty good non-ASCII
/// characters, which no single-byte encoding reaches by chance.
fn nearly_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut broken) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    broken == 0 || broken * 20 <= good
}

/// `text` with line ends as `\n`, and without control characters, byte order marks and
/// non-characters. Form feeds and vertical tabs end a line where none ends already.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                chars.next_if_eq(&'\n');
                out.push('\n');
            }
            '\u{85}' => out.push('\n'),
            '\u{b}' | '\u{c}' => {
                let ends_already = out.is_empty() || out.ends_with('\n');
                let ends_next =
                    matches!(chars.peek(), None | Some('\r' | '\n' | '\u{b}' | '\u{c}'));
                if !ends_already && !ends_next {
                    out.push('\n');
                }
            }
            '\n' | '\t' => out.push(c),
            '\u{feff}' => {}
            c if c.is_control() || is_noncharacter(c) => {}
            c => out.push(c),
        }
    }
    out
}

fn is_noncharacter(c: char) -> bool {
    let code = u32::from(c);
    code & 0xfffe == 0xfffe || (0xfdd0..=0xfdef).contains(&code)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], encoding: &str, text: &str) {
        let decoded = decode(bytes);
        assert_eq!((decoded.encoding, decoded.text.as_str()), (encoding, text));
    }

    fn utf16(text: &str, big: bool) -> Vec<u8> {
        let unit = if big {
            u16::to_be_bytes
        } else {
            u16::to_le_bytes
        };
        text.encode_utf16().flat_map(unit).collect()
    }

    #[test]
    fn the_encoding_is_found() {
        check(b"", "UTF-8", "");
        check(b"plain", "UTF-8", "plain");
        check("Grüße, 你好".as_bytes(), "UTF-8", "Grüße, 你好");
        check(b"\xef\xbb\xbfmark", "UTF-8", "mark");
        check(
            &[b"\xff\xfe".as_slice(), &utf16("Käse", false)].concat(),
            "UTF-16LE",
            "Käse",
        );
        check(
            &[b"\xfe\xff".as_slice(), &utf16("Käse", true)].concat(),
            "UTF-16BE",
            "Käse",
        );
        check(
            &utf16("No mark at all", false),
            "UTF-16LE",
            "No mark at all",
        );
        check(&utf16("No mark at all", true), "UTF-16BE", "No mark at all");
        check(
            b"k\xf6nnen, m\xfcssen, Stra\xdfe",
            "windows-1252",
            "können, müssen, Straße",
        );
        check(b"\x93quoted\x94 \x80 5", "windows-1252", "“quoted” € 5");
        let (bytes, ..) = encoding_rs::WINDOWS_1251.encode("Привет, это обычный русский текст");
        check(&bytes, "windows-1251", "Привет, это обычный русский текст");
        let (bytes, ..) = encoding_rs::SHIFT_JIS.encode("これは日本語の文章です。漢字もあります。");
        check(
            &bytes,
            "Shift_JIS",
            "これは日本語の文章です。漢字もあります。",
        );
        let (bytes, ..) = ISO_2022_JP.encode("日本語のメール本文です。");
        check(&bytes, "ISO-2022-JP", "日本語のメール本文です。");
        let (bytes, ..) = encoding_rs::GB18030.encode("这是一个简体中文的测试文件，内容很短。");
        check(&bytes, "GBK", "这是一个简体中文的测试文件，内容很短。");
    }

    #[test]
    fn a_broken_place_does_not_turn_utf8_into_something_else() {
        let mut bytes = "ÄÖÜäöüß".repeat(10).into_bytes();
        bytes.push(0xc3);
        let decoded = decode(&bytes);
        assert_eq!(decoded.encoding, "UTF-8");
        assert!(
            decoded.lossy && decoded.text.ends_with('\u{fffd}'),
            "{decoded:?}"
        );
    }

    #[test]
    fn line_ends_and_control_characters() {
        #[track_caller]
        fn check(input: &str, expect: &str) {
            assert_eq!(clean(input), expect);
        }
        check("a\r\nb\rc\nd", "a\nb\nc\nd");
        check("a\u{0}b\u{7}\u{1b}[1mc\u{7f}\u{9f}", "ab[1mc");
        check("a\tb", "a\tb");
        check("\u{feff}a\u{feff}b\u{fffe}\u{fdd0}", "ab");
        check("end\n\u{c}\nnext", "end\n\nnext");
        check("end\u{c}next", "end\nnext");
        check("\u{c}first", "first");
        check("last\u{c}", "last");
        check("x\u{85}y", "x\ny");
    }

    proptest! {
        #[test]
        fn no_bytes_panic_and_no_control_character_passes(
            bytes in proptest::collection::vec(any::<u8>(), 0..400),
        ) {
            let text = decode(&bytes).text;
            prop_assert!(text.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()));
            prop_assert_eq!(clean(&text), text);
        }
    }
}
