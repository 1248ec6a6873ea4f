//! Which files there are under the given paths, and which of them are not read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};
use shared::format::{Format, FormatError, HEAD_BYTES, detect};

use crate::error::Complaint;

/// A file that Ibid reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its absolute path without symbolic links: the document's identity.
    pub path: PathBuf,
    /// How it will be read.
    pub format: Format,
    /// Its size.
    pub bytes: u64,
    /// How much there is to do, in bytes of plain text.
    pub work: u64,
}

/// Bytes of a PDF per byte of plain text with as many words: 11.7 to 3.2 bytes a token over a
/// folder of 535 documents.
const PDF_BYTES: u64 = 4;

/// All files under the given paths, each once, in order.
#[derive(Debug, Default)]
pub struct Found {
    /// To be taken in.
    pub files: Vec<Candidate>,
    /// Files of each kind that is not read.
    pub unsupported: BTreeMap<String, Vec<PathBuf>>,
    /// Files and folders that could not be read, with the reason.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Files named one by one that are of a kind that is not read.
    pub refused: Vec<PathBuf>,
}

/// Looks through `paths`: files as they are, folders with all below them but hidden files and
/// symbolic links.
///
/// # Errors
/// When a path itself is not there; nothing has been done then.
pub fn find(paths: &[PathBuf]) -> Result<Found, Complaint> {
    let mut roots = Vec::new();
    for path in paths {
        let root = path.canonicalize().map_err(|error| {
            let why = if error.kind() == io::ErrorKind::NotFound {
                "is not there".to_owned()
            } else {
                format!("cannot be reached: {error}")
            };
            Complaint::new(format!("`{}` {why}", path.display()), "check the path")
        })?;
        roots.push(root);
    }
    let mut search = Search::default();
    for root in &roots {
        if root.is_dir() {
            search.folder(root);
        } else {
            search.file(root, true);
        }
    }
    Ok(search.found)
}

#[derive(Default)]
struct Search {
    found: Found,
    seen: BTreeSet<PathBuf>,
}

impl Search {
    fn folder(&mut self, root: &Path) {
        // No ignore files: a document is not left out for what a program's author wrote.
        let walk = WalkBuilder::new(root)
            .standard_filters(false)
            .hidden(true)
            .sort_by_file_name(std::ffi::OsStr::cmp)
            .build();
        for entry in walk {
            match entry {
                Ok(entry) if is_file(&entry) => self.file(entry.path(), false),
                Ok(entry) if entry.path_is_symlink() => {
                    self.unsupported("a symbolic link", entry.path());
                }
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_dir()) => {}
                Ok(entry) => self.unsupported("no ordinary file", entry.path()),
                Err(error) => {
                    let path = path_of(&error).unwrap_or(root).to_owned();
                    self.found.unreadable.push((path, reason(error)));
                }
            }
        }
    }

    fn file(&mut self, path: &Path, named: bool) {
        if !self.seen.insert(path.to_owned()) {
            return;
        }
        let Some(name) = path.to_str() else {
            let why = "its path is not UTF-8; rename it".to_owned();
            self.found.unreadable.push((path.to_owned(), why));
            return;
        };
        if name.contains(char::is_control) {
            let why =
                "its path has a control character, such as a line break; rename it".to_owned();
            self.found.unreadable.push((path.to_owned(), why));
            return;
        }
        match head_of(path) {
            Err(error) => self
                .found
                .unreadable
                .push((path.to_owned(), error.to_string())),
            Ok((bytes, head)) => match detect(name, &head) {
                Ok(format) => {
                    let work = if format == Format::Pdf {
                        bytes / PDF_BYTES
                    } else {
                        bytes
                    };
                    self.found.files.push(Candidate {
                        path: path.to_owned(),
                        format,
                        bytes,
                        work: work.max(1),
                    });
                }
                Err(FormatError::Unsupported { kind, .. }) => {
                    self.unsupported(kind, path);
                    if named {
                        self.found.refused.push(path.to_owned());
                    }
                }
            },
        }
    }

    fn unsupported(&mut self, kind: &str, path: &Path) {
        self.found
            .unsupported
            .entry(kind.to_owned())
            .or_default()
            .push(path.to_owned());
    }
}

fn is_file(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_file())
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        _ => None,
    }
}

fn reason(error: ignore::Error) -> String {
    let text = error.to_string();
    error
        .into_io_error()
        .map_or(text, |error| error.to_string())
}

fn head_of(path: &Path) -> io::Result<(u64, Vec<u8>)> {
    // Looked at before it is opened: opening a named pipe waits for a writer.
    let metadata = path.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let file = File::open(path)?;
    let mut head = Vec::with_capacity(HEAD_BYTES);
    file.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok((metadata.len(), head))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(paths: impl IntoIterator<Item = PathBuf>, root: &Path) -> Vec<String> {
        paths
            .into_iter()
            .map(|path| path.strip_prefix(root).unwrap().display().to_string())
            .collect()
    }

    #[test]
    fn a_folder_gives_what_is_read_and_names_what_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (name, bytes) in [
            ("b/two.md", b"# Two".as_slice()),
            ("a.txt", b"one"),
            ("c.pdf", b"%PDF-1.7"),
            (".hidden.txt", b"no"),
            (".git/x.txt", b"no"),
            ("program", b"\x7fELF...."),
            ("one.mp3", b"ID3\x04\0song"),
            ("two.mp3", b"ID3\x04\0song"),
            (".gitignore", b"*.txt"),
        ] {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), bytes).unwrap();
        }
        std::os::unix::fs::symlink(root.join("a.txt"), root.join("link.txt")).unwrap();

        let paths = [root.clone(), root.join("b/../a.txt"), root.join("one.mp3")];
        let found = find(&paths).unwrap();
        let files = found.files.iter().map(|file| file.path.clone());
        assert_eq!(names(files, &root), ["a.txt", "b/two.md", "c.pdf"]);
        let work: Vec<_> = found.files.iter().map(|file| file.work).collect();
        assert_eq!(work, [3, 5, 2]);
        let kinds: Vec<_> = found
            .unsupported
            .iter()
            .map(|(kind, paths)| (kind.as_str(), paths.len()))
            .collect();
        assert_eq!(
            kinds,
            [
                ("a program", 1),
                ("a sound recording", 2),
                ("a symbolic link", 1)
            ]
        );
        assert!(found.unreadable.is_empty() && found.refused.is_empty());

        let named = find(&[root.join("one.mp3")]).unwrap();
        assert_eq!(names(named.refused, &root), ["one.mp3"]);
    }

    #[test]
    fn what_is_no_file_or_has_no_clean_name_is_named_and_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::write(root.join("two\nlines.txt"), b"text").unwrap();
        let pipe = root.join("pipe.md");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();

        let found = find(std::slice::from_ref(&root)).unwrap();
        assert!(found.files.is_empty());
        assert_eq!(
            found.unsupported["no ordinary file"],
            std::slice::from_ref(&pipe)
        );
        let (path, why) = &found.unreadable[0];
        assert!(
            path.ends_with("two\nlines.txt") && why.contains("rename"),
            "{why}"
        );

        // Opening it would wait for a writer.
        let named = find(&[pipe]).unwrap();
        assert!(named.unreadable[0].1.contains("no file"));
    }

    #[test]
    fn a_path_that_is_not_there_is_told_before_anything_is_done() {
        let error = find(&["/no/such/folder".into()]).unwrap_err().to_string();
        assert!(error.contains("`/no/such/folder` is not there"), "{error}");
    }
}
