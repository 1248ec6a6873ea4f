//! The parts of a document that is a ZIP archive, each unpacked no further than its bound.

pub(super) mod xml;

use std::collections::HashMap;
use std::io::{Cursor, Read as _};

use zip::ZipArchive;
use zip::result::ZipError;

use super::ExtractError;
use super::office::relations::{self, Relation};

/// A sheet, or the texts of all sheets, unpacked.
pub(super) const MOST_SHEET_BYTES: u64 = 256 << 20;
/// Any other part, unpacked.
const MOST_PART_BYTES: u64 = 32 << 20;
/// A reader of other makers asks for at most so much at once.
const MOST_DECLARED_BYTES: u64 = 1 << 30;

/// An open archive.
pub(super) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    /// Names of the parts by their lower-case form.
    names: HashMap<String, String>,
}

/// Why a part is not there to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartError {
    Absent,
    Damaged,
    TooLarge,
}

impl PartError {
    /// What is said of it.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Absent => "its part is not in the file",
            Self::Damaged => "its part cannot be unpacked",
            Self::TooLarge => "its part unpacks to more than the reader takes",
        }
    }
}

impl<'a> Package<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, ExtractError> {
        let damaged = |what: &str| ExtractError::Damaged {
            what: what.to_owned(),
        };
        let mut archive = ZipArchive::new(Cursor::new(bytes))
            .map_err(|_unreadable| damaged("it is cut off, or no ZIP archive"))?;
        let mut declared = 0_u64;
        for index in 0..archive.len() {
            if let Ok(part) = archive.by_index_raw(index) {
                declared = declared.saturating_add(part.size());
            }
        }
        if declared > MOST_DECLARED_BYTES {
            return Err(ExtractError::TooLarge {
                what: "it unpacks to more than 1 GB".to_owned(),
            });
        }
        let names = archive
            .file_names()
            .map(|name| (name.to_lowercase(), name.to_owned()))
            .collect();
        Ok(Self { archive, names })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains_key(&name.to_lowercase())
    }

    /// A part of ordinary size.
    pub(super) fn part(&mut self, name: &str) -> Result<Vec<u8>, PartError> {
        self.part_up_to(name, MOST_PART_BYTES)
    }

    /// A part of at most `limit` bytes.
    pub(super) fn part_up_to(&mut self, name: &str, limit: u64) -> Result<Vec<u8>, PartError> {
        let name = self
            .names
            .get(&name.to_lowercase())
            .ok_or(PartError::Absent)?;
        let part = self.archive.by_name(name).map_err(|error| match error {
            ZipError::FileNotFound => PartError::Absent,
            _ => PartError::Damaged,
        })?;
        if part.size() > limit {
            return Err(PartError::TooLarge);
        }
        let mut bytes = Vec::new();
        part.take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(|_damaged| PartError::Damaged)?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length > limit) {
            return Err(PartError::TooLarge);
        }
        Ok(bytes)
    }

    /// The links of the part `name` to others.
    pub(super) fn relations(&mut self, name: &str) -> Vec<Relation> {
        self.part(&relations::part_for(name))
            .map(|xml| relations::read(name, &String::from_utf8_lossy(&xml)))
            .unwrap_or_default()
    }
}
