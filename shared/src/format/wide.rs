//! UTF-16 and UTF-32 that do not begin with a byte order mark.

/// Which byte of a unit comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOrder {
    /// The lowest one.
    Little,
    /// The highest one.
    Big,
}

/// The order of UTF-16 units. Text in any language has spaces, digits or line ends, whose higher
/// byte is zero, and text in other encodings has no zeros.
pub fn utf16_without_mark(bytes: &[u8]) -> Option<ByteOrder> {
    if !bytes.len().is_multiple_of(2) || !bytes.contains(&0) {
        return None;
    }
    let seen_in = |unit: fn([u8; 2]) -> u16| {
        let mut seen = Seen::default();
        let pairs = bytes
            .chunks_exact(2)
            .filter_map(|pair| pair.try_into().ok());
        char::decode_utf16(pairs.map(unit)).for_each(|unit| seen.add(unit.ok()));
        seen
    };
    let (little, big) = (seen_in(u16::from_le_bytes), seen_in(u16::from_be_bytes));
    if little.is_text() && little.plain >= big.plain {
        Some(ByteOrder::Little)
    } else if big.is_text() {
        Some(ByteOrder::Big)
    } else {
        None
    }
}

/// The order of UTF-32 units.
pub fn utf32_without_mark(bytes: &[u8]) -> Option<ByteOrder> {
    let first: [u8; 4] = bytes.first_chunk().copied()?;
    let order = match first {
        [0, 0, _, _] => ByteOrder::Big,
        [_, _, 0, 0] => ByteOrder::Little,
        _ => return None,
    };
    let mut seen = Seen::default();
    for four in bytes.chunks_exact(4) {
        let four = four.try_into().unwrap_or_default();
        seen.add(char::from_u32(match order {
            ByteOrder::Little => u32::from_le_bytes(four),
            ByteOrder::Big => u32::from_be_bytes(four),
        }));
    }
    seen.is_text().then_some(order)
}

/// What a trial decoding gave.
#[derive(Default)]
struct Seen {
    all: usize,
    /// No characters, or none that text has.
    wrong: usize,
    /// ASCII.
    plain: usize,
    /// Two ASCII characters taken for one.
    doubled: usize,
}

impl Seen {
    fn add(&mut self, c: Option<char>) {
        self.all += 1;
        let is_plain = |byte: u8| matches!(byte, b'\t'..=b'\r' | b' '..=b'~');
        match c {
            None | Some('\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{fffb}') => self.wrong += 1,
            Some(c) if c.is_ascii_graphic() || c.is_ascii_whitespace() => self.plain += 1,
            Some(c) if c.is_control() => self.wrong += 1,
            Some(c) => {
                let [_, _, high, low] = u32::from(c).to_be_bytes();
                self.doubled += usize::from(is_plain(high) && is_plain(low));
            }
        }
    }

    fn is_text(&self) -> bool {
        let others = self.all - self.plain - self.wrong;
        self.all >= 2
            && self.wrong * 50 <= self.all
            && self.plain * 50 >= self.all
            // Japanese in kana comes near to two thirds, ASCII read in pairs to all.
            && self.doubled * 4 <= others * 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_text_is_told_from_narrow_text_with_zeros() {
        #[track_caller]
        fn check(text: &str, is_wide: bool) {
            let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            let expect = |order| is_wide.then_some(order);
            assert_eq!(
                utf16_without_mark(&little),
                expect(ByteOrder::Little),
                "{text}"
            );
            assert_eq!(utf16_without_mark(&big), expect(ByteOrder::Big), "{text}");
            assert_eq!(utf16_without_mark(text.as_bytes()), None, "{text}");
            let little: Vec<u8> = text
                .chars()
                .flat_map(|c| u32::from(c).to_le_bytes())
                .collect();
            assert_eq!(
                utf32_without_mark(&little),
                expect(ByteOrder::Little),
                "{text}"
            );
        }
        check("Plain words.", true);
        check("Привет, это обычный русский текст\r\n", true);
        check("これはひらがなのぶんしょうです。\nつぎのぎょう。\n", true);
        check("这是一个简体中文的测试文件，内容很短。\n第二行。\n", true);
        check("\u{1}\u{2}\u{3}\u{4}\u{5}", false);
        assert_eq!(
            utf16_without_mark(b"one stray\0 byte in a narrow text"),
            None
        );
        assert_eq!(
            utf16_without_mark("één\0 of twee bytes in een smalle tekst".as_bytes()),
            None
        );
        let feeds = b"RFC 1\r\n\r\nPage one\r\n\x0c\r\nPage two\x00\r\n\n";
        assert_eq!(utf16_without_mark(feeds), None);
        assert_eq!(utf16_without_mark(&[0; 64]), None);
        assert_eq!(utf16_without_mark(b""), None);
    }
}
