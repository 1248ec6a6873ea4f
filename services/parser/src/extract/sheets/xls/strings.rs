//! Texts of the binary format, which may run over from one record into the next ([MS-XLS] 2.5.293,
//! 2.4.265).

use encoding_rs::{Encoding, WINDOWS_1252};

/// The data of a record and of those that continue it.
pub(super) struct Data<'a> {
    /// The rest of the part being read, and the parts that follow.
    part: &'a [u8],
    more: std::vec::IntoIter<&'a [u8]>,
}

impl<'a> Data<'a> {
    pub(super) fn new(parts: Vec<&'a [u8]>) -> Self {
        let mut more = parts.into_iter();
        Self {
            part: more.next().unwrap_or_default(),
            more,
        }
    }

    /// The rest of the part that has any; `None` at the end.
    fn fill(&mut self) -> Option<()> {
        while self.part.is_empty() {
            self.part = self.more.next()?;
        }
        Some(())
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.fill()?;
        let (byte, rest) = self.part.split_first()?;
        self.part = rest;
        Some(*byte)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes([self.byte()?, self.byte()?]))
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        let (low, high) = (self.u16()?, self.u16()?);
        Some(u32::from(high) << 16 | u32::from(low))
    }

    pub(super) fn skip(&mut self, mut count: usize) -> Option<()> {
        while count > 0 {
            self.fill()?;
            let step = count.min(self.part.len());
            self.part = self.part.get(step..)?;
            count -= step;
        }
        Some(())
    }

    /// `count` characters, two bytes each if `wide`. Where they run over into the next part, a
    /// byte says again whether they are.
    pub(super) fn characters(&mut self, mut count: usize, mut wide: bool) -> Option<String> {
        let mut units = Vec::new();
        while count > 0 {
            if self.part.is_empty() {
                self.fill()?;
                wide = self.byte()? & 1 != 0;
                self.fill()?;
            }
            let size = if wide { 2 } else { 1 };
            let here = count.min(self.part.len() / size);
            if here == 0 {
                return None;
            }
            let (bytes, rest) = self.part.split_at_checked(here * size)?;
            units.extend(bytes.chunks_exact(size).map(|unit| match unit {
                [low, high] => u16::from_le_bytes([*low, *high]),
                [low] => u16::from(*low),
                _ => 0,
            }));
            self.part = rest;
            count -= here;
        }
        Some(String::from_utf16_lossy(&units))
    }

    /// A text with its length, its flags, and formatting that is passed over.
    pub(super) fn rich_text(&mut self) -> Option<String> {
        let count = usize::from(self.u16()?);
        let flags = self.byte()?;
        let runs = if flags & 8 != 0 { self.u16()? } else { 0 };
        let extension = if flags & 4 != 0 { self.u32()? } else { 0 };
        let text = self.characters(count, flags & 1 != 0)?;
        let after = usize::from(runs) * 4 + usize::try_from(extension).ok()?;
        // What formats the last text may be cut off.
        self.skip(after).unwrap_or_default();
        Some(text)
    }
}

/// How texts of one workbook are written.
#[derive(Clone, Copy)]
pub(super) struct Writing {
    /// Whether texts are Unicode: since 1997.
    pub(super) unicode: bool,
    pub(super) encoding: &'static Encoding,
}

impl Writing {
    pub(super) fn new(unicode: bool) -> Self {
        Self {
            unicode,
            encoding: WINDOWS_1252,
        }
    }

    /// A text whose length takes two bytes.
    pub(super) fn text(self, data: &[u8]) -> Option<String> {
        let (length, rest) = data.split_at_checked(2)?;
        let length = length.try_into().map(u16::from_le_bytes).ok()?;
        self.body(usize::from(length), rest)
    }

    /// A text whose length takes one byte.
    pub(super) fn short_text(self, data: &[u8]) -> Option<String> {
        let (length, rest) = data.split_first()?;
        self.body(usize::from(*length), rest)
    }

    fn body(self, length: usize, data: &[u8]) -> Option<String> {
        if !self.unicode {
            let bytes = data.get(..length.min(data.len()))?;
            return Some(
                self.encoding
                    .decode_without_bom_handling(bytes)
                    .0
                    .into_owned(),
            );
        }
        if length == 0 {
            return Some(String::new());
        }
        let (flags, rest) = data.split_first()?;
        let wide = flags & 1 != 0;
        let room = rest.len() / if wide { 2 } else { 1 };
        Data::new(vec![rest]).characters(length.min(room), wide)
    }
}

/// The encoding of a Windows code page.
pub(super) fn encoding_of(code_page: u16) -> &'static Encoding {
    let label = match code_page {
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        10000 => "macintosh".to_owned(),
        10007 => "x-mac-cyrillic".to_owned(),
        page => format!("windows-{page}"),
    };
    Encoding::for_label(label.as_bytes()).unwrap_or(WINDOWS_1252)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_run_over_into_the_next_record() {
        #[track_caller]
        fn check(parts: &[&[u8]], expect: Option<&str>) {
            let text = Data::new(parts.to_vec()).rich_text();
            assert_eq!(text.as_deref(), expect, "{parts:?}");
        }
        check(&[b"\x03\0\0abc"], Some("abc"));
        check(&[b"\x03\0\x01a\0b\0c\0"], Some("abc"));
        // The rest comes narrow, then wide again.
        check(&[b"\x03\0\x01a\0", b"\0b", b"\x01c\0"], Some("abc"));
        // Two runs of formatting, cut by the record's end.
        check(&[b"\x01\0\x08\x02\0a1234", b"5678"], Some("a"));
        check(&[b"\x05\0\0abc"], None);
        check(&[b"\x02\0\x01a\0b"], None);
        check(&[b""], None);
    }

    #[test]
    fn old_texts_are_in_a_code_page() {
        let mut writing = Writing::new(false);
        assert_eq!(writing.short_text(b"\x02\xe9a").as_deref(), Some("éa"));
        writing.encoding = encoding_of(1251);
        assert_eq!(writing.short_text(b"\x01\xe9").as_deref(), Some("й"));
        assert_eq!(writing.text(b"\x09\0\xe9").as_deref(), Some("й"));
        assert_eq!(
            Writing::new(true)
                .short_text(b"\x01\x01\x39\x04")
                .as_deref(),
            Some("й")
        );
    }
}
