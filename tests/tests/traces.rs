//! One trace from an upload to the moment it can be found, and one from a question to the last
//! token of its answer, across all processes; and the metrics of all of them on one page.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use futures::StreamExt as _;
use ibid_tests::collector::{CollectedSpan, Collector};
use ibid_tests::fake::{FakeOllama, Text};
use ibid_tests::harness::{Harness, Upload, wait_for};
use ibid_tests::workspace;
use shared::contract::{DocumentState, DocumentView, Question};

const LIMIT: Duration = Duration::from_mins(1);
/// A word of the document, the question and the answer that must leave no process but in them.
const SECRET: &str = "quorlax";
/// The fake model's pause between two tokens.
const PAUSE: Duration = Duration::from_millis(50);
/// The test reads a token later than the gateway has sent it: by the scheduling of two busy cores.
const TOLERANCE: Duration = Duration::from_millis(200);

struct Fixture {
    collector: Collector,
    // Speaks until the end of the test.
    _ollama: FakeOllama,
    harness: Harness,
}

async fn start() -> Result<Fixture> {
    let collector = Collector::start().await?;
    let ollama = FakeOllama::start()?;
    ollama.script(|script| {
        let text = format!("The {SECRET} pump is filled with forty-seven drops, once a year [1].");
        script.speech.text = Text::Fixed(text);
        script.speech.per_token = PAUSE;
    });
    let harness = Harness::start_with(
        &[],
        &[
            ("IBID_TELEMETRY__OTLP_ENDPOINT", &collector.endpoint()),
            ("IBID_TELEMETRY__OTLP_INTERVAL_MS", "200"),
            ("IBID_GENERATION__PROVIDER", "ollama"),
            ("IBID_GENERATION__OLLAMA_URL", &ollama.url()),
        ],
    )
    .await?;
    Ok(Fixture {
        collector,
        _ollama: ollama,
        harness,
    })
}

/// The spans of the trace that has a root called `root` and spans called `names`, once the
/// collector has them all.
async fn trace_with(
    collector: &Collector,
    root: &str,
    names: &[&str],
) -> Result<Vec<CollectedSpan>> {
    let what = format!("a trace from `{root}` with {names:?}");
    wait_for(&what, LIMIT, async || {
        let spans = collector.spans();
        let roots: Vec<_> = spans
            .iter()
            .filter(|span| span.name == root && span.parent.is_empty())
            .collect();
        let mut seen = BTreeSet::new();
        for root in roots {
            let trace = collector.trace(&root.trace);
            seen = trace.iter().map(|span| span.name.clone()).collect();
            if names.iter().all(|name| seen.contains(*name)) {
                return Ok(trace);
            }
        }
        Err(format!("{} spans, the trace has {seen:?}", spans.len()))
    })
    .await
}

fn services(trace: &[CollectedSpan]) -> BTreeSet<&str> {
    trace.iter().map(|span| span.service.as_str()).collect()
}

fn named<'a>(trace: &'a [CollectedSpan], name: &str) -> Result<&'a CollectedSpan> {
    trace
        .iter()
        .find(|span| span.name == name)
        .with_context(|| format!("no span `{name}`"))
}

/// Every span but the root hangs on another of the trace.
fn is_one_tree(trace: &[CollectedSpan]) -> Result<()> {
    let ids: BTreeSet<&str> = trace.iter().map(|span| span.id.as_str()).collect();
    let loose: Vec<_> = trace
        .iter()
        .filter(|span| !ids.contains(span.parent.as_str()))
        .map(|span| &span.name)
        .collect();
    ensure!(
        loose.len() == 1,
        "more than the root hang on nothing: {loose:?}"
    );
    Ok(())
}

/// Adds the document and waits until it can be found.
async fn upload(fixture: &Fixture) -> Result<DocumentView> {
    let text = format!("# Pumps\n\nThe {SECRET} pump is filled with forty-seven drops of oil.\n");
    let upload = Upload {
        path: "/notes/pumps.md".to_owned(),
        bytes: text.into_bytes(),
        ..Upload::default()
    };
    let client = fixture.harness.client();
    client.add(&upload).await?;
    let documents = client.wait_until_final(1, LIMIT).await?;
    let document = documents.into_iter().next().context("no document")?;
    ensure!(document.state == DocumentState::Ready, "{document:?}");
    Ok(document)
}

async fn upload_is_one_trace(fixture: &Fixture, document: &DocumentView) -> Result<()> {
    let way = [
        "/api/v1/documents",
        "catalog.v1.admit",
        "feed",
        "parse",
        "chunk",
        "embed",
        "index",
        "commit",
        "searchable",
    ];
    let trace = trace_with(&fixture.collector, "/api/v1/documents", &way).await?;
    is_one_tree(&trace)?;
    let expect = [
        "ibid-chunker",
        "ibid-embedder",
        "ibid-gateway",
        "ibid-indexer",
        "ibid-parser",
    ];
    ensure!(
        services(&trace) == BTreeSet::from(expect),
        "the trace is of {:?}",
        services(&trace)
    );
    let mut before = 0;
    for name in way {
        let span = named(&trace, name)?;
        ensure!(
            span.start >= before,
            "`{name}` began before what leads to it"
        );
        before = span.start;
    }
    let found = named(&trace, "searchable")?;
    ensure!(found.attributes.get("document.id") == Some(&document.id.to_string()));
    Ok(())
}

/// Asks, and returns when the first and the last token came, in nanoseconds since 1970.
async fn ask(fixture: &Fixture) -> Result<(u64, u64)> {
    let question = Question {
        text: format!("How many drops of oil does the {SECRET} pump take?"),
        k: 3,
        ..Question::default()
    };
    let url = fixture.harness.client().url().join("/api/v1/ask")?;
    let http = reqwest::Client::builder().no_proxy().build()?;
    let response = http.post(url).json(&question).send().await?;
    let response = response.error_for_status()?;
    let mut body = response.bytes_stream();
    let mut tokens = Vec::new();
    let mut text = String::new();
    while let Some(piece) = body.next().await {
        let piece = String::from_utf8(piece?.to_vec())?;
        if piece.contains("event: token") {
            let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
            tokens.push(u64::try_from(now.as_nanos())?);
        }
        text.push_str(&piece);
    }
    ensure!(
        text.contains("event: done"),
        "the answer did not end well:\n{text}"
    );
    let (first, last) = (tokens.first().copied(), tokens.last().copied());
    first
        .zip(last)
        .with_context(|| format!("no token:\n{text}"))
}

async fn question_is_one_trace(fixture: &Fixture) -> Result<()> {
    let (first, last) = ask(fixture).await?;
    let long = u64::try_from(PAUSE.as_nanos())? * 3;
    ensure!(
        last - first >= long,
        "the answer came at once, it was to stream"
    );

    let calls = [
        "/api/v1/ask",
        "query.v1.ask",
        "search.v1.keyword",
        "embed.v1.query",
        "search.v1.vector",
    ];
    let trace = trace_with(&fixture.collector, "/api/v1/ask", &calls).await?;
    is_one_tree(&trace)?;
    let expect = [
        "ibid-embedder",
        "ibid-gateway",
        "ibid-indexer",
        "ibid-query",
    ];
    ensure!(
        services(&trace) == BTreeSet::from(expect),
        "the trace is of {:?}",
        services(&trace)
    );
    let inner = ["search", "generate", "first_token"];
    let trace = trace_with(&fixture.collector, "/api/v1/ask", &inner).await?;
    let late = u64::try_from(TOLERANCE.as_nanos())?;
    for name in ["/api/v1/ask", "query.v1.ask", "generate"] {
        let end = named(&trace, name)?.end;
        ensure!(
            end + late >= last,
            "`{name}` ended {} ms before the last token came",
            (last - end) / 1_000_000
        );
    }
    let heard = named(&trace, "first_token")?.end;
    ensure!(
        heard <= first + late,
        "the first token was heard after it came"
    );
    Ok(())
}

/// Nothing of document, question or answer is in any span, and the documentation knows them all.
fn nothing_is_told(collector: &Collector) -> Result<()> {
    let documented = std::fs::read_to_string(workspace::root().join("docs/telemetry.md"))?;
    let is_listed = |word: &str| documented.contains(&format!("`{word}`"));
    for span in collector.spans() {
        let told = format!("{span:?}").to_lowercase();
        ensure!(
            !told.contains(SECRET),
            "`{}` tells too much: {told}",
            span.name
        );
        // Requests are named by their route, answers by their subject.
        let by_pattern = span.name.starts_with('/') || span.name.contains(".v1");
        ensure!(
            by_pattern || is_listed(&span.name),
            "`docs/telemetry.md` has no span `{}`",
            span.name
        );
        for key in span.attributes.keys() {
            ensure!(
                is_listed(key),
                "`docs/telemetry.md` has no field `{key}`, which `{}` has",
                span.name
            );
        }
    }
    Ok(())
}

async fn metrics(fixture: &Fixture) -> Result<String> {
    let url = fixture.harness.client().url().join("/metrics")?;
    let http = reqwest::Client::builder().no_proxy().build()?;
    let response = http.get(url).send().await?.error_for_status()?;
    let page = response.text().await?;
    ensure!(
        !page.to_lowercase().contains(SECRET),
        "the metrics tell too much"
    );
    Ok(page)
}

/// A line of `page` has all of `parts`.
fn has(page: &str, parts: &[&str]) -> Result<()> {
    let is_there = page
        .lines()
        .any(|line| parts.iter().all(|part| line.contains(part)));
    ensure!(is_there, "no {parts:?} in\n{page}");
    Ok(())
}

#[tokio::test]
async fn an_upload_is_one_trace_until_it_can_be_found() -> Result<()> {
    let fixture = start().await?;
    let document = upload(&fixture).await?;
    upload_is_one_trace(&fixture, &document).await?;

    let page = metrics(&fixture).await?;
    for service in [
        "parser", "chunker", "embedder", "indexer", "query", "gateway",
    ] {
        let labels = format!("{{service=\"{service}\"");
        has(&page, &["process_resident_memory_bytes", &labels])?;
        has(&page, &["service_ready", &labels, "} 1"])?;
    }
    for stage in ["parse", "chunk", "embed", "index"] {
        let stage = format!("stage=\"{stage}\"");
        let done = ["stage_work_seconds_count{", &stage, "outcome=\"done\""];
        has(&page, &done)?;
        let waiting = ["stage_queue_messages{", &stage, "state=\"waiting\"} 0"];
        has(&page, &waiting)?;
    }
    has(&page, &["catalog_documents{state=\"ready\"} 1"])?;
    has(&page, &["trace_spans_total{", "fate=\"sent\""])?;

    // What is still buffered is sent at the end of each process.
    let Fixture {
        collector, harness, ..
    } = fixture;
    let code = harness.stop(Duration::from_secs(40)).await?;
    ensure!(code == Some(0), "`ibid up` ended with {code:?}");
    let asked = collector.spans();
    ensure!(
        asked.iter().any(|span| span.name == "/metrics"),
        "the last request was not sent"
    );
    nothing_is_told(&collector)
}

#[tokio::test]
async fn a_question_is_one_trace_until_the_last_token() -> Result<()> {
    let fixture = start().await?;
    upload(&fixture).await?;
    question_is_one_trace(&fixture).await?;

    let page = metrics(&fixture).await?;
    for (family, labels) in [
        (
            "gateway_request_seconds_count",
            "route=\"/api/v1/ask\",status=\"2xx\"} 1",
        ),
        (
            "bus_reply_seconds_count",
            "outcome=\"ok\",subject=\"query.v1.ask\"} 1",
        ),
        ("query_first_token_seconds_count", "provider=\"ollama\"} 1"),
        (
            "query_answer_seconds_count",
            "outcome=\"done\",provider=\"ollama\"} 1",
        ),
    ] {
        has(&page, &[family, labels])?;
    }
    nothing_is_told(&fixture.collector)
}
