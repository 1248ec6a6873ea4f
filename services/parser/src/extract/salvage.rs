//! What can be read of a ZIP archive whose directory is lost: every file names itself before its
//! data, too, so the data is searched for those names and unpacked as far as it goes.

use flate2::{Crc, Decompress, FlushDecompress, Status};

/// Before each file's data.
const SIGNATURE: &[u8] = b"PK\x03\x04";
/// Length of a local header without its name.
const HEADER: usize = 30;
/// The newest version of the format, 6.3, and all ways to pack: what says otherwise is no header.
const NEWEST: u16 = 63;
const METHODS: [u16; 8] = [0, 8, 9, 12, 14, 93, 95, 99];
/// Unpacked at a time.
const STEP: usize = 64 << 10;
/// More files than this are not looked for.
const MOST_FILES: usize = 10_000;

/// A file found in a damaged archive.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Salvaged {
    /// Its path within the archive, as it is written there.
    pub(super) name: String,
    /// What could be unpacked.
    pub(super) bytes: Vec<u8>,
    /// Whether that is all of it.
    pub(super) whole: bool,
}

/// The files of `archive` that `wanted` says yes to by their paths, in their order; together no
/// more than `room` bytes. Encrypted ones and those packed in other ways than deflate are left out.
pub(super) fn salvage(archive: &[u8], room: u64, wanted: impl Fn(&str) -> bool) -> Vec<Salvaged> {
    let mut found = Vec::new();
    let mut left = usize::try_from(room).unwrap_or(usize::MAX);
    let mut at = 0;
    while found.len() < MOST_FILES
        && left > 0
        && let Some(header) = Header::next(archive, at)
    {
        at = header.data;
        let data = archive.get(header.data..).unwrap_or_default();
        if !wanted(&header.name) || header.is_encrypted {
            at += header.packed.unwrap_or(0).min(data.len());
            continue;
        }
        let Some((bytes, taken, whole)) = header.unpack(data, left) else {
            continue;
        };
        at += taken;
        left -= bytes.len();
        found.push(Salvaged {
            name: header.name,
            bytes,
            whole,
        });
    }
    found
}

/// What a file says about itself before its data.
struct Header {
    name: String,
    /// Where its data begins.
    data: usize,
    method: u16,
    is_encrypted: bool,
    /// Bytes of its data, where they are said here and not behind it.
    packed: Option<usize>,
    crc: Option<u32>,
}

impl Header {
    /// The first one at `from` or behind it.
    fn next(archive: &[u8], from: usize) -> Option<Self> {
        let mut from = from;
        loop {
            let rest = archive.get(from..)?;
            let at = from + find(rest, SIGNATURE)?;
            if let Some(header) = Self::at(archive, at) {
                return Some(header);
            }
            from = at + SIGNATURE.len();
        }
    }

    fn at(archive: &[u8], at: usize) -> Option<Self> {
        let header = archive.get(at..at + HEADER)?;
        let is_known = half(header, 4)? & 0xff <= NEWEST && METHODS.contains(&half(header, 8)?);
        if !is_known {
            return None;
        }
        let flags = half(header, 6)?;
        let name_length = usize::from(half(header, 26)?);
        let extra_length = usize::from(half(header, 28)?);
        let data = at + HEADER + name_length + extra_length;
        let name = archive.get(at + HEADER..at + HEADER + name_length)?;
        if name.is_empty() || data > archive.len() {
            return None;
        }
        let is_streamed = flags & 8 != 0;
        let packed = word(header, 18)?;
        Some(Self {
            name: String::from_utf8_lossy(name).into_owned(),
            data,
            method: half(header, 8)?,
            is_encrypted: flags & 1 != 0,
            packed: (!is_streamed && packed != u32::MAX)
                .then(|| usize::try_from(packed).ok())
                .flatten(),
            crc: if is_streamed { None } else { word(header, 14) },
        })
    }

    /// What the data unpacks to, how much of `data` that took, and whether it is all.
    fn unpack(&self, data: &[u8], room: usize) -> Option<(Vec<u8>, usize, bool)> {
        let (bytes, taken, ended) = match self.method {
            0 => {
                let length = self.packed.or_else(|| find(data, b"PK"))?;
                let bytes = data.get(..length.min(room)).unwrap_or(data);
                let bytes = bytes.get(..room).unwrap_or(bytes).to_vec();
                let taken = length.min(data.len());
                let ended = bytes.len() == length;
                (bytes, taken, ended)
            }
            8 => inflate(data, room),
            _ => return None,
        };
        let intact = ended
            && self.crc.is_none_or(|expect| {
                let mut crc = Crc::new();
                crc.update(&bytes);
                crc.sum() == expect
            });
        Some((bytes, taken, intact))
    }
}

/// `data` unpacked to no more than `room` bytes, how much of it that took, and whether it ended.
fn inflate(data: &[u8], room: usize) -> (Vec<u8>, usize, bool) {
    let mut decompress = Decompress::new(false);
    let mut bytes = Vec::new();
    loop {
        let taken = usize::try_from(decompress.total_in()).unwrap_or(usize::MAX);
        let left = room - bytes.len();
        if left == 0 {
            return (bytes, taken, false);
        }
        bytes.reserve_exact(STEP.min(left));
        let before = bytes.len();
        let rest = data.get(taken..).unwrap_or_default();
        let status = decompress.decompress_vec(rest, &mut bytes, FlushDecompress::None);
        bytes.truncate(room);
        let now = usize::try_from(decompress.total_in()).unwrap_or(usize::MAX);
        match status {
            Ok(Status::StreamEnd) => return (bytes, now, true),
            Ok(_) if bytes.len() > before || now > taken => {}
            _ => return (bytes, now, false),
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::CompressionMethod;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn text() -> String {
        let lines = (0..2_000).map(|n| format!("line {} of many, {}\n", n, n * n % 977));
        lines.collect()
    }

    fn archive() -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        archive.start_file("a.txt", stored).unwrap();
        archive.write_all(b"stored words").unwrap();
        let packed = SimpleFileOptions::default();
        archive.start_file("b/long.txt", packed).unwrap();
        archive.write_all(text().as_bytes()).unwrap();
        archive.start_file("c.txt", packed).unwrap();
        archive.write_all(b"last").unwrap();
        archive.finish().unwrap().into_inner()
    }

    #[track_caller]
    fn check(archive: &[u8], room: u64, expect: &[(&str, usize, bool)]) {
        let found = salvage(archive, room, |_| true);
        let found: Vec<_> = found
            .iter()
            .map(|file| (file.name.as_str(), file.bytes.len(), file.whole))
            .collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn files_are_found_without_the_directory() {
        let whole = archive();
        let long = text().len();
        let all = [
            ("a.txt", 12, true),
            ("b/long.txt", long, true),
            ("c.txt", 4, true),
        ];
        check(&whole, 1 << 20, &all);
        let directory = find(&whole, b"PK\x01\x02").unwrap();
        check(&whole[..directory], 1 << 20, &all);
        check(
            &whole[..directory - 2],
            1 << 20,
            &[all[0], all[1], ("c.txt", 3, false)],
        );
        let junk = [b"junk PK\x03\x04".as_slice(), &whole[..directory]].concat();
        check(&junk, 1 << 20, &all);
        check(b"", 100, &[]);
        check(b"PK\x03\x04", 100, &[]);
    }

    #[test]
    fn a_cut_file_gives_its_beginning() {
        let whole = archive();
        let second = find(&whole, b"b/long.txt").unwrap();
        let cut = salvage(&whole[..second + 900], 1 << 20, |name| name != "a.txt");
        assert_eq!(cut.len(), 1);
        assert!(!cut[0].whole);
        assert!(cut[0].bytes.len() > 1_000, "{}", cut[0].bytes.len());
        assert!(text().as_bytes().starts_with(&cut[0].bytes));
    }

    #[test]
    fn no_more_than_the_room_is_unpacked() {
        check(
            &archive(),
            5_000,
            &[("a.txt", 12, true), ("b/long.txt", 4_988, false)],
        );
        check(&archive(), 5, &[("a.txt", 5, false)]);
    }

    #[test]
    fn changed_bytes_are_noticed() {
        let mut broken = archive();
        let stored = find(&broken, b"stored words").unwrap();
        broken[stored] = b'S';
        let found = salvage(&broken, 1 << 20, |name| name == "a.txt");
        assert_eq!(found[0].bytes, b"Stored words");
        assert!(!found[0].whole);
    }
}
