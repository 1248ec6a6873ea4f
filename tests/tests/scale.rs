//! More instances of a stage share its work, and a stage in another language takes its place:
//! the dump is the same.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, stream};
use ibid_tests::corpus::{Recipe, documents};
use ibid_tests::dump::compare;
use ibid_tests::harness::{Client, Fleet, FleetSize, Harness, Upload};
use ibid_tests::samples;
use shared::contract::DumpRow;

const LIMIT: Duration = Duration::from_mins(4);

/// The samples and some generated documents.
fn uploads() -> Result<Vec<Upload>> {
    let mut uploads = documents(Recipe {
        seed: 41,
        documents: 60,
        words: (100, 900),
    })?;
    for fact in samples::facts()? {
        let path = format!("/samples/{}", fact.file);
        if !uploads.iter().any(|upload| upload.path == path) {
            let bytes = std::fs::read(samples::folder().join(&fact.file))?;
            uploads.push(Upload {
                path,
                bytes,
                ..Upload::default()
            });
        }
    }
    Ok(uploads)
}

async fn ingest(client: &Client, uploads: &[Upload]) -> Result<Vec<DumpRow>> {
    let mut admitted = stream::iter(uploads)
        .map(|upload| client.add(upload))
        .buffer_unordered(4);
    while let Some(admitted) = admitted.next().await {
        admitted?;
    }
    for document in client.wait_until_final(uploads.len(), LIMIT).await? {
        let done = document.searchable && document.error.is_none();
        ensure!(
            done,
            "`{}` is {:?}: {:?}",
            document.name,
            document.state,
            document.error
        );
    }
    let report = client.fsck().await?;
    ensure!(report.findings.is_empty(), "fsck: {:?}", report.findings);
    client.dump().await
}

async fn fleet_makes(size: FleetSize, uploads: &[Upload], expected: &[DumpRow]) -> Result<()> {
    let fleet = Fleet::start(size).await?;
    let found = ingest(fleet.client(), uploads)
        .await
        .with_context(|| fleet.logs())?;
    compare(expected, &found)
}

#[tokio::test]
async fn any_number_and_any_language_of_stages_make_the_same() -> Result<()> {
    let uploads = uploads()?;
    let expected = {
        let harness = Harness::start(&[]).await?;
        ingest(harness.client(), &uploads)
            .await
            .with_context(|| harness.log_tail())?
    };
    ensure!(expected.len() > 150, "only {} chunks", expected.len());

    let twice = FleetSize {
        parsers: 2,
        chunkers: 2,
        python_chunkers: 0,
        embedders: 2,
    };
    fleet_makes(twice, &uploads, &expected)
        .await
        .context("two of each stage")?;

    let python = FleetSize {
        parsers: 1,
        chunkers: 0,
        python_chunkers: 1,
        embedders: 1,
    };
    fleet_makes(python, &uploads, &expected)
        .await
        .context("a chunker in Python")
}
