//! `ibid fsck`.

use super::{gateway, success_if};
use crate::error::CommandResult;
use crate::output::{self, count, name};

/// Checks that all stores agree; fails when they do not.
pub(super) async fn run(json: bool) -> CommandResult {
    let report = gateway()?.fsck().await?;
    if json {
        output::json(&report)?;
        return Ok(success_if(report.findings.is_empty()));
    }
    for finding in &report.findings {
        output::line(name(&format!(
            "{}: {}; {}",
            finding.store, finding.problem, finding.remedy
        )))?;
    }
    output::line(format!(
        "{} in {}, {}, {}",
        count(report.findings.len() as u64, "finding"),
        count(report.documents, "document"),
        count(report.chunks, "chunk"),
        count(report.blobs, "blob")
    ))?;
    Ok(success_if(report.findings.is_empty()))
}
