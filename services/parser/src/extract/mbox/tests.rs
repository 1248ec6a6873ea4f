//! Mailboxes of small messages.

use shared::contract::{Locator, ReadMethod};
use shared::format::Format;

use super::*;
use crate::extract::extract_alone;

fn pages(mailbox: impl AsRef<[u8]>) -> Vec<ExtractedPage> {
    extract_alone(Format::Mbox, "a.mbox", mailbox.as_ref())
        .unwrap()
        .pages
}

const MARK: &str = "From ann@x.example Thu Feb 29 08:15:00 2024\n";

#[test]
fn every_message_is_a_page_with_its_number() {
    let file = "Subject: two\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nsee\n--b\n\
        Content-Type: text/markdown; name=plan.md\nContent-Disposition: attachment\n\n# Plan\n--b--\n";
    let mailbox = format!(
        "{MARK}Subject: one\n\nfirst\n\n{MARK}{file}\n{MARK}\n{MARK}Subject: four\n\nlast\n"
    );
    let pages = pages(mailbox);
    let places: Vec<_> = pages
        .iter()
        .map(|page| page.record.locator.short().unwrap())
        .collect();
    assert_eq!(
        places,
        [
            "message 1",
            "message 2",
            "message 2 › plan.md",
            "message 3",
            "message 4"
        ]
    );
    assert_eq!(pages[0].record.locator, Locator::Message { number: 1 });
    assert_eq!(pages[0].markdown, "# one\n\nfirst\n");
    assert_eq!(pages[2].markdown, "# Plan");
    assert_eq!(pages[3].record.method, ReadMethod::Missing);
    assert_eq!(pages[4].markdown, "# four\n\nlast\n");
}

#[test]
fn a_message_without_a_header_is_read_as_text() {
    let pages = pages(format!(
        "{MARK}no header at all\n\n{MARK}Subject: two\n\nx\n"
    ));
    assert_eq!(pages[0].record.method, ReadMethod::Native);
    assert!(pages[0].record.doubts[0].contains("header"), "{pages:?}");
    assert_eq!(pages[0].markdown, "no header at all\n");
    assert_eq!(pages[1].record.locator, Locator::Message { number: 2 });
}

#[test]
fn only_postmarks_part_messages() {
    #[track_caller]
    fn check(text: &str, expect: usize) {
        assert_eq!(postmarks(text.as_bytes()).len(), expect, "{text}");
    }
    check(MARK, 1);
    check("From nobody\nSubject: x\n", 1);
    check("Subject: x\n\nFrom here on\n", 0);
    check(&format!("{MARK}a\n\nFrom 2024 on, at 8:15 sharp\n"), 1);
    check(&format!("{MARK}a\nFrom the office\n\nFrom us all\n"), 1);
    check(&format!("{MARK}a\n{MARK}b\n"), 2);
    check(
        &format!("{MARK}a\n\nFrom 146@xxx Mon Mar 17 11:15:17 +0000 2014\n"),
        2,
    );
    check(&format!("{MARK}a\n\n>{MARK}"), 1);

    let page = pages(format!("{MARK}Subject: s\n\n>From here on\n>>From there\n")).remove(0);
    assert!(page.markdown.contains("From here on\n"), "{page:?}");
    assert!(page.markdown.contains(">From there\n"), "{page:?}");
    assert!(extract_alone(Format::Mbox, "a.mbox", b"no mail").is_err());
}

#[test]
fn an_e_mail_that_is_a_mailbox_is_read_as_one() {
    let mailbox = format!("{MARK}Subject: one\n\nx\n\n{MARK}Subject: two\n\ny\n");
    let pages = extract_alone(Format::Eml, "a.eml", mailbox.as_bytes())
        .unwrap()
        .pages;
    assert_eq!(pages[1].record.locator, Locator::Message { number: 2 });
    let single = format!("\r\n{MARK}Subject: one\n\nx\n");
    let pages = extract_alone(Format::Eml, "a.eml", single.as_bytes())
        .unwrap()
        .pages;
    assert_eq!(pages[0].markdown, "# one\n\nx\n");
}
