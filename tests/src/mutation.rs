//! Real files with seeded damage: flips, cuts, splices. Each is made from its number alone, so
//! that one that did harm can be made again.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

/// Larger files cost time and add nothing.
const MOST_BYTES: u64 = 600 << 10;

/// The files that are damaged.
#[derive(Debug)]
pub struct Originals(Vec<(String, Vec<u8>)>);

/// A damaged file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutation {
    /// Its number under the seed.
    pub number: u32,
    /// The file it was made from.
    pub name: String,
    /// What was done to it.
    pub damage: &'static str,
    /// What came out.
    pub bytes: Vec<u8>,
}

impl Originals {
    /// The files of `folder` that are not too large, in the order of their names.
    ///
    /// # Errors
    /// The folder cannot be read, or has none.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).context("reading the folder of originals")? {
            let entry = entry?;
            let (metadata, path) = (entry.metadata()?, entry.path());
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_list = path
                .extension()
                .is_some_and(|extension| extension == "jsonl");
            if metadata.is_file() && metadata.len() <= MOST_BYTES && !is_list {
                files.push((name, std::fs::read(path)?));
            }
        }
        ensure!(!files.is_empty(), "no files in `{}`", folder.display());
        files.sort();
        Ok(Self(files))
    }

    /// The `number`th damaged file of `seed`.
    pub fn mutate(&self, seed: u64, number: u32) -> Mutation {
        let mut rng = StdRng::seed_from_u64(seed ^ (u64::from(number) << 32));
        // In turn, so that every file is damaged as often as any other.
        let index = usize::try_from(number).unwrap_or(0) % self.0.len();
        let (name, bytes) = self.0.get(index).cloned().unwrap_or_default();
        let (damage, bytes) = self.damage(&mut rng, bytes);
        Mutation {
            number,
            name,
            damage,
            bytes,
        }
    }

    fn damage(&self, rng: &mut StdRng, mut bytes: Vec<u8>) -> (&'static str, Vec<u8>) {
        let length = bytes.len();
        match rng.random_range(0..6) {
            0 => {
                let flips = rng.random_range(1..=8);
                flip(rng, &mut bytes, flips);
                ("few flips", bytes)
            }
            1 => {
                let flips = rng.random_range(length / 1_000..=length / 100 + 8);
                flip(rng, &mut bytes, flips);
                ("many flips", bytes)
            }
            2 => {
                bytes.truncate(rng.random_range(0..=length));
                ("cut off", bytes)
            }
            3 => {
                let at = range(rng, length);
                bytes.drain(at);
                ("part taken out", bytes)
            }
            4 => {
                let at = range(rng, length);
                let part = bytes.get(at.clone()).unwrap_or_default().to_vec();
                bytes.splice(at.end..at.end, part);
                ("part doubled", bytes)
            }
            _ => {
                let at = range(rng, length);
                let other = self.0.choose(rng).map_or(&[][..], |(_, other)| other);
                let from = range(rng, other.len());
                let part = other.get(from).unwrap_or_default().to_vec();
                bytes.splice(at, part);
                ("spliced with another", bytes)
            }
        }
    }
}

fn flip(rng: &mut StdRng, bytes: &mut [u8], count: usize) {
    for _ in 0..count {
        let at = rng.random_range(0..bytes.len().max(1));
        if let Some(byte) = bytes.get_mut(at) {
            *byte = rng.random();
        }
    }
}

/// A range within `length`, rarely long.
fn range(rng: &mut StdRng, length: usize) -> std::ops::Range<usize> {
    let start = rng.random_range(0..=length);
    let most = (length - start).min(length / 4 + 1);
    start..start + rng.random_range(0..=most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_gives_the_same_file_and_every_kind_of_damage_occurs() {
        let files = [("a.txt", 3_000_usize), ("b.bin", 0), ("c.md", 500)];
        let originals = Originals(
            files
                .iter()
                .map(|(name, length)| ((*name).to_owned(), vec![b'x'; *length]))
                .collect(),
        );
        let all: Vec<_> = (0..200).map(|n| originals.mutate(7, n)).collect();
        for mutation in &all {
            assert_eq!(mutation, &originals.mutate(7, mutation.number));
        }
        assert_ne!(all[0].bytes, originals.mutate(8, 0).bytes);
        let kinds: std::collections::BTreeSet<_> = all.iter().map(|m| m.damage).collect();
        assert_eq!(kinds.len(), 6, "{kinds:?}");
    }
}
