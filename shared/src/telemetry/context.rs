//! Trace context as a text, for work that waits in a store between two processes.

use std::collections::HashMap;

use opentelemetry::trace::{TraceContextExt as _, TraceId};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

/// The W3C header, which is also what is stored.
const TRACEPARENT: &str = "traceparent";

/// The current span's context, to be stored beside what is to be done later; `None` when nothing
/// traces.
pub fn here() -> Option<String> {
    let context = Span::current().context();
    let mut carrier = HashMap::new();
    opentelemetry::global::get_text_map_propagator(|propagator| {
        propagator.inject_context(&context, &mut carrier);
    });
    carrier.remove(TRACEPARENT)
}

/// Makes a stored context the parent of `span`, which must not have been entered. A text that is
/// no context changes nothing.
pub fn follow(span: &Span, stored: Option<&str>) {
    let Some(stored) = stored else { return };
    let carrier = HashMap::from([(TRACEPARENT.to_owned(), stored.to_owned())]);
    let context =
        opentelemetry::global::get_text_map_propagator(|propagator| propagator.extract(&carrier));
    // Fails only without an OpenTelemetry layer, as in unit tests.
    if span.set_parent(context).is_err() {
        tracing::trace!("no tracer to hand the trace context to");
    }
}

/// The trace that `span` belongs to, 32 hex digits; `None` when nothing traces.
pub fn trace_id(span: &Span) -> Option<String> {
    let context = span.context();
    let id = context.span().span_context().trace_id();
    (id != TraceId::INVALID).then(|| id.to_string())
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
    use opentelemetry_sdk::propagation::TraceContextPropagator;
    use opentelemetry_sdk::trace::SdkTracerProvider;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[test]
    fn what_is_stored_is_followed_and_nonsense_is_not() {
        opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
        let provider = SdkTracerProvider::builder().build();
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, || {
            let id = |span: &Span| span.context().span().span_context().trace_id();
            assert_eq!(here(), None);
            let first = tracing::info_span!("first");
            let stored = first.in_scope(here);
            let later = tracing::info_span!("later");
            follow(&later, stored.as_deref());
            assert_eq!(id(&later), id(&first));
            let alone = tracing::info_span!("alone");
            follow(&alone, Some("nonsense"));
            assert_ne!(id(&alone), id(&first));
        });
    }
}
