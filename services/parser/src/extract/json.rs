//! JSON and JSON lines: read as far as they go, values as written.

use json_event_parser::{JsonEvent, LowLevelJsonParser, LowLevelJsonParserResult};

use super::data::{MOST_NESTED, Pages, Value, write};
use super::lines::{escape_marks, fenced};
use super::{ExtractError, Extraction, Extractor, Input, charset};

/// Openings that the parser keeps account of; a byte each. Beyond, the text is broken.
const MOST_OPEN: usize = 1 << 20;
/// Broken lines that are told one by one.
const MOST_TOLD: usize = 5;

pub(super) struct JsonExtractor;

impl Extractor for JsonExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let decoded = charset::decode(input.bytes);
        let mut doubts = decoded.doubts();
        let reading = read(&decoded.text);
        if reading.broken_at.is_some() && is_lines(&decoded.text) {
            return Ok(lines(&decoded.text, doubts));
        }
        let mut pages = Pages::default();
        if let Some(value) = &reading.value {
            write(&mut pages, value, 2);
        }
        if reading.flattened {
            doubts.push(format!(
                "values nested deeper than {MOST_NESTED} are read as one list"
            ));
        }
        if let Some((line, rest)) = reading.broken_at {
            doubts.push(format!("the JSON breaks off at line {line}"));
            if pages.is_empty() {
                pages.block(&escape_marks(rest));
            } else if rest.chars().any(char::is_alphanumeric) {
                pages.block(&fenced(rest, ""));
            }
        }
        if pages.is_empty() && !decoded.text.trim().is_empty() {
            pages.block(&empty(&decoded.text)?);
        }
        let title = reading.value.as_ref().and_then(title);
        Ok(Extraction {
            title,
            pages: pages.finish(doubts),
            ..Extraction::default()
        })
    }
}

pub(super) struct JsonLinesExtractor;

impl Extractor for JsonLinesExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let decoded = charset::decode(input.bytes);
        let doubts = decoded.doubts();
        Ok(lines(&decoded.text, doubts))
    }
}

/// JSON that holds nothing to read: what is short can be shown as it is.
fn empty(text: &str) -> Result<String, ExtractError> {
    if text.len() <= 1000 {
        return Ok(fenced(text, ""));
    }
    Err(ExtractError::Damaged {
        what: "it holds brackets and no values".to_owned(),
    })
}

fn title(value: &Value) -> Option<String> {
    let title = value.get("title")?.text()?.trim();
    (!title.is_empty() && title.len() <= 200 && !title.contains('\n')).then(|| title.to_owned())
}

/// Whether two lines and more are values by themselves.
fn is_lines(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let is_value = |line: Option<&str>| {
        line.is_some_and(|line| line.starts_with(['{', '[']) && read(line).broken_at.is_none())
    };
    is_value(lines.next()) && is_value(lines.next())
}

fn lines(text: &str, mut doubts: Vec<String>) -> Extraction {
    let (mut values, mut broken) = (Vec::new(), String::new());
    let mut told = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() {
            continue;
        }
        let reading = read(line);
        if let Some(value) = reading.value.filter(|_| reading.broken_at.is_none()) {
            values.push(value);
        } else {
            broken.push_str(line);
            broken.push('\n');
            told.push(number);
        }
    }
    let count = told.len();
    for number in told.iter().take(MOST_TOLD) {
        doubts.push(format!("line {number} is no JSON and is kept as text"));
    }
    if count > MOST_TOLD {
        doubts.push(format!("{} more lines are no JSON", count - MOST_TOLD));
    }
    let mut pages = Pages::default();
    match <[Value; 1]>::try_from(values) {
        Ok([value]) => write(&mut pages, &value, 2),
        Err(values) => write(&mut pages, &Value::List(values), 2),
    }
    if !broken.is_empty() {
        pages.block(&fenced(&broken, ""));
    }
    Extraction {
        pages: pages.finish(doubts),
        ..Extraction::default()
    }
}

/// JSON as far as it goes.
pub(super) struct Reading<'a> {
    /// What was read.
    pub(super) value: Option<Value>,
    /// The line where it breaks off, from 1, and the text from there on.
    pub(super) broken_at: Option<(u64, &'a str)>,
    /// Whether some values lay too deep to be kept apart.
    flattened: bool,
}

/// Reads `text`, the text of a whole file.
pub(super) fn read(text: &str) -> Reading<'_> {
    let mut parser = LowLevelJsonParser::new().with_max_stack_size(MOST_OPEN);
    let mut builder = Builder::default();
    let (mut rest, mut read_to) = (text.as_bytes(), 0);
    let broken_at = loop {
        let LowLevelJsonParserResult {
            consumed_bytes,
            event,
        } = parser.parse_next(rest, true);
        rest = rest.get(consumed_bytes..).unwrap_or_default();
        match event {
            Some(Ok(JsonEvent::Eof)) => break None,
            Some(Ok(event)) => {
                // A name whose value is missing belongs to what is left.
                if !matches!(event, JsonEvent::ObjectKey(_)) {
                    read_to = text.len() - rest.len();
                }
                builder.add(event);
            }
            None => {}
            Some(Err(error)) => {
                let line = error.location().start.line + 1;
                let left = text.get(read_to..).unwrap_or_default();
                break Some((line, left.trim_start_matches([',', ' ', '\n'])));
            }
        }
    };
    Reading {
        flattened: builder.flattened,
        value: builder.finish(),
        broken_at,
    }
}

/// Builds a value from events, however deep they go.
#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    /// Openings beyond the deepest level that is kept apart.
    beyond: usize,
    done: Option<Value>,
    flattened: bool,
}

enum Open {
    List(Vec<Value>),
    /// Members, and the name of the one to come.
    Record(Vec<(String, Value)>, String),
}

impl Builder {
    fn add(&mut self, event: JsonEvent<'_>) {
        match event {
            JsonEvent::StartArray if self.open.len() < MOST_NESTED => {
                self.open.push(Open::List(Vec::new()));
            }
            JsonEvent::StartObject if self.open.len() < MOST_NESTED => {
                self.open.push(Open::Record(Vec::new(), String::new()));
            }
            JsonEvent::StartArray | JsonEvent::StartObject => self.beyond += 1,
            JsonEvent::EndArray | JsonEvent::EndObject if self.beyond > 0 => self.beyond -= 1,
            JsonEvent::EndArray | JsonEvent::EndObject => self.close(),
            JsonEvent::ObjectKey(key) => {
                if self.beyond > 0 {
                    self.put(Value::Scalar(charset::clean(&key)));
                } else if let Some(Open::Record(_, name)) = self.open.last_mut() {
                    *name = charset::clean(&key);
                }
            }
            JsonEvent::String(text) => self.put(Value::Scalar(charset::clean(&text))),
            JsonEvent::Number(text) => self.put(Value::Scalar(text.into_owned())),
            JsonEvent::Boolean(value) => self.put(Value::Scalar(value.to_string())),
            // Nothing is what it says; a table's cell is empty then.
            JsonEvent::Null => self.put(Value::Scalar(String::new())),
            JsonEvent::Eof => {}
        }
    }

    fn put(&mut self, value: Value) {
        self.flattened |= self.beyond > 0;
        match self.open.last_mut() {
            Some(Open::List(items)) => items.push(value),
            Some(Open::Record(members, name)) => members.push((std::mem::take(name), value)),
            None => self.done = Some(value),
        }
    }

    fn close(&mut self) {
        let value = match self.open.pop() {
            Some(Open::List(items)) => Value::List(items),
            Some(Open::Record(members, _)) => Value::Record(members),
            None => return,
        };
        self.put(value);
    }

    /// The value, with what was open at the end closed.
    fn finish(mut self) -> Option<Value> {
        self.beyond = 0;
        while !self.open.is_empty() {
            self.close();
        }
        self.done
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shared::format::Format;

    use crate::extract::{Extraction, extract_alone};

    fn extract(format: Format, text: &str) -> Extraction {
        extract_alone(format, "a.json", text.as_bytes()).unwrap()
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let extraction = extract(Format::Json, text);
        assert_eq!(extraction.pages[0].markdown, expect, "{text}");
        assert_eq!(extraction.pages[0].record.doubts, Vec::<String>::new());
    }

    #[test]
    fn values_stand_as_written_beside_their_names() {
        check(
            r#"{"name":"Tern","seats":12,"price":1.10,"big":12345678901234567890,"open":true}"#,
            "- name: Tern\n- seats: 12\n- price: 1.10\n- big: 12345678901234567890\n- open: true\n",
        );
        check(
            r#"{"room":{"name":"Tern","tags":["a","b"]},"none":null}"#,
            "- room:\n  - name: Tern\n  - tags: a, b\n",
        );
        check(r#"["one","two"]"#, "- one\n- two\n");
        check(
            r#"{"a":[{"b":[1]},{"e":2,"c":{"d":3}}]}"#,
            "- a 1:\n  - b: 1\n- a 2:\n  - e: 2\n  - c:\n    - d: 3\n",
        );
        check(r#""only text""#, "only text\n");
        check(
            r#"{"note":"first\n# second\nthird","esc":"\u00e9\u0007\t"}"#,
            "- note: first\n  \\# second\n  third\n- esc: é\n",
        );
        check("{}", "```\n{}\n```\n");
    }

    #[test]
    fn like_records_are_a_table() {
        check(
            r#"[{"id":1,"at":{"city":"Köln","zip":"50667"}},{"id":2,"at":{"city":"Ulm"},"x":null}]"#,
            "| id | at.city | at.zip | x |\n| --- | --- | --- | --- |\n| 1 | Köln | 50667 |  |\n\
             | 2 | Ulm |  |  |\n",
        );
        check(
            r#"{"DE":{"capital":"Berlin"},"FR":{"capital":"Paris"},"IT":{"capital":"Rom"}}"#,
            "|  | capital |\n| --- | --- |\n| DE | Berlin |\n| FR | Paris |\n| IT | Rom |\n",
        );
        check(
            r#"[["city","people"],["Ulm",126000],["Köln",1080000]]"#,
            "| city | people |\n| --- | --- |\n| Ulm | 126000 |\n| Köln | 1080000 |\n",
        );
        check(
            "[[1,2],[3,4]]",
            "|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n",
        );
    }

    #[test]
    fn large_parts_are_sections_and_come_last() {
        let long = "word ".repeat(200);
        let text =
            format!(r#"{{"body":"{long}","id":7,"parts":[{{"name":"A","text":"{long}"}}]}}"#);
        let page = &extract(Format::Json, &text).pages[0].markdown;
        assert!(
            page.starts_with("- id: 7\n\n## body\n\nword word"),
            "{page}"
        );
        assert!(
            page.contains("\n\n## parts\n\n### parts 1: A\n\n- name: A\n\n#### text\n\nword"),
            "{page}"
        );
    }

    #[test]
    fn long_tables_are_pages_of_a_hundred_rows() {
        let rows: Vec<_> = (0..250)
            .map(|n| format!(r#"{{"n":{n},"s":"x"}}"#))
            .collect();
        for (format, text) in [
            (Format::Json, format!("[{}]", rows.join(","))),
            (Format::Jsonl, rows.join("\n")),
            (Format::Json, rows.join("\n")),
        ] {
            let pages = extract(format, &text).pages;
            assert_eq!(pages.len(), 3);
            assert!(
                pages[2]
                    .markdown
                    .starts_with("| n | s |\n| --- | --- |\n| 200 | x |\n")
            );
        }
    }

    #[test]
    fn what_breaks_off_is_read_as_far_as_it_goes() {
        #[track_caller]
        fn check(format: Format, text: &str, expect: &str, doubt: &str) {
            let page = extract(format, text).pages.remove(0);
            assert_eq!(page.markdown, expect, "{text}");
            assert!(page.record.doubts[0].contains(doubt), "{:?}", page.record);
        }
        check(
            Format::Json,
            "{\n\"a\": 1,\n\"b\": [2, 3\n",
            "- a: 1\n- b: 2, 3\n",
            "line 4",
        );
        check(
            Format::Json,
            "{\"a\": 1, \"b\": \"half a te",
            "- a: 1\n\n```\n\"b\": \"half a te\n```\n",
            "line 1",
        );
        check(
            Format::Json,
            "no JSON\n# at all",
            "no JSON\n\\# at all\n",
            "line 1",
        );
        check(
            Format::Jsonl,
            "{\"a\":1}\nnot this\n{\"a\":2}",
            "| a |\n| --- |\n| 1 |\n| 2 |\n\n```\nnot this\n```\n",
            "line 2 is no JSON",
        );
    }

    #[test]
    fn depth_costs_structure_not_the_process() {
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(100_000), "]".repeat(100_000));
        let page = extract(Format::Json, &deep("\"bottom\"")).pages.remove(0);
        assert!(page.markdown.contains("bottom"), "{}", page.markdown);
        assert!(
            page.record.doubts[0].contains("deeper"),
            "{:?}",
            page.record
        );
        assert!(extract_alone(Format::Json, "a.json", deep("").as_bytes()).is_err());
        let open = "{\"a\":".repeat(100_000);
        assert!(extract_alone(Format::Json, "a.json", open.as_bytes()).is_ok());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in r#"[\[\]{}:,"\\ntue0-9.\n\PC]{0,60}"#) {
            for format in [Format::Json, Format::Jsonl] {
                extract_alone(format, "a.json", text.as_bytes()).unwrap();
            }
        }
    }
}
