//! Finding the OCR program, and which languages it has.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use shared::settings::variable;

/// It lists its languages at once; a program that does not is another one.
const LISTS_WITHIN: Duration = Duration::from_secs(10);
/// A hundred languages are some 1,000 bytes.
const MAX_LIST_BYTES: u64 = 64 * 1024;
/// With each language a page takes longer: more than these are never meant to be read together.
const MOST_AT_ONCE: usize = 4;
/// Not languages: page orientation, and formulas.
const HELPERS: [&str; 2] = ["osd", "equ"];
/// Stands for the languages that are installed.
const AUTO: &str = "auto";
const PROGRAM: &str = "tesseract";

/// Tesseract as it stands on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The program.
    pub program: PathBuf,
    /// Where its data lies, when the environment says so.
    pub data: Option<String>,
    /// Its languages, as it names them (`eng`, `deu`, `chi_sim`).
    pub languages: Vec<String>,
    /// Whether it finds out by itself how a page is turned.
    pub sees_orientation: bool,
}

/// What is read of the languages that the settings ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Languages to read, in order.
    pub languages: Vec<String>,
    /// What people should know, with the remedy.
    pub notes: Vec<String>,
}

/// Tesseract on the path of programs.
///
/// # Errors
/// Why pictures cannot be read, with the remedy.
pub fn find() -> Result<Installed, String> {
    let path = variable("PATH").unwrap_or_default();
    let program = std::env::split_paths(&path)
        .map(|folder| folder.join(PROGRAM))
        .find(|program| program.is_file())
        .ok_or("install tesseract to read it (`apt-get install tesseract-ocr`)")?;
    Installed::ask(&program)
}

impl Installed {
    /// What `program` says about itself.
    ///
    /// # Errors
    /// Why pictures cannot be read with it.
    pub fn ask(program: &Path) -> Result<Self, String> {
        let list = list_languages(program)
            .map_err(|error| format!("tesseract does not run: {error}; install it again"))?;
        let mut languages = parse_list(&list);
        let sees_orientation = languages.iter().any(|name| name == "osd");
        languages.retain(|name| !HELPERS.contains(&name.as_str()));
        if languages.is_empty() {
            return Err(format!("tesseract has no language: {}", remedy("eng")));
        }
        Ok(Self {
            program: program.to_owned(),
            data: variable("TESSDATA_PREFIX"),
            languages,
            sees_orientation,
        })
    }

    /// Those of `settings` that are here. `auto` stands for all that are installed: a system comes
    /// with English alone, and further ones were installed to be used.
    pub fn choose(&self, settings: &[String]) -> Wanted {
        let mut wanted = Wanted::default();
        for name in settings {
            if name == AUTO {
                self.choose_installed(&mut wanted);
            } else if self.languages.contains(name) {
                push_new(&mut wanted.languages, name);
            } else {
                let note = format!("OCR language `{name}` is not installed: {}", remedy(name));
                push_new(&mut wanted.notes, &note);
            }
        }
        if wanted.languages.is_empty() {
            self.choose_installed(&mut wanted);
        }
        wanted
    }

    fn choose_installed(&self, wanted: &mut Wanted) {
        if self.languages.len() <= MOST_AT_ONCE {
            for name in &self.languages {
                push_new(&mut wanted.languages, name);
            }
            return;
        }
        let english = "eng".to_owned();
        let first = self.languages.iter().find(|name| **name == english);
        if let Some(name) = first.or(self.languages.first()) {
            push_new(&mut wanted.languages, name);
            let note = format!(
                "{} OCR languages are installed, scans are read as `{name}`; name others in \
                 `parser.ocr_languages`",
                self.languages.len()
            );
            push_new(&mut wanted.notes, &note);
        }
    }
}

fn push_new(list: &mut Vec<String>, text: &str) {
    if !list.iter().any(|known| known == text) {
        list.push(text.to_owned());
    }
}

/// What installs language `name`.
fn remedy(name: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(is_name) {
        return "it is no language code; codes are such as `eng`, `deu`, `chi_sim`".to_owned();
    }
    let package = name.to_ascii_lowercase().replace('_', "-");
    format!("`apt-get install tesseract-ocr-{package}`")
}

/// The program's own list; it goes to standard output or, in old versions, to standard error.
fn list_languages(program: &Path) -> io::Result<String> {
    let mut child = Command::new(program)
        .arg("--list-langs")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let deadline = Instant::now() + LISTS_WITHIN;
    while child.try_wait()?.is_none() {
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Err(io::ErrorKind::TimedOut.into());
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
    let mut list = String::new();
    if let Some(out) = child.stdout.take() {
        out.take(MAX_LIST_BYTES).read_to_string(&mut list)?;
    }
    if let Some(out) = child.stderr.take() {
        out.take(MAX_LIST_BYTES).read_to_string(&mut list)?;
    }
    Ok(list)
}

/// One name per line, after a heading. Scripts (`script/Latin`) are no languages of the settings.
fn parse_list(list: &str) -> Vec<String> {
    let is_name = |line: &&str| {
        !line.is_empty() && line.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let names = list.lines().map(str::trim).filter(is_name);
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed(languages: &[&str]) -> Installed {
        Installed {
            program: "tesseract".into(),
            data: None,
            languages: languages.iter().map(|name| (*name).to_owned()).collect(),
            sees_orientation: true,
        }
    }

    #[test]
    fn the_list_of_languages_is_read() {
        #[track_caller]
        fn check(list: &str, expect: &[&str]) {
            assert_eq!(parse_list(list), expect);
        }
        check(
            "List of available languages in \"/usr/share/tessdata/\" (3):\neng\nosd\nchi_sim\n",
            &["eng", "osd", "chi_sim"],
        );
        check("List of available languages (0):\r\n", &[]);
        check("List:\nscript/Latin\ndeu\n", &["deu"]);
    }

    #[test]
    fn languages_are_those_that_are_wanted_and_there() {
        #[track_caller]
        fn check(here: &[&str], settings: &[&str], expect: &[&str], says: &str) {
            let settings: Vec<_> = settings.iter().map(|name| (*name).to_owned()).collect();
            let wanted = installed(here).choose(&settings);
            assert_eq!(wanted.languages, expect);
            let notes = wanted.notes.join(" ");
            assert!(notes.contains(says), "{notes}");
            assert_eq!(notes.is_empty(), says.is_empty(), "{notes}");
        }
        check(&["deu", "eng"], &["auto"], &["deu", "eng"], "");
        check(&["deu", "eng"], &["eng"], &["eng"], "");
        check(&["deu", "eng"], &["deu", "auto"], &["deu", "eng"], "");
        let package = "apt-get install tesseract-ocr-chi-sim";
        check(&["eng"], &["chi_sim", "eng"], &["eng"], package);
        check(&["eng"], &["chi_sim"], &["eng"], package);
        check(&["eng"], &["German; rm"], &["eng"], "no language code");
        let many = ["ara", "deu", "eng", "fra", "spa"];
        check(&many, &["auto"], &["eng"], "5 OCR languages are installed");
        check(&many, &["fra", "spa"], &["fra", "spa"], "");
        check(&["eng"], &[], &["eng"], "");
    }

    #[test]
    fn a_program_that_is_another_one_is_none() {
        let error = Installed::ask(Path::new("/bin/true")).unwrap_err();
        assert!(error.contains("tesseract-ocr-eng"), "{error}");
        let error = Installed::ask(Path::new("/nowhere/tesseract")).unwrap_err();
        assert!(error.contains("does not run"), "{error}");
    }
}
