//! Where sets are kept once they are taken in: a data folder per content and pipeline, so that a
//! second run asks at once, nothing of the user's is touched, and the statistics of words are
//! those of the set alone.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use shared::contract::{CollectionName, Pipeline};

use crate::client::{Gateway, Listing};
use crate::error::Complaint;
use crate::evaluation::beir::{Document, Set};
use crate::files::{private_folder, write_durably};
use crate::intake::{self, Report, Request};
use crate::output::count;
use crate::screen::Screen;
use crate::supervise::endpoint::Endpoint;

/// Raise it when sets are written otherwise.
const LAYOUT: &str = "1";
/// Folders kept; those that were not used for longest go first.
const KEPT: usize = 16;
/// All documents have the same name: a name is searched as well, and sets have none.
const FILE: &str = "text.txt";
/// Documents per folder.
const PER_FOLDER: usize = 1_000;

/// The folder of one set.
#[derive(Debug)]
pub(super) struct Place {
    folder: PathBuf,
}

/// What is known of a set that was taken in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct TakenIn {
    /// Documents handed over; empty ones are not.
    pub(super) documents: u64,
    /// Of these, documents that cannot be found.
    pub(super) failed: u64,
    /// Chunks of all.
    pub(super) chunks: u64,
    /// How long it took.
    pub(super) seconds: f64,
}

impl Place {
    /// The folder below `cache` for `set` under `pipeline`. What was not used for longest makes
    /// room.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(super) fn of(cache: &Path, set: &Set, pipeline: &Pipeline) -> Result<Self, Complaint> {
        let folder = cache.join(folder_name(set, pipeline));
        let made = private_folder(&folder).and_then(|()| make_room(cache, &folder));
        made.map_err(|error| trouble(&folder, &error))?;
        Ok(Self { folder })
    }

    /// The data folder of its Ibid.
    pub(super) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn stamp(&self) -> PathBuf {
        self.folder.join("taken-in.json")
    }

    /// Takes `set` in through `gateway`, if it is not there.
    ///
    /// # Errors
    /// When files cannot be written, or Ibid ends.
    pub(super) async fn fill(
        &self,
        set: &Set,
        gateway: &Gateway,
        screen: &Screen,
    ) -> Result<TakenIn, Complaint> {
        let kept: Option<TakenIn> = fs::read(self.stamp())
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let there = gateway.number_of_documents(&Listing::default()).await?;
        if let Some(kept) = kept.filter(|kept| kept.documents <= there) {
            self.note(kept)?;
            return Ok(kept);
        }
        let documents = count(set.documents.len() as u64, "document");
        screen.line(format!("{}: taking {documents} in", set.name));
        let folder = self.folder.join("documents");
        write_all(&folder, set).map_err(|error| trouble(&folder, &error))?;
        let request = Request {
            collection: CollectionName::default(),
            force: false,
            wait: true,
            password: None,
        };
        let found = intake::find(vec![folder.clone()]).await?;
        let report = intake::run(gateway, request, found, screen).await?;
        let taken = taken(&report);
        self.note(taken)?;
        fs::remove_dir_all(&folder).map_err(|error| trouble(&folder, &error))?;
        Ok(taken)
    }

    fn note(&self, taken: TakenIn) -> Result<(), Complaint> {
        let stamp = self.stamp();
        let written = serde_json::to_vec(&taken)
            .map_err(io::Error::from)
            .and_then(|bytes| {
                write_durably(&stamp, 0o600, |file| io::Write::write_all(file, &bytes))
            });
        written.map_err(|error| trouble(&stamp, &error))
    }
}

fn taken(report: &Report) -> TakenIn {
    TakenIn {
        documents: report.documents.len() as u64,
        failed: report.counts.failed,
        chunks: report.chunks,
        seconds: report.seconds,
    }
}

fn trouble(path: &Path, error: &io::Error) -> Complaint {
    let path = path.display();
    Complaint::new(
        format!("cannot use `{path}`: {error}"),
        "check free space and permissions, or name another folder with `--cache`",
    )
}

fn folder_name(set: &Set, pipeline: &Pipeline) -> String {
    let mut hasher = Sha256::new();
    let model = pipeline.model.as_str();
    for part in [
        LAYOUT,
        &set.hash,
        &pipeline.parser,
        &pipeline.chunker,
        model,
    ] {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let hash = hex::encode(hasher.finalize());
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = set.name.chars().take(40).map(plain).collect();
    format!("{name}-{}", hash.get(..12).unwrap_or_default())
}

/// Removes the folders beyond [`KEPT`] that were not used for longest, but not `mine` and none that
/// is in use. Those of a set that is being taken in have no stamp, and are left alone.
fn make_room(cache: &Path, mine: &Path) -> io::Result<()> {
    let mut used: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(cache)? {
        let folder = entry?.path();
        let stamp = fs::metadata(folder.join("taken-in.json"));
        if let Ok(time) = stamp.and_then(|stamp| stamp.modified()) {
            used.push((time, folder));
        }
    }
    used.retain(|(_, folder)| folder != mine && Endpoint::find(&folder.join("data")).is_none());
    used.sort();
    let over = (used.len() + 1).saturating_sub(KEPT);
    for (_, folder) in used.into_iter().take(over) {
        fs::remove_dir_all(folder)?;
    }
    Ok(())
}

/// Writes every document that has words as a file of its own.
fn write_all(folder: &Path, set: &Set) -> io::Result<()> {
    for (number, document) in set.documents.iter().enumerate() {
        let contents = document.contents();
        if contents.is_empty() {
            continue;
        }
        let group = format!("{:04}", number / PER_FOLDER);
        let own = folder.join(group).join(format!("{number:07}"));
        fs::create_dir_all(&own)?;
        fs::write(own.join(FILE), contents + "\n")?;
    }
    Ok(())
}

/// Which documents of a set a path stands for.
pub(super) struct Shelf {
    ids: Vec<Vec<String>>,
}

impl Shelf {
    /// Of `set`. Documents with the same contents are stored once, so each stands for all.
    pub(super) fn of(set: &Set) -> Self {
        let mut same: HashMap<String, Vec<String>> = HashMap::new();
        for document in &set.documents {
            let ids = same.entry(document.contents()).or_default();
            ids.push(document.id.clone());
        }
        let ids = |document: &Document| same.get(&document.contents()).cloned().unwrap_or_default();
        Self {
            ids: set.documents.iter().map(ids).collect(),
        }
    }

    /// The ids of the document at `path`; none for a path that is none of ours.
    pub(super) fn at(&self, path: &str) -> &[String] {
        let number = path
            .rsplit('/')
            .nth(1)
            .and_then(|n| n.parse::<usize>().ok());
        let ids = number.and_then(|number| self.ids.get(number));
        ids.map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> Set {
        let document = |id: &str, text: &str| Document {
            id: id.to_owned(),
            title: String::new(),
            text: text.to_owned(),
        };
        Set {
            name: "a/b set".to_owned(),
            hash: "h".to_owned(),
            documents: vec![
                document("x/1", "one"),
                document("x:2", " "),
                document("x 3", "one"),
                document("4", "four"),
            ],
            queries: Vec::new(),
            grades: HashMap::new(),
            unjudged: 0,
            absent: 0,
        }
    }

    fn pipeline(model: &str) -> Pipeline {
        Pipeline::current(model.parse().unwrap())
    }

    #[test]
    fn every_written_file_leads_back_to_its_documents() {
        let folder = tempfile::tempdir().unwrap();
        write_all(folder.path(), &set()).unwrap();
        let shelf = Shelf::of(&set());
        let mut found: Vec<(String, Vec<String>)> = ignore::Walk::new(folder.path())
            .filter_map(Result::ok)
            .filter(|entry| entry.path().is_file())
            .map(|entry| {
                let text = fs::read_to_string(entry.path()).unwrap();
                (text, shelf.at(entry.path().to_str().unwrap()).to_vec())
            })
            .collect();
        found.sort();
        let both = vec!["x/1".to_owned(), "x 3".to_owned()];
        let four = ("four\n".to_owned(), vec!["4".to_owned()]);
        assert_eq!(
            found,
            [
                four,
                ("one\n".to_owned(), both.clone()),
                ("one\n".to_owned(), both)
            ]
        );
        assert!(shelf.at("/elsewhere/9/text.txt").is_empty());
        assert!(shelf.at("text.txt").is_empty());
    }

    #[test]
    fn the_folder_is_another_for_other_content_and_another_model() {
        let (one, other) = (pipeline("m-fp32"), pipeline("m-int8"));
        let name = folder_name(&set(), &one);
        assert!(name.starts_with("a-b-set-"), "{name}");
        assert_eq!(name, folder_name(&set(), &one));
        assert_ne!(name, folder_name(&set(), &other));
        let changed = Set {
            hash: "i".to_owned(),
            ..set()
        };
        assert_ne!(name, folder_name(&changed, &one));
    }

    #[test]
    fn what_was_not_used_for_longest_makes_room() {
        let cache = tempfile::tempdir().unwrap();
        for n in 0..KEPT + 3 {
            let place = Place {
                folder: cache.path().join(format!("set-{n:02}")),
            };
            private_folder(&place.folder).unwrap();
            place.note(TakenIn::default()).unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(n as u64);
            let stamp = fs::File::options().write(true).open(place.stamp()).unwrap();
            stamp.set_modified(time).unwrap();
        }
        fs::create_dir(cache.path().join("being-taken-in")).unwrap();
        let mine = Place::of(cache.path(), &set(), &pipeline("m-fp32")).unwrap();
        assert!(mine.folder.is_dir());
        let left: Vec<bool> = (0..6)
            .map(|n| cache.path().join(format!("set-{n:02}")).exists())
            .collect();
        assert_eq!(left, [false, false, false, false, true, true]);
        assert!(cache.path().join("being-taken-in").exists());
    }
}
