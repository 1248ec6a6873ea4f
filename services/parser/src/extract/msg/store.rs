//! Properties in a compound file: short ones in one table per object, longer ones each in a
//! stream of its own, whose name says which and of what type.

use std::collections::HashMap;
use std::io::{Cursor, Read as _};

use cfb::CompoundFile;
use encoding_rs::{Encoding, UTF_16LE};

use super::super::{ExtractError, charset};

/// Objects within one message, such as recipients; more are not read.
const MOST_CHILDREN: usize = 5_000;

/// The streams of a message.
pub(super) struct Store<'a> {
    file: CompoundFile<Cursor<&'a [u8]>>,
    /// No stream is longer than the file; those of damaged files say so.
    most: u64,
}

/// The short properties of an object, by their number: type and value.
#[derive(Debug, Default)]
pub(super) struct Table(HashMap<u16, (u16, [u8; 8])>);

/// Types of properties.
const INTEGER: u16 = 0x0003;
const BOOLEAN: u16 = 0x000b;
const TIME: u16 = 0x0040;

impl<'a> Store<'a> {
    /// # Errors
    /// When `bytes` is no compound file.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, ExtractError> {
        // The reader's words may quote the file.
        let file = CompoundFile::open(Cursor::new(bytes)).map_err(|_io| ExtractError::Damaged {
            what: "its streams cannot be told apart".to_owned(),
        })?;
        Ok(Self {
            file,
            most: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        })
    }

    /// The objects within `object` whose names begin with `prefix`, in order.
    pub(super) fn children(&self, object: &str, prefix: &str) -> Vec<String> {
        let Ok(entries) = self.file.read_storage(object) else {
            return Vec::new();
        };
        entries
            .filter(|entry| entry.is_storage() && entry.name().starts_with(prefix))
            .map(|entry| format!("{object}{}/", entry.name()))
            .take(MOST_CHILDREN)
            .collect()
    }

    /// Whether `object` holds the object `name`.
    pub(super) fn holds(&self, object: &str, name: &str) -> bool {
        self.file.is_storage(format!("{object}{name}"))
    }

    /// The short properties of `object`, whose table begins with `header` bytes of other use.
    pub(super) fn table(&mut self, object: &str, header: usize) -> Table {
        let bytes = self.stream(object, "__properties_version1.0");
        let bytes = bytes.as_deref().and_then(|bytes| bytes.get(header..));
        let row = |row: &[u8]| {
            let (kind, rest) = row.split_first_chunk::<2>()?;
            let (number, rest) = rest.split_first_chunk::<2>()?;
            let value: [u8; 8] = rest.get(4..12)?.try_into().ok()?;
            let kind = u16::from_le_bytes(*kind);
            Some((u16::from_le_bytes(*number), (kind, value)))
        };
        let rows = bytes.unwrap_or_default().chunks_exact(16);
        Table(rows.filter_map(row).collect())
    }

    /// The text property `number` of `object`; `None` when it has none, or an empty one.
    pub(super) fn text(
        &mut self,
        object: &str,
        number: u16,
        encoding: Option<&'static Encoding>,
    ) -> Option<String> {
        let text = if let Some(wide) = self.stream(object, &substream(number, "001F")) {
            let (text, _) = UTF_16LE.decode_without_bom_handling(&wide);
            charset::clean(&text)
        } else {
            let narrow = self.stream(object, &substream(number, "001E"))?;
            charset::decode_declared(&narrow, encoding).text
        };
        let text = text.trim_end_matches('\0');
        (!text.trim().is_empty()).then(|| text.to_owned())
    }

    /// The binary property `number` of `object`.
    pub(super) fn bytes(&mut self, object: &str, number: u16) -> Option<Vec<u8>> {
        self.stream(object, &substream(number, "0102"))
    }

    fn stream(&mut self, object: &str, name: &str) -> Option<Vec<u8>> {
        let stream = self.file.open_stream(format!("{object}{name}")).ok()?;
        let mut bytes = Vec::new();
        // What could be read before a damage is kept.
        match stream.take(self.most).read_to_end(&mut bytes) {
            Err(_) if bytes.is_empty() => None,
            _ => Some(bytes),
        }
    }
}

fn substream(number: u16, kind: &str) -> String {
    format!("__substg1.0_{number:04X}{kind}")
}

impl Table {
    pub(super) fn integer(&self, number: u16) -> Option<u32> {
        let (kind, value) = self.0.get(&number)?;
        let low = value.first_chunk::<4>()?;
        (*kind == INTEGER).then(|| u32::from_le_bytes(*low))
    }

    pub(super) fn is_set(&self, number: u16) -> bool {
        self.0
            .get(&number)
            .is_some_and(|(kind, value)| *kind == BOOLEAN && value.first() != Some(&0))
    }

    /// A time in seconds since 1970, UTC; `None` for what stands for none.
    pub(super) fn time(&self, number: u16) -> Option<i64> {
        /// Steps of 100 ns in a second, and seconds from 1601 to 1970.
        const STEPS: u64 = 10_000_000;
        const SECONDS_TO_1970: i64 = 11_644_473_600;
        /// The year 9999.
        const LATEST: i64 = 253_402_300_799;
        let (kind, value) = self.0.get(&number)?;
        let seconds = i64::try_from(u64::from_le_bytes(*value) / STEPS).ok()?;
        let seconds = seconds - SECONDS_TO_1970;
        (*kind == TIME && (0..LATEST).contains(&seconds)).then_some(seconds)
    }
}

/// The encoding that Windows calls by `number`.
pub(super) fn code_page(number: u32) -> Option<&'static Encoding> {
    let label = match number {
        65001 => "utf-8".to_owned(),
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        51932 => "euc-jp".to_owned(),
        50220..=50222 => "iso-2022-jp".to_owned(),
        54936 => "gb18030".to_owned(),
        20866 => "koi8-r".to_owned(),
        21866 => "koi8-u".to_owned(),
        28591..=28606 => format!("iso-8859-{}", number - 28590),
        874 | 1250..=1258 => format!("windows-{number}"),
        _ => return None,
    };
    Encoding::for_label(label.as_bytes())
}
