//! Adding again, forcing, retrying, copies and changes: each ends where a person expects.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use ibid_tests::corpus::{Recipe, documents};
use ibid_tests::harness::{Harness, Upload, wait_for};
use shared::contract::{DocumentState, DumpRow, ErrorCode, Outcome, Question, Retry};

const LIMIT: Duration = Duration::from_secs(90);

fn note(path: &str, text: &str) -> Upload {
    Upload {
        path: path.to_owned(),
        bytes: text.as_bytes().to_vec(),
        ..Upload::default()
    }
}

fn rows_of<'a>(dump: &'a [DumpRow], path: &str) -> Vec<&'a DumpRow> {
    dump.iter().filter(|row| row.path == path).collect()
}

async fn fsck_is_empty(harness: &Harness) -> Result<()> {
    let report = harness.client().fsck().await?;
    ensure!(report.findings.is_empty(), "{:?}", report.findings);
    Ok(())
}

#[tokio::test]
async fn documents_come_back_after_every_kind_of_repeat() -> Result<()> {
    let harness = Harness::start(&[]).await?;
    let steps = async {
        again_after_a_delete(&harness)
            .await
            .context("added again after a delete")?;
        forced_twice(&harness).await.context("forced twice")?;
        retried(&harness).await.context("a dead letter retried")?;
        copies_and_changes(&harness)
            .await
            .context("copies and changes")?;
        deleted_while_on_its_way(&harness)
            .await
            .context("deleted while on its way")
    };
    steps.await.with_context(|| harness.log_tail())
}

/// Ten seconds are well within the two minutes for which the streams remember message ids.
async fn again_after_a_delete(harness: &Harness) -> Result<()> {
    let client = harness.client();
    let upload = note(
        "/n/again.md",
        "# Again\n\nThe ferry leaves at 06:40 from pier nine.\n",
    );
    let first = client.add(&upload).await?;
    client.wait_until_ready(&first, LIMIT).await?;
    for _ in 0..3 {
        let held = client.documents(None, None).await?;
        let document = held
            .iter()
            .find(|document| document.path == upload.path)
            .context("not listed")?;
        let receipt = client.delete(&document.id).await?;
        ensure!(receipt.chunks == 1, "{receipt:?}");
        ensure!(
            rows_of(&client.dump().await?, &upload.path).is_empty(),
            "still in the dump"
        );
        let second = client.add(&upload).await?;
        ensure!(
            second.outcome == Outcome::New && second.document_id != document.id,
            "{second:?}"
        );
        client.wait_until_ready(&second, LIMIT).await?;
        ensure!(
            rows_of(&client.dump().await?, &upload.path).len() == 1,
            "not in the dump"
        );
    }
    fsck_is_empty(harness).await
}

async fn forced_twice(harness: &Harness) -> Result<()> {
    let client = harness.client();
    let mut upload = documents(Recipe {
        seed: 3,
        documents: 1,
        words: (900, 1000),
    })?
    .remove(0);
    upload.path = String::from("/n/forced.md");
    client
        .wait_until_ready(&client.add(&upload).await?, LIMIT)
        .await?;
    let before = client.dump().await?;
    upload.force = true;
    // The second while the first is still at work, then a third after all is done.
    let first = client.add(&upload).await?;
    let second = client.add(&upload).await?;
    ensure!(
        first.outcome == Outcome::Changed && second.generation > first.generation,
        "{second:?}"
    );
    client.wait_until_ready(&second, LIMIT).await?;
    let third = client.add(&upload).await?;
    client.wait_until_ready(&third, LIMIT).await?;
    ibid_tests::dump::compare(&before, &client.dump().await?)?;
    upload.force = false;
    let same = client.add(&upload).await?;
    ensure!(same.outcome == Outcome::Unchanged, "{same:?}");
    fsck_is_empty(harness).await
}

/// A damaged file fails with reason and remedy; a retry fails again; the mended file is ready.
async fn retried(harness: &Harness) -> Result<()> {
    let client = harness.client();
    let good = documents(Recipe {
        seed: 5,
        documents: 3,
        words: (80, 90),
    })?
    .remove(2);
    ensure!(good.bytes.starts_with(b"%PDF-"), "{}", good.path);
    let cut = good.bytes.get(..60).context("short")?.to_vec();
    let mut upload = Upload {
        path: "/n/damaged.pdf".to_owned(),
        bytes: cut,
        ..Upload::default()
    };
    let admitted = client.add(&upload).await?;
    let failed = async |generation| {
        wait_for("the document to fail", LIMIT, async || {
            let view = client.document(&admitted.document_id).await?;
            ensure!(
                view.state == DocumentState::Failed && view.generation >= generation,
                "{view:?}"
            );
            anyhow::Ok(view)
        })
        .await
    };
    let view = failed(admitted.generation).await?;
    let error = view.error.context("failed without a reason")?;
    ensure!(
        matches!(error.code, ErrorCode::Damaged | ErrorCode::NoText),
        "{error:?}"
    );
    ensure!(!error.remedy.is_empty(), "{error:?}");

    let retried = client
        .retry(&Retry::Document(admitted.document_id.clone()))
        .await?;
    ensure!(
        retried.documents == [admitted.document_id.clone()],
        "{retried:?}"
    );
    let mut generation = admitted.generation;
    generation.0 += 1;
    failed(generation).await?;
    let all = client.retry(&Retry::AllFailed).await?;
    ensure!(all.documents == [admitted.document_id.clone()], "{all:?}");
    generation.0 += 1;
    failed(generation).await?;

    upload.bytes = good.bytes;
    let mended = client.add(&upload).await?;
    ensure!(
        mended.document_id == admitted.document_id,
        "the path is the identity"
    );
    client.wait_until_ready(&mended, LIMIT).await?;
    // A retry of a ready document does its work again.
    client
        .retry(&Retry::Document(mended.document_id.clone()))
        .await?;
    client.wait_until_ready(&mended, LIMIT).await?;
    ensure!(
        client.status().await?.1.documents.failed == 0,
        "something still counts as failed"
    );
    fsck_is_empty(harness).await
}

async fn copies_and_changes(harness: &Harness) -> Result<()> {
    let client = harness.client();
    let text = "# Harbour\n\nThe lighthouse keeper is called Ansgar Vik.\n";
    let (here, there) = (note("/n/a/harbour.md", text), note("/n/b/harbour.md", text));
    let chunks = client.status().await?.1.chunks;
    let first = client.add(&here).await?;
    let second = client.add(&there).await?;
    ensure!(
        first.document_id != second.document_id,
        "two paths are two documents"
    );
    client.wait_until_ready(&first, LIMIT).await?;
    client.wait_until_ready(&second, LIMIT).await?;
    let stored = client.status().await?.1.chunks;
    ensure!(
        stored == chunks + 1,
        "{chunks} chunks became {stored}; the same bytes are stored once"
    );
    let dump = client.dump().await?;
    ensure!(
        rows_of(&dump, &here.path).len() == 1 && rows_of(&dump, &there.path).len() == 1,
        "shown twice"
    );

    let question = Question {
        text: "Who is the lighthouse keeper?".to_owned(),
        k: 5,
        ..Question::default()
    };
    let found = async |name: &str| -> Result<Vec<String>> {
        let passages = client.search(&question).await?.passages;
        let with = passages
            .into_iter()
            .filter(|passage| passage.hit.text.contains(name));
        Ok(with.map(|passage| passage.hit.path).collect())
    };
    ensure!(
        found("Ansgar Vik").await?.len() == 1,
        "the same chunk is one hit"
    );

    // Changed bytes at one path: the other keeps its version.
    let changed = client
        .add(&note(&here.path, &text.replace("Ansgar Vik", "Runa Holm")))
        .await?;
    ensure!(
        changed.outcome == Outcome::Changed && changed.document_id == first.document_id,
        "{changed:?}"
    );
    client.wait_until_ready(&changed, LIMIT).await?;
    ensure!(
        found("Runa Holm").await? == [here.path.clone()],
        "the new version is found"
    );
    ensure!(
        found("Ansgar Vik").await? == [there.path.clone()],
        "the other path keeps the old version"
    );

    // Both at the old bytes again, then one deleted.
    let back = client.add(&here).await?;
    client.wait_until_ready(&back, LIMIT).await?;
    ensure!(
        found("Runa Holm").await?.is_empty(),
        "the version that nothing uses is gone"
    );
    client.delete(&first.document_id).await?;
    ensure!(
        found("Ansgar Vik").await? == [there.path.clone()],
        "the copy is still found"
    );
    fsck_is_empty(harness).await?;
    client.delete(&second.document_id).await?;
    ensure!(found("Ansgar Vik").await?.is_empty(), "both are gone");
    fsck_is_empty(harness).await
}

async fn deleted_while_on_its_way(harness: &Harness) -> Result<()> {
    let client = harness.client();
    let uploads = documents(Recipe {
        seed: 11,
        documents: 24,
        words: (600, 900),
    })?;
    let mut admitted = Vec::new();
    for upload in &uploads {
        admitted.push(client.add(upload).await?);
    }
    let held = client.documents(None, None).await?.len();
    for (_, document) in admitted
        .iter()
        .enumerate()
        .filter(|(number, _)| number % 2 == 0)
    {
        client.delete(&document.document_id).await?;
    }
    client
        .wait_until_final(held - uploads.len() / 2, LIMIT)
        .await?;
    let dump = client.dump().await?;
    for (number, upload) in uploads.iter().enumerate() {
        let rows = rows_of(&dump, &upload.path).len();
        ensure!(
            (rows > 0) == (number % 2 == 1),
            "`{}` has {rows} rows",
            upload.path
        );
    }
    fsck_is_empty(harness).await
}
