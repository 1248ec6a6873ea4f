//! What a running process counts and measures: one registry per process, in Prometheus' words.
//!
//! Labels are stages, subjects, routes, outcomes and codes: few values, and never anything of a
//! document. The gateway gathers the registries of all processes ([`crate::bus::Bus::gather_metrics`]) and
//! adds `service` and `instance`. `docs/telemetry.md` lists every family; a test compares.

mod clock;
mod families;
mod process;

use std::time::Duration;

use prometheus::TextEncoder;

pub use clock::{ReplyClock, ReplyOutcome, SpeechClock, SpeechOutcome, WorkClock, WorkOutcome};
pub use families::Description;

use crate::contract::subject::Stage;
use crate::contract::{ErrorCode, Health, ProcessMetrics};
use families::FAMILIES;

/// Methods with a label of their own; a client may send any other word as one.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// The class of a stage's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureClass {
    /// It is tried again.
    Retry,
    /// It never works.
    Reject,
    /// The process could not go on.
    Stop,
}

impl FailureClass {
    fn name(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Reject => "reject",
            Self::Stop => "stop",
        }
    }
}

/// What became of spans that were to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpanFate {
    /// The collector has them.
    Sent,
    /// Too many waited.
    Dropped,
    /// The collector did not take them.
    Refused,
}

impl SpanFate {
    fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Dropped => "dropped",
            Self::Refused => "refused",
        }
    }
}

/// Counts a stage's failure.
pub(crate) fn failed(stage: Stage, class: FailureClass, code: ErrorCode) {
    FAMILIES
        .failures
        .with_label_values(&[stage.name(), class.name(), &code_name(code)])
        .inc();
}

/// Counts a dead letter that was written.
pub(crate) fn buried(stage: Stage, code: ErrorCode) {
    FAMILIES
        .dead_letters
        .with_label_values(&[stage.name(), &code_name(code)])
        .inc();
}

/// Counts what a stage has made.
pub(crate) fn made(stage: Stage, pages: u32, chunks: u32) {
    for (family, made) in [(&FAMILIES.pages, pages), (&FAMILIES.chunks, chunks)] {
        if made > 0 {
            family
                .with_label_values(&[stage.name()])
                .inc_by(u64::from(made));
        }
    }
}

/// Counts a request that was not worked on.
pub(crate) fn refused(subject: &str, code: ErrorCode) {
    FAMILIES
        .refusals
        .with_label_values(&[subject, &code_name(code)])
        .inc();
}

/// Counts spans by what became of them.
pub(crate) fn spans(fate: SpanFate, count: usize) {
    FAMILIES
        .spans
        .with_label_values(&[fate.name()])
        .inc_by(u64::try_from(count).unwrap_or(u64::MAX));
}

/// Notes a request of the gateway that is over. `route` is the pattern, never the path.
pub fn gateway_request(method: &str, route: &str, status: u16, took: Duration) {
    let method = METHODS
        .into_iter()
        .find(|known| *known == method)
        .unwrap_or("other");
    let class = match status {
        200..=299 => "2xx",
        300..=399 => "3xx",
        400..=499 => "4xx",
        500..=599 => "5xx",
        _ => "other",
    };
    FAMILIES
        .requests
        .with_label_values(&[method, route, class])
        .observe(took.as_secs_f64());
}

/// Everything the process has counted, as it tells it to whoever asks.
pub(crate) fn read(health: &Health) -> ProcessMetrics {
    process::measure(health);
    // Fails only for a family without a name; the test of the families makes them all.
    let text = TextEncoder::new()
        .encode_to_string(&FAMILIES.registry.gather())
        .unwrap_or_default();
    ProcessMetrics {
        service: health.service.clone(),
        pid: health.pid,
        host: health.host.clone(),
        text,
    }
}

/// Every family of the registry, used or not.
pub fn describe() -> &'static [Description] {
    &FAMILIES.described
}

/// A code as it stands on the wire.
fn code_name(code: ErrorCode) -> String {
    serde_json::to_value(code)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::HealthBoard;

    /// One registry serves all tests of the process, so each has labels of its own.
    fn text() -> String {
        let board = HealthBoard::new("tester");
        board.set_ready();
        read(&board.read()).text
    }

    #[track_caller]
    fn has(line: &str) {
        let text = text();
        assert!(
            text.lines().any(|l| l == line),
            "`{line}` is not in\n{text}"
        );
    }

    #[test]
    fn what_was_counted_is_told() {
        failed(Stage::Parse, FailureClass::Reject, ErrorCode::NoText);
        has(r#"stage_failures_total{class="reject",code="no_text",stage="parse"} 1"#);
        buried(Stage::Chunk, ErrorCode::TooManyAttempts);
        has(r#"stage_dead_letters_total{code="too_many_attempts",stage="chunk"} 1"#);
        made(Stage::Embed, 0, 7);
        has(r#"stage_chunks_total{stage="embed"} 7"#);
        assert!(!text().contains(r#"stage_pages_total{stage="embed"}"#));
        refused("some.v1.thing", ErrorCode::Busy);
        has(r#"bus_refusals_total{code="busy",subject="some.v1.thing"} 1"#);
        has("service_ready 1");
    }

    #[test]
    fn a_word_of_the_client_makes_no_label() {
        gateway_request("GET", "/api/v1/things/{id}", 404, Duration::from_millis(3));
        gateway_request("MKCOL", "(none)", 599, Duration::from_millis(3));
        has(
            r#"gateway_request_seconds_count{method="GET",route="/api/v1/things/{id}",status="4xx"} 1"#,
        );
        has(r#"gateway_request_seconds_count{method="other",route="(none)",status="5xx"} 1"#);
    }

    #[test]
    fn memory_is_that_of_this_process() {
        let text = text();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("process_resident_memory_bytes "))
            .unwrap();
        let bytes: f64 = line.parse().unwrap();
        assert!(bytes > 1_000_000.0, "{bytes}");
    }
}
