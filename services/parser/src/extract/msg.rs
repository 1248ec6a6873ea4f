//! An e-mail that Outlook saved: a compound file of MAPI properties, [MS-OXMSG]. Read into the
//! same message as one that was sent.

mod item;
mod rtf;
mod store;

use super::mail::Place;
use super::{ExtractError, Extraction, Extractor, Input};

use self::store::Store;

pub(super) struct MsgExtractor;

impl Extractor for MsgExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let mut store = Store::open(input.bytes)?;
        let mail = item::read(&mut store, &item::top(), 0);
        if mail.is_empty() {
            return Err(ExtractError::Damaged {
                what: "there is no message of Outlook in it".to_owned(),
            });
        }
        Ok(Extraction {
            title: mail.subject.clone(),
            pages: mail.pages(input, &Place::alone()),
            ..Extraction::default()
        })
    }
}

#[cfg(test)]
mod tests;
