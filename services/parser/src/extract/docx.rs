//! Word documents: one page, because where a page ends only Word decides. `anydoc` reads the body
//! with its notes and text boxes, tracked changes as accepted; headers, footers and comments are
//! added from their own parts.

mod marks;
mod parts;

use anydoc::ConvertError;

use super::markdown::Names;
use super::{ExtractError, Extraction, Extractor, Input, charset, only_page};

use self::parts::Parts;

pub(super) struct DocxExtractor;

impl Extractor for DocxExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let body = anydoc::to_markdown_bytes(input.bytes, anydoc::Format::Docx).map_err(refusal)?;
        let parts = Parts::read(input.bytes);
        let mut markdown = marks::without_targets(&charset::clean(&body));
        for line in &parts.lines {
            if !markdown.is_empty() {
                markdown.push('\n');
            }
            markdown.push_str(&charset::clean(line));
            markdown.push('\n');
        }
        let names = Names::of(&markdown);
        Ok(Extraction {
            title: parts.title.or(names.title),
            pages: vec![only_page(markdown, names.heading, Vec::new())],
            notes: Vec::new(),
        })
    }
}

/// In our words: the reader's may quote the document.
fn refusal(error: ConvertError) -> ExtractError {
    let damaged = |what: &str| ExtractError::Damaged {
        what: what.to_owned(),
    };
    match error {
        ConvertError::Encrypted => ExtractError::PasswordNeeded,
        ConvertError::ResourceLimit { limit, .. } if limit.contains("depth") => {
            damaged("its parts are nested too deep")
        }
        ConvertError::ResourceLimit { limit, .. } => ExtractError::TooLarge {
            what: format!("it unpacks to more than the reader takes ({limit})"),
        },
        ConvertError::MissingPart { part } => damaged(&format!("`{part}` is not in it")),
        ConvertError::Malformed {
            part: Some(part), ..
        } => damaged(&format!("`{part}` cannot be read")),
        _ => damaged("it is no Word document, or a part of one"),
    }
}

#[cfg(test)]
mod tests;
