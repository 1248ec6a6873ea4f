//! Removing many documents at once, and asking before.

use console::Term;
use futures::StreamExt as _;
use shared::contract::{DeletionReceipt, DocumentId};

use crate::client::Gateway;
use crate::error::Complaint;
use crate::screen::Screen;

/// Deletions at once.
const AT_ONCE: usize = 8;

/// Removes all `documents`, with a bar on a terminal.
///
/// # Errors
/// The first that could not be removed, after all were tried.
pub(super) async fn all(
    gateway: &Gateway,
    documents: Vec<DocumentId>,
    screen: &Screen,
) -> Result<Vec<DeletionReceipt>, Complaint> {
    let bar = screen.bar(documents.len() as u64);
    let mut removing = futures::stream::iter(documents)
        .map(|id| async move { gateway.delete(&id).await })
        .buffer_unordered(AT_ONCE);
    let (mut receipts, mut failed) = (Vec::new(), None);
    while let Some(removed) = removing.next().await {
        bar.inc(1);
        match removed {
            Ok(receipt) => receipts.push(receipt),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    bar.finish_and_clear();
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(receipts),
    }
}

/// Asks `question` on the terminal; returns when the answer is yes.
///
/// # Errors
/// When it is not, or nobody is there to give it.
pub(super) fn confirm(question: &str) -> Result<(), Complaint> {
    let terminal = Term::stderr();
    if !terminal.is_term() {
        return Err(Complaint::new(
            "this asks before it removes, and nobody is there to answer",
            "give `--yes` as well",
        ));
    }
    terminal.write_str(&format!("{question} [y/N] "))?;
    let answer = terminal.read_line()?;
    if ["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) {
        Ok(())
    } else {
        Err(Complaint::new("nothing was removed", "answer `y` to go on"))
    }
}
