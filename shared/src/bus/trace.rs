//! Trace context in message headers (W3C `traceparent`).

use async_nats::HeaderMap;
use opentelemetry::propagation::{Extractor, Injector};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

struct Headers<'a>(&'a mut HeaderMap);

impl Injector for Headers<'_> {
    fn set(&mut self, key: &str, value: String) {
        self.0.insert(key, value);
    }
}

struct Received<'a>(&'a HeaderMap);

impl Extractor for Received<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(async_nats::HeaderValue::as_str)
    }

    fn keys(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _)| name.as_ref()).collect()
    }
}

/// Puts the current span's context into `headers`.
pub(super) fn inject(headers: &mut HeaderMap) {
    let context = Span::current().context();
    opentelemetry::global::get_text_map_propagator(|propagator| {
        propagator.inject_context(&context, &mut Headers(headers));
    });
}

/// Makes the sender's context the parent of `span`.
pub(super) fn adopt(span: &Span, headers: Option<&HeaderMap>) {
    if let Some(headers) = headers {
        let context = opentelemetry::global::get_text_map_propagator(|propagator| {
            propagator.extract(&Received(headers))
        });
        // Fails only without an OpenTelemetry layer, as in unit tests.
        if span.set_parent(context).is_err() {
            tracing::trace!("no tracer to hand the trace context to");
        }
    }
}
