//! Messages put together property by property.

use std::io::{Cursor, Write as _};

use encoding_rs::WINDOWS_1251;
use proptest::prelude::*;
use shared::contract::ReadMethod;
use shared::format::Format;

use crate::extract::{ExtractedPage, extract_alone};

/// A compound file of these streams.
fn stored(streams: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    for (path, content) in streams {
        if let Some((storage, _)) = path
            .rsplit_once('/')
            .filter(|(storage, _)| !storage.is_empty())
        {
            file.create_storage_all(storage).unwrap();
        }
        file.create_stream(path)
            .unwrap()
            .write_all(content)
            .unwrap();
    }
    file.flush().unwrap();
    file.into_inner().into_inner()
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// A table of short properties after `header` bytes: number, type and value.
fn table(header: usize, rows: &[(u16, u16, u64)]) -> Vec<u8> {
    let mut out = vec![0; header];
    for (number, kind, value) in rows {
        out.extend(kind.to_le_bytes());
        out.extend(number.to_le_bytes());
        out.extend([6, 0, 0, 0]);
        out.extend(value.to_le_bytes());
    }
    out
}

/// 29 February 2024, 08:15, in steps of 100 ns since 1601.
const SENT: u64 = (1_709_194_500 + 11_644_473_600) * 10_000_000;

fn message() -> Vec<u8> {
    const INNER: &str = "/__attach_version1.0_#00000001/__substg1.0_3701000D";
    stored(&[
        (
            "/__properties_version1.0",
            &table(32, &[(0x39, 0x40, SENT), (0x3ffd, 3, 1251)]),
        ),
        (
            "/__substg1.0_0037001E",
            &WINDOWS_1251.encode("Отчёт за май").0,
        ),
        ("/__substg1.0_0C1A001F", &wide("Ann")),
        ("/__substg1.0_0C1F001F", &wide("/O=ORG/CN=ANN")),
        ("/__substg1.0_5D01001F", &wide("ann@x.example")),
        ("/__substg1.0_1000001F", &wide("see <img>\r\n")),
        (
            "/__substg1.0_10130102",
            b"<p>see <b>this</b> <img src='cid:p1'>",
        ),
        (
            "/__recip_version1.0_#00000000/__properties_version1.0",
            &table(8, &[(0xc15, 3, 1)]),
        ),
        (
            "/__recip_version1.0_#00000000/__substg1.0_3001001F",
            &wide("Bob"),
        ),
        (
            "/__recip_version1.0_#00000000/__substg1.0_39FE001F",
            &wide("bob@x.example"),
        ),
        (
            "/__recip_version1.0_#00000001/__properties_version1.0",
            &table(8, &[(0xc15, 3, 2)]),
        ),
        (
            "/__recip_version1.0_#00000001/__substg1.0_3001001F",
            &wide("Cleo"),
        ),
        (
            "/__attach_version1.0_#00000000/__properties_version1.0",
            &table(8, &[(0x3705, 3, 1)]),
        ),
        (
            "/__attach_version1.0_#00000000/__substg1.0_3707001F",
            &wide("plan.md"),
        ),
        (
            "/__attach_version1.0_#00000000/__substg1.0_37010102",
            b"# Plan\n",
        ),
        (
            "/__attach_version1.0_#00000001/__properties_version1.0",
            &table(8, &[(0x3705, 3, 5)]),
        ),
        (&format!("{INNER}/__substg1.0_0037001F"), &wide("Earlier")),
        (
            &format!("{INNER}/__substg1.0_1000001F"),
            &wide("inner words"),
        ),
        (
            &format!("{INNER}/__attach_version1.0_#00000000/__substg1.0_3707001F"),
            &wide("deep.md"),
        ),
        (
            &format!("{INNER}/__attach_version1.0_#00000000/__substg1.0_37010102"),
            b"# Deep\n",
        ),
        (
            "/__attach_version1.0_#00000002/__properties_version1.0",
            &table(8, &[(0x3705, 3, 1)]),
        ),
        (
            "/__attach_version1.0_#00000002/__substg1.0_3707001F",
            &wide("p.png"),
        ),
        (
            "/__attach_version1.0_#00000002/__substg1.0_3712001F",
            &wide("p1"),
        ),
        (
            "/__attach_version1.0_#00000002/__substg1.0_37010102",
            b"\x89PNG",
        ),
        (
            "/__attach_version1.0_#00000003/__properties_version1.0",
            &table(8, &[(0x3705, 3, 7)]),
        ),
        (
            "/__attach_version1.0_#00000003/__substg1.0_3707001F",
            &wide("cloud.docx"),
        ),
    ])
}

fn pages(bytes: &[u8]) -> Vec<ExtractedPage> {
    extract_alone(Format::Msg, "a.msg", bytes).unwrap().pages
}

#[test]
fn a_message_reads_like_one_that_was_sent() {
    let pages = pages(&message());
    assert_eq!(
        pages[0].markdown,
        "# Отчёт за май\n\n- From: Ann <ann@x.example>\n- To: Bob <bob@x.example>\n- Cc: Cleo\n\
         - Date: 2024-02-29 08:15:00 +00:00\n- Attachments: plan.md, Earlier.msg, cloud.docx\n\
         - Pictures in the text: p.png\n\nsee **this**\n"
    );
    let places: Vec<_> = pages[1..]
        .iter()
        .map(|page| page.record.locator.short().unwrap())
        .collect();
    assert_eq!(
        places,
        [
            "plan.md",
            "Earlier.msg",
            "Earlier.msg › deep.md",
            "cloud.docx"
        ]
    );
    assert_eq!(
        pages[2].markdown,
        "# Earlier\n\n- Attachments: deep.md\n\ninner words\n"
    );
    assert_eq!(pages[3].markdown, "# Deep\n");
    assert_eq!(pages[4].record.method, ReadMethod::Missing);
    let error = pages[4].record.error.as_deref().unwrap();
    assert!(error.contains("kept elsewhere"), "{error}");
}

#[test]
fn what_is_no_message_is_refused() {
    for bytes in [
        &b""[..],
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        &stored(&[("/WordDocument", b"x")]),
    ] {
        let error = extract_alone(Format::Msg, "a.msg", bytes).unwrap_err();
        assert!(error.to_string().contains("damaged"), "{error}");
    }
}

#[test]
fn the_header_gives_the_date_that_the_properties_lack() {
    let header = wide("Received: x\r\nDate: Sun, 22 Dec 2024 11:23:00 +0300\r\n");
    let bytes = stored(&[
        ("/__properties_version1.0", &table(32, &[(0x39, 0x40, 0)])),
        ("/__substg1.0_0037001F", &wide("s")),
        ("/__substg1.0_007D001F", &header),
    ]);
    let page = pages(&bytes).remove(0);
    assert!(
        page.markdown
            .contains("- Date: 2024-12-22 11:23:00 +03:00\n"),
        "{page:?}"
    );
}

proptest! {
    #[test]
    fn no_bytes_do_harm(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = message();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        drop(extract_alone(Format::Msg, "a.msg", &bytes));
    }
}
