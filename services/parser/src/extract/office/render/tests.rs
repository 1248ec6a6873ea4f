use anydoc::model::{ImageSource, Inline, LinkTarget, ListItem, NoteKind, TableKind};

use super::*;

fn paragraph(text: &str) -> Block {
    Block::Paragraph(vec![Inline::plain(text)])
}

#[track_caller]
fn check(document: &Document, expect: &str) {
    let mut renderer = Renderer::new(document);
    let pieces: Vec<String> = renderer
        .document(document)
        .into_iter()
        .map(|piece| piece.markdown)
        .collect();
    assert_eq!(pieces.join("\n"), expect);
}

fn of(blocks: Vec<Block>) -> Document {
    Document {
        blocks,
        ..Document::default()
    }
}

#[test]
fn text_is_not_taken_for_marks() {
    let lines = [
        ("#1 is first", "#1 is first"),
        ("# no heading", "\\# no heading"),
        ("> 5 kg", "\\> 5 kg"),
        ("-----", "\\-----"),
        ("C:\\temp\\*.log | a_b_c", "C:\\temp\\*.log | a_b_c"),
        ("```", "\\```"),
    ];
    for (text, expect) in lines {
        check(&of(vec![paragraph(text)]), &format!("{expect}\n"));
    }
}

#[test]
fn links_are_text_and_pictures_their_description() {
    let link = |content| Inline::Link {
        content,
        target: LinkTarget::External("http://x.example/".to_owned()),
    };
    let image = Inline::Image {
        alt: "an old mill".to_owned(),
        source: ImageSource::Unavailable,
    };
    let content = vec![
        Inline::plain("see "),
        link(vec![Inline::plain("the list")]),
        Inline::plain(" or"),
        image,
        link(Vec::new()),
        Inline::LineBreak,
        Inline::plain("next"),
    ];
    check(
        &of(vec![Block::Paragraph(content)]),
        "see the list or an old mill http://x.example/  \nnext\n",
    );
}

#[test]
fn notes_follow_the_block_that_names_them() {
    let note = |id: &str, text: &str| Note {
        id: id.to_owned(),
        kind: NoteKind::Footnote,
        blocks: vec![paragraph(text)],
    };
    let refers = |text: &str, id: &str| {
        Block::Paragraph(vec![Inline::plain(text), Inline::NoteRef(id.to_owned())])
    };
    let document = Document {
        blocks: vec![refers("one", "b"), refers("two", "a"), refers("none", "z")],
        notes: vec![note("a", "of two"), note("b", "of one"), note("c", "alone")],
        assets: Vec::new(),
    };
    check(
        &document,
        "one[^1]\n\n[^1]: of one\n\ntwo[^2]\n\n[^2]: of two\n\nnone\n\n[^3]: alone\n",
    );
}

#[test]
fn lists_keep_their_numbers() {
    let item = |blocks, label: Option<&str>| ListItem {
        blocks,
        marker_label: label.map(str::to_owned),
    };
    let inner = Block::List(List {
        marker: MarkerKind::LowerRoman,
        start: 4,
        items: vec![item(vec![paragraph("deep")], None)],
    });
    let list = Block::List(List {
        marker: MarkerKind::Decimal,
        start: 3,
        items: vec![
            item(vec![paragraph("three"), inner], None),
            item(vec![paragraph("four")], Some("2.4")),
        ],
    });
    check(&of(vec![list]), "3. three\n   - iv. deep\n- 2.4 four\n");
}

fn table(rows: Vec<Vec<CellSlot>>) -> Block {
    Block::Table(Table {
        grid: rows,
        header_rows: 0,
        kind: TableKind::Data,
    })
}

fn cell(text: &str) -> CellSlot {
    CellSlot::Origin(Cell::new(vec![paragraph(text)]))
}

fn covered(origin_row: usize, origin_col: usize) -> CellSlot {
    CellSlot::Covered {
        origin_row,
        origin_col,
    }
}

use anydoc::model::{Cell, CellSlot, Table};

#[test]
fn merged_cells_are_filled() {
    check(
        &of(vec![table(vec![
            vec![cell("region"), cell("2024"), covered(0, 1)],
            vec![cell("north"), cell("1|2"), cell("3")],
            vec![covered(1, 0), cell("4"), cell("")],
        ])]),
        "| region | 2024 | 2024 |\n| --- | --- | --- |\n| north | 1\\|2 | 3 |\n| north | 4 |  |\n",
    );
    check(
        &of(vec![table(vec![
            vec![cell("Prices"), covered(0, 0)],
            vec![cell("part"), cell("price")],
            vec![cell(""), cell("")],
        ])]),
        "Prices\n\n| part | price |\n| --- | --- |\n",
    );
}

#[test]
fn tables_that_only_place_things_fall_apart() {
    let inner = table(vec![vec![cell("a"), cell("b")], vec![cell("1"), cell("2")]]);
    let holding = CellSlot::Origin(Cell::new(vec![paragraph("in"), inner.clone()]));
    check(
        &of(vec![table(vec![vec![cell("left"), holding.clone()]])]),
        "left\n\nin\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n",
    );
    check(
        &of(vec![table(vec![
            vec![cell("h1"), cell("h2"), cell("h3")],
            vec![cell("x"), holding, cell("y")],
        ])]),
        "| h1 | h2 | h3 |\n| --- | --- | --- |\n| x | in a / b; 1 / 2 | y |\n",
    );
    check(
        &of(vec![table(vec![vec![cell("boxed")], vec![cell("two")]])]),
        "boxed\n\ntwo\n",
    );
}

#[test]
fn hidden_text_is_marked_and_told() {
    let text = format!("a {}b{} c", marks::HIDE, marks::SHOW);
    let document = of(vec![paragraph(&text)]);
    let mut renderer = Renderer::new(&document);
    let pieces = renderer.document(&document);
    assert_eq!(pieces[0].markdown, "a (hidden: b) c\n");
    assert!(renderer.has_hidden);
}
