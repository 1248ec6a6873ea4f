//! Who gets in where a token is needed.

use gateway::Settings;
use gateway::token::Token;
use serde_json::json;

use crate::support::{Gateway, expect_error};

const TOKEN: &str = "correct-horse-battery";

fn locked() -> Settings {
    Settings {
        token: TOKEN.to_owned().into(),
        ..Settings::default()
    }
}

#[tokio::test]
async fn without_the_token_nothing_of_the_documents_is_told() {
    let gateway = Gateway::start(locked()).await;
    let get = |path: &str| gateway.client.get(gateway.url(path));
    for path in ["/", "/assets/main.js", "/healthz"] {
        assert_eq!(get(path).send().await.unwrap().status(), 200, "{path}");
    }
    for path in [
        "/api/v1/status",
        "/api/v1/documents",
        "/api/v1/events",
        "/api/v1/openapi.json",
        "/metrics",
        "/nowhere",
    ] {
        let response = get(path).send().await.unwrap();
        assert_eq!(response.headers()["www-authenticate"], "Bearer", "{path}");
        let body = expect_error(response, 401, "unauthorized").await;
        assert!(body["remedy"].as_str().unwrap().contains("`ibid link`"));
    }
    let wrong = get("/api/v1/status").bearer_auth("correct-horse-batterz");
    expect_error(wrong.send().await.unwrap(), 401, "unauthorized").await;
    let right = get("/api/v1/status").bearer_auth(TOKEN);
    assert_eq!(right.send().await.unwrap().status(), 200);
    // Whoever has the token may have come by any name of this machine.
    let by_name = get("/api/v1/status")
        .bearer_auth(TOKEN)
        .header("host", "box.example:8080")
        .header("origin", "http://box.example:8080");
    assert_eq!(by_name.send().await.unwrap().status(), 200);
    let elsewhere = get("/api/v1/status")
        .bearer_auth(TOKEN)
        .header("origin", "http://evil.example");
    expect_error(elsewhere.send().await.unwrap(), 403, "foreign_origin").await;
}

#[tokio::test]
async fn the_page_logs_in_and_out() {
    let gateway = Gateway::start(locked()).await;
    let log_in = |token: &str| {
        let request = gateway.client.post(gateway.url("/api/v1/login"));
        request.json(&json!({ "token": token })).send()
    };
    let wrong = log_in("mistaken-for-another").await.unwrap();
    assert!(!wrong.headers().contains_key("set-cookie"));
    let body = expect_error(wrong, 401, "unauthorized").await;
    assert!(!body.to_string().contains("mistaken"), "{body}");

    let right = log_in(TOKEN).await.unwrap();
    assert_eq!(right.status(), 204);
    let cookie = right.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
    assert!(!cookie.contains(TOKEN));
    let session = cookie.split(';').next().unwrap();
    let status = gateway.client.get(gateway.url("/api/v1/status"));
    let status = status.header("cookie", session).send().await.unwrap();
    assert_eq!(status.status(), 200);

    let out = gateway.client.post(gateway.url("/api/v1/logout"));
    let out = out.header("cookie", session).send().await.unwrap();
    assert_eq!(out.status(), 204);
    let cleared = out.headers()["set-cookie"].to_str().unwrap();
    assert!(cleared.contains("Max-Age=0"), "{cleared}");
}

#[tokio::test]
async fn an_address_that_others_reach_gets_a_token_by_itself() {
    let settings = Settings {
        address: "0.0.0.0".parse().unwrap(),
        ..Settings::default()
    };
    let gateway = Gateway::start(settings).await;
    let status = || gateway.client.get(gateway.url("/api/v1/status"));
    expect_error(status().send().await.unwrap(), 401, "unauthorized").await;
    let token = std::fs::read_to_string(Token::file(gateway.data())).unwrap();
    let answer = status().bearer_auth(token.trim()).send().await.unwrap();
    assert_eq!(answer.status(), 200);
}

#[tokio::test]
async fn where_no_token_is_needed_a_login_changes_nothing() {
    let gateway = Gateway::start(Settings::default()).await;
    let login = gateway
        .client
        .post(gateway.url("/api/v1/login"))
        .json(&json!({ "token": "anything" }));
    let login = login.send().await.unwrap();
    assert_eq!(login.status(), 204);
    assert!(!login.headers().contains_key("set-cookie"));
}
