//! Nothing that was admitted is lost, whatever is killed and whenever.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, stream};
use ibid_tests::corpus::{Recipe, documents};
use ibid_tests::dump::compare;
use ibid_tests::harness::{Client, Harness, Upload, kill, processes, wait_for};
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{Rng, SeedableRng};
use shared::contract::{DocumentState, DumpRow};
use tokio::sync::watch;

/// Kills in all.
const KILLS: usize = 20;
/// Seeds of the documents and of the kills. `IBID_KILL_SEED` runs another order of kills.
const CORPUS_SEED: u64 = 20_260_101;
const KILL_SEED: u64 = 17;
/// For everything to become final; a dozen times what it takes on two quiet cores.
const LIMIT: Duration = Duration::from_mins(10);
/// Who is killed; the supervisor takes everything with it.
const VICTIMS: [&str; 8] = [
    "parser",
    "chunker",
    "embedder",
    "indexer",
    "query",
    "gateway",
    "nats-server",
    "supervisor",
];

/// Some 300 k tokens: about 45 s of embedding on two cores.
fn corpus() -> Result<Vec<Upload>> {
    let mut uploads = documents(Recipe {
        seed: CORPUS_SEED,
        documents: 300,
        words: (300, 1300),
    })?;
    // The same bytes at a second path, and one document that can only fail.
    let twin = uploads.first().cloned().context("no documents")?;
    uploads.push(Upload {
        path: "/generated/twin/copy.md".to_owned(),
        ..twin
    });
    let broken = b"%PDF-1.7\nthis is no PDF".to_vec();
    uploads.push(Upload {
        path: "/generated/broken.pdf".to_owned(),
        bytes: broken,
        ..Upload::default()
    });
    Ok(uploads)
}

/// Every victim at least twice, the rest drawn, in a drawn order.
fn plan(rng: &mut StdRng) -> Vec<&'static str> {
    let mut plan = [VICTIMS, VICTIMS].concat();
    while plan.len() < KILLS {
        plan.extend(VICTIMS.choose(rng));
    }
    plan.shuffle(rng);
    plan
}

/// How the uploads are steered.
#[derive(Clone)]
struct Steering {
    /// The gateway as it is reachable now: a restarted supervisor has another port.
    client: watch::Receiver<Client>,
    /// How many documents may be uploaded by now.
    released: watch::Receiver<usize>,
}

/// Uploads everything as it is released, trying each again until the catalog has it.
async fn upload_all(uploads: &[Upload], steering: Steering) -> Result<()> {
    let tries = (0..).zip(uploads).map(|(index, upload)| {
        let mut steering = steering.clone();
        async move {
            steering
                .released
                .wait_for(|released| *released > index)
                .await?;
            wait_for("a document to be admitted", LIMIT, async || {
                let client = steering.client.borrow().clone();
                client.add(upload).await
            })
            .await
        }
    });
    let mut tries = stream::iter(tries).buffer_unordered(4);
    while let Some(admitted) = tries.next().await {
        admitted?;
    }
    Ok(())
}

async fn undisturbed(uploads: &[Upload]) -> Result<(Vec<DumpRow>, HashMap<String, DocumentState>)> {
    let harness = Harness::start(&[]).await?;
    let (_clients, client) = watch::channel(harness.client().clone());
    let (_release, released) = watch::channel(uploads.len());
    upload_all(uploads, Steering { client, released }).await?;
    let outcome = outcome(&harness, uploads.len()).await;
    outcome.with_context(|| harness.log_tail())
}

/// Final states and dump, with fsck empty.
async fn outcome(
    harness: &Harness,
    wanted: usize,
) -> Result<(Vec<DumpRow>, HashMap<String, DocumentState>)> {
    let documents = harness.client().wait_until_final(wanted, LIMIT).await?;
    let states = documents
        .into_iter()
        .map(|document| (document.path, document.state))
        .collect();
    let report = harness.client().fsck().await?;
    ensure!(report.findings.is_empty(), "fsck: {:?}", report.findings);
    Ok((harness.client().dump().await?, states))
}

/// Kills `victim` at a drawn moment, and starts again what does not start again by itself. Gives
/// whether there was work to disturb.
async fn kill_one(harness: &mut Harness, victim: &str, rng: &mut StdRng) -> Result<bool> {
    // Not a wait for something: the moment of the kill is drawn.
    tokio::time::sleep(Duration::from_millis(rng.random_range(50..1500))).await;
    let working = working(harness.client()).await;
    let pid = wait_for(
        "the victim to be there",
        Duration::from_mins(1),
        async || {
            let mut pids = harness.pids(victim)?;
            pids.pop().with_context(|| format!("no `{victim}`"))
        },
    )
    .await?;
    if victim == "supervisor" {
        harness.kill_supervisor().await?;
        harness.restart().await?;
    } else {
        kill(&pid);
        wait_for(
            "the victim to be dead",
            Duration::from_secs(5),
            async || {
                let living = harness.pids(victim)?;
                ensure!(!living.contains(&pid), "{pid:?} lives");
                anyhow::Ok(())
            },
        )
        .await?;
    }
    Ok(working)
}

/// Whether some document has work to come. When nobody can be asked, something is still down from
/// the kill before, and what was released since then still waits.
async fn working(client: &Client) -> bool {
    let catalog = client.status().await.map(|(_, catalog)| catalog.documents);
    catalog.map_or(true, |documents| documents.queued + documents.working > 0)
}

/// Everything is killed, the store of the streams removed, and all started again.
async fn delete_streams(harness: &mut Harness) -> Result<()> {
    harness.kill_supervisor().await?;
    let store = find_folder(&harness.data(), "jetstream")?.context("no JetStream store")?;
    std::fs::remove_dir_all(&store)?;
    harness.restart().await
}

fn find_folder(below: &Path, name: &str) -> Result<Option<std::path::PathBuf>> {
    for entry in std::fs::read_dir(below)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            if entry.file_name() == name {
                return Ok(Some(entry.path()));
            }
            if let Some(found) = find_folder(&entry.path(), name)? {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

#[tokio::test]
async fn twenty_kills_and_a_lost_stream_store_change_nothing() -> Result<()> {
    let uploads = corpus()?;
    let (expected, states) = undisturbed(&uploads).await.context("the undisturbed run")?;
    ensure!(
        expected.len() > 1000,
        "only {} chunks, too few to be killed in",
        expected.len()
    );
    let failed = states
        .values()
        .filter(|state| **state == DocumentState::Failed)
        .count();
    ensure!(failed == 1, "{failed} documents failed without any kill");

    let seed = std::env::var_os("IBID_KILL_SEED")
        .and_then(|seed| seed.to_str().and_then(|seed| seed.parse().ok()));
    let mut rng = StdRng::seed_from_u64(seed.unwrap_or(KILL_SEED));
    let mut harness = Harness::start(&[]).await?;
    let (clients, client) = watch::channel(harness.client().clone());
    let (release, released) = watch::channel(0);
    let mut during_work = 0;
    let killing = async {
        // Each kill gets its share of the documents, so that there is work however fast it goes.
        for (number, victim) in (0..KILLS).zip(plan(&mut rng)) {
            release.send_replace(uploads.len() * (number + 1) / KILLS);
            if number == KILLS / 2 {
                delete_streams(&mut harness)
                    .await
                    .context("deleting the JetStream store")?;
                clients.send_replace(harness.client().clone());
            }
            let killed = kill_one(&mut harness, victim, &mut rng).await;
            let text = || format!("kill {number}, {victim}\n{}", harness.log_tail());
            during_work += usize::from(killed.with_context(text)?);
            clients.send_replace(harness.client().clone());
        }
        anyhow::Ok(())
    };
    let steering = Steering { client, released };
    // A kill that fails ends both: nothing would release the rest of the uploads.
    tokio::try_join!(killing, upload_all(&uploads, steering))?;
    println!("{during_work} of {KILLS} kills fell while there was work");
    ensure!(
        during_work * 10 >= KILLS * 9,
        "only {during_work} kills fell while there was work"
    );

    let found = outcome(&harness, uploads.len()).await;
    let (rows, found_states) = found.with_context(|| harness.log_tail())?;
    ensure!(
        states == found_states,
        "states differ: {states:?} and {found_states:?}"
    );
    compare(&expected, &rows)?;
    println!("{} chunks are as in the undisturbed run", rows.len());
    Ok(())
}

#[tokio::test]
async fn no_process_outlives_its_supervisor() -> Result<()> {
    let mut harness = Harness::start(&[]).await?;
    let before = processes(&harness.data())?;
    for victim in VICTIMS {
        ensure!(
            before.iter().any(|process| process.name == victim),
            "no `{victim}` in {before:?}"
        );
    }
    harness.kill_supervisor().await
}
