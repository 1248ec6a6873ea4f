//! The families of the registry.

use std::sync::LazyLock;

use prometheus::core::Collector;
use prometheus::{
    HistogramOpts, HistogramVec, IntCounterVec, IntGaugeVec, Opts, Registry, proto::MetricType,
};

/// A batch of a stage takes milliseconds, a large document minutes.
const WORK: [f64; 15] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];
/// A reply of a service or of the gateway; a streamed answer is the long end.
const REPLY: [f64; 15] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.08, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0,
];
/// A model's answer, or its first token.
const SPEECH: [f64; 15] = [
    0.01, 0.025, 0.05, 0.08, 0.13, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0,
];

/// The families of this process.
pub(super) static FAMILIES: LazyLock<Families> = LazyLock::new(Families::new);

/// A family as its documentation has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Description {
    /// Its name.
    pub name: &'static str,
    /// `counter`, `gauge` or `histogram`.
    pub kind: &'static str,
    /// Its labels, without `service` and `instance`.
    pub labels: &'static [&'static str],
    /// What it means.
    pub help: &'static str,
}

/// All families.
pub(super) struct Families {
    pub registry: Registry,
    pub described: Vec<Description>,
    pub work: HistogramVec,
    pub failures: IntCounterVec,
    pub dead_letters: IntCounterVec,
    pub pages: IntCounterVec,
    pub chunks: IntCounterVec,
    pub replies: HistogramVec,
    pub refusals: IntCounterVec,
    pub requests: HistogramVec,
    pub first_token: HistogramVec,
    pub answers: HistogramVec,
    pub answer_tokens: IntCounterVec,
    pub spans: IntCounterVec,
    pub ready: IntGaugeVec,
    pub in_hand: IntGaugeVec,
    pub started: IntGaugeVec,
    pub memory: IntGaugeVec,
    pub children_memory: IntGaugeVec,
}

impl Families {
    fn new() -> Self {
        let mut make = Maker::default();
        Self {
            work: make.seconds(
                "stage_work_seconds",
                &["stage", "outcome"],
                &WORK,
                "From a message in hand to its verdict.",
            ),
            failures: make.counter(
                "stage_failures_total",
                &["stage", "class", "code"],
                "Work that failed, by what is done about it and why.",
            ),
            dead_letters: make.counter(
                "stage_dead_letters_total",
                &["stage", "code"],
                "Dead letters written.",
            ),
            pages: make.counter("stage_pages_total", &["stage"], "Pages made."),
            chunks: make.counter("stage_chunks_total", &["stage"], "Chunks passed on."),
            replies: make.seconds(
                "bus_reply_seconds",
                &["subject", "outcome"],
                &REPLY,
                "From a request to its reply, or to the end of its stream.",
            ),
            refusals: make.counter(
                "bus_refusals_total",
                &["subject", "code"],
                "Requests that were not worked on.",
            ),
            requests: make.seconds(
                "gateway_request_seconds",
                &["method", "route", "status"],
                &REPLY,
                "From a request to the last byte of its answer.",
            ),
            first_token: make.seconds(
                "query_first_token_seconds",
                &["provider"],
                &SPEECH,
                "From a question to the first token of its answer.",
            ),
            answers: make.seconds(
                "query_answer_seconds",
                &["provider", "outcome"],
                &SPEECH,
                "From a question to the end of its answer.",
            ),
            answer_tokens: make.counter(
                "query_answer_tokens_total",
                &["provider"],
                "Tokens of answers, as far as the provider tells.",
            ),
            spans: make.counter("trace_spans_total", &["fate"], "Spans to be sent."),
            ready: make.gauge("service_ready", &[], "1 while the service takes work."),
            in_hand: make.gauge(
                "service_in_hand_messages",
                &[],
                "Messages and requests in hand.",
            ),
            started: make.gauge(
                "process_start_time_seconds",
                &[],
                "When the service started, in seconds since 1970.",
            ),
            memory: make.gauge(
                "process_resident_memory_bytes",
                &[],
                "Memory of the process.",
            ),
            children_memory: make.gauge(
                "process_children_resident_memory_bytes",
                &[],
                "Memory of the processes it has started.",
            ),
            registry: make.registry,
            described: make.described,
        }
    }
}

/// Makes families and registers them.
#[derive(Default)]
struct Maker {
    registry: Registry,
    described: Vec<Description>,
}

type Name = &'static str;
type Labels = &'static [&'static str];

#[expect(
    clippy::expect_used,
    reason = "names and labels are constants, and the tests make every family"
)]
impl Maker {
    fn counter(&mut self, name: Name, labels: Labels, help: Name) -> IntCounterVec {
        let family = IntCounterVec::new(Opts::new(name, help), labels).expect("a counter");
        self.keep((name, labels, help), MetricType::COUNTER, &family);
        family
    }

    fn gauge(&mut self, name: Name, labels: Labels, help: Name) -> IntGaugeVec {
        let family = IntGaugeVec::new(Opts::new(name, help), labels).expect("a gauge");
        self.keep((name, labels, help), MetricType::GAUGE, &family);
        family
    }

    fn seconds(&mut self, name: Name, labels: Labels, buckets: &[f64], help: Name) -> HistogramVec {
        let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
        let family = HistogramVec::new(options, labels).expect("a histogram");
        self.keep((name, labels, help), MetricType::HISTOGRAM, &family);
        family
    }

    fn keep<C: Collector + Clone + 'static>(
        &mut self,
        (name, labels, help): (Name, Labels, Name),
        kind: MetricType,
        family: &C,
    ) {
        self.registry
            .register(Box::new(family.clone()))
            .expect("a name of its own");
        self.described.push(Description {
            name,
            kind: match kind {
                MetricType::COUNTER => "counter",
                MetricType::HISTOGRAM => "histogram",
                _ => "gauge",
            },
            labels,
            help,
        });
    }
}
