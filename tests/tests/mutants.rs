//! Five hundred damaged files: the parser goes on, and every file reaches a final state.

use anyhow::{Result, ensure};
use ibid_tests::mutants::{Run, run};
use ibid_tests::workspace;

#[tokio::test]
async fn damaged_files_end_and_the_parser_goes_on() -> Result<()> {
    let Some(corpus) = workspace::corpus_or_skip("damaged files") else {
        return Ok(());
    };
    let wanted = Run {
        seed: 4,
        files: 500,
    };
    let outcome = run(&corpus.join("docs"), wanted).await?;
    let summary = outcome.summary();
    ensure!(outcome.list.lines().count() == 500, "{summary}");
    // A reader that refuses all damaged files would pass otherwise.
    ensure!(outcome.parsed > 250, "{summary}");
    ensure!(outcome.child_peak_kib < 1 << 20, "{summary}");
    // The reason is one for people, never that something of ours failed.
    let ours = outcome
        .failed
        .keys()
        .find(|reason| reason.starts_with("Internal"));
    ensure!(ours.is_none(), "{ours:?}\n{summary}");
    println!("{summary}");
    Ok(())
}
