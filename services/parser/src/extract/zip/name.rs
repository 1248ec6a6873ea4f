//! Names of entries: UTF-8, or in the code page of the machine that packed them, which the archive
//! does not name.

use std::io::Cursor;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, IBM866, UTF_8};
use zip::ZipArchive;

/// Names that are looked at to find their encoding.
const MOST_SAMPLED: usize = 1_000;

/// The names of all entries, in the order of the archive; `None` where an entry cannot be found.
pub(super) fn all(archive: &mut ZipArchive<Cursor<&[u8]>>) -> Vec<Option<String>> {
    let names: Vec<Option<(Vec<u8>, String)>> = (0..archive.len())
        .map(|index| {
            if let Ok(file) = archive.by_index_raw(index) {
                return Some((file.name_raw().to_vec(), file.name().to_owned()));
            }
            let name = archive.name_for_index(index)?.to_owned();
            Some((name.clone().into_bytes(), name))
        })
        .collect();
    let raw = names.iter().flatten().map(|(raw, _)| raw.as_slice());
    let encoding = common(raw);
    names
        .into_iter()
        .map(|name| name.map(|(raw, parsed)| decoded(&raw, &parsed, encoding)))
        .collect()
}

/// The name `raw`, which the reader took for `parsed`.
pub(super) fn of(raw: &[u8], parsed: &str) -> String {
    decoded(raw, parsed, common(std::iter::once(raw)))
}

fn decoded(raw: &[u8], parsed: &str, encoding: Option<&'static Encoding>) -> String {
    if let Ok(name) = std::str::from_utf8(raw) {
        return name.to_owned();
    }
    let decoded = encoding.map(|encoding| encoding.decode_without_bom_handling(raw).0);
    decoded.map_or_else(|| parsed.to_owned(), std::borrow::Cow::into_owned)
}

/// The encoding that `names` have in common, if it is neither UTF-8 nor the one of the first
/// machines, which `parsed` names were read in.
fn common<'n>(names: impl Iterator<Item = &'n [u8]>) -> Option<&'static Encoding> {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let mut sample = Vec::new();
    for name in names
        .filter(|name| std::str::from_utf8(name).is_err())
        .take(MOST_SAMPLED)
    {
        detector.feed(name, false);
        detector.feed(b"\n", false);
        sample.extend_from_slice(name);
        sample.push(b'\n');
    }
    if sample.is_empty() {
        return None;
    }
    detector.feed(b"", true);
    let encoding = detector.guess(None, Utf8Detection::Deny);
    let is_other = encoding != UTF_8 && (encoding == IBM866 || !encoding.is_single_byte());
    let (text, _, is_lossy) = encoding.decode(&sample);
    // Letters of a few Western names make signs of an Eastern encoding, but hardly words.
    let mut foreign = text.chars().filter(|c| !c.is_ascii());
    let letters = foreign.clone().filter(|c| c.is_alphabetic()).count();
    let is_words = letters >= 2 && foreign.all(|c| c.is_alphanumeric() || is_punctuation(c));
    (is_other && !is_lossy && is_words).then_some(encoding)
}

fn is_punctuation(c: char) -> bool {
    matches!(c, '\u{2010}'..='\u{2026}' | '\u{3000}'..='\u{301f}' | '\u{ff00}'..='\u{ff65}')
}

#[cfg(test)]
mod tests {
    use encoding_rs::{GBK, SHIFT_JIS};

    use super::*;

    #[test]
    fn names_are_decoded() {
        #[track_caller]
        fn check(raw: &[u8], expect: &str) {
            assert_eq!(of(raw, "as parsed"), expect, "{raw:?}");
        }
        check(b"plain.txt", "plain.txt");
        check("größe.txt".as_bytes(), "größe.txt");
        let name = "資料/会議の議事録.txt";
        check(&SHIFT_JIS.encode(name).0, name);
        let name = "合同/采购合同.docx";
        check(&GBK.encode(name).0, name);
        let name = "Договор поставки.txt";
        check(&IBM866.encode(name).0, name);
        // German in the code page of DOS.
        check(b"M\x81nchen Gr\x94\xe1e.txt", "as parsed");
        check(b"\xff", "as parsed");
    }
}
