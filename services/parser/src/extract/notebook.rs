//! Jupyter notebooks, of format 3 and 4: text as it stands, code in fences, outputs as text.

use super::data::Value;
use super::json::read;
use super::lines::fenced;
use super::markdown::{Names, without_embedded};
use super::plain::PlainExtractor;
use super::{ExtractError, Extraction, Extractor, Input, charset, html, only_page};

/// Bytes of one output. A longer one is a log or a dump of data.
const MOST_OUTPUT_BYTES: usize = 20_000;

pub(super) struct NotebookExtractor;

impl Extractor for NotebookExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let decoded = charset::decode(input.bytes);
        let reading = read(&decoded.text);
        let cells = reading.value.as_ref().map(cells).unwrap_or_default();
        if cells.is_empty() && !is_notebook(reading.value.as_ref()) {
            let mut extraction = PlainExtractor.extract(input)?;
            let doubt = "it is no notebook and is read as text".to_owned();
            extraction.notes.push(doubt);
            return Ok(extraction);
        }
        let mut notebook = Notebook {
            language: language(reading.value.as_ref()),
            doubts: decoded.doubts(),
            ..Notebook::default()
        };
        for cell in cells {
            notebook.add(cell);
        }
        if let Some((line, _)) = reading.broken_at {
            let doubt = format!("the notebook breaks off at line {line}");
            notebook.doubts.push(doubt);
        }
        let names = Names::of(&notebook.markdown);
        let titled = || named(reading.value.as_ref()?.get("metadata")?.get("title"));
        Ok(Extraction {
            title: names.title.or_else(titled),
            pages: vec![only_page(notebook.markdown, names.heading, notebook.doubts)],
            ..Extraction::default()
        })
    }
}

fn is_notebook(value: Option<&Value>) -> bool {
    value.is_some_and(|value| value.get("nbformat").is_some())
}

/// The cells: at the top in format 4, in worksheets in format 3.
fn cells(notebook: &Value) -> Vec<&Value> {
    if let Some(cells) = notebook.get("cells") {
        return cells.items().iter().collect();
    }
    let sheets = notebook.get("worksheets").map(Value::items);
    let cells = sheets
        .unwrap_or_default()
        .iter()
        .filter_map(|sheet| sheet.get("cells"));
    cells.flat_map(Value::items).collect()
}

fn language(notebook: Option<&Value>) -> String {
    let metadata = notebook.and_then(|notebook| notebook.get("metadata"));
    let of = |part: &str, key: &str| named(metadata?.get(part)?.get(key));
    let found = of("kernelspec", "language").or_else(|| of("language_info", "name"));
    found.unwrap_or_default()
}

/// A short name.
fn named(value: Option<&Value>) -> Option<String> {
    let name = value?.text()?.trim();
    (!name.is_empty() && name.len() <= 200 && !name.contains('\n')).then(|| name.to_owned())
}

#[derive(Default)]
struct Notebook {
    language: String,
    markdown: String,
    doubts: Vec<String>,
}

impl Notebook {
    fn add(&mut self, cell: &Value) {
        let kind = cell.get("cell_type").and_then(Value::text);
        let source = cell.get("source").or_else(|| cell.get("input"));
        let source = source.map(joined).unwrap_or_default();
        match kind {
            Some("markdown") => self.block(&without_embedded(&source)),
            // Format 3 has headings as cells of their own.
            Some("heading") => {
                let level = cell.get("level").and_then(Value::text);
                let level = level.and_then(|level| level.parse().ok()).unwrap_or(1);
                let mark = "#".repeat(usize::clamp(level, 1, 6));
                self.block(&format!("{mark} {}", source.replace('\n', " ")));
            }
            Some("code") => {
                if !source.trim().is_empty() {
                    let own = named(cell.get("language"));
                    let language = own.as_deref().unwrap_or(&self.language);
                    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '+' | '#' | '-');
                    let language: String = language.chars().filter(|c| is_word(*c)).collect();
                    self.block(&fenced(&source, &language));
                }
                let outputs = cell.get("outputs").map(Value::items);
                for output in outputs.unwrap_or_default() {
                    self.add_output(output);
                }
            }
            _ => self.block(&fenced_if_any(&source)),
        }
    }

    fn add_output(&mut self, output: &Value) {
        if let Some(lines) = output.get("traceback") {
            let of = |key: &str| output.get(key).map(joined).unwrap_or_default();
            let trace = match lines.items() {
                [] => joined(lines),
                lines => lines.iter().map(joined).collect::<Vec<_>>().join("\n"),
            };
            let text = format!(
                "{}: {}\n{}",
                of("ename"),
                of("evalue"),
                without_colours(&trace)
            );
            self.push_output(&text);
            return;
        }
        // Format 3 has the kinds side by side with the rest.
        let data = output.get("data").unwrap_or(output);
        let of = |keys: [&str; 2]| keys.iter().find_map(|key| data.get(key)).map(joined);
        let page = of(["text/html", "html"]);
        let plain = of(["text/plain", "text"]);
        let has_table = page.as_ref().is_some_and(|page| page.contains("<table"));
        if let Some(page) = page.filter(|_| has_table || plain.is_none())
            && let Ok(markdown) = html::fragment(&page)
        {
            let markdown = self.bounded(&without_embedded(&markdown));
            self.block(&markdown);
        } else if let Some(markdown) = of(["text/markdown", "markdown"]) {
            let markdown = self.bounded(&without_embedded(&markdown));
            self.block(&markdown);
        } else if let Some(text) = plain.or_else(|| of(["text/latex", "latex"])) {
            self.push_output(&without_colours(&text));
        }
    }

    fn push_output(&mut self, text: &str) {
        let text = self.bounded(text);
        self.block(&fenced_if_any(&text));
    }

    /// The beginning of a long output, up to the end of a line.
    fn bounded(&mut self, text: &str) -> String {
        if text.len() <= MOST_OUTPUT_BYTES {
            return text.to_owned();
        }
        self.doubts
            .push("a long output of a code cell is cut off".to_owned());
        let mut end = MOST_OUTPUT_BYTES;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let head = text.get(..end).unwrap_or_default();
        let head = head.rsplit_once('\n').map_or(head, |(head, _)| head);
        format!("{head}\n…")
    }

    fn block(&mut self, text: &str) {
        let text = text.trim_matches('\n').trim_end();
        if text.trim().is_empty() {
            return;
        }
        if !self.markdown.is_empty() {
            self.markdown.push('\n');
        }
        self.markdown.push_str(text);
        self.markdown.push('\n');
    }
}

fn fenced_if_any(text: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    fenced(text.trim_start_matches('\n'), "")
}

/// Text that may be kept as a list of its lines.
fn joined(value: &Value) -> String {
    match value {
        Value::Scalar(text) => text.clone(),
        Value::List(lines) => lines.iter().filter_map(Value::text).collect(),
        Value::Record(_) => String::new(),
    }
}

/// `text` without the sequences that colour it in a terminal. The escape itself is gone already.
fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        out.push_str(before);
        let end = after.find(|c: char| !c.is_ascii_digit() && c != ';');
        if let Some(after) = end.and_then(|end| after.get(end..)?.strip_prefix('m')) {
            rest = after;
        } else {
            out.push('[');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shared::format::Format;

    use crate::extract::{Extraction, extract_alone};

    fn extract(text: &str) -> Extraction {
        extract_alone(Format::Notebook, "a.ipynb", text.as_bytes()).unwrap()
    }

    #[track_caller]
    fn check(cells: &str, expect: &str) {
        let text = format!(
            r#"{{"cells":[{cells}],"metadata":{{"kernelspec":{{"language":"python"}}}},"nbformat":4}}"#
        );
        assert_eq!(extract(&text).pages[0].markdown, expect);
    }

    #[test]
    fn text_code_and_outputs_stand_in_order() {
        check(
            r##"{"cell_type":"markdown","source":["# Sales\n","\n","By region."]},
               {"cell_type":"code","source":"# total\nprint(1)","outputs":[
                  {"output_type":"stream","name":"stdout","text":["1\n"]}]},
               {"cell_type":"raw","source":"raw words"}"##,
            "# Sales\n\nBy region.\n\n```python\n# total\nprint(1)\n```\n\n```\n1\n```\n\n\
             ```\nraw words\n```\n",
        );
        let table = "<style>p{}</style><table><tr><th>a<th>b<tr><td>1<td>2</table>";
        check(
            &format!(
                r#"{{"cell_type":"code","source":[],"outputs":[{{"output_type":"execute_result",
                "data":{{"text/plain":"a b","text/html":"{table}","image/png":"iVBO"}}}}]}}"#
            ),
            "| a | b |\n| --- | --- |\n| 1 | 2 |\n",
        );
        check(
            r#"{"cell_type":"code","source":"x","outputs":[
                {"data":{"text/plain":["<Figure size 1x1>"],"image/png":"iVBO"}},
                {"data":{"text/html":"<b>hello</b>"}},
                {"ename":"NameError","evalue":"no x","traceback":["\u001b[0;31mNameError\u001b[0m: no x","a[1]"]}]}"#,
            "```python\nx\n```\n\n```\n<Figure size 1x1>\n```\n\n**hello**\n\n\
             ```\nNameError: no x\nNameError: no x\na[1]\n```\n",
        );
        check(
            r#"{"cell_type":"markdown","source":"see ![plot](data:image/png;base64,iVBORw0KGgo) here"}"#,
            "see ![plot]() here\n",
        );
    }

    #[test]
    fn format_three_is_read() {
        let page = extract(
            r#"{"nbformat":3,"metadata":{"name":""},"worksheets":[{"cells":[
               {"cell_type":"heading","level":2,"source":["Old"]},
               {"cell_type":"code","language":"python","input":["1+1"],"outputs":[
                  {"output_type":"pyout","text":["2"]}]}]}]}"#,
        );
        assert_eq!(
            page.pages[0].markdown,
            "## Old\n\n```python\n1+1\n```\n\n```\n2\n```\n"
        );
    }

    #[test]
    fn titles_cuts_and_broken_notebooks_are_told() {
        let page = extract(r#"{"cells":[],"metadata":{"title":"Named"},"nbformat":4}"#);
        assert_eq!(page.title.as_deref(), Some("Named"));

        let page =
            extract("{\"cells\":[{\"cell_type\":\"markdown\",\"source\":\"words\"},\n{\"cel");
        assert_eq!(page.pages[0].markdown, "words\n");
        assert!(
            page.pages[0].record.doubts[0].contains("line 2"),
            "{page:?}"
        );

        let page = extract("no notebook");
        assert_eq!(page.pages[0].markdown, "no notebook");
        assert!(page.notes[0].contains("no notebook"), "{page:?}");

        let long = "line\\n".repeat(10_000);
        let page = extract(&format!(
            r#"{{"cells":[{{"cell_type":"code","source":"","outputs":[{{"text":"{long}"}}]}}]}}"#
        ));
        assert!(page.pages[0].markdown.len() < 21_000);
        assert!(
            page.pages[0].record.doubts[0].contains("cut off"),
            "{:?}",
            page.pages[0].record
        );
    }

    proptest! {
        #[test]
        fn no_cells_panic(cells in r#"[\[\]{}:,"\\n<>td0-9\PC]{0,60}"#) {
            let text = format!(
                r#"{{"cells":[{{"cell_type":"code","source":[{cells}],"outputs":[{{"data":{{"text/html":{cells}"#
            );
            extract_alone(Format::Notebook, "a.ipynb", text.as_bytes()).unwrap();
        }
    }
}
