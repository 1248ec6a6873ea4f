//! Compressed Rich Text Format, [MS-OXRTFCP]: LZ77 with a dictionary that is filled beforehand.

const COMPRESSED: u32 = 0x7546_5a4c;
const UNCOMPRESSED: u32 = 0x414c_454d;
const HEADER_BYTES: usize = 16;
const DICTIONARY_BYTES: usize = 4096;
const PREFILLED: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \
\\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\
\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";

/// The text that `packed` holds; what came before a damage is kept. At most some nine times as
/// long as `packed`.
pub(super) fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    let kind = u32::from_le_bytes(packed.get(8..12)?.try_into().ok()?);
    let content = packed.get(HEADER_BYTES..)?;
    match kind {
        UNCOMPRESSED => Some(content.to_vec()),
        COMPRESSED => Some(decompressed(content)),
        _ => None,
    }
}

fn decompressed(content: &[u8]) -> Vec<u8> {
    let mut dictionary = Dictionary::new();
    let mut out = Vec::with_capacity(content.len() * 2);
    let mut rest = content;
    while let Some((&control, after)) = rest.split_first() {
        rest = after;
        for bit in 0..8 {
            if control & (1 << bit) == 0 {
                let Some((&byte, after)) = rest.split_first() else {
                    return out;
                };
                rest = after;
                dictionary.push(byte);
                out.push(byte);
                continue;
            }
            let Some((reference, after)) = rest.split_first_chunk::<2>() else {
                return out;
            };
            rest = after;
            let reference = usize::from(u16::from_be_bytes(*reference));
            let (offset, length) = (reference >> 4, (reference & 0xf) + 2);
            if offset == dictionary.end {
                return out;
            }
            for step in 0..length {
                let byte = dictionary.get(offset + step);
                dictionary.push(byte);
                out.push(byte);
            }
        }
    }
    out
}

/// A ring.
struct Dictionary {
    bytes: [u8; DICTIONARY_BYTES],
    /// Where the next byte goes.
    end: usize,
}

impl Dictionary {
    fn new() -> Self {
        let mut bytes = [b' '; DICTIONARY_BYTES];
        for (slot, byte) in bytes.iter_mut().zip(PREFILLED) {
            *slot = *byte;
        }
        Self {
            bytes,
            end: PREFILLED.len(),
        }
    }

    fn get(&self, at: usize) -> u8 {
        self.bytes
            .get(at % DICTIONARY_BYTES)
            .copied()
            .unwrap_or_default()
    }

    fn push(&mut self, byte: u8) {
        if let Some(slot) = self.bytes.get_mut(self.end) {
            *slot = byte;
        }
        self.end = (self.end + 1) % DICTIONARY_BYTES;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two examples of the specification, section 3.
    #[test]
    fn the_examples_of_the_specification() {
        let first = [
            0x2d, 0x00, 0x00, 0x00, 0x2b, 0x00, 0x00, 0x00, 0x4c, 0x5a, 0x46, 0x75, 0xf1, 0xc5,
            0xc7, 0xa7, 0x03, 0x00, 0x0a, 0x00, 0x72, 0x63, 0x70, 0x67, 0x31, 0x32, 0x35, 0x42,
            0x32, 0x0a, 0xf3, 0x20, 0x68, 0x65, 0x6c, 0x09, 0x00, 0x20, 0x62, 0x77, 0x05, 0xb0,
            0x6c, 0x64, 0x7d, 0x0a, 0x80, 0x0f, 0xa0,
        ];
        assert_eq!(
            unpacked(&first).unwrap(),
            b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
        );
        let second = [
            0x1a, 0x00, 0x00, 0x00, 0x1c, 0x00, 0x00, 0x00, 0x4c, 0x5a, 0x46, 0x75, 0xe2, 0xd4,
            0x4b, 0x51, 0x41, 0x00, 0x04, 0x20, 0x57, 0x58, 0x59, 0x5a, 0x0d, 0x6e, 0x7d, 0x01,
            0x0e, 0xb0,
        ];
        assert_eq!(unpacked(&second).unwrap(), b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}");
        for end in 0..first.len() {
            unpacked(&first[..end]);
        }
        assert_eq!(unpacked(b"short"), None);
        assert_eq!(PREFILLED.len(), 207);
    }
}
