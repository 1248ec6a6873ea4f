//! Excel 97, record by record.

use std::io::{Cursor, Write as _};

use super::*;

fn record(kind: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap();
    [&kind.to_le_bytes(), &length.to_le_bytes(), data].concat()
}

fn words(words: &[u16]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn text(text: &str) -> Vec<u8> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let length = u16::try_from(units.len()).unwrap();
    [&length.to_le_bytes()[..], &[1], &words(&units)].concat()
}

const END: u16 = 0x000a;

/// A workbook of one sheet with these records.
fn workbook(globals: &[u8], sheet: &[Vec<u8>]) -> Vec<u8> {
    let begin = record(0x0809, &words(&[0x0600, 5, 0, 0]));
    let name = [&[0, 0, 4, 0][..], b"Data"].concat();
    let listed = 4 + 4 + name.len();
    let end = record(END, &[]);
    let at = u32::try_from(begin.len() + globals.len() + listed + end.len()).unwrap();
    let listed = record(0x0085, &[&at.to_le_bytes()[..], &name].concat());
    let stream = [
        begin.clone(),
        globals.to_vec(),
        listed,
        end.clone(),
        begin,
        sheet.concat(),
        end,
    ];
    compound(&[("/Workbook", &stream.concat())])
}

fn compound(streams: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    for (path, bytes) in streams {
        file.create_stream(path).unwrap().write_all(bytes).unwrap();
    }
    file.flush().unwrap();
    file.into_inner().into_inner()
}

fn label(row: u16, column: u16, said: &str) -> Vec<u8> {
    record(0x0204, &[words(&[row, column, 0]), text(said)].concat())
}

fn number(row: u16, column: u16, style: u16, value: f64) -> Vec<u8> {
    record(
        0x0203,
        &[words(&[row, column, style]), value.to_le_bytes().to_vec()].concat(),
    )
}

fn sample() -> Vec<u8> {
    let xf = |format: u16| record(0x00e0, &words(&[0, format]));
    let globals = [
        xf(0),
        xf(14),
        xf(10),
        record(0x041e, &[words(&[164]), text("0.0\" kg\"")].concat()),
        xf(164),
    ];
    let formula = |row: u16, value: [u8; 8]| {
        record(
            0x0006,
            &[&words(&[row, 1, 0])[..], &value, &[0; 8]].concat(),
        )
    };
    let sheet = [
        record(0x0200, &[0xff; 14]),
        record(0x0208, &words(&[3, 0, 2, 0, 0, 0, 0x20, 0])),
        label(0, 0, "what"),
        label(0, 1, "value"),
        label(1, 0, "day"),
        number(1, 1, 1, 44197.0),
        label(2, 0, "share"),
        number(2, 1, 2, 0.125),
        label(3, 0, "weight"),
        number(3, 1, 3, 2.5),
        label(4, 0, "many"),
        record(
            0x00bd,
            &[
                &words(&[4, 1, 0])[..],
                &(7_u32 << 2 | 2).to_le_bytes(),
                &words(&[1]),
            ]
            .concat(),
        ),
        label(5, 0, "word"),
        formula(5, [0, 0, 0, 0, 0, 0, 0xff, 0xff]),
        record(0x0207, &text("Ωmega")),
        label(6, 0, "wrong"),
        formula(6, [2, 0, 0x17, 0, 0, 0, 0xff, 0xff]),
        label(7, 0, "sum"),
        formula(7, 0.3_f64.to_le_bytes()),
    ];
    workbook(&globals.concat(), &sheet)
}

#[test]
fn cells_of_all_kinds() {
    let extraction = read(Format::Xls, &sample());
    assert_eq!(
        texts(&extraction),
        [
            "# Data\n\n| what | value |\n| --- | --- |\n| day | 2021-01-01 |\n| share | 12.50% |\n\
          | (hidden) weight | 2.5 kg |\n| many | 7 |\n| word | Ωmega |\n| wrong | #REF! |\n| sum | 0.3 |\n"
        ]
    );
}

#[test]
fn a_locked_workbook_asks_for_its_password() {
    let locked = workbook(&record(0x002f, &[1, 0, 1, 0, 1, 0]), &[]);
    let refused = extract_alone(Format::Xls, "book", &locked);
    assert_eq!(refused, Err(ExtractError::PasswordNeeded));
}

#[test]
fn far_cells_cost_no_more_than_near_ones() {
    let far = workbook(&[], &[label(0, 0, "a"), label(65_535, 65_535, "z")]);
    assert_eq!(texts(&read(Format::Xls, &far)), ["# Data\n\na\n\nz\n"]);
}

#[test]
fn what_is_cut_off_is_told() {
    let stream = |bytes: &[u8]| {
        let mut file = cfb::CompoundFile::open(Cursor::new(bytes)).unwrap();
        let mut stream = Vec::new();
        std::io::Read::read_to_end(&mut file.open_stream("/Workbook").unwrap(), &mut stream)
            .unwrap();
        stream
    };
    let whole = stream(&sample());
    let cut = compound(&[("/Workbook", &whole[..whole.len() - 40])]);
    let extraction = read(Format::Xls, &cut);
    assert!(extraction.pages[0].markdown.contains("12.50%"));
    assert_eq!(extraction.pages[1].record.method, ReadMethod::Missing);
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        drop(extract_alone(
            Format::Xls,
            "book",
            &compound(&[("/Workbook", &bytes)]),
        ));
    }
    survives(Format::Xls, &sample());
}
