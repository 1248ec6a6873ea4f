//! A ZIP archive: the files within, each with its own place, in the order of the archive. Nothing
//! is ever written to a disk; names are only names.

mod name;
mod ranges;
mod unpack;

use std::io::Cursor;

use shared::contract::{Locator, PageRecord, ReadMethod};
use zip::ZipArchive;
use zip::read::{ZipFile, read_zipfile_from_stream};

use super::input::missing_entry;
use super::mail::{Taken, path};
use super::{ExtractError, ExtractedPage, Extraction, Extractor, Input};

use self::ranges::Ranges;
use self::unpack::{Unpacked, refusal, unpack};

const LOCAL_HEADER: &[u8] = b"PK\x03\x04";

pub(super) struct ZipExtractor;

impl Extractor for ZipExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let mut reading = Reading::new(input);
        match ZipArchive::new(Cursor::new(input.bytes)) {
            Ok(mut archive) => reading.read(&mut archive),
            Err(_broken) => reading.salvage(),
        }
        reading.finish()
    }
}

struct Reading<'i, 'a> {
    input: &'i Input<'a>,
    taken: Taken,
    pages: Vec<ExtractedPage>,
    notes: Vec<String>,
    /// Files that were tried, and those of them that a password locks.
    files: usize,
    locked: usize,
}

impl<'i, 'a> Reading<'i, 'a> {
    fn new(input: &'i Input<'a>) -> Self {
        Self {
            input,
            taken: Taken::default(),
            pages: Vec::new(),
            notes: Vec::new(),
            files: 0,
            locked: 0,
        }
    }

    fn read(&mut self, archive: &mut ZipArchive<Cursor<&[u8]>>) {
        let repeated = declared(self.input.bytes).saturating_sub(archive.len());
        if repeated > 0 {
            self.notes.push(format!(
                "{repeated} files of the archive have the name of another one and were not read"
            ));
        }
        let names = name::all(archive);
        let mut ranges = Ranges::default();
        for (index, name) in names.iter().enumerate() {
            if self.input.is_full() {
                self.rest_is_missing(&format!("{} more files", names.len() - index));
                return;
            }
            let Some(name) = name.as_deref().filter(|name| is_wanted(name)) else {
                continue;
            };
            self.files += 1;
            let path = self.path(name);
            match self.entry(archive, index, &mut ranges) {
                Ok(Some(unpacked)) => self.add(&path, unpacked),
                Ok(None) => self.files -= 1,
                Err(error) => self.refuse(&path, &error),
            }
        }
    }

    /// The entry at `index`; `None` for what is no file.
    fn entry(
        &self,
        archive: &mut ZipArchive<Cursor<&[u8]>>,
        index: usize,
        ranges: &mut Ranges,
    ) -> Result<Option<Unpacked>, ExtractError> {
        let raw = archive.by_index_raw(index).map_err(refusal)?;
        if raw.is_dir() || raw.is_symlink() {
            return Ok(None);
        }
        let end = raw.data_start().saturating_add(raw.compressed_size());
        if !ranges.claim(raw.header_start(), end) {
            return Err(ExtractError::Damaged {
                what: "it shares its bytes with another file of the archive".to_owned(),
            });
        }
        let is_locked = raw.encrypted();
        drop(raw);
        let file = match (is_locked, self.input.password) {
            (false, _) => archive.by_index(index),
            (true, Some(password)) => archive.by_index_decrypt(index, password.as_bytes()),
            (true, None) => return Err(ExtractError::PasswordNeeded),
        };
        unpack(file.map_err(refusal)?, self.input.room(), is_locked).map(Some)
    }

    /// Reads what is whole of an archive whose directory, which stands at its end, is missing.
    fn salvage(&mut self) {
        let mut rest = self.input.bytes;
        while let Some(at) = find(rest) {
            let mut stream = rest.get(at..).unwrap_or_default();
            let before = stream.len();
            if self.input.is_full() {
                break;
            }
            let read = read_zipfile_from_stream(&mut stream)
                .ok()
                .flatten()
                .map(|file| self.salvaged(file));
            if let Some((path, result)) = read {
                self.files += 1;
                let path = self.path(&path);
                match result {
                    Ok(unpacked) => self.add(&path, unpacked),
                    Err(error) => self.refuse(&path, &error),
                }
            }
            // An entry that is not read leaves the stream somewhere within.
            let read = before - stream.len();
            rest = rest
                .get(at + read.max(LOCAL_HEADER.len())..)
                .unwrap_or_default();
        }
        if self.files > 0 {
            self.rest_is_missing("the rest of the archive, which is cut off or damaged");
        }
    }

    fn salvaged(&self, file: ZipFile<'_, &[u8]>) -> (String, Result<Unpacked, ExtractError>) {
        let path = name::of(file.name_raw(), file.name());
        (path, unpack(file, self.input.room(), false))
    }

    fn path(&mut self, name: &str) -> String {
        let clean = path(name).unwrap_or_else(|| "unnamed".to_owned());
        self.taken.free(&clean)
    }

    fn add(&mut self, path: &str, unpacked: Unpacked) {
        let mut pages = self.input.within(path, &unpacked.bytes);
        if let (Some(first), Some(doubt)) = (pages.first_mut(), unpacked.doubt) {
            first.record.doubts.push(doubt);
        }
        self.pages.extend(pages);
    }

    fn refuse(&mut self, path: &str, error: &ExtractError) {
        let locks = [ExtractError::PasswordNeeded, ExtractError::WrongPassword];
        self.locked += usize::from(locks.contains(error));
        self.pages.push(missing_entry(path, error));
    }

    fn rest_is_missing(&mut self, what: &str) {
        self.pages.push(ExtractedPage {
            record: PageRecord {
                number: 1,
                locator: Locator::Block { number: 1 },
                method: ReadMethod::Missing,
                characters: 0,
                doubts: Vec::new(),
                error: Some(format!("not read: {what}")),
            },
            markdown: String::new(),
        });
    }

    fn finish(self) -> Result<Extraction, ExtractError> {
        if self.files == 0 && self.pages.is_empty() {
            let starts =
                self.input.bytes.starts_with(b"PK\x05\x06") || find(self.input.bytes).is_some();
            return Err(if starts {
                ExtractError::Unsupported {
                    what: "an archive without files".to_owned(),
                }
            } else {
                ExtractError::Damaged {
                    what: "it has neither a directory nor files of an archive".to_owned(),
                }
            });
        }
        // Then it is the archive that asks for a password.
        if self.files > 0 && self.locked == self.files {
            return Err(match self.input.password {
                Some(_) => ExtractError::WrongPassword,
                None => ExtractError::PasswordNeeded,
            });
        }
        Ok(Extraction {
            pages: self.pages,
            notes: self.notes,
            ..Extraction::default()
        })
    }
}

/// Whether `name` is a document, not what systems leave beside it.
fn is_wanted(name: &str) -> bool {
    const LITTER: [&str; 4] = [".ds_store", "thumbs.db", "desktop.ini", ".localized"];
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let is_litter = LITTER.contains(&last.to_lowercase().as_str()) || last.starts_with("._");
    !last.is_empty() && !is_litter && !name.starts_with("__MACOSX/")
}

/// Files as the end of the archive counts them.
fn declared(bytes: &[u8]) -> usize {
    const END: &[u8] = b"PK\x05\x06";
    /// The end with the longest comment.
    const TAIL: usize = 22 + 65_535;
    /// Stands for a number that is kept elsewhere.
    const ELSEWHERE: u16 = u16::MAX;
    let tail = bytes
        .get(bytes.len().saturating_sub(TAIL)..)
        .unwrap_or(bytes);
    let at = tail.windows(END.len()).rposition(|window| window == END);
    let count = at.and_then(|at| tail.get(at + 10..)?.first_chunk::<2>());
    let count = count.map_or(ELSEWHERE, |count| u16::from_le_bytes(*count));
    if count == ELSEWHERE {
        0
    } else {
        usize::from(count)
    }
}

fn find(bytes: &[u8]) -> Option<usize> {
    bytes
        .windows(LOCAL_HEADER.len())
        .position(|window| window == LOCAL_HEADER)
}

#[cfg(test)]
mod tests;
