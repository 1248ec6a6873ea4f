//! Passwords of documents on their way in: sealed at once, for one document's bytes, with the key
//! of the data folder. Nothing else of the gateway keeps, logs or repeats them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use shared::contract::{ErrorCode, SealedPassword, Sha256Hex};
use shared::secret::{Password, Sealer};

use crate::error::ApiError;

/// Bytes of the longest password; those of PDF and of Office end earlier.
const MOST_BYTES: usize = 1024;

/// Seals passwords. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Sealing(Arc<Path>);

impl Sealing {
    /// With the key in the data folder `data`, which is made by the first password.
    pub fn new(data: &Path) -> Self {
        Self(data.into())
    }

    /// `password`, of use only for the document with the bytes `content`.
    ///
    /// # Errors
    /// When the key cannot be used.
    pub async fn seal(
        &self,
        password: Password,
        content: &Sha256Hex,
    ) -> Result<SealedPassword, ApiError> {
        let (data, content) = (PathBuf::from(&*self.0), content.clone());
        let sealed =
            tokio::task::spawn_blocking(move || Sealer::open(&data)?.seal(&password, &content));
        match sealed.await {
            Ok(Ok(sealed)) => Ok(sealed),
            Ok(Err(error)) => Err(cannot_seal(&error)),
            Err(error) => Err(cannot_seal(&error)),
        }
    }
}

/// The password that `text` gives; none when it is empty.
///
/// # Errors
/// When it is longer than any password.
pub fn password(text: String) -> Result<Option<Password>, ApiError> {
    if text.len() > MOST_BYTES {
        return Err(ApiError::new(
            ErrorCode::TooLarge,
            format!("the password has more than {MOST_BYTES} bytes"),
            "give the password that opens the document",
        ));
    }
    Ok((!text.is_empty()).then(|| Password::new(text)))
}

fn cannot_seal(cause: &(dyn std::error::Error + 'static)) -> ApiError {
    ApiError::internal(
        "the password could not be sealed, so it was not taken",
        "check the owner and the mode of `password.key` in the data folder",
        cause,
    )
}
