//! One page as each of the two readers has it, for people who want to see where they disagree.

use shared::contract::ReadMethod;
use shared::format::Format;
use shared::secret::Password;

use super::{Merged, PdfExtractor, Readings, record};
use crate::child::Reader;
use crate::extract::{ExtractError, Extraction, Merging, Ocr, SecondReader};
use crate::wire::Task;

/// Reads one page twice. The extraction has two pages: the first reader's, then the second's; a
/// reading that is not there is a missing page that says why.
pub struct ReadingsReader {
    extractor: PdfExtractor,
    index: usize,
}

impl ReadingsReader {
    /// Of page `number`, from 1, with `second` as the second reader.
    pub fn new(second: SecondReader, number: u32) -> Self {
        Self {
            extractor: PdfExtractor::new(second, Merging::default()),
            index: usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX),
        }
    }
}

impl Reader for ReadingsReader {
    fn read(&self, task: &Task, bytes: &[u8], _ocr: &dyn Ocr) -> Result<Extraction, ExtractError> {
        if task.format != Format::Pdf {
            return Err(ExtractError::Unsupported {
                what: "of a format with one reader".to_owned(),
            });
        }
        let password = task.password.as_ref().map(Password::reveal);
        let Readings {
            first,
            second,
            facts,
            ..
        } = self.extractor.read(bytes, password);
        let one = match first {
            Ok(pages) => reading(pages.get(self.index).map(|page| page.markdown.as_str())),
            Err(error) => Merged::missing(&error.to_string()),
        };
        let two = match second {
            Ok(pages) => {
                let page = pages.get(self.index).and_then(Option::as_ref);
                reading(page.map(|page| page.text.as_str()))
            }
            Err(error) => Merged::missing(&error.to_string()),
        };
        Ok(Extraction {
            pages: [one, two]
                .map(|merged| record(self.index, merged, &facts))
                .into(),
            ..Extraction::default()
        })
    }
}

fn reading(text: Option<&str>) -> Merged {
    text.map_or_else(
        || Merged::missing("it has no such page"),
        |text| Merged::read(text.to_owned(), ReadMethod::TextLayer),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::NoOcr;

    #[test]
    fn what_has_one_reading_is_told_so() {
        let absent = SecondReader::Absent("it is not there".to_owned());
        let reader = ReadingsReader::new(absent, 1);
        let task = |format| Task {
            format,
            name: "a".to_owned(),
            password: None,
        };
        let error = reader
            .read(&task(Format::Text), b"words", &NoOcr)
            .unwrap_err();
        assert!(matches!(error, ExtractError::Unsupported { .. }));

        let none = reader.read(&task(Format::Pdf), b"no pdf", &NoOcr).unwrap();
        let errors: Vec<_> = none
            .pages
            .iter()
            .map(|page| page.record.error.as_deref().unwrap_or_default())
            .collect();
        assert_eq!(errors, ["it has no PDF header", "it is not there"]);
    }
}
