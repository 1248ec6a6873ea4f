//! The parts of a document that is a ZIP archive.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read as _, Write as _};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive};

use super::super::salvage::salvage;
use super::super::{ExtractError, Input};
use super::relations::{self, Relation};
use super::xml;

/// One part, unpacked. Its reading takes several times as much.
const MOST_PART_BYTES: u64 = 64 << 20;
/// All parts that are read, unpacked.
const MOST_BYTES: u64 = 256 << 20;
/// Parts that are read.
const MOST_PARTS: usize = 20_000;
/// Nothing that is text.
const NOT_READ: [&str; 27] = [
    "png", "jpg", "jpeg", "jpe", "gif", "bmp", "tif", "tiff", "emf", "wmf", "emz", "wmz", "svg",
    "wdp", "ico", "bin", "ttf", "otf", "odttf", "fntdata", "mp3", "mp4", "m4a", "mov", "wav",
    "avi", "wmv",
];

/// A document's parts by their paths.
pub(in crate::extract) struct Package {
    parts: BTreeMap<String, Vec<u8>>,
    /// Parts that unpack to more than is read.
    too_large: BTreeSet<String>,
    /// Whether something of it is lost.
    pub(in crate::extract) is_damaged: bool,
}

impl Package {
    /// The parts of `input`; where its directory is lost, those that are found without it.
    ///
    /// # Errors
    /// When there is not one. Parts that unpack to more than is read are left out.
    pub(in crate::extract) fn open(input: &Input<'_>) -> Result<Self, ExtractError> {
        let most = input.room().min(MOST_BYTES);
        let mut package = match ZipArchive::new(Cursor::new(input.bytes)) {
            Ok(archive) => Self::unpacked(archive, most),
            Err(_) => Self::salvaged(input.bytes, most),
        };
        package.parts.retain(|_, bytes| !bytes.is_empty());
        if package.parts.is_empty() && package.too_large.is_empty() {
            return Err(ExtractError::Damaged {
                what: "nothing in it can be unpacked".to_owned(),
            });
        }
        Ok(package)
    }

    /// A package of these parts.
    pub(in crate::extract) fn of(parts: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        Self {
            parts: parts.into_iter().collect(),
            too_large: BTreeSet::new(),
            is_damaged: false,
        }
    }

    fn unpacked(mut archive: ZipArchive<Cursor<&[u8]>>, most: u64) -> Self {
        let mut package = Self::of([]);
        let mut left = most;
        for index in 0..archive.len().min(MOST_PARTS) {
            let Ok(entry) = archive.by_index(index) else {
                package.is_damaged = true;
                continue;
            };
            let name = normal(entry.name());
            if !is_read(&name) {
                continue;
            }
            let limit = MOST_PART_BYTES.min(left);
            let mut bytes = Vec::new();
            if entry.take(limit + 1).read_to_end(&mut bytes).is_err() {
                package.is_damaged = true;
            }
            let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            if length > limit {
                package.is_damaged = true;
                package.too_large.insert(name);
                continue;
            }
            left -= length;
            package.parts.entry(name).or_insert(bytes);
        }
        package
    }

    fn salvaged(bytes: &[u8], most: u64) -> Self {
        let found = salvage(bytes, most, |name| is_read(&normal(name)));
        Self {
            parts: found
                .into_iter()
                .map(|file| (normal(&file.name), file.bytes))
                .collect(),
            too_large: BTreeSet::new(),
            is_damaged: true,
        }
    }

    /// The paths of all parts, sorted.
    pub(in crate::extract) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.keys().map(String::as_str)
    }

    /// Whether there is a part `name`.
    pub(in crate::extract) fn has(&self, name: &str) -> bool {
        self.parts.contains_key(name)
    }

    /// Why there is no part `name`.
    pub(in crate::extract) fn lack_of(&self, name: &str) -> ExtractError {
        if self.too_large.contains(name) {
            return ExtractError::TooLarge {
                what: format!("it unpacks to more than {} MB", MOST_PART_BYTES >> 20),
            };
        }
        ExtractError::Damaged {
            what: format!("`{name}` is not in it"),
        }
    }

    /// The bytes of the part `name`.
    pub(in crate::extract) fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.parts.get(name).map(Vec::as_slice)
    }

    /// The text of the XML part `name`.
    pub(in crate::extract) fn xml(&self, name: &str) -> Option<std::borrow::Cow<'_, str>> {
        self.bytes(name).map(xml::decode)
    }

    /// What the part `owner` relates to; of the whole package for an empty `owner`.
    pub(in crate::extract) fn relations(&self, owner: &str) -> Vec<Relation> {
        self.xml(&relations::part_for(owner))
            .map(|xml| relations::read(owner, &xml))
            .unwrap_or_default()
    }

    /// The document's main part: the one its package names, else `usual`.
    pub(in crate::extract) fn main_part(&self, usual: &str) -> String {
        let named = self
            .relations("")
            .into_iter()
            .find(|relation| relation.kind == "officeDocument" && self.has(&relation.part));
        named.map_or_else(|| usual.to_owned(), |relation| relation.part)
    }

    /// Puts `bytes` in the place of the part `name`.
    pub(in crate::extract) fn set(&mut self, name: &str, bytes: Vec<u8>) {
        self.parts.insert(name.to_owned(), bytes);
    }

    /// The XML parts as an archive, unpacked.
    pub(in crate::extract) fn repacked(&self) -> Option<Vec<u8>> {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let is_xml = |name: &str| [".xml", ".rels"].iter().any(|end| name.ends_with(end));
        for (name, bytes) in self.parts.iter().filter(|(name, _)| is_xml(name)) {
            archive.start_file(name.as_str(), options).ok()?;
            archive.write_all(bytes).ok()?;
        }
        Some(archive.finish().ok()?.into_inner())
    }
}

/// Some programs write paths as Windows does.
fn normal(name: &str) -> String {
    name.replace('\\', "/").trim_start_matches('/').to_owned()
}

fn is_read(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let extension = extension.unwrap_or_default().to_ascii_lowercase();
    !name.ends_with('/') && !NOT_READ.contains(&extension.as_str())
}
