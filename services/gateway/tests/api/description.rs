//! `GET /api/v1/openapi.json` against the router it describes.

use std::collections::BTreeSet;

use gateway::Settings;
use gateway::http_status::Code;
use serde_json::Value;

use crate::support::Gateway;

/// Which the description leaves out, as they are the page.
const UNDESCRIBED: [&str; 2] = ["/", "/assets/{name}"];
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

async fn description() -> (Gateway, Value) {
    let gateway = Gateway::start(Settings::default()).await;
    let response = gateway
        .client
        .get(gateway.url("/api/v1/openapi.json"))
        .send();
    let response = response.await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/json");
    let description = response.json().await.unwrap();
    (gateway, description)
}

/// Path, method and description of every operation.
fn operations(description: &Value) -> Vec<(&str, &str, &Value)> {
    let paths = description["paths"].as_object().unwrap();
    paths
        .iter()
        .flat_map(|(path, item)| {
            let item = item.as_object().unwrap();
            item.iter()
                .map(|(method, operation)| (path.as_str(), method.as_str(), operation))
        })
        .collect()
}

/// The texts between quotation marks that follow `call` in the source of the router.
fn routes_in(source: &str, call: &str) -> BTreeSet<String> {
    let texts = source.split(call).skip(1);
    texts
        .map(|rest| rest.split('"').nth(1).unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn every_route_is_described() {
    let (gateway, description) = description().await;
    let source = include_str!("../../src/router.rs");
    let undescribed: BTreeSet<_> = UNDESCRIBED.map(str::to_owned).into();
    assert_eq!(routes_in(source, ".route("), undescribed);
    let described: BTreeSet<String> = operations(&description)
        .iter()
        .map(|(path, _, _)| path.trim_start_matches("/api/v1").to_owned())
        .collect();
    assert_eq!(routes_in(source, ".api_route("), described);

    // And the other way round: whatever is described is there.
    for (path, method, _) in operations(&description) {
        assert!(METHODS.contains(&method), "{path} has {method}");
        let path = path.replace("{id}", "0").replace("{number}", "0");
        let method = method.to_uppercase().parse().unwrap();
        let request = gateway.client.request(method, gateway.url(&path));
        let response = request.send().await.unwrap();
        assert_ne!(response.status(), 405, "{path}");
        if response.status() == 404 {
            let body: Value = response.json().await.unwrap();
            assert_ne!(body["code"], "no_such_route", "{path}");
        }
    }
}

/// A default is of its schema's own type; `null` never is, as what may be `null` needs no default.
fn check_defaults(value: &Value) {
    match value {
        Value::Object(fields) => {
            assert_ne!(fields.get("default"), Some(&Value::Null), "{value}");
            fields.values().for_each(check_defaults);
        }
        Value::Array(values) => values.iter().for_each(check_defaults),
        _ => {}
    }
}

/// Every reference of the document leads somewhere.
fn check_references(value: &Value, root: &Value) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get("$ref") {
                let pointer = reference.strip_prefix('#').unwrap();
                assert!(root.pointer(pointer).is_some(), "{reference} leads nowhere");
            }
            fields
                .values()
                .for_each(|value| check_references(value, root));
        }
        Value::Array(values) => values
            .iter()
            .for_each(|value| check_references(value, root)),
        _ => {}
    }
}

#[tokio::test]
async fn the_description_is_whole() {
    let (_gateway, description) = description().await;
    assert!(description["openapi"].as_str().unwrap().starts_with("3.1"));
    assert_eq!(description["info"]["title"], "Ibid");
    check_references(&description, &description);
    check_defaults(&description);
    let text = description.to_string();
    assert!(!text.contains("#/definitions/") && !text.contains("#/$defs/"));

    let schemes = &description["components"]["securitySchemes"];
    assert_eq!(schemes["token"]["scheme"], "bearer");
    assert_eq!(schemes["session"]["in"], "cookie");
    assert_eq!(description["security"].as_array().unwrap().len(), 3);

    let mut ids = BTreeSet::new();
    for (path, method, operation) in operations(&description) {
        let at = format!("{method} {path}");
        assert!(
            ids.insert(operation["operationId"].as_str().unwrap()),
            "{at}"
        );
        assert!(!operation["summary"].as_str().unwrap().is_empty(), "{at}");
        let responses = operation["responses"].as_object().unwrap();
        assert!(
            responses.keys().any(|status| status.starts_with('2')),
            "{at}"
        );
        for (status, response) in responses {
            assert!(response["description"].is_string(), "{at} {status}");
        }
        let in_path = path.matches('{').count();
        let parameters = operation["parameters"].as_array();
        let named = parameters
            .into_iter()
            .flatten()
            .filter(|p| p["in"] == "path");
        assert_eq!(named.count(), in_path, "{at}");
        // It is open to everyone and cannot fail.
        if operation["operationId"] == "healthz" {
            continue;
        }
        let error = &responses["default"]["content"]["application/json"]["schema"]["$ref"];
        assert_eq!(error, "#/components/schemas/ErrorReply", "{at}");
    }
    let schemas = &description["components"]["schemas"];
    let fields = schemas["ErrorReply"]["required"].as_array().unwrap();
    assert_eq!(fields, &["code", "message", "remedy", "trace_id"]);
    let codes = schemas["Code"]["enum"].as_array().unwrap();
    assert_eq!(codes.len(), Code::ALL.len());
    assert_eq!(schemas["Question"]["additionalProperties"], false);
    let weight = &schemas["Question"]["properties"]["semantic_weight"];
    assert!(weight["description"].is_string(), "{weight}");
    let ask = "/paths/~1api~1v1~1ask/post/responses/200/content/text~1event-stream/schema/$ref";
    let event = description.pointer(ask);
    assert_eq!(event.unwrap(), "#/components/schemas/AnswerEvent");
    let form = "/paths/~1api~1v1~1documents/post/requestBody/content/multipart~1form-data";
    assert!(description.pointer(form).is_some());
}

#[tokio::test]
async fn the_page_for_people_names_every_route_and_code() {
    let (_gateway, description) = description().await;
    let page = include_str!("../../../../docs/api.md");
    for (path, method, _) in operations(&description) {
        let route = format!("`{} {path}`", method.to_uppercase());
        assert!(page.contains(&route), "docs/api.md lacks {route}");
    }
    for code in Code::ALL {
        let name = serde_json::to_value(code).unwrap();
        let name = format!("`{}`", name.as_str().unwrap());
        assert!(page.contains(&name), "docs/api.md lacks {name}");
        let row = page
            .lines()
            .find(|line| line.contains(&name) && line.starts_with('|'));
        let status = code.status().as_u16().to_string();
        assert!(
            row.is_some_and(|row| row.contains(&status)),
            "{name} without {status}"
        );
    }
}
