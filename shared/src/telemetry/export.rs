//! Sending spans to a collector, beside the work: a bounded queue, a thread of its own, and a
//! count of what was lost.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use opentelemetry::Context;
use opentelemetry_otlp::{Protocol, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Span, SpanData, SpanExporter, SpanProcessor,
};

use super::{TelemetryError, TelemetrySettings, check_endpoint};
use crate::metrics::{self, SpanFate};
use crate::settings::Network;

/// Spans that may wait. A question makes about ten, a document about eight.
const QUEUE: usize = 4096;
/// Spans of one request to the collector.
const BATCH: usize = 512;
/// How long the collector has to take a batch.
const SEND_WITHIN: Duration = Duration::from_secs(5);

/// The processor that sends spans where `settings` say.
///
/// # Errors
/// An endpoint that is not allowed, or no HTTP client.
pub(super) fn processor(
    settings: &TelemetrySettings,
    network: &Network,
) -> Result<impl SpanProcessor + 'static, TelemetryError> {
    let exporter = otlp(&settings.otlp_endpoint, network)?;
    let every = Duration::from_millis(settings.otlp_interval_ms.max(100));
    Ok(Outbox::new(exporter, settings.otlp_endpoint.clone(), every))
}

/// An exporter with a client of our own: no proxies, no redirects. The blocking client must be
/// made outside the asynchronous runtime.
fn otlp(
    endpoint: &str,
    network: &Network,
) -> Result<opentelemetry_otlp::SpanExporter, TelemetryError> {
    check_endpoint(endpoint, network)?;
    let refuse = |reason: String| TelemetryError::Endpoint {
        endpoint: endpoint.to_owned(),
        reason,
    };
    let client = std::thread::spawn(|| {
        reqwest::blocking::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(SEND_WITHIN)
            .build()
    })
    .join();
    let client = match client {
        Ok(Ok(client)) => client,
        Ok(Err(error)) => return Err(refuse(error.to_string())),
        Err(_panic) => return Err(refuse("no HTTP client could be made".to_owned())),
    };
    opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_http_client(client)
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(endpoint)
        .build()
        .map_err(|error| refuse(error.to_string()))
}

/// Lets spans in while there is room; the batch processor behind it sends them.
#[derive(Debug)]
struct Outbox {
    inner: BatchSpanProcessor,
    waiting: Arc<AtomicUsize>,
}

impl Outbox {
    fn new<E: SpanExporter + 'static>(exporter: E, endpoint: String, every: Duration) -> Self {
        let waiting = Arc::new(AtomicUsize::new(0));
        let counted = Counted {
            exporter,
            endpoint,
            waiting: Arc::clone(&waiting),
            failing: AtomicBool::new(false),
        };
        // Its own queue is the larger one, so that whatever is dropped is dropped and counted here.
        let config = BatchConfigBuilder::default()
            .with_max_queue_size(2 * QUEUE)
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(every)
            .build();
        let inner = BatchSpanProcessor::builder(counted)
            .with_batch_config(config)
            .build();
        Self { inner, waiting }
    }
}

impl SpanProcessor for Outbox {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.inner.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if self.waiting.fetch_add(1, Ordering::Relaxed) < QUEUE {
            self.inner.on_end(span);
        } else {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            metrics::spans(SpanFate::Dropped, 1);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

/// Counts what an exporter sends, and says once when the collector stops to take spans.
struct Counted<E> {
    exporter: E,
    endpoint: String,
    waiting: Arc<AtomicUsize>,
    failing: AtomicBool,
}

impl<E> fmt::Debug for Counted<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counted")
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

impl<E: SpanExporter> SpanExporter for Counted<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let sent = self.exporter.export(batch).await;
        self.waiting.fetch_sub(count, Ordering::Relaxed);
        let was_failing = self.failing.swap(sent.is_err(), Ordering::Relaxed);
        match &sent {
            Ok(()) => {
                metrics::spans(SpanFate::Sent, count);
                if was_failing {
                    tracing::info!("the collector takes traces again");
                }
            }
            Err(error) => {
                metrics::spans(SpanFate::Refused, count);
                if !was_failing {
                    tracing::warn!(
                        %error,
                        "`{}` does not take traces, they are lost; start the collector, or empty \
                         `telemetry.otlp_endpoint`",
                        self.endpoint
                    );
                }
            }
        }
        sent
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
    use std::time::Instant;

    use opentelemetry::trace::{Tracer as _, TracerProvider as _};
    use opentelemetry_sdk::error::OTelSdkError;
    use opentelemetry_sdk::trace::SdkTracerProvider;

    use super::*;

    /// A collector that does not answer before it is told to, and then says what it is told.
    #[derive(Debug)]
    struct Stuck {
        asked: SyncSender<usize>,
        answer: Mutex<Receiver<bool>>,
    }

    impl SpanExporter for Stuck {
        async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
            self.asked.send(batch.len()).unwrap();
            let takes = self.answer.lock().unwrap().recv().unwrap_or(true);
            takes
                .then_some(())
                .ok_or_else(|| OTelSdkError::InternalFailure("no".to_owned()))
        }
    }

    /// The value of `trace_spans_total`.
    fn count(fate: &str) -> usize {
        let board = crate::service::HealthBoard::new("tester");
        let start = format!("trace_spans_total{{fate=\"{fate}\"}} ");
        metrics::read(&board.read())
            .text
            .lines()
            .find_map(|line| line.strip_prefix(&start))
            .map_or(0, |value| value.parse().unwrap())
    }

    #[test]
    fn a_collector_that_hangs_holds_up_nothing_and_what_is_lost_is_counted() {
        let (asked, requests) = sync_channel(100);
        let (tell, answer) = sync_channel(100);
        let stuck = Stuck {
            asked,
            answer: Mutex::new(answer),
        };
        let outbox = Outbox::new(stuck, String::new(), Duration::from_millis(100));
        let provider = SdkTracerProvider::builder()
            .with_span_processor(outbox)
            .build();
        let tracer = provider.tracer("test");
        // More than may wait, while the collector hangs: nothing blocks.
        let started = Instant::now();
        for _ in 0..2 * QUEUE {
            drop(tracer.start("work"));
        }
        assert!(started.elapsed() < Duration::from_secs(5));
        assert_eq!(count("dropped"), QUEUE);
        // The first batch is refused, the others are taken.
        let first = requests.recv_timeout(Duration::from_secs(10)).unwrap();
        tell.send(false).unwrap();
        drop(tell);
        provider
            .shutdown_with_timeout(Duration::from_secs(10))
            .unwrap();
        assert_eq!(count("refused"), first);
        assert_eq!(count("sent"), QUEUE - first);
    }
}
