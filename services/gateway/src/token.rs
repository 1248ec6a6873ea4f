//! The token that opens the gateway to other machines.

use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use tracing::info;

use crate::error::StartError;
use crate::settings::{SETTING, Settings};

/// A shorter one could be guessed.
const LEAST_CHARACTERS: usize = 16;
/// SHA-256 works on blocks of so many bytes.
const BLOCK_BYTES: usize = 64;

/// The token in force.
pub struct Token {
    key: [u8; 32],
}

impl Token {
    /// From its text.
    pub fn new(text: &str) -> Self {
        Self {
            key: Sha256::digest(text).into(),
        }
    }

    /// The token that the settings ask for: their own; or, when they name none and other machines
    /// can reach the address, the one in the token file, which is made if need be.
    ///
    /// # Errors
    /// A token that could be guessed, or a file that cannot be used.
    pub fn of(settings: &Settings, data: &Path) -> Result<Option<Self>, StartError> {
        if !settings.token.is_empty() {
            info!("every request needs the token of `gateway.token`");
            Self::check(settings.token.reveal(), SETTING)?;
            return Ok(Some(Self::new(settings.token.reveal())));
        }
        if settings.address.is_loopback() {
            return Ok(None);
        }
        let path = Self::file(data);
        let text = read_or_make(&path)?;
        info!(
            "other machines can reach the gateway; every request needs the token in `{}`",
            path.display()
        );
        Self::check(&text, &format!("`{}`", path.display()))?;
        Ok(Some(Self::new(&text)))
    }

    /// Whether `text`, which stands in `origin`, cannot be guessed.
    ///
    /// # Errors
    /// A token that is too short, or has a space or a letter that no header may have.
    pub fn check(text: &str, origin: &str) -> Result<(), StartError> {
        let plain = text.chars().all(|c| c.is_ascii_graphic());
        if plain && text.len() >= LEAST_CHARACTERS {
            return Ok(());
        }
        Err(StartError::WeakToken {
            origin: origin.to_owned(),
            least: LEAST_CHARACTERS,
        })
    }

    /// The token file below the data folder.
    pub fn file(data: &Path) -> PathBuf {
        data.join("run").join("gateway.token")
    }

    /// Whether `given` is this token. The time it takes says nothing about it.
    pub fn is(&self, given: &str) -> bool {
        same(&self.key, &Sha256::digest(given).into())
    }

    /// What only a holder of the token can make of `message`: HMAC-SHA-256 (RFC 2104).
    pub fn sign(&self, message: &str) -> [u8; 32] {
        hmac(&self.key, message.as_bytes())
    }

    /// Whether `signature`, in hex, was made of `message`.
    pub fn has_signed(&self, message: &str, signature: &str) -> bool {
        // Both sides are hashed again, so that neither length nor time depends on what is given.
        let expect = Sha256::digest(hex(&self.sign(message)));
        same(&expect.into(), &Sha256::digest(signature).into())
    }
}

/// Bytes as lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}

fn same(one: &[u8; 32], other: &[u8; 32]) -> bool {
    let differing = one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b));
    std::hint::black_box(differing) == 0
}

fn hmac(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    let pad = |with: u8| {
        let mut block = [with; BLOCK_BYTES];
        for (byte, key) in block.iter_mut().zip(key) {
            *byte ^= key;
        }
        block
    };
    let inner = Sha256::new()
        .chain_update(pad(0x36))
        .chain_update(message)
        .finalize();
    Sha256::new()
        .chain_update(pad(0x5c))
        .chain_update(inner)
        .finalize()
        .into()
}

fn read_or_make(path: &Path) -> Result<String, StartError> {
    let fail = |source| StartError::TokenFile {
        path: path.to_owned(),
        source,
    };
    match make(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(fail(error)),
    }
    let mut file = std::fs::File::open(path).map_err(fail)?;
    let mode = file.metadata().map_err(fail)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(StartError::TokenFileOpen {
            path: path.to_owned(),
            mode,
        });
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(fail)?;
    Ok(text.trim().to_owned())
}

/// Writes a new token; a reader sees it whole or not at all.
fn make(path: &Path) -> io::Result<()> {
    if path.exists() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)?;
    let mut bytes = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    // Such a file is its owner's alone from the beginning.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    writeln!(file, "{}", hex(&bytes))?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(address: &str, token: &str) -> Settings {
        Settings {
            address: address.parse().unwrap(),
            token: token.to_owned().into(),
            ..Settings::default()
        }
    }

    #[test]
    fn a_token_is_needed_where_others_can_reach() {
        let data = tempfile::tempdir().unwrap();
        let of = |address, token| Token::of(&settings(address, token), data.path());
        assert!(of("127.0.0.1", "").unwrap().is_none());
        assert!(!Token::file(data.path()).exists());

        let made = of("0.0.0.0", "").unwrap().unwrap();
        let file = Token::file(data.path());
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text.trim().len(), 64);
        assert!(made.is(text.trim()));
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = of("::", "").unwrap().unwrap();
        assert!(again.is(text.trim()), "a restart keeps the token");

        let own = of("0.0.0.0", "a-token-of-sixteen");
        let own = own.unwrap().unwrap();
        assert!(own.is("a-token-of-sixteen") && !own.is(text.trim()));
        assert!(of("127.0.0.1", "a-token-of-sixteen").unwrap().is_some());
    }

    #[test]
    fn what_does_not_protect_is_refused_with_the_remedy() {
        let data = tempfile::tempdir().unwrap();
        for weak in ["short", "with a space in the midst", "fifteen-letters"] {
            let error = Token::of(&settings("127.0.0.1", weak), data.path()).err();
            let text = error.unwrap().to_string();
            assert!(text.contains("16") && !text.contains(weak), "{text}");
        }
        let file = Token::file(data.path());
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "0123456789abcdef0123456789abcdef\n").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = Token::of(&settings("0.0.0.0", ""), data.path()).err();
        let text = error.unwrap().to_string();
        assert!(text.contains("chmod 600"), "{text}");
    }

    #[test]
    fn only_the_very_token_is_it() {
        let token = Token::new("0123456789abcdef");
        for other in [
            "",
            "0123456789abcde",
            "0123456789abcdeF",
            "0123456789abcdef ",
        ] {
            assert!(!token.is(other), "{other}");
        }
        assert!(token.is("0123456789abcdef"));
    }

    /// RFC 4231, test case 1 with its key filled up to 32 bytes, as computed by OpenSSL; a key
    /// that is shorter than a block is filled with zeros anyway.
    #[test]
    fn signatures_are_hmac_sha_256() {
        let mut key = [0; 32];
        key[..20].fill(0x0b);
        assert_eq!(
            hex(&hmac(&key, b"Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
        let token = Token::new("0123456789abcdef");
        let signature = hex(&token.sign("message"));
        assert!(token.has_signed("message", &signature));
        assert!(!token.has_signed("massage", &signature));
        assert!(!Token::new("0123456789abcdeg").has_signed("message", &signature));
    }
}
