//! One tidy line out of what a child wrote: time, who, what. The services log JSON to us, the
//! NATS server its own form.

use std::borrow::Cow;
use std::fmt::Write as _;

use console::Style;
use serde_json::{Map, Value};

use crate::screen::style;

/// Room for the longest name.
const NAME_WIDTH: usize = 8;

/// A child's line as people see it; `None` when it is not worth a line.
pub fn tidy(service: &str, line: &str) -> Option<String> {
    let line = line.trim_end();
    if line.is_empty() {
        return None;
    }
    let said = if service == "nats" {
        said_by_nats(line)?
    } else {
        said_in_json(line)
    };
    let name = colour_of(service).apply_to(format!("{service:<NAME_WIDTH$}"));
    let text = strip_controls(&said.text);
    let text = match said.level {
        Level::Info => text.into_owned(),
        Level::Quiet => style().dim().apply_to(text).to_string(),
        Level::Warn => style()
            .yellow()
            .apply_to(format!("warning: {text}"))
            .to_string(),
        Level::Error => style().red().apply_to(format!("error: {text}")).to_string(),
    };
    Some(format!("{name} │ {text}"))
}

/// The time of day before a line.
pub fn timed(line: &str) -> String {
    let now = jiff::Zoned::now().strftime("%H:%M:%S").to_string();
    format!("{} {line}", style().dim().apply_to(now))
}

/// The supervisor's own word on a child.
pub fn about(service: &str, text: &str) -> String {
    let name = colour_of(service).apply_to(format!("{service:<NAME_WIDTH$}"));
    format!("{name} │ {}", style().yellow().apply_to(text))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Quiet,
    Info,
    Warn,
    Error,
}

struct Said<'a> {
    level: Level,
    text: Cow<'a, str>,
}

fn said_in_json(line: &str) -> Said<'_> {
    let plain = || Said {
        level: Level::Info,
        text: Cow::Borrowed(line),
    };
    let Ok(Value::Object(event)) = serde_json::from_str(line) else {
        return plain();
    };
    let Some(Value::Object(fields)) = event.get("fields") else {
        return plain();
    };
    let level = match event.get("level").and_then(Value::as_str) {
        Some("ERROR") => Level::Error,
        Some("WARN") => Level::Warn,
        Some("DEBUG" | "TRACE") => Level::Quiet,
        _ => Level::Info,
    };
    let mut text = fields
        .get("message")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    append_fields(&mut text, fields);
    Said {
        level,
        text: Cow::Owned(text),
    }
}

fn append_fields(text: &mut String, fields: &Map<String, Value>) {
    for (key, value) in fields {
        // The prefix says the service already.
        if key == "message" || key == "service" || key.starts_with("log.") {
            continue;
        }
        let shown = match value {
            Value::String(value) => write!(text, " {key}={value}"),
            value => write!(text, " {key}={value}"),
        };
        debug_assert!(shown.is_ok(), "writing to a string");
    }
}

/// `[123] 2026/01/31 10:00:00.000000 [WRN] text`. Its greetings are left out.
fn said_by_nats(line: &str) -> Option<Said<'_>> {
    for (mark, level) in [
        ("[ERR]", Level::Error),
        ("[FTL]", Level::Error),
        ("[WRN]", Level::Warn),
    ] {
        if let Some((_, text)) = line.split_once(mark) {
            return Some(Said {
                level,
                text: Cow::Borrowed(text.trim_start()),
            });
        }
    }
    let known = ["[INF]", "[DBG]", "[TRC]"]
        .iter()
        .any(|mark| line.contains(mark));
    (!known).then_some(Said {
        level: Level::Info,
        text: Cow::Borrowed(line),
    })
}

/// A log line must not be able to drive the terminal.
fn strip_controls(text: &str) -> Cow<'_, str> {
    if text.chars().any(|c| c.is_control() && c != '\t') {
        Cow::Owned(
            console::strip_ansi_codes(text)
                .chars()
                .filter(|c| !c.is_control() || *c == '\t')
                .collect(),
        )
    } else {
        Cow::Borrowed(text)
    }
}

fn colour_of(service: &str) -> Style {
    match service.trim_end_matches(|c: char| c == '-' || c.is_ascii_digit()) {
        "parser" => style().blue(),
        "chunker" => style().cyan(),
        "embedder" => style().magenta(),
        "indexer" => style().green(),
        "query" => style().yellow(),
        "gateway" => style().white().bold(),
        _ => style().dim(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(service: &str, line: &str, expect: Option<&str>) {
        let got = tidy(service, line);
        let got = got.as_deref().map(console::strip_ansi_codes);
        assert_eq!(got.as_deref(), expect, "{line}");
    }

    #[test]
    fn lines_of_all_children_look_alike() {
        check(
            "parser",
            r#"{"timestamp":"t","level":"INFO","fields":{"message":"parsed","document.id":"0a","pages":3,"service":"parser"}}"#,
            Some("parser   │ parsed document.id=0a pages=3"),
        );
        check(
            "indexer",
            r#"{"level":"WARN","fields":{"message":"slow"}}"#,
            Some("indexer  │ warning: slow"),
        );
        check(
            "query",
            r#"{"level":"ERROR","fields":{"message":"lost"}}"#,
            Some("query    │ error: lost"),
        );
        check(
            "embedder",
            "thread panicked",
            Some("embedder │ thread panicked"),
        );
        check("embedder", r#"{"a":1}"#, Some(r#"embedder │ {"a":1}"#));
        check("gateway", "", None);
        check("gateway", "a\u{1b}[2Jb\u{7}\n", Some("gateway  │ ab"));
        check(
            "nats",
            "[9] 2026/01/31 10:00:00.1 [INF] Starting nats-server",
            None,
        );
        check("nats", "[9] 2026/01/31 10:00:00.1 [INF] ", None);
        check(
            "nats",
            "[9] 2026/01/31 10:00:00.1 [WRN] slow",
            Some("nats     │ warning: slow"),
        );
        check(
            "nats",
            "nats-server: bad flag",
            Some("nats     │ nats-server: bad flag"),
        );
    }
}
