//! The rules of the house that no other tool checks. Each is a test as well.

mod dependencies;
mod files;
mod fuzz;
mod subjects;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::run::{root, say};

/// A source file of the workspace.
pub(crate) struct Source {
    /// From the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Prints what is merely long, and wants everything else to hold.
pub(crate) fn run() -> Result<()> {
    let sources = sources()?;
    for line in files::long(&sources) {
        say(&format!("long: {line}"));
    }
    let mut broken = files::mod_files(&sources);
    broken.extend(subjects::strays(&sources));
    broken.extend(fuzz::missing(&sources));
    broken.extend(dependencies::outside_their_wrappers()?);
    if broken.is_empty() {
        return Ok(());
    }
    bail!("{} rules are broken:\n{}", broken.len(), broken.join("\n"))
}

/// Every Rust file of the workspace's packages.
fn sources() -> Result<Vec<Source>> {
    let mut found = Vec::new();
    for folder in ["shared", "services", "tests", "xtask", "fuzz/fuzz_targets"] {
        collect(&root().join(folder), &mut found)?;
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<Source>) -> Result<()> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("reading `{}`", folder.display()))?;
    for entry in entries {
        let path: PathBuf = entry?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("reading `{}`", path.display()))?;
            let short = path.strip_prefix(root()).unwrap_or(&path);
            found.push(Source {
                path: short.to_string_lossy().into_owned(),
                text,
            });
        }
    }
    Ok(())
}

impl Source {
    /// The lines before the tests of the file; none of a file that is all test.
    pub(crate) fn without_tests(&self) -> impl Iterator<Item = &str> {
        let test = ["/tests/", "/benches/", "/tests.rs", "test_support"];
        let all_test = test.iter().any(|part| self.path.contains(part));
        let lines = if all_test {
            "".lines()
        } else {
            self.text.lines()
        };
        lines.take_while(|line| !line.starts_with("#[cfg(test)]"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_module_is_in_a_mod_file() {
        assert_eq!(files::mod_files(&sources().unwrap()), Vec::<String>::new());
    }

    #[test]
    fn subjects_are_written_once() {
        assert_eq!(subjects::strays(&sources().unwrap()), Vec::<String>::new());
    }

    #[test]
    fn crates_are_used_only_where_they_belong() {
        assert_eq!(
            dependencies::outside_their_wrappers().unwrap(),
            Vec::<String>::new()
        );
    }

    #[test]
    fn tests_of_a_file_do_not_count() {
        let lines = |path: &str, text: &str| {
            let source = Source {
                path: path.to_owned(),
                text: text.to_owned(),
            };
            source.without_tests().count()
        };
        assert_eq!(
            lines("shared/src/a.rs", "a\nb\n#[cfg(test)]\nmod tests {\n}\n"),
            2
        );
        assert_eq!(lines("services/indexer/tests/a.rs", "a\nb\n"), 0);
    }
}
