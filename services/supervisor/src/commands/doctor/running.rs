//! The Ibid that runs: its port, its services, its models at work.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use shared::contract::Health;
use shared::settings;

use super::{Check, Checks, bad};
use crate::client::Gateway;
use crate::error::Complaint;
use crate::supervise::endpoint::{Endpoint, run_folder};
use crate::supervise::fleet::ORDER;

/// The port is ours, or free.
pub(super) async fn port(data: &Path) -> Check {
    if let Some(url) = settings::variable("IBID_URL") {
        return Check::new("gateway", elsewhere(data, &url).await);
    }
    if let Some(endpoint) = Endpoint::find(data) {
        let answers = match Gateway::at(&endpoint.url) {
            Ok(gateway) => gateway.is_alive().await,
            Err(_no_address) => false,
        };
        let found = if answers {
            Ok(format!("Ibid answers at {}", endpoint.url))
        } else {
            Err((
                format!(
                    "Ibid (process {}) does not answer at {}",
                    endpoint.pid, endpoint.url
                ),
                format!(
                    "see its log, or end it and remove {}",
                    run_folder(data).join("endpoint.json").display()
                ),
            ))
        };
        return Check::new("port", found);
    }
    let gateway: gateway::Settings = settings::load("gateway").unwrap_or_default();
    let port = settings::variable("IBID_PORT").and_then(|text| text.parse().ok());
    let address = SocketAddr::new(gateway.address, port.unwrap_or(gateway.port));
    let found = match TcpListener::bind(address) {
        Ok(_free) => Ok(format!("{address} is free")),
        Err(error) => Err((
            format!("{address} cannot be used: {error}"),
            "end the program that has it, or set IBID_PORT to another".to_owned(),
        )),
    };
    Check::new("port", found)
}

async fn elsewhere(data: &Path, url: &str) -> Result<String, (String, String)> {
    let gateway = Gateway::find(data).map_err(told)?;
    if gateway.is_alive().await {
        Ok(format!("Ibid answers at {}", gateway.url()))
    } else {
        Err((
            format!("no Ibid answers at {url}, which IBID_URL names"),
            "start it there, or correct IBID_URL".to_owned(),
        ))
    }
}

fn told(complaint: Complaint) -> (String, String) {
    match complaint {
        Complaint::Told { what, remedy, .. } => (what, remedy),
        closed @ Complaint::OutputClosed => (closed.to_string(), String::new()),
    }
}

/// A line for each service.
pub(super) async fn services(gateway: &Gateway) -> Vec<Check> {
    match gateway.status().await {
        Ok(status) => judge(&status.services),
        Err(error) => vec![Check::new("services", Err(bad(error.into_body())))],
    }
}

fn judge(services: &[Health]) -> Vec<Check> {
    let mut checks = Vec::new();
    for name in ORDER {
        let instances: Vec<&Health> = services
            .iter()
            .filter(|health| health.service == name)
            .collect();
        if instances.is_empty() {
            let found = "it does not answer".to_owned();
            checks.push(Check::new(name, Err((found, its_log(name)))));
        }
        checks.extend(instances.into_iter().map(service));
    }
    checks
}

fn its_log(name: &str) -> String {
    format!("see the lines of `{name}` in the log of `ibid up`; it is started again by itself")
}

fn service(health: &Health) -> Check {
    let notes = health.notes.join("; ");
    let found = match (health.ready, notes.is_empty()) {
        (true, true) => Ok("ready".to_owned()),
        (true, false) => Ok(format!("ready; {notes}")),
        (false, true) => Err(("it is not ready yet".to_owned(), its_log(&health.service))),
        (false, false) => Err((
            format!("it is not ready: {notes}"),
            its_log(&health.service),
        )),
    };
    Check::new(health.service.clone(), found)
}

/// One real token of each usable model, one line as each is done.
pub(super) async fn generate(gateway: &Gateway, checks: &mut Checks) -> Result<(), Complaint> {
    let list = match gateway.models().await {
        Ok(list) => list,
        Err(error) => return checks.add(Check::new("generate", Err(bad(error.into_body())))),
    };
    let usable = list.generators.iter().filter(|view| view.refused.is_none());
    for view in usable {
        let found = match gateway.try_model(&view.id).await {
            Ok(tried) => Ok(format!(
                "first token after {:.2} s",
                tried.first_token_ms / 1000.0
            )),
            Err(error) => Err(bad(error.into_body())),
        };
        checks.add(Check::new(format!("generate {}", view.id), found))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health(service: &str, ready: bool, notes: &[&str]) -> Health {
        serde_json::from_value(serde_json::json!({
            "service": service, "pid": 1, "version": "0", "ready": ready, "in_flight": 0,
            "uptime_ms": 1, "notes": notes
        }))
        .unwrap()
    }

    #[test]
    fn every_service_must_answer_and_be_ready() {
        let mut services: Vec<Health> = ORDER.iter().map(|name| health(name, true, &[])).collect();
        services.push(health("parser", true, &["PDFium not found"]));
        assert!(judge(&services).iter().all(|check| check.ok));
        assert_eq!(judge(&services).len(), ORDER.len() + 1);

        services.retain(|health| health.service != "embedder");
        services.retain(|health| health.service != "query");
        services.push(health("query", false, &["the bus is away"]));
        let bad: Vec<String> = judge(&services)
            .into_iter()
            .filter(|check| !check.ok)
            .map(|check| format!("{}: {}", check.what, check.found))
            .collect();
        assert_eq!(
            bad,
            [
                "query: it is not ready: the bus is away",
                "embedder: it does not answer"
            ]
        );
    }
}
