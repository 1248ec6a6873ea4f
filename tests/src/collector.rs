//! A collector of traces, as a test needs one: takes OTLP over HTTP and keeps the spans.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::ResourceSpans;
use prost::Message as _;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A span as it was exported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectedSpan {
    /// `service.name` of its process: `ibid-parser`, …
    pub service: String,
    /// Its name.
    pub name: String,
    /// Its trace, 32 hex digits.
    pub trace: String,
    /// Its id, 16 hex digits.
    pub id: String,
    /// Its parent's id; empty for a root.
    pub parent: String,
    /// Nanoseconds since 1970.
    pub start: u64,
    /// Nanoseconds since 1970.
    pub end: u64,
    /// Its attributes, values as text.
    pub attributes: BTreeMap<String, String>,
    /// Names and attributes of its events.
    pub events: Vec<(String, BTreeMap<String, String>)>,
}

/// A running collector; ended when dropped.
#[derive(Debug)]
pub struct Collector {
    address: SocketAddr,
    spans: Spans,
    server: JoinHandle<()>,
}

type Spans = Arc<Mutex<Vec<CollectedSpan>>>;

impl Collector {
    /// Starts one on a free port of loopback.
    ///
    /// # Errors
    /// No port.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let spans = Spans::default();
        let router = Router::new()
            .route("/v1/traces", post(take))
            .layer(DefaultBodyLimit::max(64 << 20))
            .with_state(Arc::clone(&spans));
        let server = tokio::spawn(async move {
            // Ends only with the test.
            let _ended = axum::serve(listener, router).await;
        });
        Ok(Self {
            address,
            spans,
            server,
        })
    }

    /// For `telemetry.otlp_endpoint`.
    pub fn endpoint(&self) -> String {
        format!("http://{}/v1/traces", self.address)
    }

    /// All spans that have come.
    pub fn spans(&self) -> Vec<CollectedSpan> {
        lock(&self.spans).clone()
    }

    /// The spans of one trace, by the time they started.
    pub fn trace(&self, id: &str) -> Vec<CollectedSpan> {
        let mut spans = self.spans();
        spans.retain(|span| span.trace == id);
        spans.sort_by_key(|span| span.start);
        spans
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn take(State(spans): State<Spans>, body: Bytes) -> Response {
    match ExportTraceServiceRequest::decode(body) {
        Ok(request) => {
            let mut all = lock(&spans);
            all.extend(request.resource_spans.into_iter().flat_map(of_process));
            // The empty message is the whole answer.
            ([(header::CONTENT_TYPE, "application/x-protobuf")], "").into_response()
        }
        Err(error) => (StatusCode::BAD_REQUEST, error.to_string()).into_response(),
    }
}

fn of_process(process: ResourceSpans) -> Vec<CollectedSpan> {
    let resource = process.resource.unwrap_or_default();
    let mut about = texts(resource.attributes);
    let service = about.remove("service.name").unwrap_or_default();
    let spans = process
        .scope_spans
        .into_iter()
        .flat_map(|scope| scope.spans);
    spans
        .map(|span| CollectedSpan {
            service: service.clone(),
            name: span.name,
            trace: hex(&span.trace_id),
            id: hex(&span.span_id),
            parent: hex(&span.parent_span_id),
            start: span.start_time_unix_nano,
            end: span.end_time_unix_nano,
            attributes: texts(span.attributes),
            events: span
                .events
                .into_iter()
                .map(|event| (event.name, texts(event.attributes)))
                .collect(),
        })
        .collect()
}

fn texts(attributes: Vec<KeyValue>) -> BTreeMap<String, String> {
    attributes
        .into_iter()
        .map(|attribute| (attribute.key, text(attribute.value)))
        .collect()
}

fn text(value: Option<AnyValue>) -> String {
    match value.and_then(|value| value.value) {
        Some(any_value::Value::StringValue(text)) => text,
        Some(any_value::Value::BoolValue(value)) => value.to_string(),
        Some(any_value::Value::IntValue(value)) => value.to_string(),
        Some(any_value::Value::DoubleValue(value)) => value.to_string(),
        other => format!("{other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _infallible = write!(text, "{byte:02x}");
        text
    })
}

fn lock(spans: &Spans) -> MutexGuard<'_, Vec<CollectedSpan>> {
    spans.lock().unwrap_or_else(PoisonError::into_inner)
}
