//! Documents under a password ([MS-OFFCRYPTO]).

use std::panic::{AssertUnwindSafe, catch_unwind};

use office_crypto::{DecryptError, decrypt_from_bytes};

use super::{Compound, is_compound};
use crate::extract::ExtractError;

/// Excel locks with this password where a user only wants to be warned of changes, and opens such
/// workbooks without asking ([MS-OFFCRYPTO] 2.4.2.3).
const DEFAULT_PASSWORD: &str = "VelvetSweatshop";
/// Every Office document since 2007 is a ZIP archive.
const ZIP: &[u8] = b"PK";

/// The document that lies encrypted in `file`.
pub(super) fn package(
    file: &mut Compound<'_>,
    password: Option<&str>,
) -> Result<Vec<u8>, ExtractError> {
    let sound = file.rebuilt()?;
    let given = password.unwrap_or(DEFAULT_PASSWORD);
    let refusal = if password.is_some() {
        ExtractError::WrongPassword
    } else {
        ExtractError::PasswordNeeded
    };
    // A wrong password gives noise, which the library does not tell from a document.
    match decrypted(sound, given) {
        Ok(document) if document.starts_with(ZIP) => Ok(document),
        Ok(_) => Err(refusal),
        Err(_) if password.is_none() => Err(refusal),
        Err(error) => Err(error),
    }
}

/// The document of Word or PowerPoint before 2007 that `bytes` hold encrypted.
pub(super) fn old_document(bytes: &[u8], password: Option<&str>) -> Result<Vec<u8>, ExtractError> {
    let Some(password) = password else {
        return Err(ExtractError::PasswordNeeded);
    };
    let sound = Compound::open(bytes)?.rebuilt()?;
    match decrypted(sound, password) {
        Ok(document) if is_compound(&document) => Ok(document),
        Ok(_) | Err(ExtractError::Damaged { .. }) => Err(ExtractError::WrongPassword),
        Err(error) => Err(error),
    }
}

fn decrypted(file: Vec<u8>, password: &str) -> Result<Vec<u8>, ExtractError> {
    let damaged = || ExtractError::Damaged {
        what: "what its password protects is broken".to_owned(),
    };
    // The library may panic on what it does not expect.
    match catch_unwind(AssertUnwindSafe(|| decrypt_from_bytes(file, password))) {
        Ok(Ok(document)) => Ok(document),
        Ok(Err(DecryptError::Unimplemented(_))) => Err(ExtractError::Unsupported {
            what: "under an encryption that is not known".to_owned(),
        }),
        Ok(Err(_)) | Err(_) => Err(damaged()),
    }
}
