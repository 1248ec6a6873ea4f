//! `anydoc`, which reads office documents into a model of blocks.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anydoc::model::Document;
use anydoc::{ConvertError, Format};

use super::super::ExtractError;

/// The model of `bytes`. A crash of the reader is a damaged document: its callers have other means.
///
/// # Errors
/// When `anydoc` gives up, in our words: its own may quote the document.
pub(in crate::extract) fn read(bytes: &[u8], format: Format) -> Result<Document, ExtractError> {
    catch_unwind(AssertUnwindSafe(|| anydoc::to_document(bytes, format)))
        .unwrap_or_else(|_panic| Err(ConvertError::Unsupported(String::new())))
        .map_err(refusal)
}

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
        _ => damaged("its structure cannot be read"),
    }
}
