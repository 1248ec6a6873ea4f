//! The outermost layer: gives every request its trace, every response its security headers, and
//! every error its body.

use axum::Json;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use schemars::JsonSchema;
use serde::Serialize;
use shared::telemetry;
use tracing::{Instrument as _, field, info_span, warn};

use crate::error::ApiError;
use crate::http_status::Code;
use crate::watch::Watch;

/// The page loads nothing from elsewhere, is shown in no frame, and tells no one where it led.
const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; \
         frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
];

/// Names the trace of a request in its answer.
const TRACE_ID: HeaderName = HeaderName::from_static("x-trace-id");

/// The body of every error.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorReply {
    /// For programs.
    pub code: Code,
    /// What went wrong, for people.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
    /// The request's trace, 32 hex digits, as in the log.
    pub trace_id: String,
}

/// Runs a request in a span of its own. The path is logged as its pattern: a question or a name
/// never enters the log.
pub async fn report(request: Request, next: Next) -> Response {
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or("(none)", MatchedPath::as_str)
        .to_owned();
    let method = request.method().clone();
    let span = info_span!(
        "request",
        otel.name = %route,
        http.method = %method,
        http.route = %route,
        http.status = field::Empty,
        trace.id = field::Empty
    );
    let parent = request
        .headers()
        .get("traceparent")
        .and_then(|value| value.to_str().ok());
    telemetry::follow(&span, parent);
    let trace_id = telemetry::trace_id(&span)
        .or_else(|| trace_of(parent))
        .unwrap_or_else(|| uuid::Uuid::now_v7().simple().to_string());
    span.record("trace.id", &trace_id);
    let watch = Watch::start(&span, method, route);
    let response = next.run(request).instrument(span.clone()).await;
    let mut response = span.in_scope(|| render(response, &trace_id));
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        // A route may be stricter.
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    if let Ok(trace_id) = HeaderValue::from_str(&trace_id) {
        headers.insert(TRACE_ID, trace_id);
    }
    watch.over(response)
}

/// Writes the body of a failed request and logs it once, when the cause is ours.
fn render(mut response: Response, trace_id: &str) -> Response {
    let Some(error) = response.extensions_mut().remove::<ApiError>() else {
        return response;
    };
    if error.code.is_ours() {
        let cause = error.cause.as_deref();
        warn!(
            http.status = error.code.status().as_u16(),
            cause, "{}", error.message
        );
    }
    let body = Json(ErrorReply {
        code: error.code,
        message: error.message,
        remedy: error.remedy,
        trace_id: trace_id.to_owned(),
    });
    let mut headers = std::mem::take(response.headers_mut());
    for name in [header::CONTENT_LENGTH, header::CONTENT_TYPE] {
        headers.remove(name);
    }
    let mut rendered = (error.code.status(), body).into_response();
    rendered.headers_mut().extend(headers);
    rendered
}

/// The trace that a `traceparent` header names, for when nothing traces here.
fn trace_of(parent: Option<&str>) -> Option<String> {
    let id = parent?.split('-').nth(1)?;
    let is_id = id.len() == 32
        && id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        && id.bytes().any(|b| b != b'0');
    is_id.then(|| id.to_owned())
}
