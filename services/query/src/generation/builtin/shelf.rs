//! Which model files there are, and what each says of itself.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use parking_lot::Mutex;

use super::decoder::Config;
use super::file::ModelFile;

const EXTENSION: &str = "gguf";

/// A model by its name: the file's without its ending, or the folder's that it lies in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) path: PathBuf,
}

/// What a file says of itself, or why it cannot be run.
#[derive(Debug, Clone)]
pub(super) struct Card {
    pub(super) bytes: Option<u64>,
    pub(super) window: Result<u32, String>,
}

/// The folder of models, and the file that the settings name.
pub(super) struct Shelf {
    folder: PathBuf,
    configured: String,
    cards: Mutex<HashMap<PathBuf, (Stamp, Card)>>,
}

/// A file with another stamp is read again.
type Stamp = Option<(u64, SystemTime)>;

impl Shelf {
    /// The models in `folder` and `configured`, a path or a name; empty for none.
    pub(super) fn new(folder: PathBuf, configured: &str) -> Self {
        Self {
            folder,
            configured: configured.to_owned(),
            cards: Mutex::default(),
        }
    }

    /// Where models are put.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file that the settings name, whether it is there or not.
    pub(super) fn configured(&self) -> Option<Entry> {
        if self.configured.is_empty() {
            return None;
        }
        let mut in_folder = self.listed().into_iter();
        let named = in_folder.find(|entry| is_named(entry, &self.configured));
        let path = || {
            let given = Path::new(&self.configured);
            let given = if given.components().count() > 1 {
                given.to_owned()
            } else {
                self.folder.join(given)
            };
            entry(&given).unwrap_or_else(|| Entry {
                name: name_of(&given),
                path: given,
            })
        };
        Some(named.unwrap_or_else(path))
    }

    /// All models, the configured one first, the others by name.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = self.configured().into_iter().collect();
        for entry in self.listed() {
            if !entries.iter().any(|known| known.name == entry.name) {
                entries.push(entry);
            }
        }
        entries
    }

    /// The model of this name.
    pub(super) fn find(&self, name: &str) -> Option<Entry> {
        let mut entries = self.entries().into_iter();
        entries.find(|entry| is_named(entry, name) && entry.path.is_file())
    }

    fn listed(&self) -> Vec<Entry> {
        let files = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut entries: Vec<Entry> = files.filter_map(|file| entry(&file.path())).collect();
        entries.sort();
        entries
    }

    /// What the file at `path` says of itself; read again only when it has changed.
    pub(super) fn card(&self, path: &Path) -> Card {
        let metadata = fs::metadata(path).ok();
        let stamp = metadata.and_then(|data| Some((data.len(), data.modified().ok()?)));
        if let Some((known, card)) = self.cards.lock().get(path)
            && *known == stamp
        {
            return card.clone();
        }
        let card = read(path);
        let mut cards = self.cards.lock();
        cards.insert(path.to_owned(), (stamp, card.clone()));
        card
    }
}

fn read(path: &Path) -> Card {
    let window = ModelFile::open(path).and_then(|file| Ok(Config::read(&file)?.window));
    Card {
        bytes: fs::metadata(path).ok().map(|data| data.len()),
        window: window
            .map(|window| u32::try_from(window).unwrap_or(u32::MAX))
            .map_err(|error| error.to_string()),
    }
}

/// A GGUF file, or the first one in a folder.
fn entry(path: &Path) -> Option<Entry> {
    if path.is_dir() {
        let files = fs::read_dir(path).ok()?.flatten().map(|file| file.path());
        let mut files: Vec<PathBuf> = files.filter(|file| is_model(file)).collect();
        files.sort();
        return Some(Entry {
            name: name_of(path),
            path: files.into_iter().next()?,
        });
    }
    is_model(path).then(|| Entry {
        name: name_of(path),
        path: path.to_owned(),
    })
}

fn is_model(path: &Path) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case(EXTENSION)) && path.is_file()
}

/// A name that a question can choose: without spaces, and without `.gguf`.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = match path.extension() {
        Some(extension) if extension.eq_ignore_ascii_case(EXTENSION) => {
            path.file_stem().unwrap_or_default().to_string_lossy()
        }
        _ => name,
    };
    name.split(|c: char| c.is_whitespace() || c.is_control())
        .collect::<Vec<_>>()
        .join("-")
}

fn is_named(entry: &Entry, name: &str) -> bool {
    let stem = name.strip_suffix(".gguf").unwrap_or(name);
    entry.name.eq_ignore_ascii_case(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_found_by_name_and_by_path() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let other = folder.join("elsewhere/My Model.GGUF");
        for file in [
            "generators/b.Q4_1.gguf",
            "generators/a/model-q8.gguf",
            "generators/readme.md",
            "elsewhere/My Model.GGUF",
        ] {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let names = |configured: &str| -> Vec<String> {
            let shelf = Shelf::new(folder.join("generators"), configured);
            let entries = shelf.entries().into_iter();
            entries.map(|entry| entry.name).collect()
        };
        assert_eq!(names(""), ["a", "b.Q4_1"]);
        assert_eq!(names("b.Q4_1"), ["b.Q4_1", "a"]);
        assert_eq!(names("b.Q4_1.gguf"), ["b.Q4_1", "a"]);
        assert_eq!(names(other.to_str().unwrap()), ["My-Model", "a", "b.Q4_1"]);
        assert_eq!(names("absent"), ["absent", "a", "b.Q4_1"]);

        let shelf = Shelf::new(folder.join("generators"), "absent");
        assert!(shelf.find("absent").is_none());
        assert_eq!(shelf.find("B.q4_1").unwrap().name, "b.Q4_1");
        let card = shelf.card(&shelf.find("a").unwrap().path);
        assert_eq!(card.bytes, Some(1));
        assert!(card.window.unwrap_err().contains("no GGUF"));
    }
}
