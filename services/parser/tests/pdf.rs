//! PDFs through the child process: locks, damage, what lies beside the text, and memory.

use std::fmt::Write as _;
use std::io::Write as _;

use parser::error::PoolError;
use parser::extract::{ExtractError, Extraction};
use parser::pool::Pool;
use parser::wire::Task;
use shared::contract::{Locator, ReadMethod};
use shared::format::Format;
use shared::secret::Password;

use crate::support::{Page, extract, pdf, plan, pool};

async fn extract_with(
    pool: &Pool,
    bytes: &[u8],
    password: Option<&str>,
) -> Result<Extraction, PoolError> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let task = Task {
        format: Format::Pdf,
        name: "a.pdf".to_owned(),
        password: password.map(|password| Password::new(password.to_owned())),
    };
    pool.extract(task, file).await
}

fn one_page(lines: Vec<(f32, &'static str)>) -> Vec<u8> {
    pdf(
        "t",
        0,
        &[Page {
            lines,
            picture: false,
        }],
    )
}

/// The file, encrypted by lopdf.
fn locked(bytes: &[u8], version: Lock, user: &str) -> Vec<u8> {
    let mut document = lopdf::Document::load_mem(bytes).unwrap();
    let id = || lopdf::Object::string_literal("0123456789abcdef");
    document.trailer.set("ID", vec![id(), id()]);
    let permissions = lopdf::Permissions::all();
    let filter: std::sync::Arc<dyn lopdf::encryption::crypt_filters::CryptFilter> = match version {
        Lock::Aes256 => std::sync::Arc::new(lopdf::encryption::crypt_filters::Aes256CryptFilter),
        _ => std::sync::Arc::new(lopdf::encryption::crypt_filters::Aes128CryptFilter),
    };
    let crypt_filters = std::collections::BTreeMap::from([(b"StdCF".to_vec(), filter)]);
    let key = [7_u8; 32];
    let version = match version {
        Lock::Rc4 => lopdf::EncryptionVersion::V2 {
            document: &document,
            owner_password: "owner",
            user_password: user,
            key_length: 128,
            permissions,
        },
        Lock::Aes128 => lopdf::EncryptionVersion::V4 {
            document: &document,
            encrypt_metadata: true,
            crypt_filters,
            stream_filter: b"StdCF".to_vec(),
            string_filter: b"StdCF".to_vec(),
            owner_password: "owner",
            user_password: user,
            permissions,
        },
        Lock::Aes256 => lopdf::EncryptionVersion::V5 {
            encrypt_metadata: true,
            crypt_filters,
            file_encryption_key: &key,
            stream_filter: b"StdCF".to_vec(),
            string_filter: b"StdCF".to_vec(),
            owner_password: "owner",
            user_password: user,
            permissions,
        },
    };
    let state = lopdf::EncryptionState::try_from(version).unwrap();
    document.encrypt(&state).unwrap();
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

#[derive(Clone, Copy, Debug)]
enum Lock {
    Rc4,
    Aes128,
    Aes256,
}

#[tokio::test]
async fn a_lock_opens_with_its_password_alone() {
    let pool = pool(plan());
    let whole = one_page(vec![(12.0, "Nobody else may read this sentence.")]);
    let locks = [Lock::Rc4, Lock::Aes128, Lock::Aes256];
    for (lock, user) in locks
        .into_iter()
        .flat_map(|lock| [(lock, "secret"), (lock, "käse")])
    {
        let bytes = locked(&whole, lock, user);
        let error = extract_with(&pool, &bytes, None).await.unwrap_err();
        let needed = PoolError::Extract(ExtractError::PasswordNeeded);
        assert_eq!(error.to_string(), needed.to_string(), "{lock:?}");
        for wrong in ["kase", "", "a\0b"] {
            let error = extract_with(&pool, &bytes, Some(wrong)).await.unwrap_err();
            let wrong = PoolError::Extract(ExtractError::WrongPassword);
            assert_eq!(error.to_string(), wrong.to_string(), "{lock:?}");
        }
        for right in [user, "owner"] {
            let extraction = extract_with(&pool, &bytes, Some(right)).await.unwrap();
            let page = &extraction.pages[0];
            let text = page.markdown.trim_start_matches("## ");
            assert_eq!(text, "Nobody else may read this sentence.", "{lock:?}");
            // lopdf derives the older keys from plain user passwords alone; PDFium reads the rest.
            if right == "secret" || matches!(lock, Lock::Aes256) {
                assert_eq!(page.record.method, ReadMethod::TextLayer, "{lock:?}");
            }
            assert_eq!(extraction.notes, Vec::<String>::new(), "{lock:?}");
        }
        let open = locked(&whole, lock, "");
        let extraction = extract_with(&pool, &open, None).await.unwrap();
        assert!(extraction.pages[0].markdown.contains("this sentence"));
        let extraction = extract_with(&pool, &open, Some("not needed"))
            .await
            .unwrap();
        assert!(extraction.pages[0].markdown.contains("this sentence"));
    }
}

#[tokio::test]
async fn damaged_files_give_the_pages_they_have() {
    let pool = pool(plan());
    let page = |text| Page {
        lines: vec![(12.0, text)],
        picture: false,
    };
    let whole = pdf("t", 0, &[page("First of two."), page("Second of two.")]);
    let at = |what: &[u8]| {
        whole
            .windows(what.len())
            .position(|window| window == what)
            .unwrap()
    };
    let check = async |what: &str, bytes: Vec<u8>, expect: &[&str]| {
        let extraction = extract(&pool, Format::Pdf, "a.pdf", &bytes).await;
        let extraction = extraction.unwrap_or_else(|error| panic!("{what}: {error}"));
        let pages: Vec<_> = extraction
            .pages
            .iter()
            .filter(|page| page.record.method != ReadMethod::Missing)
            .map(|page| page.markdown.trim_start_matches("## "))
            .collect();
        assert_eq!(pages, expect, "{what}");
        extraction
    };
    let both = ["First of two.", "Second of two."];
    let no_trailer = whole[..at(b"xref")].to_vec();
    check("no cross-references", no_trailer.clone(), &both).await;
    let junk = [b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &whole].concat();
    check("junk before the header", junk, &both).await;
    let twice = [whole.as_slice(), b"\n%%EOF\nmore\n%%EOF"].concat();
    check("several ends", twice, &both).await;
    let mut no_tree = no_trailer.clone();
    let tree = at(b"/Pages");
    no_tree[tree..tree + 6].copy_from_slice(b"/Pagez");
    let extraction = check("no page tree", no_tree, &both).await;
    assert!(
        extraction.notes[0].contains("2 pages were recovered"),
        "{:?}",
        extraction.notes
    );
    let mut lost = whole.clone();
    let count = at(b"/Count 2");
    lost[count..count + 8].copy_from_slice(b"/Count 4");
    let extraction = check("a count too high", lost, &both).await;
    let missing: Vec<_> = extraction
        .pages
        .iter()
        .filter_map(|page| page.record.error.as_deref())
        .collect();
    assert_eq!(missing, ["the file is damaged: this page is lost"; 2]);
}

/// A PDF of `pages`, each with what `page` adds to its dictionary, and `objects` from number 1000.
fn with_objects(catalog: &str, page: &str, objects: &[(u32, String)]) -> Vec<u8> {
    let content = "BT /F 12 Tf 72 700 Td (The page itself.) Tj ET";
    let mut file = format!(
        "%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R{catalog}>>\nendobj\n2 0 obj\n<</Type/Pages\
         /Count 1/Kids[3 0 R]>>\nendobj\n3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]\
         /Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>{page}>>\nendobj\n4 0 obj\n<</Length {}>>\n\
         stream\n{content}\nendstream\nendobj\n5 0 obj\n<</Type/Font/Subtype/Type1/BaseFont\
         /Helvetica>>\nendobj\n",
        content.len()
    );
    for (number, object) in objects {
        write!(file, "{number} 0 obj\n{object}\nendobj\n").unwrap();
    }
    file += "trailer\n<</Root 1 0 R/Size 1100>>\nstartxref\n0\n%%EOF";
    file.into_bytes()
}

fn stream(dictionary: &str, content: &str) -> String {
    format!(
        "<<{dictionary}/Length {}>>\nstream\n{content}\nendstream",
        content.len()
    )
}

#[tokio::test]
async fn forms_notes_outlines_and_attachments_are_read() {
    let pool = pool(plan());
    let bytes = with_objects(
        "/AcroForm<</Fields[1000 0 R 1001 0 R]/XFA(x)>>/Outlines 1003 0 R\
         /Names<</EmbeddedFiles<</Names[(n)1005 0 R]>>>>",
        "/Annots[1000 0 R 1001 0 R 1002 0 R]",
        &[
            (
                1000,
                "<</Subtype/Widget/Rect[0 0 9 9]/FT/Tx/T(city)/V(Lisbon)>>".to_owned(),
            ),
            (
                1001,
                "<</Subtype/Widget/Rect[0 0 9 9]/FT/Btn/T(agreed)/AS/Yes>>".to_owned(),
            ),
            (
                1002,
                "<</Subtype/Text/Rect[0 0 9 9]/T(Ana)/Contents(Is it so?)>>".to_owned(),
            ),
            (1003, "<</First 1004 0 R>>".to_owned()),
            (1004, "<</Title(The beginning)/Dest[3 0 R/Fit]>>".to_owned()),
            (
                1005,
                "<</Type/Filespec/UF(plan.md)/EF<</F 1006 0 R>>>>".to_owned(),
            ),
            (1006, stream("/Type/EmbeddedFile", "# Plan\n\nDo it soon.")),
        ],
    );
    let extraction = extract(&pool, Format::Pdf, "a.pdf", &bytes).await.unwrap();
    let page = &extraction.pages[0];
    assert_eq!(
        page.markdown,
        "# The beginning\n\n## The page itself.\n\ncity: Lisbon\n\nForm fields:\n\n- agreed: \
         ticked\n\nNotes:\n\n- Ana: Is it so?"
    );
    assert!(
        page.record.doubts[0].contains("XFA"),
        "{:?}",
        page.record.doubts
    );
    let attached = &extraction.pages[1];
    assert!(
        attached.markdown.contains("Do it soon."),
        "{}",
        attached.markdown
    );
    match &attached.record.locator {
        Locator::Entry { path, .. } => assert_eq!(path, "plan.md"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn headers_and_footers_stand_once_and_words_are_whole() {
    let pool = pool(plan());
    let bodies = [
        "Accounts were opened in spring.",
        "Bridges were built in summer.",
        "Cellars were filled in autumn.",
        "Dances were held in winter.",
        "Everything was quiet again.",
    ];
    let pages: Vec<_> = bodies
        .iter()
        .enumerate()
        .map(|(index, body)| Page {
            lines: vec![
                (9.0, "Chronicle of the town"),
                (30.0, ""),
                (12.0, body),
                (12.0, "Nobody remembers an im-"),
                (12.0, "portant thing about it."),
                (30.0, ""),
                (9.0, ["1", "2", "3", "4", "5"][index]),
            ],
            picture: false,
        })
        .collect();
    let extraction = extract(&pool, Format::Pdf, "a.pdf", &pdf("t", 0, &pages))
        .await
        .unwrap();
    for (index, (page, body)) in extraction.pages.iter().zip(bodies).enumerate() {
        let text = &page.markdown;
        assert!(text.contains(body), "{text}");
        assert!(text.contains("an important thing"), "{text}");
        assert_eq!(text.contains("Chronicle"), index == 0, "{text}");
    }
    assert!(
        extraction.notes[0].contains("headers and footers"),
        "{:?}",
        extraction.notes
    );
}

#[tokio::test]
async fn text_that_is_not_decoded_is_doubted() {
    let pool = pool(plan());
    let bytes = one_page(vec![(12.0, "(cid:12)(cid:7)(cid:133) (cid:1)(cid:2)")]);
    let extraction = extract(&pool, Format::Pdf, "a.pdf", &bytes).await.unwrap();
    let record = &extraction.pages[0].record;
    let says = [
        record.doubts.join(" "),
        record.error.clone().unwrap_or_default(),
    ]
    .concat();
    assert!(
        says.contains("garbled") || says.contains("decoded"),
        "{record:?}"
    );
}

/// The most memory that the child with this limit had at once, in bytes.
fn peak_memory(limit: u64) -> u64 {
    let children = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let folder = entry.ok()?.path();
        let limits = std::fs::read_to_string(folder.join("limits")).ok()?;
        let space = limits
            .lines()
            .find(|line| line.starts_with("Max address space"))?;
        let is_it = space
            .split_whitespace()
            .any(|word| word == limit.to_string());
        let status = std::fs::read_to_string(folder.join("status"))
            .ok()
            .filter(|_| is_it)?;
        let peak = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))?;
        peak.split_whitespace().next()?.parse::<u64>().ok()
    });
    children.max().expect("no child with this limit") << 10
}

#[tokio::test]
async fn two_thousand_pages_need_less_than_500_mb() {
    let pages: Vec<_> = (0..2000_u32)
        .map(|number| Page {
            lines: (0..45)
                .map(|line| {
                    let line = format!(
                        "Line {line} of page {number} says what {} lines before it have said too",
                        number * 7 + line
                    );
                    (10.0, &*line.leak())
                })
                .collect(),
            picture: false,
        })
        .collect();
    let mut plan = plan();
    plan.limits.memory_bytes = (1 << 30) + 4096 * 17;
    let limit = plan.limits.memory_bytes;
    let pool = pool(plan);
    let started = std::time::Instant::now();
    let extraction = extract(&pool, Format::Pdf, "a.pdf", &pdf("t", 0, &pages))
        .await
        .unwrap();
    let peak = peak_memory(limit);
    println!("{:?}, {} MB", started.elapsed(), peak >> 20);
    assert_eq!(extraction.pages.len(), 2000);
    assert!(
        extraction.pages[1999]
            .markdown
            .contains("Line 44 of page 1999")
    );
    assert!(peak < 500 << 20, "{} MB", peak >> 20);
}
