//! Documents as the command line shows them: what could be read of each, and what could not.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use super::fake_gateway::FakeGateway;
use super::talking::{run, text};
use super::{check, command};

const SECRET: &str = "open-sesame-42";

fn id(n: u8) -> String {
    format!("{n:032x}")
}

fn document(n: u8, path: &str, state: &str) -> Value {
    json!({
        "id": id(n), "generation": 1, "collection": "default", "path": path,
        "name": path.rsplit('/').next(), "format": "pdf", "bytes": 1,
        "content": "0".repeat(64), "file_hash": "0".repeat(32), "state": state,
        "searchable": state != "failed", "pages": 5, "chunks": 7, "tokens": 1, "added_ms": 0
    })
}

fn failed(n: u8, path: &str, code: &str, message: &str) -> Value {
    let mut document = document(n, path, "failed");
    document["error"] = json!({ "code": code, "message": message, "remedy": "mend it" });
    document
}

fn partial(n: u8, path: &str) -> Value {
    let mut document = document(n, path, "partial");
    document["missing_pages"] = json!([2, 3, 4]);
    document["missing_count"] = json!(3);
    document["outdated"] = json!(true);
    document
}

fn listing(documents: &[Value]) -> String {
    json!({ "documents": documents, "next": null, "total": documents.len() }).to_string()
}

fn page(number: u32, label: &str, error: Option<&str>) -> Value {
    json!({
        "number": number, "method": if error.is_some() { "missing" } else { "text_layer" },
        "locator": { "kind": "pdf_page", "physical": number, "label": label },
        "characters": 12, "doubts": [], "error": error,
        "chunks": [format!("{}_{number}", "0".repeat(32))]
    })
}

fn ledger(pages: &[Value]) -> String {
    let total = pages.len();
    json!({ "notes": ["read without PDFium"], "pages": pages, "next": null, "total": total })
        .to_string()
}

#[test]
fn a_listing_tells_coverage_and_each_reason_once() {
    let documents = [
        partial(1, "/x/scan.pdf"),
        failed(2, "/x/a.pdf", "password_needed", "it is locked"),
        failed(3, "/x/b.pdf", "password_needed", "it is locked"),
        failed(4, "/x/c\u{1b}.pdf", "damaged", "it is torn"),
    ];
    let answers = [("GET /api/v1/documents", listing(&documents))];
    let answers = answers
        .each_ref()
        .map(|(line, body)| (*line, body.as_str()));
    let gateway = FakeGateway::start(None, &answers);
    for word in ["list", "ls"] {
        let told = text(&run(&gateway, &[word], "", &[]).stdout);
        for line in [
            "2 of 5",
            "2 documents: it is locked\n  /x/a.pdf\n  /x/b.pdf\n  → mend it\n",
            "/x/c\\u{1b}.pdf: it is torn\n  → mend it\n",
            "`ibid retry --outdated` reads again",
        ] {
            assert!(told.contains(line), "{line}{told}");
        }
    }
}

#[test]
fn a_document_is_shown_page_by_page_and_a_page_as_the_model_reads_it() {
    let pages = [
        page(1, "i", None),
        page(2, "ii", Some("needs OCR: the page is a picture")),
    ];
    let mut whole = partial(1, "/x/scan.pdf");
    whole["notes"] = json!(["read without PDFium"]);
    let (one, of_pages, of_page) = (
        format!("GET /api/v1/documents/{}", id(1)),
        format!("GET /api/v1/documents/{}/pages", id(1)),
        format!("GET /api/v1/documents/{}/pages/1", id(1)),
    );
    let markdown = "# One\n\n| a |\n|---|\n| \u{1b}[2J |\n\n";
    let mut first = page(1, "i", None);
    first["markdown"] = json!(markdown);
    let answers = [
        (
            "GET /api/v1/documents",
            listing(&[partial(1, "/x/scan.pdf")]),
        ),
        (one.as_str(), whole.to_string()),
        (of_pages.as_str(), ledger(&pages)),
        (of_page.as_str(), first.to_string()),
    ];
    let answers = answers
        .each_ref()
        .map(|(line, body)| (*line, body.as_str()));
    let gateway = FakeGateway::start(None, &answers);

    let told = text(&run(&gateway, &["show", "scan.pdf"], "", &[]).stdout);
    for line in [
        "2 of 5 pages readable",
        "note      read without PDFium\n",
        "1     p.i (1)   text layer  12          1",
        "2     p.ii (2)  missing",
        "needs OCR: the page is a picture\n",
    ] {
        assert!(told.contains(line), "{line}{told}");
    }
    let asked = gateway.asked().pop().unwrap().line;
    assert!(asked.contains("text=false"), "{asked}");
    run(&gateway, &["show", "scan.pdf", "--missing"], "", &[]);
    let asked = gateway.asked().pop().unwrap().line;
    assert!(asked.contains("missing=true"), "{asked}");

    for wanted in ["1", "i", "I"] {
        let output = run(&gateway, &["show", "scan.pdf", "--page", wanted], "", &[]);
        assert!(output.status.success(), "{output:?}");
        // To the byte, for whatever it is piped into.
        assert_eq!(text(&output.stdout), markdown);
        let head = text(&output.stderr);
        assert!(
            head.starts_with("scan.pdf, p.i (1) · page 1 · text layer"),
            "{head}"
        );
    }
    let output = run(&gateway, &["show", "scan.pdf", "--page", "9"], "", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("from 1 to 2"), "{output:?}");
}

#[test]
fn a_locked_file_is_told_with_what_to_type_and_its_password_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("locked.pdf");
    fs::write(&file, "%PDF-1.7 locked").unwrap();
    let path = file.to_str().unwrap();
    let admitted = json!({ "document_id": id(1), "generation": 1, "outcome": "new" }).to_string();
    let locked = failed(1, path, "password_needed", "it is locked").to_string();
    let one = format!("GET /api/v1/documents/{}", id(1));
    let answers = [
        ("POST /api/v1/documents", admitted.as_str()),
        (one.as_str(), locked.as_str()),
    ];
    let gateway = FakeGateway::start(None, &answers);
    let sent = |arguments: &[&str], input: &str, more: &[(&str, &str)]| {
        let before = gateway.asked().len();
        let output = run(&gateway, arguments, input, more);
        let told = text(&[output.stdout, output.stderr].concat());
        assert!(!told.contains("sesame"), "{told}");
        let expect = format!("failed: {path}: it is locked\n  → ibid add --password {path}\n");
        assert!(told.contains(&expect), "{told}");
        let upload = gateway
            .asked()
            .into_iter()
            .skip(before)
            .find(|asked| asked.line.starts_with("POST"));
        upload.unwrap().body
    };
    let body = sent(&["add", path], "", &[]);
    assert!(!body.contains("name=\"password\""), "{body}");

    let kept = folder.path().join("secret.txt");
    fs::write(&kept, format!("{SECRET}\nsecond line")).unwrap();
    let kept = kept.to_str().unwrap();
    for (arguments, input, more) in [
        (vec!["add", "--password-file", kept, path], "", vec![]),
        (
            vec!["add", "--password-file", "-", path],
            "open-sesame-42\r\n",
            vec![],
        ),
        (vec!["add", path], "", vec![("IBID_PASSWORD", SECRET)]),
        (
            vec!["add", "--password", path],
            "",
            vec![("IBID_PASSWORD", SECRET)],
        ),
    ] {
        let body = sent(&arguments, input, &more);
        let field = format!("name=\"password\"\r\n\r\n{SECRET}\r\n");
        let place = body.find(&field).unwrap_or_else(|| panic!("{body}"));
        assert!(place < body.find("name=\"file\"").unwrap(), "{body}");
        assert!(!body.contains("second line"));
    }

    // Nobody is there to be asked.
    let output = run(&gateway, &["add", "--password", path], SECRET, &[]);
    assert_eq!(output.status.code(), Some(1));
    let told = text(&output.stderr);
    assert!(
        told.contains("--password-file") && told.contains("IBID_PASSWORD"),
        "{told}"
    );
}

#[test]
fn a_partly_read_file_is_told_with_its_missing_pages_by_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().canonicalize().unwrap().join("scan.pdf");
    fs::write(&file, "%PDF-1.7 scan").unwrap();
    let path = file.to_str().unwrap();
    let admitted = json!({ "document_id": id(1), "generation": 1, "outcome": "new" }).to_string();
    let scan = partial(1, path).to_string();
    let gaps = ledger(&[
        page(2, "2", Some("needs OCR")),
        page(3, "3", Some("needs OCR")),
        page(4, "4", Some("it is torn")),
    ]);
    let (one, pages) = (
        format!("GET /api/v1/documents/{}", id(1)),
        format!("GET /api/v1/documents/{}/pages", id(1)),
    );
    let answers = [
        ("POST /api/v1/documents", admitted.as_str()),
        (one.as_str(), scan.as_str()),
        (pages.as_str(), gaps.as_str()),
    ];
    let gateway = FakeGateway::start(None, &answers);
    let output = run(&gateway, &["add", path], "", &[]);
    assert!(output.status.success(), "{output:?}");
    let told = text(&output.stdout);
    let expect = format!(
        "partial: {path}: 2 of 5 pages readable\n  pages 2–3: needs OCR\n  page 4: it is torn\n"
    );
    assert!(told.contains(&expect), "{told}");

    let output = run(&gateway, &["add", path, "--json"], "", &[]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["documents"][0]["gaps"][0]["pages"], json!([2, 3]));
    assert_eq!(report["documents"][0]["missing_count"], 3);
}

#[test]
fn what_an_earlier_version_read_is_read_again_when_asked_for() {
    let answers = [("POST /api/v1/retry", r#"{"documents":[]}"#)];
    let gateway = FakeGateway::start(None, &answers);
    for (flag, body, says) in [
        ("--outdated", "\"outdated\"", "this version"),
        ("--failed", "\"all_failed\"", "nothing to try again"),
        ("--all", "\"all_failed\"", "nothing to try again"),
    ] {
        let output = run(&gateway, &["retry", flag], "", &[]);
        assert!(text(&output.stdout).contains(says), "{output:?}");
        assert_eq!(gateway.asked().pop().unwrap().body, body);
    }
}

#[test]
fn reading_is_measured_without_a_running_ibid() {
    let folder = tempfile::tempdir().unwrap();
    let documents = folder.path().join("documents");
    fs::create_dir(&documents).unwrap();
    for (name, bytes) in [
        ("a.md", "# One\n\nWords.\n"),
        ("b.md", "# Two\n\nMore words.\n"),
        ("c.csv", "name;price\nrope;3\n"),
        ("torn.pdf", "%PDF-1.7 and nothing else"),
    ] {
        fs::write(documents.join(name), bytes).unwrap();
    }
    fs::write(
        documents.join("program"),
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0",
    )
    .unwrap();
    let path = documents.to_str().unwrap();
    let output = command(folder.path(), &["bench", "parse", path, "--json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of = |name: &str| {
        let formats = report["formats"].as_array().unwrap();
        formats.iter().find(|one| one["format"] == name).unwrap()
    };
    let markdown = of("markdown");
    assert_eq!(
        (&markdown["files"], &markdown["pages"]),
        (&json!(2), &json!(2))
    );
    assert!(markdown["pages_per_second"].as_f64().unwrap() > 0.0);
    // A process that has read a document had at least a megabyte, and no more than it may.
    let peak = markdown["peak_mb"].as_f64().unwrap();
    assert!((1.0..1100.0).contains(&peak), "{peak}");
    assert_eq!(report["sandboxed"], true);
    assert_eq!(of("pdf")["failed"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&report["total"]["files"], &report["total"]["pages"]),
        (&json!(4), &json!(3))
    );
    assert_eq!(report["not_read"].as_array().unwrap().len(), 1);
    assert!(!folder.path().join("data").exists(), "it keeps nothing");

    let output = command(folder.path(), &["bench", "parse", path])
        .output()
        .unwrap();
    let told = text(&output.stdout);
    for line in [
        "pages/s",
        "\nmarkdown  2",
        "\ntotal",
        "failed: ",
        "system call filter on",
    ] {
        assert!(told.contains(line), "{line}{told}");
    }
    check(&["bench", "parse", "/no/such/folder"], 1, "is not there");
}

/// A PDF of one page with a line of text.
fn small_pdf(line: &str) -> String {
    let content = format!("BT /F1 12 Tf 72 700 Td ({line}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!(
            "<< /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let (mut pdf, mut places) = ("%PDF-1.4\n".to_owned(), String::new());
    for (number, object) in (1..).zip(&objects) {
        writeln!(places, "{:010} 00000 n ", pdf.len()).unwrap();
        writeln!(pdf, "{number} 0 obj\n{object}\nendobj").unwrap();
    }
    let start = pdf.len();
    write!(
        pdf,
        "xref\n0 6\n0000000000 65535 f \n{places}trailer\n<< /Size 6 /Root 1 0 R >>\n\
         startxref\n{start}\n%%EOF\n"
    )
    .unwrap();
    pdf
}

#[test]
fn a_page_is_read_again_by_both_readers_in_a_child_of_its_own() {
    let (one, of_pages, original) = (
        format!("GET /api/v1/documents/{}", id(1)),
        format!("GET /api/v1/documents/{}/pages", id(1)),
        format!("GET /api/v1/documents/{}/original", id(1)),
    );
    let mut attachment = page(2, "", None);
    attachment["locator"] = json!({
        "kind": "entry", "path": "notes.txt", "inner": { "kind": "block", "number": 1 }
    });
    let view = document(1, "/x/plan.pdf", "ready");
    let answers = [
        (
            "GET /api/v1/documents",
            listing(std::slice::from_ref(&view)),
        ),
        (one.as_str(), view.to_string()),
        (of_pages.as_str(), ledger(&[page(1, "1", None), attachment])),
        (
            original.as_str(),
            small_pdf("The rent is due on the first of May."),
        ),
    ];
    let answers = answers
        .each_ref()
        .map(|(line, body)| (*line, body.as_str()));
    let gateway = FakeGateway::start(None, &answers);
    let diff = |page: &str| {
        let output = run(
            &gateway,
            &["show", "plan.pdf", "--page", page, "--diff"],
            "",
            &[],
        );
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        text(&output.stderr)
    };
    // The first reading is there; these tests have no PDFium.
    let told = diff("1");
    assert!(
        told.contains("no second reading") && told.contains("ibid setup"),
        "{told}"
    );
    let told = diff("notes.txt");
    assert!(told.contains("only the pages of a PDF"), "{told}");
}
