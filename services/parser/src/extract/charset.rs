//! From bytes to text: which encoding, and which characters are let through.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1254};
use shared::format::{ByteOrder, utf16_without_mark, utf32_without_mark};

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
/// A byte order mark decides; else UTF-16 or UTF-32 by their pattern of zero bytes; else UTF-8 if
/// it is valid or nearly so; else what chardetng finds most likely over the whole file.
pub fn decode(bytes: &[u8]) -> Decoded {
    decode_declared(bytes, None)
}

/// Decodes a file that names its own encoding: that is taken after a byte order mark and the
/// pattern of UTF-16, if all bytes make sense in it and they are not UTF-8.
pub(super) fn decode_declared(bytes: &[u8], declared: Option<&'static Encoding>) -> Decoded {
    let mut decoded = decode_raw(bytes, declared);
    decoded.text = clean(&decoded.text);
    decoded
}

/// [`decode`] before [`clean`], for what needs to see where pages end.
pub(super) fn decode_raw(bytes: &[u8], declared: Option<&'static Encoding>) -> Decoded {
    if let Some((order, body)) = utf32(bytes) {
        return decode_utf32(order, body);
    }
    let (encoding, body) = match Encoding::for_bom(bytes) {
        Some((encoding, length)) => (encoding, bytes.get(length..).unwrap_or_default()),
        None => (declared_or_guess(bytes, declared), bytes),
    };
    let (text, lossy) = encoding.decode_without_bom_handling(body);
    Decoded {
        text: text.into_owned(),
        encoding: encoding.name(),
        lossy,
    }
}

/// The byte order and text of UTF-32, which is not among the encodings of the web. Its little
/// endian mark begins like that of UTF-16, whose texts hold no zero character.
fn utf32(bytes: &[u8]) -> Option<(ByteOrder, &[u8])> {
    if let Some(body) = bytes.strip_prefix(b"\xff\xfe\0\0") {
        Some((ByteOrder::Little, body))
    } else if let Some(body) = bytes.strip_prefix(b"\0\0\xfe\xff") {
        Some((ByteOrder::Big, body))
    } else {
        utf32_without_mark(bytes).map(|order| (order, bytes))
    }
}

fn decode_utf32(order: ByteOrder, bytes: &[u8]) -> Decoded {
    let mut text = String::with_capacity(bytes.len() / 4);
    let mut lossy = !bytes.len().is_multiple_of(4);
    for unit in bytes.chunks_exact(4) {
        let unit = unit.try_into().unwrap_or_default();
        let c = char::from_u32(match order {
            ByteOrder::Little => u32::from_le_bytes(unit),
            ByteOrder::Big => u32::from_be_bytes(unit),
        });
        lossy |= c.is_none();
        text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    Decoded {
        text,
        encoding: match order {
            ByteOrder::Little => "UTF-32LE",
            ByteOrder::Big => "UTF-32BE",
        },
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
    utf16(bytes)
        .or_else(|| declared.filter(|_| !is_utf8()).filter(fits))
        .unwrap_or_else(|| guess(bytes))
}

fn guess(bytes: &[u8]) -> &'static Encoding {
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
    let found = detector.guess(None, Utf8Detection::Deny);
    if found.is_single_byte() && is_turkish(bytes) {
        return WINDOWS_1254;
    }
    found
}

/// Whether windows-1254 (a superset of ISO-8859-9) makes Turkish of it. chardetng takes short
/// Turkish texts for Central European ones; but nothing else is written with these letters alone,
/// two of which only Turkish has in these places.
fn is_turkish(bytes: &[u8]) -> bool {
    let (text, _) = WINDOWS_1254.decode_without_bom_handling(bytes);
    let mut own: Vec<char> = Vec::new();
    for c in text.chars().filter(|c| !c.is_ascii()) {
        match c {
            'ı' | 'ğ' | 'ş' | 'İ' | 'Ğ' | 'Ş' if own.contains(&c) => {}
            'ı' | 'ğ' | 'ş' | 'İ' | 'Ğ' | 'Ş' => own.push(c),
            'ç' | 'ö' | 'ü' | 'Ç' | 'Ö' | 'Ü' | 'â' | 'î' | 'û' | 'Â' | 'Î' | 'Û' => {}
            c if c.is_alphabetic() => return false,
            _ => {}
        }
    }
    own.len() >= 2
}

fn utf16(bytes: &[u8]) -> Option<&'static Encoding> {
    utf16_without_mark(bytes).map(|order| match order {
        ByteOrder::Little => UTF_16LE,
        ByteOrder::Big => UTF_16BE,
    })
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
///
/// Text is stored in the order in which it is read, whatever its direction. The characters that
/// only steer how it is drawn (marks, embeddings, overrides, isolates) go: they cut words apart
/// for a search, and overrides can show something else than what stands there. Joiners stay,
/// because words are written with them.
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
            c if c.is_control() || is_noncharacter(c) || is_direction(c) => {}
            c => out.push(c),
        }
    }
    out
}

/// Byte order marks, and what steers how text is drawn.
fn is_direction(c: char) -> bool {
    matches!(
        c,
        '\u{feff}' | '\u{61c}' | '\u{200e}' | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
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
        let wide = |text: &str| {
            text.chars()
                .flat_map(|c| u32::from(c).to_le_bytes())
                .collect()
        };
        let marked: Vec<u8> = wide("\u{feff}Käse 你");
        check(&marked, "UTF-32LE", "Käse 你");
        let bare: Vec<u8> = wide("No mark at all");
        check(&bare, "UTF-32LE", "No mark at all");
        let big: Vec<u8> = "\u{feff}x 😀"
            .chars()
            .flat_map(|c| u32::from(c).to_be_bytes())
            .collect();
        check(&big, "UTF-32BE", "x 😀");
        let text = "这是一个测试文件，内容很短。\n第二行。\n";
        check(&utf16(text, false), "UTF-16LE", text);
        check(&utf16("Обычный текст", true), "UTF-16BE", "Обычный текст");
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

    /// Texts of a few sentences in the code pages that old files come in.
    #[test]
    fn old_code_pages_are_found() {
        #[track_caller]
        fn check(encoding: &'static Encoding, text: &str) {
            let (bytes, ..) = encoding.encode(text);
            let decoded = decode(&bytes);
            assert_eq!(
                decoded.text,
                text,
                "{} as {}",
                encoding.name(),
                decoded.encoding
            );
        }
        check(
            WINDOWS_1254,
            "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler.",
        );
        check(
            encoding_rs::WINDOWS_1250,
            "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím.",
        );
        check(
            encoding_rs::ISO_8859_2,
            "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem.",
        );
        check(
            encoding_rs::WINDOWS_1253,
            "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
        );
        check(
            encoding_rs::WINDOWS_1255,
            "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.",
        );
        check(
            encoding_rs::WINDOWS_1256,
            "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق.",
        );
        check(
            encoding_rs::KOI8_R,
            "Все люди рождаются свободными и равными в своём достоинстве и правах.",
        );
        check(
            encoding_rs::IBM866,
            "Все люди рождаются свободными и равными в своем достоинстве и правах.",
        );
        check(
            encoding_rs::BIG5,
            "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心。",
        );
        check(
            encoding_rs::GB18030,
            "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心。",
        );
        check(
            encoding_rs::EUC_KR,
            "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
        );
        check(
            encoding_rs::EUC_JP,
            "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
        );
        check(
            encoding_rs::WINDOWS_874,
            "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
        );
        check(
            encoding_rs::WINDOWS_1252,
            "Alle Menschen sind frei und gleich an Würde und Rechten geboren – 15,50 € für „Brüderlichkeit“.",
        );
        check(
            encoding_rs::WINDOWS_1257,
            "Visi cilvēki piedzimst brīvi un vienlīdzīgi savā pašcieņā un tiesībās.",
        );
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
        check(
            "\u{202b}שלום\u{202c} \u{2067}עולם\u{2069}\u{200f}",
            "שלום עולם",
        );
        check("می\u{200c}خواهم", "می\u{200c}خواهم");
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
