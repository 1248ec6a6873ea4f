//! Documents of each format that mean harm, in the parser's own children.

use parser::error::{Limit, PoolError};
use parser::extract::{ExtractError, Extraction};
use shared::contract::Locator;
use shared::format::Format;

use crate::support::{extract, plan, pool, zipped};

/// What a hostile document may end as; anything else fails the test. The pool reads on after it.
async fn ends_clearly(format: Format, name: &str, bytes: &[u8]) -> Result<Extraction, PoolError> {
    let pool = pool(plan());
    let result = extract(&pool, format, name, bytes).await;
    match &result {
        Ok(extraction) => assert!(!extraction.pages.is_empty(), "{name}"),
        Err(PoolError::OverLimit(_) | PoolError::TooDeep) => {}
        Err(PoolError::Extract(error)) => assert!(!error.to_string().is_empty(), "{name}"),
        Err(error) => panic!("{name}: {error}"),
    }
    let after = extract(&pool, Format::Text, "b", b"fine").await.unwrap();
    assert_eq!(after.pages[0].markdown, "fine");
    result
}

#[tokio::test]
async fn web_pages_that_mean_harm() {
    let html = |text: String| text.into_bytes();
    for tag in [
        "b",
        "ul><li",
        "blockquote",
        "table><tr><td",
        "pre",
        "math",
        "select><option",
    ] {
        let deep = html(format!("<{tag}>").repeat(20_000) + "end");
        let extraction = ends_clearly(Format::Html, tag, &deep).await;
        if let Ok(extraction) = extraction {
            assert!(extraction.pages[0].markdown.contains("end"), "{tag}");
        }
    }
    let wide = html("<table><tr><td colspan=100000 rowspan=100000>x".repeat(300));
    ends_clearly(Format::Html, "spans", &wide).await.unwrap();
    let flat = html("<font>x</font>".repeat(100_000));
    ends_clearly(Format::Html, "siblings", &flat).await.unwrap();
    ends_clearly(Format::Html, "entities", &html("&amp".repeat(500_000)))
        .await
        .unwrap();
    ends_clearly(Format::Html, "zeros", &vec![0; 1 << 20])
        .await
        .unwrap();
    ends_clearly(Format::Html, "tag", &html("<a b=".repeat(200_000)))
        .await
        .unwrap();
}

#[tokio::test]
async fn tables_that_mean_harm() {
    // One line of 50 MB: more text than a document may give.
    let line = "1234567,".repeat(50 << 17);
    let result = ends_clearly(Format::Csv, "line", line.as_bytes()).await;
    assert!(
        matches!(result, Err(PoolError::OverLimit(Limit::Output(_)))),
        "{:?}",
        result.err()
    );
    let cell = format!("a,b\n\"{}", "x\n".repeat(1 << 20));
    ends_clearly(Format::Csv, "endless cell", cell.as_bytes())
        .await
        .unwrap();
    let wide = format!("{}\n1,2\n", ",".repeat(1 << 20));
    ends_clearly(Format::Csv, "wide", wide.as_bytes())
        .await
        .unwrap();
    let noise: Vec<u8> = (0..1_u32 << 20)
        .map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[0])
        .collect();
    ends_clearly(Format::Csv, "noise", &noise).await.unwrap();
}

#[tokio::test]
async fn a_table_of_100_000_rows_is_read_whole() {
    let row = |id: u32| format!("{id},name {id},\"place, {id}\",{id}.50\n");
    let rows: Vec<_> = (1..=100_000).map(row).collect();
    let text = format!("id,name,place,sum\n{}", rows.concat());
    let mut plan = plan();
    plan.limits.memory_bytes = 256 << 20;
    let extraction = extract(&pool(plan), Format::Csv, "all.csv", text.as_bytes())
        .await
        .unwrap();
    assert_eq!(extraction.pages.len(), 1_000);
    let last = extraction.pages.last().unwrap();
    let rows = Locator::Sheet {
        name: "all".to_owned(),
        rows: (99_902, 100_001),
    };
    assert_eq!(last.record.locator, rows);
    assert!(
        last.markdown
            .ends_with("| 100000 | name 100000 | place, 100000 | 100000.50 |\n")
    );
}

#[tokio::test]
async fn word_documents_that_mean_harm() {
    let main = "xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"";
    let text = |text: &str| format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    let document = |head: &str, body: &str| {
        format!("{head}<w:document {main}><w:body>{body}</w:body></w:document>")
    };
    // Ten entities, each ten times the one before: nobody expands them.
    let entity = |level: u8| {
        let inner = format!("&l{};", level - 1).repeat(10);
        format!("<!ENTITY l{level} \"{inner}\">")
    };
    let entities = (1..10).map(entity).collect::<Vec<_>>().concat();
    let head = format!("<!DOCTYPE w [<!ENTITY l0 \"ha\">{entities}]>");
    let laughs = document(&head, &text("before &l9; after"));
    let laughs = zipped(&[("word/document.xml", &laughs)]);
    let extraction = ends_clearly(Format::Docx, "laughs", &laughs).await;
    assert!(extraction.unwrap().pages[0].markdown.len() < 1_000);

    // 200 MB of one letter pack into 200 kB.
    let bomb = zipped(&[(
        "word/document.xml",
        &document("", &text(&"a".repeat(200 << 20))),
    )]);
    assert!(bomb.len() < 1 << 20);
    let result = ends_clearly(Format::Docx, "bomb", &bomb).await;
    assert!(
        matches!(
            result,
            Err(PoolError::Extract(ExtractError::TooLarge { .. }))
        ),
        "{:?}",
        result.err()
    );
    let header = format!("<w:hdr {main}>{}</w:hdr>", text(&"a".repeat(100 << 20)));
    let small = document("", &text("small"));
    let bomb = zipped(&[("word/document.xml", &small), ("word/header1.xml", &header)]);
    ends_clearly(Format::Docx, "header bomb", &bomb)
        .await
        .unwrap();

    let tables = document("", &"<w:tbl><w:tr><w:tc>".repeat(5_000));
    let deep = zipped(&[("word/document.xml", &tables)]);
    let result = ends_clearly(Format::Docx, "deep", &deep).await;
    assert!(result.unwrap_err().to_string().contains("no text in it"));
    let tables = "<w:tbl><w:tr><w:tc>".repeat(5_000) + &text("far inside");
    let deep = zipped(&[("word/document.xml", &document("", &tables))]);
    let extraction = ends_clearly(Format::Docx, "deep", &deep).await.unwrap();
    assert_eq!(extraction.pages[0].markdown, "far inside\n");

    let whole = zipped(&[("word/document.xml", &small)]);
    for cut in [0, 4, 30, 60] {
        let bytes = whole.get(..cut).unwrap();
        let result = ends_clearly(Format::Docx, "cut", bytes).await;
        assert!(matches!(result, Err(PoolError::Extract(_))), "cut at {cut}");
    }
    let bytes = whole.get(..whole.len() - 10).unwrap();
    let extraction = ends_clearly(Format::Docx, "cut", bytes).await.unwrap();
    let page = &extraction.pages[0];
    assert_eq!(
        (page.markdown.as_str(), page.record.doubts.len()),
        ("small\n", 1)
    );
}
