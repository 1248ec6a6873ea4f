//! Messages as programs write them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use shared::contract::{Locator, ReadMethod};
use shared::format::Format;

use super::tnef;
use crate::extract::{ExtractError, ExtractedPage, extract_alone};

fn pages(message: impl AsRef<[u8]>) -> Vec<ExtractedPage> {
    extract_alone(Format::Eml, "a.eml", message.as_ref())
        .unwrap()
        .pages
}

/// The first page of `message` after its heading and its list.
#[track_caller]
fn check_body(message: impl AsRef<[u8]>, expect: &str) {
    let page = pages(message).remove(0).markdown;
    let (_, body) = page.split_once("\n\n").unwrap();
    let body = body.split_once("\n\n").map_or("", |(_, body)| body);
    assert_eq!(body, expect, "{page}");
}

fn place(page: &ExtractedPage) -> String {
    page.record.locator.short().unwrap_or_default()
}

/// A message of these parts, each with its headers.
fn mixed(kind: &str, parts: &[&str]) -> String {
    let mut message = format!(
        "From: Ann <ann@x.example>\nSubject: Plan\nMIME-Version: 1.0\n\
         Content-Type: multipart/{kind}; boundary=\"=_b\"\n\n"
    );
    for part in parts {
        message.push_str("--=_b\n");
        message.push_str(part);
        message.push('\n');
    }
    message.push_str("--=_b--\n");
    message
}

fn attached(name: &str, kind: &str, content: &[u8]) -> String {
    format!(
        "Content-Type: {kind}\nContent-Disposition: attachment; filename=\"{name}\"\n\
         Content-Transfer-Encoding: base64\n\n{}\n",
        STANDARD.encode(content)
    )
}

const TEXT: &str = "Content-Type: text/plain\n\nwords\n";

#[test]
fn who_when_and_what_stand_before_the_text() {
    let message = "From: \"Ann B.\" <ann@x.example>\r\nTo: bob@x.example,\r\n =?UTF-8?Q?J=C3=BCrgen?= <j@x.example>\r\n\
        Cc: Board: c@x.example, d@x.example;\r\nBcc: undisclosed-recipients:;\r\n\
        Subject: =?ISO-8859-1?Q?Gr=FC=DFe?=\r\n =?UTF-8?B?IGF1cw==?= Rom\r\n\
        Date: Thu, 29 Feb 2024 08:15:00 +0100\r\n\r\nHello\r\n";
    let page = pages(message).remove(0);
    assert_eq!(
        page.markdown,
        "# Grüße aus Rom\n\n- From: Ann B. <ann@x.example>\n\
         - To: bob@x.example, Jürgen <j@x.example>\n- Cc: c@x.example, d@x.example\n\
         - Bcc: undisclosed-recipients\n- Date: 2024-02-29 08:15:00 +01:00\n\nHello\n"
    );
    assert_eq!(
        page.record.locator,
        Locator::Section {
            heading: "Grüße aus Rom".to_owned()
        }
    );
    let page = pages("From: a@x.example\nDate: the other day\n\nx\n").remove(0);
    assert!(page.markdown.starts_with("# (no subject)\n"), "{page:?}");
    assert!(
        page.markdown.contains("- Date: the other day\n"),
        "{page:?}"
    );
    assert_eq!(page.record.locator, Locator::Block { number: 1 });
    // Bytes of a code page where none may be.
    let page = pages(b"From: a@x.example\nSubject: Gr\xfc\xdfe aus M\xfcnchen\n\nx\n").remove(0);
    assert!(
        page.markdown.starts_with("# Grüße aus München\n"),
        "{page:?}"
    );
}

#[test]
fn the_text_stands_once_in_its_fuller_form() {
    let plain = "Content-Type: text/plain\n\nTotal: 42 for all of it\n";
    let html = "Content-Type: text/html\n\n<title>Plan</title><p>Total: <b>42</b> for all of it\
        <table><tr><th>a<th>b<tr><td>1<td>2</table>\n";
    let both = mixed("alternative", &[plain, html]);
    check_body(
        &both,
        "Total: **42** for all of it\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n",
    );
    let less = "Content-Type: text/html\n\n<p>Your program shows no HTML\n";
    let long = "Content-Type: text/plain\n\nTotal: 42 for all of it, and so on for a while\n";
    check_body(
        mixed("alternative", &[long, less]),
        "Total: 42 for all of it, and so on for a while\n",
    );
    check_body(mixed("mixed", &[TEXT, TEXT]), "words\n\nwords\n");
    check_body(
        mixed(
            "alternative",
            &["Content-Type: text/html\n\n<h1>Sale</h1>now\n"],
        ),
        "## Sale\n\nnow\n",
    );
}

#[test]
fn attachments_are_pages_with_names_of_their_own() {
    let message = mixed(
        "mixed",
        &[
            TEXT,
            &attached("../notes.md", "text/markdown", b"# Notes\n"),
            &attached("notes.md", "application/octet-stream", b"# More\n"),
            &attached("prices.csv", "text/csv; charset=utf-8", b"a;b\n\xfc;2\n"),
            &attached(
                "tool.bin",
                "application/octet-stream",
                b"\x7fELF\x02\x01\x01",
            ),
        ],
    );
    let pages = pages(&message);
    let places: Vec<String> = pages.iter().map(place).collect();
    assert_eq!(places[..3], ["", "notes.md", "notes (2).md"]);
    assert!(places[3].starts_with("prices.csv, "), "{places:?}");
    assert!(
        pages[0]
            .markdown
            .contains("- Attachments: notes.md, notes (2).md, prices.csv, tool.bin\n"),
        "{}",
        pages[0].markdown
    );
    assert_eq!(pages[1].markdown, "# Notes\n");
    assert!(pages[3].markdown.contains("| ü | 2 |"), "{:?}", pages[3]);
    assert_eq!(pages[4].record.method, ReadMethod::Missing);
    assert_eq!(place(&pages[4]), "tool.bin");
}

#[test]
fn history_in_web_pages_is_marked() {
    let gmail = "Subject: s\nFrom: a@x.example\nContent-Type: text/html\n\n<div>yes</div><div class=gmail_quote>\
        <div>On Thu, 29 Feb 2024 at 08:15, Bob &lt;<a href=\"mailto:b@x.example\">b@x.example</a>&gt; wrote:<br></div>\
        <blockquote><div>can it?</div></blockquote></div>\n";
    check_body(
        gmail,
        "yes\n\nQuoted:\n\n> On Thu, 29 Feb 2024 at 08:15, Bob <b@x.example\\> wrote:\n>\n> > can it?\n",
    );
    let outlook = "Subject: s\nContent-Type: text/html\n\n<p>yes</p><div><p><b>From:</b> Bob &lt;b@x.example&gt;<br>\
        <b>Sent:</b> Thursday<br><b>To:</b> Ann<br><b>Subject:</b> RE: it</p></div><p>can it?</p>\n";
    let page = pages(outlook).remove(0).markdown;
    let (new, old) = page.split_once("\nQuoted:\n\n").unwrap();
    assert!(new.ends_with("\nyes\n"), "{page}");
    assert!(old.lines().all(|line| line.starts_with('>')), "{page}");
    assert!(old.ends_with("> can it?\n"), "{page}");
}

#[test]
fn pictures_within_the_text_are_not_missed() {
    let picture = "Content-Type: image/png; name=logo.png\nContent-ID: <logo@x>\n\
        Content-Disposition: attachment\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=\n";
    let html = "Content-Type: text/html\n\n<p>Hi <img src=\"cid:logo@x\">\n";
    let shown = pages(mixed("related", &[html, picture]));
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(
        shown[0]
            .markdown
            .contains("- Pictures in the text: logo.png\n")
    );
    // The same picture, which the text does not show, is an attachment like others.
    let sent = pages(mixed("mixed", &[TEXT, picture]));
    assert_eq!(place(&sent[1]), "logo.png");
}

#[test]
fn messages_within_messages_are_read_with_what_they_carry() {
    let inner = mixed(
        "mixed",
        &[TEXT, &attached("deal.md", "text/markdown", b"# Deal\n")],
    )
    .replace("=_b", "inner")
    .replace("Subject: Plan", "Subject: Re: deal/offer");
    let part = format!("Content-Type: message/rfc822\n\n{inner}");
    let found = pages(mixed("mixed", &[TEXT, &part]));
    let places: Vec<String> = found.iter().map(place).collect();
    assert_eq!(
        places,
        ["", "Re: deal-offer.eml", "Re: deal-offer.eml › deal.md"]
    );
    assert!(
        found[1].markdown.contains("# Re: deal/offer\n"),
        "{found:?}"
    );
    assert_eq!(found[2].markdown, "# Deal\n");

    let packed = format!(
        "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n{}\n",
        STANDARD.encode(&inner)
    );
    let places: Vec<String> = pages(mixed("mixed", &[TEXT, &packed]))
        .iter()
        .map(place)
        .collect();
    assert_eq!(places[2], "Re: deal-offer.eml › deal.md");

    let digest = mixed(
        "digest",
        &["\nSubject: one\n\nfirst\n", "\nSubject: two\n\nsecond\n"],
    );
    let digest = pages(digest);
    assert_eq!(place(&digest[2]), "two.eml");
    assert!(digest[2].markdown.ends_with("second\n"), "{digest:?}");
}

#[test]
fn what_is_locked_is_missing_and_what_is_signed_is_not() {
    #[track_caller]
    fn check(message: &str, says: &str) {
        let pages = pages(message);
        assert!(pages[0].markdown.starts_with("# Plan\n"), "{pages:?}");
        let error = pages[1].record.error.as_deref().unwrap();
        assert_eq!(pages[1].record.method, ReadMethod::Missing);
        assert!(error.contains(says), "{error}");
        assert_eq!(pages.len(), 2, "{pages:?}");
    }
    let version = "Content-Type: application/pgp-encrypted\n\nVersion: 1\n";
    let locked = "Content-Type: application/octet-stream\n\n-----BEGIN PGP MESSAGE-----\nabc\n";
    check(
        &mixed("encrypted", &[version, locked]),
        "an encrypted e-mail",
    );
    let text = "From: a@x.example\nSubject: Plan\n\n-----BEGIN PGP MESSAGE-----\nabc\n";
    check(text, "an encrypted e-mail");
    let smime = "From: a@x.example\nSubject: Plan\nContent-Transfer-Encoding: base64\n\
        Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m\n\nMIIB\n";
    check(smime, "an encrypted e-mail");
    check(
        &smime.replace("enveloped", "signed"),
        "packed into its signature",
    );

    let signature = "Content-Type: application/pgp-signature; name=signature.asc\n\nabc\n";
    let signed = pages(mixed("signed", &[TEXT, signature]));
    assert_eq!(signed.len(), 1, "{signed:?}");
    assert!(signed[0].markdown.ends_with("words\n"));
}

#[test]
fn meetings_and_packed_attachments_are_opened() {
    let calendar = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Review\nDTSTART:20240229T081500Z\n\
        LOCATION:Room 4\nEND:VEVENT\nEND:VCALENDAR\n";
    let invite = format!("Content-Type: text/calendar; method=REQUEST\n\n{calendar}");
    let file = attached("invite.ics", "application/ics", calendar.as_bytes());
    check_body(
        mixed("mixed", &[TEXT, &invite, &file]),
        "words\n\nInvitation: Review\n\n- When: 2024-02-29 08:15 UTC\n- Where: Room 4\n",
    );
    let packed = tnef::tests::packed(&[("plan.md", b"# Deep\n")]);
    let part = attached("winmail.dat", "application/ms-tnef", &packed);
    let pages = pages(mixed("mixed", &[TEXT, &part]));
    assert_eq!(place(&pages[1]), "plan.md");
    assert_eq!(pages[1].markdown, "# Deep\n");
}

#[test]
fn damages_are_doubts() {
    let unknown = "Subject: s\nContent-Type: text/plain; charset=x-none\n\nGr\u{fc}\u{df}e aus M\u{fc}nchen\n";
    let latin: Vec<u8> = unknown
        .chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect();
    let page = pages(&latin).remove(0);
    assert!(page.markdown.contains("Grüße aus München"), "{page:?}");
    assert!(page.record.doubts[0].contains("not known"), "{page:?}");

    let wrong = "Subject: s\nContent-Type: text/plain; charset=us-ascii\n\nGrüße\n";
    let page = pages(wrong).remove(0);
    assert!(page.markdown.contains("Grüße"), "{page:?}");
    assert_eq!(page.record.doubts, Vec::<String>::new());

    let broken = format!(
        "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n{}*!\n",
        STANDARD.encode("Grüße und mehr")
    );
    let page = pages(mixed("mixed", &[&broken])).remove(0);
    assert!(page.markdown.contains("Grüße und mehr"), "{page:?}");
    assert!(page.record.doubts[0].contains("damaged"), "{page:?}");

    // Cut off within an attachment: what came is read, and doubtful.
    let file = attached("notes.md", "text/markdown", b"# Notes\nof a long day\n");
    let whole = mixed("mixed", &[TEXT, &file]);
    let pages = pages(&whole.as_bytes()[..whole.len() - 20]);
    assert!(pages[1].markdown.starts_with("# Notes"), "{pages:?}");
    assert!(!pages[1].record.doubts.is_empty(), "{pages:?}");
}

#[test]
fn depth_and_number_are_bounded() {
    let mut deep = "Subject: s\nContent-Type: message/rfc822\n\n".repeat(200);
    deep.push_str("Subject: last\n\nx\n");
    let pages = pages(&deep);
    let last = pages.last().unwrap();
    assert!(
        last.record.error.as_deref().unwrap().contains("8 deep"),
        "{last:?}"
    );
    // The outermost, eight within, and the one that is not read.
    assert_eq!(pages.len(), 10);

    // Containers without an end, each of which is looked for.
    let mut wide = "--b\nContent-Type: multipart/mixed; boundary=none\n\nx\n".repeat(990);
    wide.insert_str(
        0,
        "Subject: s\nContent-Type: multipart/mixed; boundary=b\n\n",
    );
    wide.push_str(&" ".repeat(8 << 20));
    let error = extract_alone(Format::Eml, "a.eml", wide.as_bytes()).unwrap_err();
    assert!(matches!(error, ExtractError::TooLarge { .. }), "{error}");

    let endless = "Content-Type: message/rfc822\n\n".repeat(100_000);
    let error = extract_alone(Format::Eml, "a.eml", endless.as_bytes()).unwrap_err();
    assert!(matches!(error, ExtractError::TooLarge { .. }), "{error}");
    for text in [
        "",
        "just words\n",
        "Note: a text with a colon\n\nx\n",
        "\0\0\0",
    ] {
        let error = extract_alone(Format::Eml, "a.eml", text.as_bytes()).unwrap_err();
        assert!(
            matches!(error, ExtractError::Damaged { .. }),
            "{text:?}: {error}"
        );
    }
}

/// A message with something of everything.
fn rich() -> Vec<u8> {
    let html = "Content-Type: text/html; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n\
        <p>Gr=FC=DFe <img src=3D\"cid:a\"><blockquote>old</blockquote>\n";
    let flowed = "Content-Type: text/plain; format=flowed; delsp=yes\n\none \ntwo\n\
        On 3 May 2024, Bob wrote:\n> x\n-- \nAnn\n";
    let inner = "Content-Type: message/rfc822\n\nSubject: in\n\ninner\n";
    let calendar = "Content-Type: text/calendar\n\nBEGIN:VEVENT\nSUMMARY;X=\"a:b\":c\nEND:VEVENT\n";
    let tnef = attached(
        "winmail.dat",
        "application/ms-tnef",
        &tnef::tests::packed(&[("a", b"b")]),
    );
    mixed("mixed", &[flowed, html, inner, calendar, &tnef]).into_bytes()
}

proptest! {
    #[test]
    fn no_bytes_do_harm(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in any::<prop::sample::Index>(),
        splice in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        let mut bytes = rich();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let (from, to) = (splice.0.index(bytes.len()), splice.1.index(bytes.len()));
        let piece = bytes[from.min(to)..from.max(to)].to_vec();
        bytes.splice(from..from, piece);
        bytes.truncate(bytes.len() - cut.index(bytes.len()) / 4);
        for format in [Format::Eml, Format::Mbox] {
            let result = extract_alone(format, "a", &[b"From a\n", bytes.as_slice()].concat());
            for page in result.map(|found| found.pages).unwrap_or_default() {
                let is_clean = |c: char| matches!(c, '\n' | '\t') || !c.is_control();
                prop_assert!(page.markdown.chars().all(is_clean));
                let is_missing = page.record.method == ReadMethod::Missing;
                prop_assert_eq!(is_missing, page.record.error.is_some());
            }
        }
    }
}
