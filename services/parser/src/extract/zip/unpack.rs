//! Unpacking one file, within bounds.

use std::io::Read;

use zip::read::ZipFile;
use zip::result::ZipError;

use super::super::ExtractError;

/// One file; more would not fit into the reader's memory together with what is made of it.
const MOST_BYTES: u64 = 128 << 20;
/// How many times its packed size a file may have. Tables of zeros reach 250; only what was made
/// to fill memories reaches the 1,032 that are possible.
const MOST_RATIO: u64 = 400;
/// Smaller files may be packed as well as they like.
const FREE_BYTES: u64 = 8 << 20;

/// A file as it was before it was packed.
pub(super) struct Unpacked {
    pub(super) bytes: Vec<u8>,
    pub(super) doubt: Option<String>,
}

/// Unpacks `file`, which may take `room` bytes. What comes before a damage is kept, unless it was
/// locked: then it may be the password that is wrong.
pub(super) fn unpack<R: Read>(
    file: ZipFile<'_, R>,
    room: u64,
    is_locked: bool,
) -> Result<Unpacked, ExtractError> {
    let by_ratio = file
        .compressed_size()
        .saturating_mul(MOST_RATIO)
        .max(FREE_BYTES);
    let most = MOST_BYTES.min(room).min(by_ratio);
    let expected = usize::try_from(file.size().min(most)).unwrap_or_default();
    let mut bytes = Vec::with_capacity(expected);
    let result = file.take(most + 1).read_to_end(&mut bytes);
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most {
        let what = if most == by_ratio {
            "it unpacks to more than 400 times its size"
        } else if most == MOST_BYTES {
            "it unpacks to more than 128 MB"
        } else {
            "the files of the archive unpack to more than 512 MB"
        };
        return Err(ExtractError::TooLarge {
            what: what.to_owned(),
        });
    }
    match result {
        Ok(_) => Ok(Unpacked { bytes, doubt: None }),
        Err(_) if is_locked => Err(ExtractError::WrongPassword),
        Err(_) if bytes.is_empty() => Err(damaged()),
        Err(_) => Ok(Unpacked {
            bytes,
            doubt: Some("damaged in the archive; what could be unpacked was read".to_owned()),
        }),
    }
}

fn damaged() -> ExtractError {
    ExtractError::Damaged {
        what: "it cannot be unpacked".to_owned(),
    }
}

/// In our words: the reader's may quote the archive.
#[expect(clippy::needless_pass_by_value, reason = "goes into map_err")]
pub(super) fn refusal(error: ZipError) -> ExtractError {
    match error {
        ZipError::InvalidPassword => ExtractError::WrongPassword,
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => ExtractError::PasswordNeeded,
        ZipError::UnsupportedArchive(_) => ExtractError::Unsupported {
            what: "packed in an uncommon way".to_owned(),
        },
        _ => damaged(),
    }
}
