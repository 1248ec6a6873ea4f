//! The page in a real browser: a question in the address, a cited answer on the screen.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use ibid_tests::harness::Harness;
use ibid_tests::samples;
use tokio::process::Command;

const LIMIT: Duration = Duration::from_mins(2);

/// Debian's and others' names for it.
fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|program| program.is_file())
}

/// The document as it stands once the page has come to rest.
async fn document_at(browser: &PathBuf, address: &str) -> Result<String> {
    let profile = tempfile::tempdir()?;
    let output = Command::new(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
        ])
        .args([
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
        ])
        .args([
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--virtual-time-budget=15000",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg("--dump-dom")
        .arg(address)
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(LIMIT, output)
        .await
        .context("the browser took too long")??;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[tokio::test]
async fn a_link_to_a_document_shows_how_each_page_was_read() -> Result<()> {
    let Some(browser) = chromium() else {
        println!("skipped: chromium is not on this machine");
        return Ok(());
    };
    let manual = samples::folder().join("manuals");
    let harness = Harness::start(&[&manual]).await?;
    let documents = harness.client().wait_until_final(1, LIMIT).await?;
    let id = &documents.first().context("no document")?.id;

    let address = format!("{}#document={id}", harness.client().url());
    let page = document_at(&browser, &address).await?;
    for expect in [
        "kl-40-service-manual.pdf: how its pages were read",
        "<h2 id=\"detail-title\">kl-40-service-manual.pdf</h2>",
        "class=\"strip\"",
        "aria-label=\"4 pages: ",
        "aria-label=\"Read p.2 (3)\"",
        "text layer",
    ] {
        ensure!(
            page.contains(expect),
            "`{expect}` is not on the page:\n{page}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_question_in_the_browser_gets_a_cited_answer() -> Result<()> {
    let Some(browser) = chromium() else {
        println!("skipped: chromium is not on this machine");
        return Ok(());
    };
    let manual = samples::folder().join("manuals");
    let harness = Harness::start(&[&manual]).await?;
    let documents = harness.client().wait_until_final(1, LIMIT).await?;
    ensure!(
        documents.len() == 1,
        "the manual is the only document: {documents:?}"
    );

    let address = format!(
        "{}#q=What+does+error+code+E23+mean%3F",
        harness.client().url()
    );
    let page = document_at(&browser, &address).await?;
    for expect in [
        "kl-40-service-manual.pdf, p.2 (3)",
        "High pressure switch open",
        "What does error code E23 mean?",
        "1 document",
        "Read in its page",
        "Quoted word for word.",
    ] {
        ensure!(
            page.contains(expect),
            "`{expect}` is not on the page:\n{page}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_filter_in_the_browser_narrows_the_sources() -> Result<()> {
    let Some(browser) = chromium() else {
        println!("skipped: chromium is not on this machine");
        return Ok(());
    };
    let notes = tempfile::tempdir()?;
    let note = notes.path().join("workshop.md");
    std::fs::write(
        &note,
        "# Workshop\n\nError code E23 was seen twice this spring.\n",
    )?;
    let manual = samples::folder().join("manuals");
    let harness = Harness::start(&[&manual, notes.path()]).await?;
    harness.client().wait_until_final(2, LIMIT).await?;
    let asked = |options: &str| {
        let url = harness.client().url();
        let address = format!("{url}#q=What+does+error+code+E23+mean%3F{options}");
        let browser = &browser;
        async move { document_at(browser, &address).await }
    };
    let source = |name: &str| format!("/{name}\">{name}</cite>");
    let (of_manual, of_note) = (source("kl-40-service-manual.pdf"), source("workshop.md"));

    let page = asked("").await?;
    ensure!(
        page.contains(&of_manual) && page.contains(&of_note),
        "{page}"
    );
    ensure!(page.contains("Why these passages?"), "{page}");

    let page = asked("&type=Markdown&weight=0.2").await?;
    ensure!(
        !page.contains(&of_manual) && page.contains(&of_note),
        "{page}"
    );
    for chip in [
        "Remove type: Markdown",
        "Remove 80 % keywords, 20 % meaning",
    ] {
        ensure!(page.contains(chip), "no chip `{chip}`:\n{page}");
    }

    let page = asked("&type=Markdown&to=1999-12-31").await?;
    ensure!(!page.contains("</cite>"), "{page}");
    let told = "No document matches the filter: none is dated 1999-12-31 or earlier";
    ensure!(page.contains(told), "{page}");
    Ok(())
}
