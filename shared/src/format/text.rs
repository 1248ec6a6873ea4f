//! Text that says what it is, by its first lines.

use super::Format;
use super::content::find;

/// Tags that only a web page begins with.
const PAGE_TAGS: [&[u8]; 4] = [b"<!doctype html", b"<html", b"<head", b"<body"];
/// What may stand before them, up to its end.
const BEFORE_PAGE: [(&[u8], &[u8]); 2] = [(b"<?xml", b"?>"), (b"<!--", b"-->")];
/// Tags and declarations that XML without `<?xml` begins with.
const XML_TAGS: [&str; 7] = [
    "<rss",
    "<feed",
    "<svg",
    "<!doctype svg",
    "<opml",
    "<rdf:rdf",
    "<kml",
];
/// Header fields that hardly any text has but an e-mail or a news article.
const MAIL_FIELDS: [&str; 12] = [
    "received",
    "return-path",
    "delivered-to",
    "message-id",
    "mime-version",
    "dkim-signature",
    "arc-seal",
    "newsgroups",
    "x-mailer",
    "x-original-to",
    "in-reply-to",
    "content-transfer-encoding",
];
/// Header fields that say what an e-mail is, and memos and articles have too.
const COMMON_FIELDS: [&str; 6] = ["from", "to", "subject", "date", "cc", "sender"];

/// The format of a text, which its name says is `named`.
pub(super) fn format_of(head: &[u8], named: Option<Format>) -> Format {
    let text = readable(head);
    let text = text.trim_start();
    match named {
        // A workbook that is a page or a table of tabs is what many programs export.
        Some(Format::Xls | Format::Xlsx) if is_xml(text) => Format::Xml,
        Some(Format::Xls | Format::Xlsx) if is_tabbed(text) => Format::Csv,
        Some(Format::Text | Format::Doc | Format::Rtf) | None => by_lines(text),
        Some(Format::Html) if is_xml(text) && !find_text(text, "<html") => Format::Xml,
        Some(Format::Json | Format::Jsonl) if is_notebook(text) => Format::Notebook,
        Some(Format::Json) if is_json_lines(text) => Format::Jsonl,
        Some(Format::Asciidoc) if text.starts_with("-----BEGIN ") => Format::Text,
        Some(Format::Csv | Format::Xml) if is_mail(text) => Format::Eml,
        Some(named) => named,
    }
}

fn by_lines(text: &str) -> Format {
    if is_xml(text) {
        Format::Xml
    } else if is_subtitles(text) {
        Format::Subtitles
    } else if is_mailbox(text) {
        Format::Mbox
    } else if is_mail(text) {
        Format::Eml
    } else if is_notebook(text) {
        Format::Notebook
    } else if is_json_lines(text) {
        Format::Jsonl
    } else if is_json(text) {
        Format::Json
    } else if text.starts_with("#!") {
        Format::Code
    } else if text.lines().any(is_tex) {
        Format::Tex
    } else {
        Format::Text
    }
}

/// `head` without marks and zeros, so that UTF-16 reads like the rest as far as it is ASCII.
fn readable(head: &[u8]) -> String {
    let marks = [
        b"\xff\xfe\0\0".as_slice(),
        b"\0\0\xfe\xff",
        b"\xff\xfe",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
    ];
    let found = marks.into_iter().find_map(|mark| head.strip_prefix(mark));
    let plain: Vec<u8> = found
        .unwrap_or(head)
        .iter()
        .copied()
        .filter(|byte| *byte != 0)
        .collect();
    String::from_utf8_lossy(&plain).into_owned()
}

/// Whether `head` begins as only web pages do.
pub(super) fn is_web_page(head: &[u8]) -> bool {
    let plain = readable(head).to_ascii_lowercase();
    let mut rest = plain.as_bytes().trim_ascii_start();
    while let Some((_, end)) = BEFORE_PAGE
        .iter()
        .find(|(start, _)| rest.starts_with(start))
    {
        let Some(at) = find(rest, end) else {
            return false;
        };
        rest = rest
            .get(at + end.len()..)
            .unwrap_or_default()
            .trim_ascii_start();
    }
    PAGE_TAGS.iter().any(|tag| {
        rest.strip_prefix(*tag)
            .is_some_and(|after| !after.first().is_some_and(u8::is_ascii_alphanumeric))
    })
}

fn is_xml(text: &str) -> bool {
    let begins = |tag: &&str| {
        text.get(..tag.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(tag))
    };
    text.starts_with("<?xml") || XML_TAGS.iter().any(begins)
}

fn find_text(text: &str, needle: &str) -> bool {
    text.to_ascii_lowercase().contains(needle)
}

/// Several lines, nearly all with tabs.
fn is_tabbed(text: &str) -> bool {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let (mut all, mut tabbed) = (0_usize, 0_usize);
    for line in lines {
        all += 1;
        tabbed += usize::from(line.contains('\t'));
    }
    all >= 2 && tabbed * 10 >= all * 9
}

fn is_subtitles(text: &str) -> bool {
    if let Some(after) = text.strip_prefix("WEBVTT") {
        return after.is_empty() || after.starts_with(char::is_whitespace);
    }
    let mut lines = text.lines();
    let (number, times) = (lines.next(), lines.next());
    let is_number = |line: &str| {
        let line = line.trim();
        !line.is_empty() && line.chars().all(|c| c.is_ascii_digit())
    };
    let is_time = |time: &str| {
        time.trim().contains(':') && time.trim().starts_with(|c: char| c.is_ascii_digit())
    };
    number.is_some_and(is_number)
        && times
            .and_then(|line| line.split_once("-->"))
            .is_some_and(|(from, to)| is_time(from) && is_time(to))
}

/// `From sender Fri Dec 16 17:04:16 2022`, then header fields.
fn is_mailbox(text: &str) -> bool {
    let Some((postmark, rest)) = text.split_once('\n') else {
        return false;
    };
    let words: Vec<_> = postmark.split_whitespace().collect();
    let has_time = words
        .iter()
        .any(|word| word.len() >= 5 && word.split(':').count() >= 2);
    let is_year = |word: &&str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    words.first() == Some(&"From")
        && has_time
        && words.iter().any(is_year)
        && field(first_line(rest)).is_some()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Whether the first lines are an e-mail's header.
fn is_mail(text: &str) -> bool {
    let (mut sure, mut common) = (0, 0);
    for line in text.lines() {
        if line.trim().is_empty() {
            break;
        }
        if line.starts_with([' ', '\t']) {
            continue;
        }
        let Some(name) = field(line) else {
            return false;
        };
        let name = name.to_ascii_lowercase();
        sure += usize::from(MAIL_FIELDS.contains(&name.as_str()));
        common += usize::from(COMMON_FIELDS.contains(&name.as_str()));
    }
    sure >= 1 && common >= 1 && sure + common >= 3
}

/// The name of a header field.
fn field(line: &str) -> Option<&str> {
    let (name, _) = line.split_once(':')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

/// `{"name":` or `[{"name":`: what follows an opening brace in JSON, and in hardly anything else.
fn is_json(text: &str) -> bool {
    let inner = text.strip_prefix('[').map_or(text, str::trim_start);
    let Some(key) = inner.strip_prefix('{') else {
        return false;
    };
    let Some(key) = key.trim_start().strip_prefix('"') else {
        return false;
    };
    let after = key.split_once('"').map(|(_, after)| after.trim_start());
    after.is_some_and(|after| after.starts_with(':'))
}

fn is_json_lines(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    let is_object = |line: &str| line.starts_with("{\"") && line.ends_with('}') && is_json(line);
    lines.next().is_some_and(is_object) && lines.next().is_some_and(|line| line.starts_with("{\""))
}

fn is_notebook(text: &str) -> bool {
    let has = |key: &str| text.contains(key);
    text.starts_with('{')
        && (has("\"cells\"") || has("\"worksheets\"") || has("\"nbformat\""))
        && (has("\"cell_type\"") || has("\"nbformat\""))
}

fn is_tex(line: &str) -> bool {
    let line = line.trim_start();
    ["\\documentclass", "\\documentstyle"]
        .iter()
        .any(|command| {
            line.strip_prefix(command)
                .is_some_and(|after| after.starts_with(['{', '[']))
        })
}
