//! Passwords at rest: sealed with a key that lies in the data folder and nowhere else.
//!
//! XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03), whose nonces of 24 bytes may be drawn at
//! random. The hash of the document's bytes is associated data: a sealed password opens for that
//! content only, whatever row or message it is copied to.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use chacha20poly1305::aead::{Aead as _, Generate as _, Key, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};

use super::Password;
use crate::contract::{SealedPassword, Sha256Hex};

/// Bytes of a key.
const KEY: usize = 32;
/// Bytes of a nonce.
const NONCE: usize = 24;
/// First byte of what is sealed: the format, and the algorithm with it.
const FORMAT: u8 = 1;

/// Why a password could not be sealed or opened. None of them tells it.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The key file cannot be read or made.
    #[error("the key of the stored passwords, `{path}`, cannot be used; check its owner and mode")]
    Key {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The key file is not one.
    #[error(
        "`{path}` is no key of {KEY} bytes; restore it from a backup, or remove it and add the \
         locked documents again with their passwords"
    )]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// Another key, another document, or not a sealed password at all.
    #[error("the password was sealed with another key; add the document again with its password")]
    OtherKey,
    /// The cipher refused.
    #[error("the password could not be sealed; use a shorter one")]
    Refused,
}

/// Seals and opens passwords.
pub struct Sealer(XChaCha20Poly1305);

impl Sealer {
    /// The key's name in the data folder.
    pub const FILE: &str = "password.key";

    /// With the key in `data_folder`, which is made when there is none yet. Processes that start
    /// at once all get the same.
    ///
    /// # Errors
    /// [`SealError::Key`] and [`SealError::NoKey`].
    pub fn open(data_folder: &Path) -> Result<Self, SealError> {
        let path = data_folder.join(Self::FILE);
        let fault = |source| SealError::Key {
            path: path.clone(),
            source,
        };
        let found = match read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make(data_folder, &path).map_err(fault)?;
                read(&path)
            }
            other => other,
        };
        let bytes = found.map_err(fault)?;
        let cipher = XChaCha20Poly1305::new_from_slice(&bytes);
        cipher
            .map(Self)
            .map_err(|_wrong_length| SealError::NoKey { path })
    }

    /// Seals the password of the document with these bytes. Each time the result is another.
    ///
    /// # Errors
    /// [`SealError::Refused`], which no password of a sane length meets.
    pub fn seal(
        &self,
        password: &Password,
        content: &Sha256Hex,
    ) -> Result<SealedPassword, SealError> {
        let nonce = XNonce::generate();
        let payload = Payload {
            msg: password.reveal().as_bytes(),
            aad: content.as_str().as_bytes(),
        };
        let sealed = self.0.encrypt(&nonce, payload);
        let sealed = sealed.map_err(|_too_long| SealError::Refused)?;
        let mut bytes = Vec::with_capacity(1 + NONCE + sealed.len());
        bytes.push(FORMAT);
        bytes.extend_from_slice(&nonce);
        bytes.extend_from_slice(&sealed);
        Ok(SealedPassword(BASE64.encode(bytes)))
    }

    /// The password of the document with these bytes.
    ///
    /// # Errors
    /// [`SealError::OtherKey`], also for what is no sealed password or another document's.
    pub fn unseal(
        &self,
        sealed: &SealedPassword,
        content: &Sha256Hex,
    ) -> Result<Password, SealError> {
        self.try_unseal(sealed, content).ok_or(SealError::OtherKey)
    }

    fn try_unseal(&self, sealed: &SealedPassword, content: &Sha256Hex) -> Option<Password> {
        let bytes = BASE64.decode(&sealed.0).ok()?;
        let (&FORMAT, rest) = bytes.split_first()? else {
            return None;
        };
        let (nonce, sealed) = rest.split_at_checked(NONCE)?;
        let payload = Payload {
            msg: sealed,
            aad: content.as_str().as_bytes(),
        };
        let opened = self.0.decrypt(&XNonce::try_from(nonce).ok()?, payload);
        String::from_utf8(opened.ok()?).ok().map(Password::new)
    }
}

/// The key, after seeing to it that nobody else may read it: a copied folder loses its modes.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    let mut bytes = Vec::with_capacity(KEY);
    file.take(KEY as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Makes the key, whole or not at all; one that another process has made meanwhile stays.
fn make(folder: &Path, path: &Path) -> io::Result<()> {
    let fresh = folder.join(format!(".{}-{}", Sealer::FILE, uuid::Uuid::now_v7()));
    let made = write(&fresh)
        // A link does not replace what is there, as a rename would.
        .and_then(|()| match fs::hard_link(&fresh, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        })
        .and_then(|()| File::open(folder)?.sync_all());
    let removed = fs::remove_file(&fresh);
    made.and(removed)
}

fn write(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(&Key::<XChaCha20Poly1305>::generate())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &str) -> Sha256Hex {
        Sha256Hex::of(text.as_bytes())
    }

    #[test]
    fn what_is_sealed_opens_for_its_own_document_only() {
        let folder = tempfile::tempdir().unwrap();
        let sealer = Sealer::open(folder.path()).unwrap();
        for text in ["open sesame", "", "päßwörd 密码 \u{0}", &"x".repeat(5_000)] {
            let password = Password::new(text);
            let sealed = sealer.seal(&password, &content("a")).unwrap();
            assert!(text.is_empty() || !sealed.0.contains(text));
            assert_eq!(sealer.unseal(&sealed, &content("a")).unwrap(), password);
            let elsewhere = sealer.unseal(&sealed, &content("b"));
            assert!(matches!(elsewhere, Err(SealError::OtherKey)));
            let again = sealer.seal(&password, &content("a")).unwrap();
            assert_ne!(again, sealed, "a nonce is never used twice");
        }
    }

    #[test]
    fn what_was_altered_does_not_open() {
        let folder = tempfile::tempdir().unwrap();
        let sealer = Sealer::open(folder.path()).unwrap();
        let sealed = sealer.seal(&Password::new("x"), &content("a")).unwrap();
        let bytes = BASE64.decode(&sealed.0).unwrap();
        for at in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[at] ^= 1;
            let altered = SealedPassword(BASE64.encode(&altered));
            assert!(sealer.unseal(&altered, &content("a")).is_err(), "byte {at}");
            let short = SealedPassword(BASE64.encode(&bytes[..at]));
            assert!(sealer.unseal(&short, &content("a")).is_err(), "cut at {at}");
        }
        let plain = SealedPassword("open sesame".to_owned());
        let error = sealer
            .unseal(&plain, &content("a"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("add the document again"), "{error}");
        assert!(!error.contains("sesame"));
    }

    #[test]
    fn all_processes_get_one_key_that_others_cannot_read() {
        let folder = tempfile::tempdir().unwrap();
        let start = std::sync::Barrier::new(8);
        let sealed: Vec<SealedPassword> = std::thread::scope(|scope| {
            let open = || {
                start.wait();
                let sealer = Sealer::open(folder.path()).unwrap();
                sealer.seal(&Password::new("x"), &content("a")).unwrap()
            };
            let all: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let sealer = Sealer::open(folder.path()).unwrap();
        for one in &sealed {
            assert_eq!(sealer.unseal(one, &content("a")).unwrap().reveal(), "x");
        }
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(names.len(), 1, "{names:?}");
        let path = folder.path().join(Sealer::FILE);
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        Sealer::open(folder.path()).unwrap();
        assert_eq!(mode(), 0o600, "mended");
    }

    #[test]
    fn another_folder_s_key_does_not_open_and_a_broken_one_is_told() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let sealed = Sealer::open(one.path())
            .unwrap()
            .seal(&Password::new("x"), &content("a"))
            .unwrap();
        let stranger = Sealer::open(other.path()).unwrap();
        let error = stranger.unseal(&sealed, &content("a"));
        assert!(matches!(error, Err(SealError::OtherKey)));
        for broken in [&b"short"[..], &[7; 33]] {
            fs::write(other.path().join(Sealer::FILE), broken).unwrap();
            let error = Sealer::open(other.path()).err().unwrap();
            assert!(matches!(error, SealError::NoKey { .. }), "{error}");
        }
        let nowhere = Sealer::open(Path::new("/nowhere/at/all")).err().unwrap();
        assert!(matches!(nowhere, SealError::Key { .. }), "{nowhere}");
    }
}
