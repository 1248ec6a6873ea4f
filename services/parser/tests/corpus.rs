//! The readers over real documents: facts found, and malformed files that end in a clear state.

use std::path::Path;

use crate::manifest::{all, bytes, entries, is_clean, missing, squeeze};
use crate::support::{corpus, extract, pool, second_reader};
use parser::Settings;
use parser::extract::{Extraction, Extractors};
use serde::Deserialize;
use shared::contract::Locator;
use shared::format::{Format, HEAD_BYTES, detect};

#[test]
fn texts_and_markdown_hold_their_facts() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    for (name, format) in [("txt", Format::Text), ("md", Format::Markdown)] {
        for entry in entries(&folder, name) {
            let bytes = bytes(&folder, &entry);
            let extraction = extractors
                .extract_file(format, &entry.file, &bytes)
                .unwrap();
            assert_eq!(missing(&entry, &extraction), Vec::<String>::new());
            assert_eq!(extraction.pages.len(), 1, "{}", entry.file);
            assert!(is_clean(&extraction), "{}", entry.file);
        }
    }
}

/// Formats by the corpus' names for them.
const OTHERS: [(&str, Format); 7] = [
    ("html", Format::Html),
    ("csv", Format::Csv),
    ("tsv", Format::Csv),
    ("docx", Format::Docx),
    ("pptx", Format::Pptx),
    ("odt", Format::Odt),
    ("rtf", Format::Rtf),
];

#[test]
fn pages_tables_and_office_documents_hold_their_facts() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    let (mut wanted, mut lacking) = (0, Vec::new());
    for (name, format) in OTHERS {
        let (mut of_format, mut lost) = (0, Vec::new());
        for entry in entries(&folder, name) {
            if entry.expect.is_some() {
                continue;
            }
            let bytes = bytes(&folder, &entry);
            if matches!(format, Format::Html | Format::Csv | Format::Docx) {
                let head = bytes.get(..HEAD_BYTES).unwrap_or(&bytes);
                assert_eq!(detect(&entry.file, head), Ok(format), "{}", entry.file);
            }
            let extraction = extractors
                .extract_file(format, &entry.file, &bytes)
                .unwrap();
            assert!(is_clean(&extraction), "{}", entry.file);
            assert!(has_no_page_number(&extraction), "{}", entry.file);
            of_format += entry.facts.iter().filter(|fact| !fact.optional).count();
            lost.extend(missing(&entry, &extraction));
        }
        println!("{name}: {} of {of_format} facts", of_format - lost.len());
        wanted += of_format;
        lacking.extend(lost);
    }
    assert!(wanted >= 70, "the corpus is not whole: {wanted} facts");
    assert_eq!(lacking, Vec::<String>::new());
}

/// Headers, footers and comments, which a reader may leave out and ours does not.
#[test]
fn the_smaller_parts_of_word_documents_are_read() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    for mut entry in entries(&folder, "docx") {
        if entry.expect.is_some() {
            continue;
        }
        for fact in &mut entry.facts {
            fact.optional = false;
        }
        let bytes = bytes(&folder, &entry);
        let extraction = extractors
            .extract_file(Format::Docx, &entry.file, &bytes)
            .unwrap();
        assert_eq!(missing(&entry, &extraction), Vec::<String>::new());
    }
}

/// All formats by the corpus' names for them.
fn format_of(name: &str) -> Format {
    match name {
        "txt" => Format::Text,
        "md" => Format::Markdown,
        "tsv" => Format::Csv,
        "ipynb" => Format::Notebook,
        name => name.parse().unwrap(),
    }
}

#[test]
fn every_file_is_taken_for_what_it_is() {
    let Some(folder) = corpus("docs") else { return };
    let mut wrong = Vec::new();
    for entry in all(&folder) {
        let bytes = bytes(&folder, &entry);
        let head = bytes.get(..HEAD_BYTES).unwrap_or(&bytes);
        let found = detect(&entry.file, head);
        if found != Ok(format_of(&entry.format)) {
            wrong.push(format!("{}: {found:?}", entry.file));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// Formats that are text, with at least so many facts.
const TEXTUAL: [(&str, usize); 9] = [
    ("json", 6),
    ("xml", 7),
    ("ipynb", 5),
    ("tex", 3),
    ("txt", 9),
    ("md", 9),
    ("html", 17),
    ("csv", 13),
    ("tsv", 2),
];

#[test]
fn formats_that_are_text_hold_their_facts_and_end_in_a_clear_state() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    for (name, least) in TEXTUAL {
        let (mut wanted, mut lacking) = (0, Vec::new());
        for entry in entries(&folder, name) {
            let format = format_of(name);
            let result = extractors.extract_file(format, &entry.file, &bytes(&folder, &entry));
            let expect = entry.expect.as_deref().unwrap_or_default();
            let extraction = match result {
                Ok(extraction) => extraction,
                Err(error) => {
                    assert!(expect.contains("error"), "{}: {error}", entry.file);
                    continue;
                }
            };
            assert!(is_clean(&extraction), "{}", entry.file);
            assert!(has_no_page_number(&extraction), "{}", entry.file);
            let pages = &extraction.pages;
            let text: usize = pages.iter().map(|page| page.markdown.len()).sum();
            assert!(text < 1 << 20, "{}: {text} bytes", entry.file);
            if expect.contains("partial") {
                let doubts: usize = pages.iter().map(|page| page.record.doubts.len()).sum();
                assert!(doubts > 0, "{}: nothing is said about it", entry.file);
            }
            wanted += entry.facts.iter().filter(|fact| !fact.optional).count();
            lacking.extend(missing(&entry, &extraction));
        }
        println!("{name}: {} of {wanted} facts", wanted - lacking.len());
        assert_eq!(lacking, Vec::<String>::new());
        assert!(
            wanted >= least,
            "the corpus is not whole: {wanted} {name} facts"
        );
    }
}

#[test]
fn deleted_text_stays_deleted() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    for (format, name, gone) in [
        (Format::Odt, "tracked-changes.odt", "deleted"),
        (Format::Docx, "track-changes-insertion.docx", "deleted"),
    ] {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        let extraction = extractors.extract_file(format, name, &bytes).unwrap();
        let text = &extraction.pages[0].markdown;
        assert!(!text.contains(gone), "{name}: {text}");
    }
}

/// Cut, changed and shortened copies of the office documents: none crashes a reader, and what is
/// read is clean.
#[test]
fn changed_office_documents_end_in_a_clear_state() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(below.max(1)).unwrap()).unwrap()
    };
    for (name, format) in OTHERS {
        if matches!(format, Format::Html | Format::Csv) {
            continue;
        }
        for entry in entries(&folder, name) {
            let whole = bytes(&folder, &entry);
            for _ in 0..8 {
                let mut bytes = whole.clone();
                for _ in 0..random(20) {
                    let at = random(bytes.len());
                    bytes[at] = u8::try_from(random(256)).unwrap();
                }
                bytes.truncate(bytes.len() - random(bytes.len() / 2));
                if let Ok(extraction) = extractors.extract_file(format, &entry.file, &bytes) {
                    assert!(is_clean(&extraction), "{}", entry.file);
                    assert!(!extraction.pages.is_empty(), "{}", entry.file);
                }
            }
        }
    }
}

fn has_no_page_number(extraction: &Extraction) -> bool {
    let is_page = |locator: &Locator| matches!(locator, Locator::PdfPage { .. });
    !extraction
        .pages
        .iter()
        .any(|page| is_page(&page.record.locator))
}

#[test]
fn malformed_files_of_other_formats_end_in_a_clear_state() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    let mut checked = 0;
    for (name, format) in OTHERS {
        for entry in entries(&folder, name) {
            let Some(expect) = &entry.expect else {
                continue;
            };
            let result = extractors.extract_file(format, &entry.file, &bytes(&folder, &entry));
            let clear = match &result {
                Ok(extraction) => expect.contains("partial") && !extraction.pages.is_empty(),
                Err(error) => expect.contains("error") && !error.to_string().is_empty(),
            };
            assert!(clear, "{}: {result:?}", entry.file);
            checked += 1;
        }
    }
    assert!(checked > 0);
}

#[derive(Deserialize)]
struct Question {
    sources: Vec<String>,
    #[serde(default)]
    evidence: Vec<String>,
}

/// Reports of hundreds of pages among them, within the limits that users have.
#[tokio::test]
async fn evidence_stands_on_the_page_that_would_be_cited() {
    let Some(folder) = corpus("folder") else {
        return;
    };
    let mut plan = Settings::default().plan().unwrap();
    plan.program = env!("CARGO_BIN_EXE_ibid-parser").into();
    let pool = pool(plan);
    let questions =
        std::fs::read_to_string(folder.with_file_name("folder-questions.jsonl")).unwrap();
    let mut checked = 0;
    for line in questions.lines() {
        let question: Question = serde_json::from_str(line).unwrap();
        for (source, evidence) in question.sources.iter().zip(&question.evidence) {
            let (file, page) = source.split_once('#').unwrap_or((source, "1"));
            let format = match Path::new(file)
                .extension()
                .and_then(|extension| extension.to_str())
            {
                Some("pdf") => Format::Pdf,
                Some("md") => Format::Markdown,
                Some("txt") => Format::Text,
                Some("html") => Format::Html,
                Some("docx") => Format::Docx,
                _ => continue,
            };
            let bytes = std::fs::read(folder.join(file)).unwrap();
            let extraction = extract(&pool, format, file, &bytes).await.unwrap();
            let page = &extraction.pages[page.parse::<usize>().unwrap() - 1];
            assert!(
                squeeze(&page.markdown).contains(&squeeze(evidence)),
                "{source}: {evidence}"
            );
            checked += 1;
        }
    }
    assert!(checked >= 18, "{checked}");
}
