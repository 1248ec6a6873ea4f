//! `winmail.dat`, in which Outlook packs what it attaches: Transport Neutral Encapsulation
//! Format, [MS-OXTNEF].

use super::super::charset;
use super::Piece;
use super::plain::{self, Breaks};

const SIGNATURE: [u8; 4] = [0x78, 0x9f, 0x3e, 0x22];
/// Attributes by their number: what begins a file, its name and content, and the message's text.
const BEGIN_FILE: u32 = 0x0006_9002;
const FILE_TITLE: u32 = 0x0001_8010;
const FILE_DATA: u32 = 0x0006_800f;
const TEXT: u32 = 0x0002_800c;

/// What was packed.
#[derive(Debug, Default)]
pub(super) struct Unpacked {
    pub(super) text: Option<Piece>,
    /// Names as they are, and contents.
    pub(super) files: Vec<(String, Vec<u8>)>,
}

/// Unpacks `bytes`; `None` when nothing can be taken out of it.
pub(super) fn read(bytes: &[u8]) -> Option<Unpacked> {
    // A key of two bytes stands after the signature.
    let mut rest = bytes.strip_prefix(&SIGNATURE)?.get(2..)?;
    let mut unpacked = Unpacked::default();
    let mut file: Option<(String, Vec<u8>)> = None;
    while let Some((id, data, after)) = attribute(rest) {
        rest = after;
        match id {
            BEGIN_FILE => {
                unpacked.files.extend(file.take());
                file = Some(Default::default());
            }
            FILE_TITLE => file.get_or_insert_default().0 = words(data),
            FILE_DATA => file.get_or_insert_default().1 = data.to_vec(),
            TEXT => {
                let text = plain::to_markdown(&words(data), Breaks::Fixed);
                unpacked.text = Some(Piece::Plain(text));
            }
            _ => {}
        }
    }
    unpacked.files.extend(file);
    unpacked.files.retain(|(_, content)| !content.is_empty());
    (unpacked.text.is_some() || !unpacked.files.is_empty()).then_some(unpacked)
}

/// Level, number, length, data, checksum; and what follows.
fn attribute(bytes: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let id = u32::from_le_bytes(bytes.get(1..5)?.try_into().ok()?);
    let length = u32::from_le_bytes(bytes.get(5..9)?.try_into().ok()?);
    let end = usize::try_from(length).ok()?.checked_add(9)?;
    Some((id, bytes.get(9..end)?, bytes.get(end.checked_add(2)?..)?))
}

fn words(data: &[u8]) -> String {
    charset::decode(data).text.trim_end_matches('\0').to_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A `winmail.dat` of these files.
    pub(in super::super) fn packed(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut out = SIGNATURE.to_vec();
        out.extend([1, 0]);
        let mut push = |id: u32, data: &[u8]| {
            out.push(2);
            out.extend(id.to_le_bytes());
            out.extend(u32::try_from(data.len()).unwrap().to_le_bytes());
            out.extend(data);
            out.extend([0, 0]);
        };
        for (name, content) in files {
            push(BEGIN_FILE, &[0; 14]);
            push(FILE_TITLE, format!("{name}\0").as_bytes());
            push(FILE_DATA, content);
        }
        out
    }

    #[test]
    fn files_are_unpacked() {
        let bytes = packed(&[("a.txt", b"one"), ("b.md", b"# two")]);
        let unpacked = read(&bytes).unwrap();
        assert_eq!(unpacked.files[0], ("a.txt".to_owned(), b"one".to_vec()));
        assert_eq!(unpacked.files[1], ("b.md".to_owned(), b"# two".to_vec()));
        assert!(read(b"something else").is_none());
        for end in 0..bytes.len() {
            read(&bytes[..end]);
        }
        assert!(read(&[SIGNATURE.to_vec(), vec![0xff; 40]].concat()).is_none());
    }
}
