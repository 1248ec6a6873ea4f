//! `ibid rm`.

use std::process::ExitCode;

use shared::contract::DeletionReceipt;

use super::{find_document, gateway};
use crate::cli::RmArgs;
use crate::error::CommandResult;
use crate::output::{self, count};

/// Removes documents; none when one of them is not found.
pub(super) async fn run(args: RmArgs, json: bool) -> CommandResult {
    let gateway = gateway()?;
    let all = find_document::all(&gateway, args.collection.as_ref()).await?;
    let mut wanted = Vec::new();
    for name in &args.documents {
        wanted.push(find_document::one(&all, name)?);
    }
    let mut receipts = Vec::new();
    for document in wanted {
        let receipt = gateway.delete(&document.id).await?;
        if !json {
            output::line(tell(&receipt))?;
        }
        receipts.push(receipt);
    }
    if json {
        output::json(&receipts)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn tell(receipt: &DeletionReceipt) -> String {
    let pending: Vec<_> = receipt
        .stores
        .iter()
        .filter(|store| store.purged_ms.is_none())
        .map(|store| store.store.as_str())
        .collect();
    let chunks = count(receipt.chunks, "chunk");
    let rest = if pending.is_empty() {
        "gone from every store".to_owned()
    } else {
        format!(
            "hidden everywhere, still to be purged from {}",
            pending.join(", ")
        )
    };
    format!("removed {}: {chunks}, {rest}", receipt.path)
}
