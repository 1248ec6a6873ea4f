use rust_xlsxwriter::{ExcelDateTime, Format as Style, Formula, Note, Shape, Workbook, Worksheet};

use super::*;

fn workbook(fill: impl FnOnce(&mut Workbook)) -> Vec<u8> {
    let mut workbook = Workbook::new();
    fill(&mut workbook);
    workbook.save_to_buffer().unwrap()
}

#[track_caller]
fn check(fill: impl FnOnce(&mut Worksheet), expect: &str) {
    let bytes = workbook(|book| fill(book.add_worksheet().set_name("Data").unwrap()));
    let extraction = read(Format::Xlsx, &bytes);
    assert_eq!(texts(&extraction), [expect]);
}

fn fill(sheet: &mut Worksheet, rows: &[&[&str]]) {
    for (row, cells) in (0..).zip(rows) {
        for (column, cell) in (0..).zip(*cells) {
            match cell.parse::<f64>() {
                Ok(number) => drop(sheet.write(row, column, number).unwrap()),
                Err(_) if cell.is_empty() => {}
                Err(_) => drop(sheet.write(row, column, *cell).unwrap()),
            }
        }
    }
}

#[test]
fn values_are_shown_as_the_sheet_shows_them() {
    check(
        |sheet| {
            fill(sheet, &[&["what", "value"]]);
            let style = |code: &str| Style::new().set_num_format(code);
            let day = ExcelDateTime::parse_from_str("2021-01-01").unwrap();
            let moment = ExcelDateTime::parse_from_str("2021-01-01T13:30").unwrap();
            sheet.write(1, 0, "day").unwrap();
            sheet
                .write_with_format(1, 1, &day, &style("dd/mm/yyyy"))
                .unwrap();
            sheet.write(2, 0, "moment").unwrap();
            sheet
                .write_with_format(2, 1, &moment, &style("yyyy-mm-dd hh:mm"))
                .unwrap();
            sheet.write(3, 0, "share").unwrap();
            sheet
                .write_with_format(3, 1, 0.125, &style("0.0%"))
                .unwrap();
            sheet.write(4, 0, "price").unwrap();
            sheet
                .write_with_format(4, 1, 1234.5, &style("[$€-407]#,##0.00"))
                .unwrap();
            sheet.write(5, 0, "sum").unwrap();
            sheet
                .write(
                    5,
                    1,
                    Formula::new("=0.1+0.2").set_result("0.30000000000000004"),
                )
                .unwrap();
            sheet.write(6, 0, "yes").unwrap();
            sheet.write(6, 1, true).unwrap();
            sheet.write(7, 0, "wrong").unwrap();
            sheet
                .write(7, 1, Formula::new("=1/0").set_result("#DIV/0!"))
                .unwrap();
            sheet.write(8, 0, "length").unwrap();
            sheet
                .write_with_format(8, 1, 1.0625, &style("[h]:mm:ss"))
                .unwrap();
        },
        "# Data\n\n| what | value |\n| --- | --- |\n| day | 2021-01-01 |\n| moment | 2021-01-01 13:30 |\n\
         | share | 12.5% |\n| price | €1234.50 |\n| sum | 0.3 |\n| yes | TRUE |\n| wrong | #DIV/0! |\n\
         | length | 25:30:00 |\n",
    );
}

#[test]
fn tables_of_a_sheet_have_their_own_headers() {
    check(
        |sheet| {
            let rows: [&[&str]; 8] = [
                &["Stock 2024", ""],
                &["part", "count"],
                &["bolt", "3"],
                &[],
                &["nut", "4"],
                &[],
                &["clerk", "desk"],
                &["Ann", "east"],
            ];
            fill(sheet, &rows);
        },
        "# Data\n\nStock 2024\n\n| part | count |\n| --- | --- |\n| bolt | 3 |\n| nut | 4 |\n\n\
         | clerk | desk |\n| --- | --- |\n| Ann | east |\n",
    );
    // Numbers alone say nothing about columns.
    check(
        |sheet| fill(sheet, &[&["1", "2"], &["3", "4"]]),
        "# Data\n\n|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n",
    );
    // Years do.
    check(
        |sheet| fill(sheet, &[&["", "2021", "2022"], &["bolts", "3", "4"]]),
        "# Data\n\n|  | 2021 | 2022 |\n| --- | --- | --- |\n| bolts | 3 | 4 |\n",
    );
}

#[test]
fn merged_cells_are_filled() {
    check(
        |sheet| {
            let plain = Style::new();
            sheet
                .merge_range(0, 0, 0, 4, "Sales by year", &plain)
                .unwrap();
            sheet.merge_range(1, 1, 1, 2, "2023", &plain).unwrap();
            sheet.merge_range(1, 3, 1, 4, "2024", &plain).unwrap();
            for (column, name) in (0..).zip(["zone", "plan", "real", "plan", "real"]) {
                sheet.write(2, column, name).unwrap();
            }
            sheet.merge_range(3, 0, 4, 0, "north", &plain).unwrap();
            for row in 3..5 {
                for column in 1..5 {
                    sheet
                        .write(row, column, row * 10 + u32::from(column))
                        .unwrap();
                }
            }
        },
        "# Data\n\nSales by year\n\n| zone | 2023 / plan | 2023 / real | 2024 / plan | 2024 / real |\n\
         | --- | --- | --- | --- | --- |\n| north | 31 | 32 | 33 | 34 |\n| north | 41 | 42 | 43 | 44 |\n",
    );
}

#[test]
fn what_is_hidden_is_kept_and_marked() {
    let bytes = workbook(|book| {
        let sheet = book.add_worksheet().set_name("Plan").unwrap();
        fill(
            sheet,
            &[
                &["name", "pay"],
                &["Ann", "10"],
                &["Bob", "20"],
                &["Cid", "30"],
            ],
        );
        sheet.set_row_hidden(2).unwrap();
        sheet.set_column_hidden(1).unwrap();
        let secret = book.add_worksheet().set_name("Secret").unwrap();
        fill(secret, &[&["word"]]);
        secret.set_hidden(true);
    });
    let extraction = read(Format::Xlsx, &bytes);
    assert_eq!(
        texts(&extraction),
        [
            "# Plan\n\n| name | pay (hidden) |\n| --- | --- |\n| Ann | 10 |\n| (hidden) Bob | 20 |\n\
             | Cid | 30 |\n",
            "# Secret (hidden sheet)\n\nword\n",
        ]
    );
    let doubts = |page: usize| extraction.pages[page].record.doubts.join("; ");
    assert!(
        doubts(0).contains("rows and columns are hidden"),
        "{}",
        doubts(0)
    );
    assert!(doubts(1).contains("sheet is hidden"), "{}", doubts(1));
}

#[test]
fn notes_and_text_boxes_are_kept() {
    check(
        |sheet| {
            fill(sheet, &[&["part", "count"], &["bolt", "3"]]);
            let note = Note::new("count again").set_author("Zoe");
            sheet.insert_note(1, 1, &note).unwrap();
            sheet
                .insert_shape(4, 0, &Shape::textbox().set_text("all sizes in mm"))
                .unwrap();
        },
        "# Data\n\n| part | count |\n| --- | --- |\n| bolt | 3 |\n\nNote on B2 by Zoe: count again\n\n\
         Text box: all sizes in mm\n",
    );
}

#[test]
fn long_sheets_fall_into_pages() {
    let bytes = workbook(|book| {
        let sheet = book.add_worksheet().set_name("Long").unwrap();
        fill(sheet, &[&["id", "name"]]);
        for row in 1..=250 {
            sheet.write(row, 0, row).unwrap();
            sheet.write(row, 1, format!("name {row}")).unwrap();
        }
        sheet.write(1_048_575, 16_383, "far away").unwrap();
    });
    let extraction = read(Format::Xlsx, &bytes);
    let places: Vec<_> = extraction
        .pages
        .iter()
        .map(|p| p.record.locator.short().unwrap())
        .collect();
    assert_eq!(
        places,
        [
            "Long rows 1–101",
            "Long rows 102–201",
            "Long rows 202–1048576"
        ]
    );
    for page in &extraction.pages {
        assert!(
            page.markdown
                .starts_with("# Long\n\n| id | name |\n| --- | --- |\n")
        );
    }
    assert!(
        extraction.pages[2]
            .markdown
            .ends_with("| 250 | name 250 |\n\nfar away\n")
    );
}

/// `whole` with the text `from` in the part `part` as `to`.
fn edited(whole: &[u8], part: &str, edit: impl Fn(String) -> String) -> Vec<u8> {
    use std::io::{Cursor, Read as _, Write as _};
    let mut archive = zip::ZipArchive::new(Cursor::new(whole)).unwrap();
    let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        let text = if file.name() == part {
            edit(text)
        } else {
            text
        };
        out.start_file(file.name(), zip::write::SimpleFileOptions::default())
            .unwrap();
        out.write_all(text.as_bytes()).unwrap();
    }
    out.finish().unwrap().into_inner()
}

#[test]
fn a_broken_sheet_is_missing_and_the_others_go_on() {
    let whole = workbook(|book| {
        for name in ["One", "Two"] {
            let sheet = book.add_worksheet().set_name(name).unwrap();
            fill(sheet, &[&["a", "b"], &["1", "2"], &["3", "4"]]);
        }
    });
    let cut = edited(&whole, "xl/worksheets/sheet1.xml", |xml| {
        xml.split("<row r=\"3\"").next().unwrap().to_owned()
    });
    let extraction = read(Format::Xlsx, &cut);
    assert_eq!(extraction.pages.len(), 3);
    assert!(extraction.pages[0].markdown.contains("| 1 | 2 |"));
    let rest = &extraction.pages[1].record;
    assert_eq!(rest.method, ReadMethod::Missing);
    assert_eq!(rest.locator.short().unwrap(), "One rows 3–3");
    assert!(extraction.pages[2].markdown.contains("| 3 | 4 |"));
    // Texts that are declared and not there would be reserved by the library.
    let bomb = edited(&whole, "xl/sharedStrings.xml", |xml| {
        xml.replace("uniqueCount=\"2\"", "uniqueCount=\"99999999999\"")
    });
    let refused = extract_alone(Format::Xlsx, "book", &bomb).unwrap_err();
    assert!(
        refused.to_string().contains("declare more than they hold"),
        "{refused}"
    );
}

#[test]
fn what_would_take_quadratic_time_does_not() {
    let whole = workbook(|book| fill(book.add_worksheet(), &[&["a", "b"], &["c", "d"]]));
    let started = std::time::Instant::now();
    let part = "xl/worksheets/sheet1.xml";
    let text = edited(&whole, part, |xml| {
        let row = "<row r=\"9\"><c r=\"A9\" t=\"inlineStr\"><is><t>";
        let text = " hidden=\"1 ".repeat(200_000);
        xml.replace(
            "</sheetData>",
            &format!("{row}{text}</t></is></c></row></sheetData>"),
        )
    });
    assert!(
        read(Format::Xlsx, &text).pages[0]
            .markdown
            .contains("| c | d |")
    );
    let merged = edited(&whole, part, |xml| {
        let areas = "<mergeCell ref=\"A1:XFD1048576\"/>".repeat(90_000);
        xml.replace(
            "</sheetData>",
            &format!("</sheetData><mergeCells>{areas}</mergeCells>"),
        )
    });
    assert!(
        read(Format::Xlsx, &merged).pages[0]
            .markdown
            .contains("| c | d |")
    );
    let attributes = edited(&whole, part, |xml| {
        let many: Vec<_> = (0..60_000).map(|n| format!(" a{n}=\"\"")).collect();
        xml.replace(
            "</sheetData>",
            &format!("</sheetData><mergeCell{}/>", many.concat()),
        )
    });
    assert!(
        read(Format::Xlsx, &attributes).pages[0]
            .markdown
            .contains("| c | d |")
    );
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

/// Prints the pace.
#[test]
#[ignore = "a measurement: run with --ignored --nocapture"]
fn pace() {
    let bytes = workbook(|book| {
        let sheet = book.add_worksheet();
        for row in 0..50_000 {
            for column in 0..4 {
                sheet
                    .write(row, column, format!("name {row} {column}"))
                    .unwrap();
                sheet
                    .write(row, column + 4, row * 3 + u32::from(column))
                    .unwrap();
            }
        }
    });
    let started = std::time::Instant::now();
    let pages = read(Format::Xlsx, &bytes).pages.len();
    println!("{pages} pages of 8 columns in {:?}", started.elapsed());
}

#[test]
fn a_workbook_is_read_under_any_name() {
    let bytes = workbook(|book| fill(book.add_worksheet(), &[&["a", "b"], &["c", "d"]]));
    for format in [Format::Xls, Format::Docx, Format::Doc] {
        assert_eq!(read(format, &bytes), read(Format::Xlsx, &bytes));
    }
}

#[test]
fn damaged_workbooks_end_well() {
    let bytes = workbook(|book| {
        fill(
            book.add_worksheet(),
            &[&["a", "b"], &["c", "1"], &["d", "2"]],
        );
        fill(book.add_worksheet(), &[&["a", "b"]]);
    });
    survives(Format::Xlsx, &bytes);
}
