//! Spreadsheets, compound files and books of the corpus: each fact on a page of its sheet.

use crate::manifest::{bytes, entries, is_clean, missing, read};
use crate::support::{corpus, second_reader};
use parser::extract::{ExtractError, Extractors};
use shared::format::Format;

const FORMATS: [(&str, Format); 4] = [
    ("xlsx", Format::Xlsx),
    ("xls", Format::Xls),
    ("ods", Format::Ods),
    ("epub", Format::Epub),
];

#[test]
fn spreadsheets_and_books_hold_their_facts() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    let (mut wanted, mut lacking) = (0, Vec::new());
    for (name, format) in FORMATS {
        for entry in entries(&folder, name) {
            if entry.expect.is_some() {
                continue;
            }
            let bytes = bytes(&folder, &entry);
            let extraction = read(&extractors, format, (&entry, &bytes), None)
                .unwrap_or_else(|error| panic!("{}: {error}", entry.file));
            wanted += entry.facts.len();
            lacking.extend(missing(&entry, &extraction));
            assert!(is_clean(&extraction), "{}", entry.file);
            for page in &extraction.pages {
                assert_eq!(page.record.error, None, "{}", entry.file);
            }
        }
    }
    println!("{} of {wanted} facts", wanted - lacking.len());
    assert!(wanted >= 30, "the corpus is not whole: {wanted} facts");
    assert_eq!(lacking, Vec::<String>::new());
}

#[test]
fn malformed_and_locked_workbooks_end_in_a_clear_state() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    let mut checked = 0;
    for (name, format) in FORMATS {
        for entry in entries(&folder, name) {
            let Some(expect) = &entry.expect else {
                continue;
            };
            checked += 1;
            let bytes = bytes(&folder, &entry);
            let read = |password| read(&extractors, format, (&entry, &bytes), password);
            // The password that the manifest names does not open the file, here or elsewhere.
            if entry.password.is_some() {
                assert_eq!(read(None), Err(ExtractError::PasswordNeeded));
                assert_eq!(read(Some("wrong")), Err(ExtractError::WrongPassword));
                continue;
            }
            match read(None) {
                Ok(extraction) => {
                    assert!(expect.contains("partial"), "{}", entry.file);
                    assert_eq!(missing(&entry, &extraction), Vec::<String>::new());
                }
                Err(error) => assert!(expect.contains("error"), "{}: {error}", entry.file),
            }
        }
    }
    assert!(checked >= 3, "{checked}");
}
