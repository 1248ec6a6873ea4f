//! The page of a message: its subject as heading, who, when and what is attached as a list, then
//! its text.

use super::super::{Input, charset};
use super::{Mail, body};

/// More recipients are counted, not named.
const MOST_PEOPLE: usize = 200;
/// Heading of a message without a subject: without one it would seem to go on with what stood
/// before it.
const NO_SUBJECT: &str = "(no subject)";

/// The page of `mail`, which carries the files `names` and has `pictures` in its text. What is
/// doubtful about the text is added to the message's doubts.
pub(super) fn write(
    mail: &mut Mail<'_>,
    input: &Input<'_>,
    names: &[String],
    pictures: &[String],
) -> String {
    let subject = mail.subject.as_deref().unwrap_or(NO_SUBJECT);
    let mut out = format!("# {}\n\n", one_line(subject));
    for (label, people) in [
        ("From", &mail.from),
        ("Sent by", &mail.sender),
        ("To", &mail.to),
        ("Cc", &mail.cc),
        ("Bcc", &mail.bcc),
    ] {
        item(&mut out, label, &list(people));
    }
    item(&mut out, "Date", mail.date.as_deref().unwrap_or_default());
    item(&mut out, "Attachments", &names.join(", "));
    item(&mut out, "Pictures in the text", &pictures.join(", "));
    let text = body::write(mail, input);
    for part in std::iter::once(&text).chain(&mail.invites) {
        let part = part.trim_matches('\n');
        if !part.is_empty() {
            out.push('\n');
            out.push_str(part);
            out.push('\n');
        }
    }
    charset::clean(&without_gaps(&out))
}

/// `text` with one empty line where several stand; in a quotation, they begin with `>`.
fn without_gaps(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut before, mut fenced) = ("", false);
    for line in text.lines() {
        fenced ^= line.starts_with("```");
        let marks = line.trim();
        let is_empty = marks.chars().all(|c| matches!(c, '>' | ' '));
        if !fenced && is_empty && marks == before {
            continue;
        }
        out.push_str(if is_empty { marks } else { line.trim_end() });
        out.push('\n');
        before = if is_empty { marks } else { "text" };
    }
    out
}

fn item(out: &mut String, label: &str, value: &str) {
    let value = one_line(value);
    if !value.is_empty() {
        out.push_str("- ");
        out.push_str(label);
        out.push_str(": ");
        out.push_str(&value);
        out.push('\n');
    }
}

fn list(people: &[String]) -> String {
    let named = people.get(..MOST_PEOPLE).unwrap_or(people);
    let text = named.join(", ");
    match people.len() - named.len() {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// `text` with single spaces for all white space.
pub(in crate::extract) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
