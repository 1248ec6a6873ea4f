//! Archives, whole and otherwise.

use std::io::Write as _;

use ::zip::write::SimpleFileOptions;
use ::zip::{AesMode, CompressionMethod, ZipWriter};
use proptest::prelude::*;
use shared::format::Format;

use super::*;
use crate::extract::{Extractors, NoOcr, SecondReader, Spent, extract_alone};

fn packed(files: &[(&str, &[u8])]) -> Vec<u8> {
    packed_by(SimpleFileOptions::default(), files)
}

fn packed_by(options: SimpleFileOptions, files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        archive.start_file(*name, options).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn pages(bytes: &[u8]) -> Vec<ExtractedPage> {
    extract_alone(Format::Zip, "a.zip", bytes).unwrap().pages
}

fn places(pages: &[ExtractedPage]) -> Vec<String> {
    pages
        .iter()
        .map(|page| page.record.locator.short().unwrap_or_default())
        .collect()
}

fn error(page: &ExtractedPage) -> &str {
    assert_eq!(page.record.method, ReadMethod::Missing);
    page.record.error.as_deref().unwrap()
}

#[test]
fn files_are_pages_in_the_order_of_the_archive() {
    let inner = packed(&[("deep.md", b"# Deep\n")]);
    let bytes = packed(&[
        ("b/notes.md", b"# Notes\n"),
        ("../a.txt", b"words"),
        ("C:\\x\\a.txt", b"more"),
        ("__MACOSX/b/._notes.md", b"junk"),
        ("b/.DS_Store", b"junk"),
        ("b/", b""),
        ("x/a.txt", b"same path"),
        ("tool.exe", b"MZ\0\0\0\x01\x02\x03"),
    ]);
    let found = pages(&bytes);
    assert_eq!(
        places(&found),
        ["b/notes.md", "a.txt", "x/a.txt", "x/a (2).txt", "tool.exe"]
    );
    assert_eq!(found[0].markdown, "# Notes\n");
    assert!(!error(&found[4]).is_empty());
    // Whatever reads archives within archives names both.
    let outer = packed(&[("inner.zip", &inner)]);
    assert!(places(&pages(&outer))[0].starts_with("inner.zip"));
}

#[test]
fn locked_archives_open_with_their_password() {
    let aes = SimpleFileOptions::default().with_aes_encryption(AesMode::Aes256, "secret");
    let bytes = packed_by(aes, &[("a.md", b"# Locked\n")]);
    let read = |bytes: &[u8], password| {
        let extractors = Extractors::new(SecondReader::Absent("not needed".to_owned()));
        let spent = Spent::default();
        let input = Input::new("a.zip", bytes, &extractors, &NoOcr, &spent).with_password(password);
        extractors.extract(Format::Zip, &input)
    };
    assert_eq!(read(&bytes, None), Err(ExtractError::PasswordNeeded));
    assert_eq!(
        read(&bytes, Some("wrong")),
        Err(ExtractError::WrongPassword)
    );
    let opened = read(&bytes, Some("secret")).unwrap();
    assert_eq!(opened.pages[0].markdown, "# Locked\n");

    // Where only one file is locked, the others are read.
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("a.md", aes).unwrap();
    archive.write_all(b"# Locked\n").unwrap();
    archive
        .start_file("b.md", SimpleFileOptions::default())
        .unwrap();
    archive.write_all(b"# Open\n").unwrap();
    let bytes = archive.finish().unwrap().into_inner();
    let found = read(&bytes, None).unwrap().pages;
    assert!(error(&found[0]).contains("locked by a password"));
    assert_eq!(found[1].markdown, "# Open\n");
}

#[test]
fn bombs_are_missing_and_the_rest_is_read() {
    let zeros = vec![b' '; 12 << 20];
    let found = pages(&packed(&[("bomb.txt", &zeros), ("a.md", b"# A\n")]));
    assert!(error(&found[0]).contains("400 times"), "{:?}", found[0]);
    assert_eq!(found[1].markdown, "# A\n");
}

#[test]
fn no_bytes_are_read_twice() {
    // The directory names the first file once more instead of the second.
    let bytes = packed_by(
        SimpleFileOptions::default().compression_method(CompressionMethod::Stored),
        &[("a.md", b"# A\n"), ("b.md", b"# B\n")],
    );
    let second = bytes.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    let mut shared = bytes.clone();
    shared[second + 42..second + 46].copy_from_slice(&0_u32.to_le_bytes());
    let found = pages(&shared);
    assert_eq!(found[0].markdown, "# A\n");
    assert!(error(&found[1]).contains("shares its bytes"), "{found:?}");
}

#[test]
fn what_is_whole_of_a_cut_archive_is_read() {
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let bytes = packed_by(
        stored,
        &[("a.md", b"# A\n"), ("b.md", b"# B\n"), ("c.md", b"# C\n")],
    );
    let third = bytes.windows(4).position(|w| w == b"# C\n").unwrap();
    let found = pages(&bytes[..third]);
    assert_eq!(found[0].markdown, "# A\n");
    assert_eq!(found[1].markdown, "# B\n");
    assert!(
        error(found.last().unwrap()).contains("cut off"),
        "{found:?}"
    );

    for bytes in [&b""[..], b"no archive", b"PK\x05\x06 and no more"] {
        assert!(extract_alone(Format::Zip, "a.zip", bytes).is_err());
    }
    let empty = packed(&[]);
    let refused = extract_alone(Format::Zip, "a.zip", &empty).unwrap_err();
    assert!(refused.to_string().contains("without files"), "{refused}");
}

#[test]
fn damage_is_told() {
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut bytes = packed_by(stored, &[("a.md", b"# Apple\n")]);
    let at = bytes.windows(8).position(|w| w == b"# Apple\n").unwrap();
    bytes[at + 3] = b'x';
    let found = pages(&bytes);
    assert_eq!(found[0].markdown, "# Axple\n");
    assert!(found[0].record.doubts[0].contains("damaged"), "{found:?}");
}

#[test]
fn a_name_that_is_there_twice_is_told() {
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let bytes = packed_by(stored, &[("a.md", b"# A\n"), ("b.md", b"# B\n")]);
    let text = bytes
        .iter()
        .map(|byte| char::from(*byte))
        .collect::<String>();
    let twice: Vec<u8> = text
        .replace("b.md", "a.md")
        .chars()
        .map(|c| c as u8)
        .collect();
    let extraction = extract_alone(Format::Zip, "a.zip", &twice).unwrap();
    assert!(extraction.notes[0].contains("1 files"), "{extraction:?}");
}

proptest! {
    #[test]
    fn no_bytes_do_harm(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let text = b"many words, many words, many words";
        let mut bytes = packed(&[("a.md", b"# A\n"), ("b/c.txt", text), ("d.csv", b"a,b\n1,2\n")]);
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(extraction) = extract_alone(Format::Zip, "a.zip", &bytes) {
            prop_assert!(!extraction.pages.is_empty());
        }
    }
}
