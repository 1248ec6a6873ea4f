//! The PDF readers over real documents.

use std::path::Path;

use crate::manifest::{Entry, bytes, entries, is_clean, missing, read, squeeze};
use crate::support::{corpus, second_reader};
use parser::extract::{ExtractError, Extraction, Extractors, Merging, SecondReader};
use shared::contract::ReadMethod;
use shared::format::Format;

/// The PDF of `entry`, with its password if it has one.
fn read_pdf(
    folder: &Path,
    entry: &Entry,
    extractors: &Extractors,
) -> Result<Extraction, ExtractError> {
    let bytes = bytes(folder, entry);
    let password = entry.password.as_deref();
    read(extractors, Format::Pdf, (entry, &bytes), password)
}

/// Facts found and wanted over all PDFs, and what is missing.
fn score(folder: &Path, extractors: &Extractors) -> (usize, usize, Vec<String>) {
    let (mut wanted, mut lacking) = (0, Vec::new());
    for entry in entries(folder, "pdf") {
        let Ok(extraction) = read_pdf(folder, &entry, extractors) else {
            continue;
        };
        assert!(is_clean(&extraction), "{}", entry.file);
        wanted += entry.facts.iter().filter(|fact| !fact.optional).count();
        lacking.extend(missing(&entry, &extraction));
    }
    (wanted - lacking.len(), wanted, lacking)
}

#[test]
fn pdfs_hold_their_facts_on_the_right_page() {
    let Some(folder) = corpus("docs") else { return };
    let (found, wanted, lacking) = score(
        &folder,
        &Extractors::merging(second_reader(), Merging::default()),
    );
    println!("{found} of {wanted} facts");
    assert!(wanted >= 78, "the corpus is not whole: {wanted} facts");
    if let SecondReader::Library(_) = second_reader() {
        assert_eq!((found, lacking), (wanted, Vec::new()));
    }
}

#[test]
fn outlines_are_headings() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    let mut checked = 0;
    for entry in entries(&folder, "pdf") {
        if entry.outline_contains.is_empty() {
            continue;
        }
        let extraction = read_pdf(&folder, &entry, &extractors).unwrap();
        let headings: Vec<String> = extraction
            .pages
            .iter()
            .flat_map(|page| page.markdown.lines())
            .filter(|line| line.starts_with('#'))
            .map(squeeze)
            .collect();
        for title in &entry.outline_contains {
            let title = squeeze(title);
            let is_there = headings.iter().any(|heading| heading.contains(&title));
            assert!(is_there, "{}: {title}", entry.file);
            checked += 1;
        }
    }
    assert!(checked > 5, "{checked}");
}

#[test]
fn a_truncated_pdf_gives_its_pages_with_doubts() {
    let Some(folder) = corpus("docs") else { return };
    let bytes = std::fs::read(folder.join("truncated.pdf")).unwrap();
    let extractors = Extractors::new(second_reader());
    let extraction = extractors
        .extract_file(Format::Pdf, "truncated.pdf", &bytes)
        .unwrap();
    let second = &extraction.pages[1];
    assert!(
        second
            .markdown
            .contains("This text should contain all letters")
    );
    assert!(second.record.doubts[0].contains("fonts are lost"));
    let last = extraction.pages.last().unwrap();
    assert_eq!(last.record.method, ReadMethod::Missing);
}

/// Prints what the thresholds were chosen from.
#[test]
#[ignore = "a measurement: run with --ignored --nocapture"]
fn thresholds() {
    let Some(folder) = corpus("docs") else { return };
    let absent = SecondReader::Absent("not used".to_owned());
    let (found, wanted, _) = score(&folder, &Extractors::merging(absent, Merging::default()));
    println!("without PDFium: {found} of {wanted}");
    for (fallback_below, insert_below) in [
        (0.0, 0.0),
        (0.0, 0.6),
        (0.3, 0.6),
        (0.6, 0.6),
        (0.9, 0.6),
        (0.95, 0.6),
        (1.1, 0.0),
    ] {
        let merging = Merging {
            fallback_below,
            insert_below,
        };
        let (found, wanted, _) = score(&folder, &Extractors::merging(second_reader(), merging));
        println!("fallback {fallback_below} insert {insert_below}: {found} of {wanted}");
    }
}

/// Prints how the pages of all PDFs of the folder are read, and how long it takes.
#[test]
#[ignore = "a measurement: run with --ignored --nocapture"]
fn survey() {
    let (Some(docs), Some(folder)) = (corpus("docs"), corpus("folder")) else {
        return;
    };
    let extractors = Extractors::new(second_reader());
    for path in pdfs(&docs).into_iter().chain(pdfs(&folder)) {
        let started = std::time::Instant::now();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match extractors.extract_file(Format::Pdf, &name, &std::fs::read(&path).unwrap()) {
            Err(error) => println!("{name}: {error}"),
            Ok(extraction) => {
                let ms = started.elapsed().as_millis();
                println!(
                    "{name}: {} pages, {ms} ms, {:?}",
                    extraction.pages.len(),
                    extraction.notes
                );
                for page in extraction.pages {
                    let record = page.record;
                    if !record.doubts.is_empty() || record.method != ReadMethod::TextLayer {
                        println!(
                            "  {:?} {:?} {} {:?} {:?}",
                            record.locator,
                            record.method,
                            record.characters,
                            record.doubts,
                            record.error
                        );
                    }
                }
            }
        }
    }
}

fn pdfs(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(pdfs(&path));
        } else if path.extension().is_some_and(|extension| extension == "pdf") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn malformed_and_textless_pdfs_end_in_a_clear_state() {
    let Some(folder) = corpus("docs") else { return };
    let extractors = Extractors::new(second_reader());
    for entry in entries(&folder, "pdf") {
        let result = extractors.extract_file(Format::Pdf, &entry.file, &bytes(&folder, &entry));
        let expect = entry.expect.as_deref().unwrap_or("facts");
        match (&entry.password, result) {
            (Some(_), result) => {
                assert_eq!(result, Err(ExtractError::PasswordNeeded), "{}", entry.file);
            }
            (None, Err(error)) => assert!(expect.contains("error"), "{}: {error}", entry.file),
            (None, Ok(extraction)) if expect.starts_with("no text") => {
                let missing = |page: &parser::extract::ExtractedPage| {
                    page.record.method == ReadMethod::Missing && page.record.error.is_some()
                };
                assert!(
                    extraction.pages.iter().all(missing),
                    "{}: {extraction:?}",
                    entry.file
                );
            }
            (None, Ok(extraction)) => assert!(!extraction.pages.is_empty(), "{}", entry.file),
        }
    }
}
