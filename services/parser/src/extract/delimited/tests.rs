//! Small tables, row by row.

use shared::contract::Locator;
use shared::format::Format;

use super::*;
use crate::extract::extract_alone;

fn extract(name: &str, bytes: &[u8]) -> Extraction {
    extract_alone(Format::Csv, name, bytes).unwrap()
}

#[track_caller]
fn check(text: &str, rows: (u32, u32), expect: &str) {
    let extraction = extract("lists/prices.csv", text.as_bytes());
    assert_eq!(extraction.pages.len(), 1, "{text:?}");
    assert_eq!(extraction.pages[0].markdown, expect, "{text:?}");
    let locator = Locator::Sheet {
        name: "prices".to_owned(),
        rows,
    };
    assert_eq!(extraction.pages[0].record.locator, locator, "{text:?}");
}

#[test]
fn rows_become_a_table() {
    check(
        "part,price\nvalve,\"1,050.00\"\n",
        (1, 2),
        "| part | price |\n| --- | --- |\n| valve | 1,050.00 |\n",
    );
    check(
        "a;b\r\n\"two\r\nlines\";\"say \"\"yes\"\"\"\r\n",
        (1, 2),
        "| a | b |\n| --- | --- |\n| two lines | say \"yes\" |\n",
    );
    check(
        "a,b\n1\n1,2,3\n",
        (1, 3),
        "| a | b |  |\n| --- | --- | --- |\n| 1 |\n| 1 | 2 | 3 |\n",
    );
    check(
        "a|b\nx|y\n",
        (1, 2),
        "| a | b |\n| --- | --- |\n| x | y |\n",
    );
    check("only\n", (1, 1), "| only |\n| --- |\n");
    check(
        "mail\nann@example.org\n",
        (1, 2),
        "| mail |\n| --- |\n| ann@example.org |\n",
    );
}

#[test]
fn a_title_stands_above_the_header() {
    check(
        "Stanley Cups,,\nTeam,City,Cups\nFlyers,PHI,2\n",
        (1, 3),
        "Stanley Cups\n\n| Team | City | Cups |\n| --- | --- | --- |\n| Flyers | PHI | 2 |\n",
    );
}

#[test]
fn empty_lines_count_as_rows() {
    check(
        "\na,b\n\n\n1,2\n,\n3,4\n",
        (2, 7),
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n",
    );
    check(
        "sep=;\na;b\n1;2\n",
        (2, 3),
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n",
    );
}

#[test]
fn an_empty_file_is_an_empty_page() {
    let extraction = extract("a.csv", b"");
    assert_eq!(extraction.pages.len(), 1);
    assert_eq!(extraction.pages[0].markdown, "");
}

#[test]
fn long_tables_fall_into_pages_that_each_have_the_header() {
    let rows: Vec<_> = (1..=250).map(|id| format!("{id};name {id}\n")).collect();
    let text = format!("id;name\n{}", rows.concat());
    let extraction = extract("people.csv", text.as_bytes());
    let rows: Vec<_> = extraction
        .pages
        .iter()
        .map(|page| page.record.locator.short().unwrap())
        .collect();
    assert_eq!(
        rows,
        [
            "people rows 1–101",
            "people rows 102–201",
            "people rows 202–251"
        ]
    );
    for page in &extraction.pages {
        assert!(page.markdown.starts_with("| id | name |\n| --- | --- |\n"));
    }
    assert!(
        extraction.pages[1]
            .markdown
            .contains("\n| 101 | name 101 |\n")
    );
}

#[test]
fn a_quotation_mark_that_never_closes_swallows_nothing() {
    let rows: Vec<_> = (1..=2_000).map(|id| format!("{id},valve\n")).collect();
    let text = format!("size,part\n\"5 inch,pipe\n{}", rows.concat());
    let extraction = extract("parts.csv", text.as_bytes());
    assert!(
        extraction.notes[0].contains("quotation mark"),
        "{extraction:?}"
    );
    assert_eq!(extraction.pages.len(), 21);
    assert!(extraction.pages[0].markdown.contains("| \"5 inch | pipe |"));
}
