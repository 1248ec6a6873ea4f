//! Identifiers as types. Each becomes a value in exactly one parse function.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::format::Format;

/// Why a text is not the identifier it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not a {what}: {rule}")]
pub struct IdError {
    what: &'static str,
    value: String,
    rule: &'static str,
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $rule:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(try_from = "String", into = "String")]
        #[schemars(with = "String")]
        pub struct $name(String);

        impl $name {
            /// The identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                let check: fn(&str) -> bool = $check;
                if check(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(IdError { what: $what, value: text.to_owned(), rule: $rule })
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

text_id!(
    /// A document: one source path in one collection, for as long as it is not deleted. A
    /// `UUIDv7` in simple form (32 hex digits), so that an id is never used twice and is a legal
    /// last token of a subject.
    DocumentId,
    "document id",
    "32 lower-case hex digits",
    |text| is_hex(text, 32)
);

text_id!(
    /// SHA-256 of a document's bytes, 64 lower-case hex digits; names the original's blob.
    Sha256Hex,
    "SHA-256",
    "64 lower-case hex digits",
    |text| is_hex(text, 64)
);

text_id!(
    /// A version of content: SHA-256 over format and content hash, first 32 hex digits. The same
    /// bytes read as two formats are two versions.
    FileHash,
    "file hash",
    "32 lower-case hex digits",
    |text| is_hex(text, 32)
);

text_id!(
    /// The embedding model a vector comes from, with its precision: `all-MiniLM-L6-v2-fp32`.
    ModelId,
    "model id",
    "1 to 100 letters, digits, `.`, `_` or `-`",
    |text| (1..=100).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
);

text_id!(
    /// A named set of documents that is searched on its own. `default` when none is named.
    CollectionName,
    "collection name",
    "1 to 64 lower-case letters, digits, `_` or `-`, beginning with a letter or digit",
    |text| (1..=64).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b))
        && !text.starts_with(['_', '-'])
);

text_id!(
    /// A day, `2026-11-30`.
    Date,
    "date",
    "a day like 2026-11-30",
    |text| text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok()
);

impl DocumentId {
    /// A new id, later than all earlier ones of this machine.
    pub fn generate() -> Self {
        Self(uuid::Uuid::now_v7().simple().to_string())
    }
}

impl Sha256Hex {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_digest(Sha256::digest(bytes).into())
    }

    /// From a finished SHA-256 computation.
    pub fn from_digest(digest: [u8; 32]) -> Self {
        Self(hex::encode(digest))
    }
}

impl FileHash {
    /// The version that `content`, read as `format`, is.
    pub fn of(content: &Sha256Hex, format: Format) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(format.name().as_bytes());
        hasher.update([0]);
        hasher.update(content.as_str().as_bytes());
        let mut digest = hex::encode(hasher.finalize());
        digest.truncate(32);
        Self(digest)
    }
}

impl Default for CollectionName {
    fn default() -> Self {
        Self("default".to_owned())
    }
}

/// Raised by every admit, force, retry and delete of a document; work of an earlier generation
/// is dropped as superseded.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Generation(pub u64);

/// A chunk within one pipeline fingerprint: `{file_hash}_{index}`, counted from 0.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct ChunkId {
    /// The version the chunk belongs to.
    pub file_hash: FileHash,
    /// Its number in reading order, from 0.
    pub index: u32,
}

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.file_hash, self.index)
    }
}

impl FromStr for ChunkId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let error = || IdError {
            what: "chunk id",
            value: text.to_owned(),
            rule: "a file hash, `_`, and a number from 0",
        };
        let (hash, index) = text.rsplit_once('_').ok_or_else(error)?;
        Ok(Self {
            file_hash: hash.parse()?,
            index: index.parse().ok().ok_or_else(error)?,
        })
    }
}

impl TryFrom<String> for ChunkId {
    type Error = IdError;

    fn try_from(text: String) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<ChunkId> for String {
    fn from(id: ChunkId) -> String {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_parsed_in_one_place_and_say_what_is_wrong() {
        fn check<T: FromStr<Err = IdError> + fmt::Display>(input: &str, good: bool) {
            match input.parse::<T>() {
                Ok(id) => assert!(
                    good && id.to_string() == input,
                    "`{input}` should be refused"
                ),
                Err(error) => assert!(!good && error.to_string().contains(input), "{error}"),
            }
        }
        check::<DocumentId>(DocumentId::generate().as_str(), true);
        check::<DocumentId>("0190", false);
        check::<DocumentId>("0190f3c2a1b2c3d4e5f60718293a4b5.", false);
        check::<CollectionName>("contracts-2026", true);
        check::<CollectionName>("Contracts", false);
        check::<CollectionName>("-x", false);
        check::<CollectionName>("", false);
        check::<ModelId>("all-MiniLM-L6-v2-fp32", true);
        check::<ModelId>("a b", false);
        check::<Date>("2026-11-30", true);
        check::<Date>("2026-11-31", false);
        check::<Date>("2026-11-30T10:00", false);
        check::<ChunkId>("00112233445566778899aabbccddeeff_17", true);
        check::<ChunkId>("00112233445566778899aabbccddeeff", false);
    }

    #[test]
    fn the_same_bytes_in_two_formats_are_two_versions() {
        let content = Sha256Hex::of(b"# A title\n");
        assert_ne!(
            FileHash::of(&content, Format::Markdown),
            FileHash::of(&content, Format::Text)
        );
        assert_eq!(
            FileHash::of(&content, Format::Text),
            FileHash::of(&content, Format::Text)
        );
    }
}
