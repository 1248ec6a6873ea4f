//! OpenDocument.

use std::io::{Cursor, Write as _};

use super::*;

fn ods(body: &str) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let content = format!(
        "<office:document-content><office:automatic-styles><style:style style:name=\"h\">\
         <style:table-properties table:display=\"false\"/></style:style></office:automatic-styles>\
         <office:body><office:spreadsheet>{body}</office:spreadsheet></office:body></office:document-content>"
    );
    let parts = [
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("content.xml", content.as_str()),
    ];
    for (name, text) in parts {
        zip.start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn table(rows: &str) -> Vec<u8> {
    ods(&format!(
        "<table:table table:name=\"S\">{rows}</table:table>"
    ))
}

#[track_caller]
fn check(rows: &str, expect: &str) {
    let extraction = read(Format::Ods, &table(rows));
    assert_eq!(texts(&extraction), [format!("# S\n\n{expect}")]);
}

fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells
        .iter()
        .map(|text| format!("<table:table-cell><text:p>{text}</text:p></table:table-cell>"))
        .collect();
    let cells = cells.concat();
    format!("<table:table-row>{cells}</table:table-row>")
}

fn typed(attributes: &str, shown: &str) -> String {
    format!(
        "<table:table-row><table:table-cell><text:p>x</text:p></table:table-cell>\
         <table:table-cell {attributes}><text:p>{shown}</text:p></table:table-cell></table:table-row>"
    )
}

#[test]
fn values_are_shown_as_the_sheet_shows_them() {
    #[track_caller]
    fn check_value(attributes: &str, shown: &str, expect: &str) {
        check(
            &(row(&["what", "value"]) + &typed(attributes, shown)),
            &format!("| what | value |\n| --- | --- |\n| x | {expect} |\n"),
        );
    }
    check_value(
        "office:value-type=\"float\" office:value=\"7904.5\"",
        "7,904.5",
        "7904.5",
    );
    check_value(
        "office:value-type=\"float\" office:value=\"501\"",
        "00501",
        "00501",
    );
    check_value(
        "office:value-type=\"percentage\" office:value=\"0.125\"",
        "12.50%",
        "12.50%",
    );
    check_value(
        "office:value-type=\"currency\" office:currency=\"EUR\" office:value=\"1234.5\"",
        "1.234,50 €",
        "1234.50 EUR",
    );
    check_value(
        "office:value-type=\"date\" office:date-value=\"2021-01-01\"",
        "1.1.21",
        "2021-01-01",
    );
    check_value(
        "office:value-type=\"date\" office:date-value=\"2021-01-01T13:30:00\"",
        "1.1.21",
        "2021-01-01 13:30",
    );
    check_value(
        "office:value-type=\"time\" office:time-value=\"PT13H30M00S\"",
        "1:30 PM",
        "13:30",
    );
    check_value(
        "office:value-type=\"boolean\" office:boolean-value=\"true\"",
        "WAHR",
        "TRUE",
    );
    check_value(
        "office:value-type=\"string\"",
        "a &amp; b<text:s text:c=\"2\"/>c",
        "a & b  c",
    );
    check_value(
        "office:value-type=\"float\" office:value=\"0\"",
        "#DIV/0!",
        "#DIV/0!",
    );
}

#[test]
fn repeats_are_no_bomb() {
    let endless = "<table:table-row table:number-rows-repeated=\"1048576\">\
        <table:table-cell table:number-columns-repeated=\"16384\"/></table:table-row>";
    check(
        &(row(&["a", "b"]) + endless + &row(&["c", "d"])),
        "| a | b |\n| --- | --- |\n",
    );
    let filled = "<table:table-row table:number-rows-repeated=\"1048576\"><table:table-cell \
        table:number-columns-repeated=\"16384\"><text:p>z</text:p></table:table-cell></table:table-row>";
    let extraction = read(Format::Ods, &table(filled));
    let cells: usize = texts(&extraction)
        .iter()
        .map(|text| text.matches('z').count())
        .sum();
    assert!(cells <= 80_000, "{cells}");
    assert!(
        extraction.pages[0].record.doubts[0].contains("repeats"),
        "{:?}",
        extraction.pages[0].record
    );
}

#[test]
fn merged_hidden_and_remarked() {
    check(
        "<table:table-row><table:table-cell table:number-columns-spanned=\"2\"><text:p>2023</text:p>\
         </table:table-cell><table:covered-table-cell/></table:table-row>\
         <table:table-row><table:table-cell><text:p>plan</text:p><office:annotation>\
         <dc:creator>Ann</dc:creator><dc:date>2024-01-01</dc:date><text:p>check</text:p></office:annotation>\
         </table:table-cell><table:table-cell><text:p>real</text:p></table:table-cell></table:table-row>\
         <table:table-row table:visibility=\"collapse\"><table:table-cell><text:p>x</text:p></table:table-cell>\
         <table:table-cell><text:p>y</text:p></table:table-cell></table:table-row>",
        "2023\n\n| plan | real |\n| --- | --- |\n| (hidden) x | y |\n\nNote on A2 by Ann: check\n",
    );
    let hidden = ods("<table:table table:name=\"H\" table:style-name=\"h\"/>");
    assert_eq!(texts(&read(Format::Ods, &hidden)), ["# H (hidden sheet)\n"]);
}

#[test]
fn what_breaks_off_is_told() {
    let extraction = read(
        Format::Ods,
        &table(&(row(&["a", "b"]) + "<table:table-row <<")),
    );
    let missing = extraction.pages.last().unwrap();
    assert_eq!(missing.record.method, ReadMethod::Missing);
    assert!(extraction.pages[0].markdown.contains("| a | b |"));
    survives(Format::Ods, &table(&(row(&["a", "b"]) + &row(&["c", "d"]))));
}
