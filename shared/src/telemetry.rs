//! Logs to standard error and, when an endpoint is set, traces over OTLP.
//!
//! Document text never enters a log or a span; ids, counts and durations do. `docs/telemetry.md`
//! lists the spans.

mod context;
mod export;

use std::io::IsTerminal as _;
use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use serde::{Deserialize, Serialize};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

pub use context::{follow, here, trace_id};

use crate::settings::Network;

/// What is logged and traced. Section `telemetry`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetrySettings {
    /// Which events are logged, as `level` or `target=level`, separated by commas.
    pub filter: String,
    /// Log lines as JSON.
    pub json: bool,
    /// Where traces are sent, such as `http://127.0.0.1:4318/v1/traces`; empty for nowhere.
    pub otlp_endpoint: String,
    /// Milliseconds between two sendings of traces, at least 100.
    pub otlp_interval_ms: u64,
}

impl Default for TelemetrySettings {
    fn default() -> Self {
        Self {
            filter: "info".to_owned(),
            json: false,
            otlp_endpoint: String::new(),
            otlp_interval_ms: 2_000,
        }
    }
}

/// What is traced: our own crates, whose spans `docs/telemetry.md` lists, and no library's.
const TRACED: &str =
    "off,shared=info,parser=info,chunker=info,embedder=info,indexer=info,query=info,gateway=info";

/// Why telemetry could not start.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// A filter that is none.
    #[error("`telemetry.filter` is `{filter}`: {reason}; use a level such as `info`")]
    Filter {
        /// As set.
        filter: String,
        /// Why not.
        reason: String,
    },
    /// An endpoint that is not allowed.
    #[error("`telemetry.otlp_endpoint` is `{endpoint}`: {reason}")]
    Endpoint {
        /// As set.
        endpoint: String,
        /// Why not.
        reason: String,
    },
    /// Started twice.
    #[error("telemetry has started already")]
    Twice,
}

/// Ends telemetry when dropped: what is buffered is sent, within a deadline.
pub struct Telemetry {
    provider: SdkTracerProvider,
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        if let Err(error) = self.provider.shutdown_with_timeout(Duration::from_secs(2)) {
            tracing::debug!(%error, "traces were not all sent");
        }
    }
}

/// Whether the settings hold, without starting anything.
///
/// # Errors
/// A filter that is none, or an endpoint that is not allowed.
pub fn check(settings: &TelemetrySettings, network: &Network) -> Result<(), TelemetryError> {
    filter(settings)?;
    if !settings.otlp_endpoint.is_empty() {
        check_endpoint(&settings.otlp_endpoint, network)?;
    }
    Ok(())
}

fn filter(settings: &TelemetrySettings) -> Result<EnvFilter, TelemetryError> {
    EnvFilter::try_new(&settings.filter).map_err(|error| TelemetryError::Filter {
        filter: settings.filter.clone(),
        reason: error.to_string(),
    })
}

/// Starts logs and traces of service `name`. Call once per process, before anything else.
///
/// # Errors
/// Settings that do not hold, or a second call.
pub fn start(
    name: &'static str,
    settings: &TelemetrySettings,
    network: &Network,
) -> Result<Telemetry, TelemetryError> {
    let filter = filter(settings)?;
    let resource = Resource::builder()
        .with_service_name(format!("ibid-{name}"))
        .build();
    let mut provider = SdkTracerProvider::builder().with_resource(resource);
    if !settings.otlp_endpoint.is_empty() {
        provider = provider.with_span_processor(export::processor(settings, network)?);
    }
    let provider = provider.build();
    opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
    // Where in the code, on which thread and how long idle is nothing that people look for.
    let traces = tracing_opentelemetry::layer()
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        .with_tracer(provider.tracer("ibid"));
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false);
    let lines = if settings.json {
        lines.json().boxed()
    } else {
        lines.compact().boxed()
    };
    tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .with(traces.with_filter(EnvFilter::new(TRACED)))
        .try_init()
        .map_err(|_already| TelemetryError::Twice)?;
    Ok(Telemetry { provider })
}

/// Refuses an endpoint that is no address or not allowed.
fn check_endpoint(endpoint: &str, network: &Network) -> Result<(), TelemetryError> {
    let refuse = |reason: String| TelemetryError::Endpoint {
        endpoint: endpoint.to_owned(),
        reason,
    };
    let url = reqwest::Url::parse(endpoint).map_err(|error| refuse(error.to_string()))?;
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    if network.permits(host) {
        return Ok(());
    }
    Err(refuse(format!(
        "`{host}` is not on this machine; add it to `network.allow` to permit it"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_do_not_hold_are_told_before_anything_starts() {
        #[track_caller]
        fn check(filter: &str, otlp_endpoint: &str, expect: Option<&str>) {
            let settings = TelemetrySettings {
                filter: filter.to_owned(),
                otlp_endpoint: otlp_endpoint.to_owned(),
                ..TelemetrySettings::default()
            };
            let error = super::check(&settings, &Network::default()).err();
            let error = error.map(|error| error.to_string());
            match expect {
                None => assert_eq!(error, None),
                Some(part) => assert!(error.clone().is_some_and(|e| e.contains(part)), "{error:?}"),
            }
        }
        check("info", "", None);
        check("warn,shared=debug", "http://127.0.0.1:4318/v1/traces", None);
        check(
            "info",
            "http://collector.example:4318",
            Some("network.allow"),
        );
        check("info", "nowhere", Some("nowhere"));
        check("shared=loud", "", Some("telemetry.filter"));
    }
}
