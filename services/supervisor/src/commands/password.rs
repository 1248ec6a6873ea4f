//! The password of locked documents. It is never a word of the command line, which other users of
//! the machine can see and the shell remembers.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};

use console::Term;
use shared::secret::Password;
use shared::settings::variable;

use crate::cli::PasswordArgs;
use crate::error::Complaint;

/// For scripts.
const VARIABLE: &str = "IBID_PASSWORD";
/// Bytes of a file that holds one; no password is so long.
const MOST_BYTES: u64 = 4096;

/// The password that was given: in a file, by the variable, or on the terminal when asked for.
///
/// # Errors
/// When there is nobody to ask, or nothing in the file.
pub(super) fn given(args: &PasswordArgs) -> Result<Option<Password>, Complaint> {
    if let Some(path) = &args.password_file {
        return from_file(path).map(Some);
    }
    if let Some(text) = variable(VARIABLE) {
        return Ok(Some(Password::new(text)));
    }
    if args.password {
        return ask().map(Some);
    }
    Ok(None)
}

fn from_file(path: &std::path::Path) -> Result<Password, Complaint> {
    let shown = crate::output::name(&path.to_string_lossy());
    let read = |source: &mut dyn Read| {
        let mut text = String::new();
        source.take(MOST_BYTES).read_to_string(&mut text)?;
        Ok::<_, io::Error>(text)
    };
    let text = if path.as_os_str() == "-" {
        read(&mut io::stdin().lock())
    } else {
        File::open(path).and_then(|mut file| read(&mut file))
    };
    let text = text.map_err(|error| {
        Complaint::new(
            format!("cannot read the password from `{shown}`: {error}"),
            "name a file whose first line is the password, or `-` for standard input",
        )
    })?;
    first_line(&text).ok_or_else(|| {
        Complaint::new(
            format!("there is no password in `{shown}`"),
            "write it as the first line",
        )
    })
}

fn first_line(text: &str) -> Option<Password> {
    let line = text.split('\n').next().unwrap_or_default();
    let line = line.strip_suffix('\r').unwrap_or(line);
    (!line.is_empty()).then(|| Password::new(line))
}

fn ask() -> Result<Password, Complaint> {
    let terminal = Term::stderr();
    if !terminal.is_term() || !io::stdin().is_terminal() {
        return Err(Complaint::new(
            "`--password` asks on the terminal, and nobody is there to answer",
            "give `--password-file FILE` (`-` for standard input) or set IBID_PASSWORD",
        ));
    }
    terminal.write_str("Password: ")?;
    let text = terminal.read_secure_line()?;
    if text.is_empty() {
        return Err(Complaint::new(
            "no password was typed",
            "type it, or leave `--password` out",
        ));
    }
    Ok(Password::new(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_the_first_line_as_it_stands() {
        for (text, expect) in [
            ("secret\n", Some("secret")),
            ("secret\r\nmore", Some("secret")),
            (" spaces count ", Some(" spaces count ")),
            ("", None),
            ("\nsecret", None),
        ] {
            let found = first_line(text);
            assert_eq!(found.as_ref().map(Password::reveal), expect, "{text:?}");
        }
    }

    #[test]
    fn a_file_without_one_is_told_with_the_remedy() {
        let empty = tempfile::NamedTempFile::new().unwrap();
        let error = from_file(empty.path()).unwrap_err().to_string();
        assert!(error.contains("first line"), "{error}");
        let error = from_file("/no/such/file".as_ref()).unwrap_err().to_string();
        assert!(error.contains("`/no/such/file`"), "{error}");
    }
}
