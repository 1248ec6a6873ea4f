//! `ibid status`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use shared::contract::{CatalogStatus, Health};

use super::gateway;
use crate::error::{CommandResult, Complaint};
use crate::intake::clock;
use crate::memory::{self, ProcessMemory};
use crate::output::{self, count, style, thousands};

/// Shows services, documents and the memory of the whole process tree.
pub(super) async fn run(json: bool) -> CommandResult {
    let gateway = gateway()?;
    let status = gateway.status().await?;
    let proc = Path::new("/proc");
    // Processes elsewhere, as in containers, are not ours to look at.
    let tree: Option<Vec<ProcessMemory>> = gateway.pid().map(|pid| memory::tree(proc, pid));
    if json {
        let memory = tree.map(|tree| {
            let total = memory::total_mib(&tree);
            json!({ "total_mib": total, "processes": tree })
        });
        output::json(&json!({
            "url": gateway.url(),
            "services": status.services,
            "catalog": status.catalog,
            "error": status.error,
            "memory": memory,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    output::line(format!("page      {}", gateway.url()))?;
    match (&status.catalog, &status.error) {
        (Some(told), _) => catalog(told)?,
        (None, Some(error)) => output::line(style().yellow().apply_to(error))?,
        (None, None) => output::line(style().yellow().apply_to("the catalog does not answer"))?,
    }
    output::line("")?;
    services(&status.services, tree.as_ref().map(|_| proc))?;
    if let Some(tree) = tree {
        output::line("")?;
        output::line(format!(
            "memory    {} MiB (PSS of {} processes)",
            thousands(memory::total_mib(&tree)),
            tree.len()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn catalog(catalog: &CatalogStatus) -> Result<(), Complaint> {
    let n = &catalog.documents;
    let states = [
        (n.ready, "ready"),
        (n.partial, "partial"),
        (n.failed, "failed"),
        (n.queued, "queued"),
        (n.working, "in work"),
    ];
    let states = states.iter().filter(|(n, _)| *n > 0);
    let states: Vec<_> = states
        .map(|(n, state)| format!("{} {state}", thousands(*n)))
        .collect();
    let states = if states.is_empty() {
        "none".to_owned()
    } else {
        states.join(", ")
    };
    output::line(format!("documents {states}"))?;
    output::line(format!(
        "content   {}, {}, {}",
        count(catalog.pages, "page"),
        count(catalog.chunks, "chunk"),
        count(catalog.tokens, "token")
    ))?;
    let collections = catalog.collections.iter();
    let collections: Vec<_> = collections
        .map(|(name, n)| format!("{name} ({})", thousands(*n)))
        .collect();
    if !collections.is_empty() {
        output::line(format!("in        {}", collections.join(", ")))?;
    }
    if catalog.missing_pages > 0 {
        output::line(style().yellow().apply_to(unread(catalog)))?;
    }
    if catalog.outdated > 0 {
        output::line(style().yellow().apply_to(outdated(catalog.outdated)))?;
    }
    for (engine, name, sequence) in [
        (
            "keywords",
            &catalog.keyword_engine,
            catalog.keyword_sequence,
        ),
        ("vectors", &catalog.vector_engine, catalog.vector_sequence),
    ] {
        let behind = catalog.sequence.saturating_sub(sequence);
        let text = if behind == 0 {
            "up to date".to_owned()
        } else {
            format!("{} behind", count(behind, "change"))
        };
        output::line(format!("{engine:<9} {name}, {text}"))?;
    }
    if catalog.dead_letters > 0 {
        output::line(style().yellow().apply_to(given_up(catalog.dead_letters)))?;
    }
    Ok(())
}

/// Pages that could not be read, in words.
fn unread(catalog: &CatalogStatus) -> String {
    let readable = catalog.pages.saturating_sub(catalog.missing_pages);
    format!(
        "readable  {} of {}; `ibid list --state partial` names the documents, `ibid show DOCUMENT \
         --missing` the pages and why",
        thousands(readable),
        count(catalog.pages, "page")
    )
}

/// Documents of an earlier version, in words.
pub(super) fn outdated(documents: u64) -> String {
    let (noun, verb) = if documents == 1 {
        ("document", "was")
    } else {
        ("documents", "were")
    };
    format!(
        "outdated  {} {noun} {verb} read by an earlier version of the program; `ibid retry \
         --outdated` reads again",
        thousands(documents)
    )
}

/// Dead letters in words.
fn given_up(letters: u64) -> String {
    let times = count(letters, "time");
    format!(
        "given up  {times}: work that failed for good or too often (dead letters); `ibid list \
         --state failed` says for which documents and why, `ibid retry --failed` tries them again"
    )
}

fn services(services: &[Health], proc: Option<&Path>) -> Result<(), Complaint> {
    let mut rows = vec![
        ["service", "state", "in hand", "up", "memory", "notes"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for service in services {
        let state = if service.ready {
            style().green().apply_to("ready")
        } else {
            style().yellow().apply_to("starting")
        };
        // Its own children included.
        let memory = proc.map(|proc| memory::total_mib(&memory::tree(proc, service.pid)));
        rows.push(vec![
            service.service.clone(),
            state.to_string(),
            thousands(service.in_flight.into()),
            clock(Duration::from_millis(service.uptime_ms)),
            memory.map(|mib| format!("{mib} MiB")).unwrap_or_default(),
            output::name(&service.notes.join("; ")),
        ]);
    }
    Ok(output::table(&rows)?)
}
