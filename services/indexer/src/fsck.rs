//! Whether all stores agree: catalog, both indexes, blobs.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use shared::blobs::{Blobs, original_key};
use shared::contract::{Chunk, FsckFinding, FsckReport, PageManifest, ReadMethod};
use tracing::warn;

use crate::catalog::{Catalog, SourceBlobs, VersionSummary};
use crate::chunk_set::ChunkKey;
use crate::error::chain;
use crate::indexes::Indexes;
use crate::janitor::{JanitorError, UPLOAD_WITHIN, orphans};
use crate::sync::{Follower, blocking};

/// Findings told at most; the rest is counted.
const MOST_FINDINGS: usize = 200;
/// Chunks read at once.
const CHUNKS: u32 = 500;
/// How often the indexes are compared again while documents change.
const COMPARISONS: u32 = 10;

/// The stores that are compared.
pub struct Fsck {
    /// The catalog.
    pub catalog: Catalog,
    /// Originals and pages.
    pub blobs: Blobs,
    /// Both indexes.
    pub indexes: Arc<Indexes>,
    /// Brings the indexes up to the catalog before they are compared.
    pub follower: Arc<Follower>,
}

/// Findings, those about a version by its number: it may have been replaced meanwhile.
#[derive(Default)]
struct Findings {
    all: Vec<(Option<i64>, FsckFinding)>,
}

impl Findings {
    fn add(&mut self, version: Option<i64>, store: &str, problem: String, remedy: &str) {
        let (store, remedy) = (store.to_owned(), remedy.to_owned());
        self.all.push((
            version,
            FsckFinding {
                store,
                problem,
                remedy,
            },
        ));
    }
}

const REBUILD_KEYWORD: &str = "stop Ibid, remove the folder `keyword` in the data folder, start it";
const REBUILD_VECTOR: &str = "stop Ibid, remove the folder `vector` in the data folder, start it";
const RETRY: &str = "retry the document, or remove and add it again";

impl Fsck {
    /// Looks at everything. Documents may come and go meanwhile.
    ///
    /// # Errors
    /// When a store cannot be read at all.
    pub async fn check(&self) -> Result<FsckReport, JanitorError> {
        let mut findings = Findings::default();
        for problem in self.catalog.run(Catalog::check).await? {
            findings.add(
                None,
                "catalog",
                problem,
                "restore the data folder from a backup",
            );
        }
        self.compare_indexes(&mut findings).await?;
        let sources = self.catalog.run(Catalog::source_blobs).await?;
        self.check_originals(&sources, &mut findings).await?;
        let versions = self.catalog.run(Catalog::versions).await?;
        let mut chunks = 0;
        for version in &versions {
            chunks += version.chunks;
            self.check_version(version, &mut findings).await?;
        }
        let found = orphans(&self.catalog, &self.blobs, UPLOAD_WITHIN).await?;
        for orphan in found.blobs {
            let problem = format!("nothing uses `{}`", orphan.folder_or_key());
            findings.add(
                None,
                "blobs",
                problem,
                "the indexer removes it within the hour",
            );
        }
        // What was replaced while we looked is no finding.
        let now: HashSet<i64> = self
            .catalog
            .run(Catalog::versions)
            .await?
            .iter()
            .map(|one| one.id)
            .collect();
        let mut all: Vec<FsckFinding> = findings
            .all
            .into_iter()
            .filter(|(version, _)| version.is_none_or(|version| now.contains(&version)))
            .map(|(_, finding)| finding)
            .collect();
        if all.len() > MOST_FINDINGS {
            warn!(findings = all.len(), "only the first are told");
            all.truncate(MOST_FINDINGS);
        }
        Ok(FsckReport {
            findings: all,
            documents: sources.len() as u64,
            chunks,
            blobs: found.seen,
        })
    }

    /// Every visible chunk is in both indexes, and nothing else is.
    async fn compare_indexes(&self, findings: &mut Findings) -> Result<(), JanitorError> {
        for attempt in 1..=COMPARISONS {
            let sequence = self.catalog.run(Catalog::sequence).await?;
            let followed = self.follower.until(sequence, Duration::from_secs(10)).await;
            let wanted = self.catalog.run(Catalog::chunk_keys).await?;
            let indexes = Arc::clone(&self.indexes);
            let (words, vectors) =
                blocking(move || Ok((indexes.keyword.keys()?, indexes.vector.keys()))).await?;
            let moved = self.catalog.run(Catalog::sequence).await? != sequence;
            if moved && attempt < COMPARISONS {
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
            if moved {
                let problem = "documents change too quickly to compare the indexes".to_owned();
                findings.add(
                    None,
                    "catalog",
                    problem,
                    "run it again when nothing is being added",
                );
                return Ok(());
            }
            if !followed {
                let problem = format!("the indexes have not passed change {sequence}");
                findings.add(None, "keyword", problem, "look at the indexer's log");
                return Ok(());
            }
            difference(&wanted, &words, ("keyword", REBUILD_KEYWORD), findings);
            difference(&wanted, &vectors, ("vector", REBUILD_VECTOR), findings);
            return Ok(());
        }
        Ok(())
    }

    async fn check_originals(
        &self,
        sources: &[SourceBlobs],
        findings: &mut Findings,
    ) -> Result<(), JanitorError> {
        for source in sources {
            if !self.blobs.exists(&original_key(&source.content)).await? {
                let problem = format!("document `{}` has lost its original", source.id);
                findings.add(None, "blobs", problem, "add the file again with `--force`");
            }
        }
        Ok(())
    }

    /// The version's pages are there, and its chunks are what stands in them.
    async fn check_version(
        &self,
        version: &VersionSummary,
        findings: &mut Findings,
    ) -> Result<(), JanitorError> {
        let about = (version.file_hash.clone(), version.parser.clone());
        let usage = self
            .catalog
            .run(move |catalog| catalog.uses_pages(&about.0, &about.1))
            .await?;
        if usage.working {
            // Its pages are being written anew.
            return Ok(());
        }
        let pages = self.read_pages(version, findings).await?;
        let mut from = 0;
        loop {
            let id = version.id;
            let chunks = self
                .catalog
                .run(move |catalog| catalog.version_chunks(id, from, CHUNKS))
                .await?;
            let Some((_, last, _)) = chunks.last() else {
                return Ok(());
            };
            from = last.index + 1;
            for (key, chunk, dimension) in &chunks {
                if *dimension != version.dimension {
                    let problem = format!(
                        "chunk {key} has a vector of {dimension} dimensions, not {}",
                        version.dimension
                    );
                    findings.add(Some(version.id), "catalog", problem, RETRY);
                }
                if let Some(problem) = misplaced(*key, chunk, &pages) {
                    findings.add(Some(version.id), "blobs", problem, RETRY);
                }
            }
        }
    }

    /// The version's pages by number; a page that was not read has none.
    async fn read_pages(
        &self,
        version: &VersionSummary,
        findings: &mut Findings,
    ) -> Result<BTreeMap<u32, String>, JanitorError> {
        let folder = PageManifest::folder(&version.file_hash, &version.parser);
        let mut lost = |what: String| {
            findings.add(
                Some(version.id),
                "blobs",
                format!("`{folder}` {what}"),
                RETRY,
            );
        };
        let mut pages = BTreeMap::new();
        let manifest = match self
            .blobs
            .get(&format!("{folder}/{}", PageManifest::FILE))
            .await
        {
            Ok(bytes) => serde_json::from_slice::<PageManifest>(&bytes).ok(),
            Err(_gone) => None,
        };
        let Some(manifest) = manifest else {
            lost("has no manifest".to_owned());
            return Ok(pages);
        };
        if manifest.pages.len() != usize::try_from(version.pages).unwrap_or(usize::MAX) {
            lost(format!(
                "has {} pages, not {}",
                manifest.pages.len(),
                version.pages
            ));
        }
        for page in manifest.pages {
            if page.method == ReadMethod::Missing {
                continue;
            }
            let key = format!("{folder}/{}", PageManifest::page_file(page.number));
            match self.blobs.get(&key).await {
                Ok(bytes) => match String::from_utf8(bytes.to_vec()) {
                    Ok(text) => {
                        pages.insert(page.number, text);
                    }
                    Err(_not_text) => lost(format!("page {} is no UTF-8", page.number)),
                },
                Err(error) => lost(format!("page {}: {}", page.number, chain(&error))),
            }
        }
        Ok(pages)
    }
}

/// Tells keys that are on one side only.
fn difference(
    wanted: &[ChunkKey],
    found: &[ChunkKey],
    (store, remedy): (&str, &str),
    findings: &mut Findings,
) {
    let missing = wanted
        .iter()
        .filter(|key| found.binary_search(key).is_err());
    let extra = found
        .iter()
        .filter(|key| wanted.binary_search(key).is_err());
    for (keys, what) in [
        (
            missing.collect::<Vec<_>>(),
            "visible chunks are not in the index",
        ),
        (
            extra.collect(),
            "chunks in the index are not visible any more",
        ),
    ] {
        if let Some(first) = keys.first() {
            let problem = format!("{} {what}, the first is {first}", keys.len());
            findings.add(None, store, problem, remedy);
        }
    }
}

/// What is wrong with where a chunk says it stands.
fn misplaced(key: ChunkKey, chunk: &Chunk, pages: &BTreeMap<u32, String>) -> Option<String> {
    let mut text = String::with_capacity(chunk.text.len());
    for span in &chunk.spans {
        let (start, end) = (span.start as usize, span.end as usize);
        match pages.get(&span.page).and_then(|page| page.get(start..end)) {
            Some(part) => text.push_str(part),
            None => {
                return Some(format!(
                    "chunk {key} stands on page {} bytes {start}..{end}, which are not there",
                    span.page
                ));
            }
        }
    }
    (text != chunk.text).then(|| format!("chunk {key} is not the text of its page"))
}
