//! Documents that are taken in while questions are asked, so that all stages work.

use std::convert::Infallible;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use shared::contract::CollectionName;
use tokio::time::Instant;

use super::status;
use super::words::{Lexicon, Writer};
use crate::client::{Gateway, Listing};
use crate::error::Complaint;
use crate::intake::{self, Request};
use crate::screen::Screen;

/// Where they go.
const COLLECTION: &str = "meanwhile";
/// Files per round; the next are sent when these can be found.
const PER_ROUND: u64 = 100;
/// Some five chunks each.
const LINES: usize = 60;
const WORDS_PER_LINE: usize = 15;
/// For the first of them to be embedded.
const BEGUN_WITHIN: Duration = Duration::from_mins(2);

fn collection() -> Result<CollectionName, Complaint> {
    COLLECTION
        .parse()
        .map_err(|error| Complaint::new(error, "tell the makers"))
}

/// Takes in one round of new files after the other, without end; none that was taken in before.
///
/// # Errors
/// When files cannot be written, or Ibid ends.
pub(super) async fn go_on(
    gateway: &Gateway,
    lexicon: &Lexicon,
    folder: &Path,
) -> Result<Infallible, Complaint> {
    let first = documents(gateway).await?.div_ceil(PER_ROUND);
    // Its progress would stand between that of the questions.
    let screen = Screen::nowhere();
    for round in first.. {
        let folder = folder.join(format!("round-{round}"));
        write(&folder, lexicon, round).map_err(|error| {
            let folder = folder.display();
            let what = format!("cannot write into `{folder}`: {error}");
            Complaint::new(what, "check free space and permissions")
        })?;
        let found = intake::find(vec![folder]).await?;
        let request = Request {
            collection: collection()?,
            force: false,
            wait: true,
            password: None,
        };
        intake::run(gateway, request, found, &screen).await?;
    }
    std::future::pending().await
}

fn write(folder: &Path, lexicon: &Lexicon, round: u64) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for number in 0..PER_ROUND {
        let mut writer = Writer::new(lexicon, (1 << 40) + round * PER_ROUND + number);
        let text: String = (0..LINES).map(|_| writer.line(WORDS_PER_LINE)).collect();
        fs::write(folder.join(format!("{number:03}.txt")), text)?;
    }
    Ok(())
}

/// Waits until the first document of a round can be found, which is when all stages work.
/// Returns the chunks that were there then.
///
/// # Errors
/// When none comes in time.
pub(super) async fn begun(gateway: &Gateway) -> Result<u64, Complaint> {
    let (started, before) = (Instant::now(), status(gateway).await?.chunks);
    loop {
        let now = status(gateway).await?;
        if now.documents.working > 0 && now.chunks > before {
            return Ok(now.chunks);
        }
        if started.elapsed() > BEGUN_WITHIN {
            return Err(Complaint::new(
                "no document was taken in within two minutes",
                "see the lines above, and try `ibid doctor`",
            ));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// How many documents earlier measurements have taken in. They stay: to purge one is far more work
/// than to take it in, and the next measurement takes in others.
///
/// # Errors
/// When the gateway does not answer.
pub(super) async fn documents(gateway: &Gateway) -> Result<u64, Complaint> {
    let listing = Listing {
        collection: Some(collection()?),
        state: None,
    };
    Ok(gateway.number_of_documents(&listing).await?)
}
