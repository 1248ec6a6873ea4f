//! The outermost layer: gives every request its trace, every response its security headers, and
//! every error its body.

use std::time::Instant;

use axum::Json;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use opentelemetry::trace::{TraceContextExt as _, TraceId};
use serde::Serialize;
use tracing::{Instrument as _, Span, debug, field, info_span, warn};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::error::ApiError;
use crate::http_status::Code;

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

/// The body of every error.
#[derive(Debug, Serialize)]
struct ErrorReply<'a> {
    code: Code,
    message: &'a str,
    remedy: &'a str,
    trace_id: &'a str,
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
        trace.id = field::Empty
    );
    let trace_id = trace_id(&span);
    span.record("trace.id", &trace_id);
    let started = Instant::now();
    let response = next.run(request).instrument(span.clone()).await;
    let _entered = span.enter();
    let mut response = render(response, &trace_id);
    for (name, value) in HEADERS {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    debug!(
        http.status = response.status().as_u16(),
        duration_ms = started.elapsed().as_secs_f64() * 1000.0,
        "answered"
    );
    response
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
        message: &error.message,
        remedy: &error.remedy,
        trace_id,
    });
    let mut rendered = (error.code.status(), body).into_response();
    if let Some(after) = response.headers_mut().remove(header::RETRY_AFTER) {
        rendered.headers_mut().insert(header::RETRY_AFTER, after);
    }
    rendered
}

/// The trace the span belongs to, 32 hex digits; a fresh number when nothing traces.
fn trace_id(span: &Span) -> String {
    let context = span.context();
    let id = context.span().span_context().trace_id();
    if id == TraceId::INVALID {
        uuid::Uuid::now_v7().simple().to_string()
    } else {
        id.to_string()
    }
}
