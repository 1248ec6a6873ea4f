//! `GET /metrics`: what every process has counted, in Prometheus' text format.
//!
//! All running services are asked over the bus; whoever does not answer in time is left out of
//! this reading. What no process can count by itself, the queues and the catalog, is added.

mod exposition;
mod system;

use std::time::Duration;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use shared::contract::CatalogStatus;
use shared::contract::subject::call;
use tokio::time::timeout;

use crate::app::App;
use exposition::Page;

/// How long to listen for the services; on one machine they answer within a few milliseconds.
const LISTEN_FOR: Duration = Duration::from_millis(300);
/// The catalog and the streams are asked beside; a reading must come soon.
const ASK_WITHIN: Duration = Duration::from_secs(2);
/// The format's version stands in its type.
const TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A reading of all metrics; never an error of its own.
pub(crate) async fn metrics(State(app): State<App>) -> Response {
    let (processes, queues, catalog) = tokio::join!(
        app.bus.gather_metrics(LISTEN_FOR),
        timeout(ASK_WITHIN, app.bus.queue_depths()),
        app.bus
            .call::<_, CatalogStatus>(call::CATALOG_STATUS, &(), ASK_WITHIN),
    );
    let mut page = Page::default();
    for process in &processes {
        page.add(process);
    }
    system::add_queues(&mut page, &queues.unwrap_or_default());
    if let Ok(catalog) = catalog {
        system::add_catalog(&mut page, &catalog);
    }
    let headers = [
        (header::CONTENT_TYPE, TYPE),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, page.render()).into_response()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    /// Name → type and labels, of the table rows that begin with a metric's name.
    fn documented() -> BTreeMap<String, (String, String)> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/telemetry.md");
        let text = std::fs::read_to_string(file).unwrap();
        let kinds = ["counter", "gauge", "histogram"];
        text.lines()
            .filter_map(|line| {
                let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
                let [name, kind, labels, ..] = cells.as_slice() else {
                    return None;
                };
                let name = name.strip_prefix('`')?.strip_suffix('`')?;
                let labels = labels.replace('`', "");
                kinds
                    .contains(kind)
                    .then(|| (name.to_owned(), ((*kind).to_owned(), labels)))
            })
            .collect()
    }

    #[test]
    fn the_documentation_lists_every_metric_and_no_other() {
        let families = shared::metrics::describe();
        let known: BTreeMap<String, (String, String)> = families
            .iter()
            .chain(&super::system::FAMILIES)
            .map(|family| {
                let labels = match family.labels {
                    [] => "–".to_owned(),
                    labels => labels.join(", "),
                };
                (family.name.to_owned(), (family.kind.to_owned(), labels))
            })
            .collect();
        assert_eq!(documented(), known);
    }
}
