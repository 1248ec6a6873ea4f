//! Compound files by what lies in them.

use std::io::{Cursor, Write as _};

use rand::SeedableRng as _;

use super::*;
use crate::extract::{Extractors, NoOcr, SecondReader, Spent, extract_alone};

fn compound(streams: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    for (path, bytes) in streams {
        file.create_stream(path).unwrap().write_all(bytes).unwrap();
    }
    file.flush().unwrap();
    file.into_inner().into_inner()
}

fn read(bytes: &[u8], password: Option<&str>) -> Result<Extraction, ExtractError> {
    let extractors = Extractors::new(SecondReader::Absent("not needed".to_owned()));
    let spent = Spent::default();
    let input = Input::new("a.docx", bytes, &extractors, &NoOcr, &spent).with_password(password);
    extractors.extract(Format::Docx, &input)
}

/// A workbook of one cell under `password`.
fn locked(password: &str) -> Vec<u8> {
    let mut workbook = rust_xlsxwriter::Workbook::new();
    workbook
        .add_worksheet()
        .write(0, 0, "the secret word")
        .unwrap();
    let mut out = Cursor::new(Vec::new());
    let mut random = rand::rngs::StdRng::seed_from_u64(7);
    let mut writer =
        ms_offcrypto_writer::Ecma376AgileWriter::create(&mut random, password, &mut out).unwrap();
    writer
        .write_all(&workbook.save_to_buffer().unwrap())
        .unwrap();
    writer.into_inner().unwrap();
    out.into_inner()
}

#[test]
fn a_password_opens_what_it_locks() {
    let bytes = locked("opén");
    assert_eq!(read(&bytes, None), Err(ExtractError::PasswordNeeded));
    assert_eq!(read(&bytes, Some("open")), Err(ExtractError::WrongPassword));
    let opened = read(&bytes, Some("opén")).unwrap();
    assert!(opened.pages[0].markdown.contains("the secret word"));
    // Excel asks nobody for this one.
    let opened = read(&locked("VelvetSweatshop"), None).unwrap();
    assert!(opened.pages[0].markdown.contains("the secret word"));
}

#[test]
fn old_documents_say_that_they_are_locked() {
    let word = |flags: u8| {
        [
            &[0xec, 0xa5, 0xc1, 0, 0, 0, 0, 0, 0, 0, 0][..],
            &[flags],
            &[0; 500],
        ]
        .concat()
    };
    let bytes = compound(&[("/WordDocument", &word(1))]);
    assert_eq!(read(&bytes, None), Err(ExtractError::PasswordNeeded));
    let bytes = compound(&[("/WordDocument", &word(0))]);
    assert_ne!(read(&bytes, None), Err(ExtractError::PasswordNeeded));
    let user = [&[0; 12][..], &SLIDES_ENCRYPTED, &[0; 8]].concat();
    let bytes = compound(&[("/PowerPoint Document", b"x"), ("/Current User", &user)]);
    assert_eq!(read(&bytes, None), Err(ExtractError::PasswordNeeded));
}

#[test]
fn others_are_named() {
    #[track_caller]
    fn check(stream: &str, expect: &str) {
        let error = read(&compound(&[(stream, b"x")]), None).unwrap_err();
        assert!(error.to_string().contains(expect), "{error}");
    }
    check("/VisioDocument", "Visio");
    check("/Whatever", "not read");
}

#[test]
fn broken_tables_end_in_an_error() {
    let whole = compound(&[("/Workbook", &[7; 6000]), ("/Small", &[1; 100])]);
    for cut in (8..whole.len()).step_by(511) {
        assert!(extract_alone(Format::Xls, "a.xls", &whole[..cut]).is_err());
    }
    // All that say where a part goes on: the header, and the tables of sectors.
    for at in 8..whole.len() {
        for value in [0, 1, 2, 3, 0xff] {
            let mut bytes = whole.clone();
            if bytes[at] == value || bytes[at] == 7 {
                continue;
            }
            bytes[at] = value;
            assert!(extract_alone(Format::Xls, "a.xls", &bytes).is_err());
        }
    }
}
