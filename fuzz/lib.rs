//! What the fuzz targets share: one per format, each reads any bytes as that format.

use parser::extract::{Extractors, SecondReader};
use shared::contract::ReadMethod;
use shared::format::Format;

/// Reads `data` as `format` and checks what holds for every reading. PDFium is left out: it is
/// not ours to fuzz, and its faults are not seen from here.
pub fn read(format: Format, data: &[u8]) {
    let absent = SecondReader::Absent("not fuzzed".to_owned());
    let name = format!("fuzzed.{}", format.name());
    let Ok(extraction) = Extractors::new(absent).extract_file(format, &name, data) else {
        return;
    };
    assert!(!extraction.pages.is_empty(), "neither pages nor a reason");
    for (page, number) in extraction.pages.iter().zip(1..) {
        let record = &page.record;
        assert_eq!(record.number, number);
        let is_missing = record.method == ReadMethod::Missing;
        assert_eq!(is_missing, record.error.is_some(), "a missing page has its reason");
        assert!(!is_missing || page.markdown.is_empty(), "a missing page has no text");
        let is_clean = |c: char| matches!(c, '\n' | '\t') || !c.is_control();
        assert!(page.markdown.chars().all(is_clean), "control characters");
    }
}

/// A target that reads its data as `$format`.
#[macro_export]
macro_rules! target {
    ($format:ident) => {
        libfuzzer_sys::fuzz_target!(|data: &[u8]| {
            ibid_fuzz::read(shared::format::Format::$format, data)
        });
    };
}
