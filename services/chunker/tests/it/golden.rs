//! What the chunker makes of small documents. One word is one token; the window is 96: 2 special
//! tokens, an overlap of 12 and the rest for headings and text.

use chunker::{ChunkError, PageText, chunk_pages};
use shared::contract::{Chunk, Locator};

use crate::support::{by_words, pages};

/// `count` words that name themselves, in sentences of ten: `w1 … w10. w11 …`.
fn words(from: usize, count: usize) -> String {
    (from..from + count)
        .map(|n| {
            if n % 10 == 0 {
                format!("W{n}.")
            } else {
                format!("W{n}")
            }
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// Chunks and writes each as `pages | heading path | overlap | first word..last word`.
fn render(texts: &[&str]) -> Vec<String> {
    let chunks = chunk_pages(&pages(texts), &by_words(96)).unwrap();
    let mut lines = Vec::new();
    for chunk in chunks {
        let numbers: Vec<String> = chunk
            .spans
            .iter()
            .map(|span| span.page.to_string())
            .collect();
        let ends = |text: &str| {
            let mut words = text.split_whitespace();
            match (words.next(), words.next_back()) {
                (Some(first), Some(last)) => format!("{first}..{last}"),
                (Some(only), None) => only.to_owned(),
                _ => String::new(),
            }
        };
        lines.push(format!(
            "p{} | {} | {} | {}",
            numbers.join(","),
            chunk.heading_path.join(" > "),
            ends(&chunk.overlap),
            ends(&chunk.text)
        ));
    }
    lines
}

fn check(texts: &[&str], expect: &[&str]) {
    assert_eq!(render(texts), expect, "in {texts:?}");
}

#[test]
fn small_documents_are_one_chunk() {
    check(&["one two three\n"], &["p1 |  |  | one..three"]);
    check(&["# Title\n\nOne two.\n"], &["p1 | Title |  | #..two."]);
    check(&["\n\n  \n", "text"], &["p1,2 |  |  | text"]);
    check(&["text", "", "\n"], &["p1,3 |  |  | text"]);
    // 94 tokens fit exactly: no room is kept for an overlap that is not there.
    check(&[&"word ".repeat(94)], &["p1 |  |  | word..word"]);
}

#[test]
fn documents_without_text_are_refused() {
    for texts in [&[][..], &[""], &[" \n\t", "\n"], &["---\n\n***\n"]] {
        let outcome = chunk_pages(&pages(texts), &by_words(96));
        assert!(matches!(outcome, Err(ChunkError::NoText)), "{texts:?}");
    }
}

#[test]
fn long_text_is_cut_evenly_between_sentences_with_overlap() {
    // 200 words and 20 full stops: 220 tokens. 82 fit beside an overlap, so three chunks of 73.
    check(
        &[&words(1, 200)],
        &[
            "p1 |  |  | W1..W70.",
            "p1 |  | W61..W70. | W71..W130.",
            "p1 |  | W121..W130. | W131..W200.",
        ],
    );
}

#[test]
fn a_cut_between_paragraphs_is_preferred() {
    let text = format!("{}\n\n{}\n", words(1, 60), words(61, 50));
    check(
        &[&text],
        &["p1 |  |  | W1..W60.", "p1 |  | W51..W60. | W61..W110."],
    );
}

#[test]
fn a_sentence_longer_than_the_window_is_cut_between_words() {
    let text = "word ".repeat(150);
    let chunks = chunk_pages(&pages(&[&text]), &by_words(96)).unwrap();
    let sizes: Vec<usize> = chunks
        .iter()
        .map(|c| c.text.split_whitespace().count())
        .collect();
    assert_eq!(sizes, [75, 75]);
    assert_eq!(
        chunks[1].overlap,
        "word ".repeat(12).trim(),
        "an eighth of the window, in words"
    );
}

#[test]
fn sections_end_chunks_and_stop_the_overlap() {
    let text = format!("# A\n\n{}\n\n## B\n\n{}\n", words(1, 40), words(41, 40));
    check(
        &[&text],
        &["p1 | A |  | #..W40.", "p1 | A > B |  | ##..W80."],
    );
}

#[test]
fn a_bare_heading_goes_with_the_text_below() {
    let text = format!("# A\n\n## B\n\n### C\n\n{}\n", words(1, 40));
    check(&[&text], &["p1 | A > B > C |  | #..W40."]);
    // Also over a page border, and even when the text must be cut for it.
    check(&["# A\n", &words(1, 40)], &["p1,2 | A |  | #..W40."]);
    let long = format!("# A\n\n{}\n", "word ".repeat(100));
    check(
        &[&long],
        &["p1 | A |  | #..word", "p1 | A | word..word | word..word"],
    );
}

#[test]
fn a_last_heading_goes_with_the_text_above() {
    check(
        &[&format!("{}\n\n# End\n", words(1, 40))],
        &["p1 |  |  | W1..End"],
    );
    let chunks = render(&[&format!("{}\n\n# The very end\n", words(1, 70))]);
    assert_eq!(chunks.len(), 1, "{chunks:?}");
    let chunks = render(&[&format!("{}\n\n# The very end\n", words(1, 85))]);
    assert_eq!(chunks.len(), 2, "{chunks:?}");
    assert!(chunks[1].ends_with("| W41..end"), "{chunks:?}");
    check(
        &["# Only\n\n## Headings\n"],
        &["p1 | Only |  | #..Headings"],
    );
}

#[test]
fn small_sections_join_the_next_or_else_the_one_before() {
    let text = format!("# A\n\nshort\n\n# B\n\n{}\n", words(1, 40));
    check(&[&text], &["p1 | A |  | #..W40."]);
    // The next one is full, so the small one joins the one before.
    let text = format!(
        "# A\n\n{}\n\n# B\n\nshort\n\n# C\n\n{}",
        words(1, 40),
        words(41, 80)
    );
    check(&[&text], &["p1 | A |  | #..short", "p1 | C |  | #..W120."]);
}

#[test]
fn chunks_stay_in_their_page() {
    let (one, two) = (words(1, 40) + "\n", words(41, 40) + "\n");
    check(
        &[&one, &two],
        &["p1 |  |  | W1..W40.", "p2 |  | W31..W40. | W41..W80."],
    );
}

#[test]
fn a_sentence_over_a_page_border_stays_whole() {
    let one = format!("{} And this\n", words(1, 40));
    let two = format!("ends here. {}\n", words(41, 40));
    check(
        &[&one, &two],
        &["p1,2 |  |  | W1..here.", "p2 |  | And..here. | W41..W80."],
    );
    // Without white space at the border the words would grow together.
    check(
        &[one.trim_end(), &two],
        &["p1 |  |  | W1..this", "p2 |  | And..this | ends..W80."],
    );
}

#[test]
fn headings_in_code_are_code() {
    let text = format!("# A\n\n```sh\n# b\nls\n```\n\n{}\n", words(1, 30));
    check(&[&text], &["p1 | A |  | #..W30."]);
}

#[test]
fn tables_and_code_are_cut_between_lines() {
    let rows = (1..=30)
        .map(|n| format!("| r{n} | x |\n"))
        .collect::<Vec<_>>()
        .concat();
    let chunks = chunk_pages(&pages(&[&rows]), &by_words(96)).unwrap();
    assert_eq!(chunks.len(), 2);
    for chunk in chunks {
        assert!(
            chunk.text.starts_with("| r") && chunk.text.ends_with("|\n"),
            "{}",
            chunk.text
        );
    }
}

#[test]
fn text_without_spaces_is_cut_too() {
    let han = "汉".repeat(200);
    let sizes: Vec<usize> = chunk_pages(&pages(&[&han]), &by_words(96))
        .unwrap()
        .iter()
        .map(|chunk| chunk.text.chars().count())
        .collect();
    assert_eq!(sizes.iter().sum::<usize>(), 200);
    assert_eq!(sizes.len(), 3, "{sizes:?}");
}

#[test]
fn the_prefix_names_the_path_and_leaves_room_for_text() {
    let chunk = |text: &str| {
        chunk_pages(&pages(&[text]), &by_words(96))
            .unwrap()
            .remove(0)
    };
    assert_eq!(chunk("# A\n## B c\ntext").prefix, "Section: A > B c");
    assert_eq!(chunk("text").prefix, "");
    // 96 − 2 special − 64 text − 17 for the headings themselves leave 13 tokens.
    let outer = "long ".repeat(12);
    let shortened = chunk(&format!("# {outer}\n## Inner one\n{}", words(1, 40)));
    assert_eq!(shortened.prefix, "Section: Inner one");
    assert_eq!(
        shortened.heading_path,
        [outer.trim(), "Inner one"],
        "the path stays whole"
    );
    let innermost = chunk(&format!("# {}\n{}", words(1, 15), words(16, 40)));
    assert!(
        innermost.prefix.starts_with("Section: W1 W2"),
        "{}",
        innermost.prefix
    );
    assert!(innermost.prefix.len() < 60, "{}", innermost.prefix);
}

fn at(locator: Locator, number: u32, text: &str) -> PageText {
    PageText {
        number,
        locator,
        markdown: text.to_owned(),
    }
}

fn slides(texts: &[&str]) -> Vec<PageText> {
    let slide = |(number, text): (u32, &&str)| at(Locator::Slide { number }, number, text);
    (1..).zip(texts).map(slide).collect()
}

/// `pages | heading path | overlap | text` of each chunk.
fn told(pages: &[PageText]) -> Vec<String> {
    let chunks = chunk_pages(pages, &by_words(96)).unwrap();
    let told = chunks.into_iter().map(|chunk| {
        let numbers: Vec<String> = chunk
            .spans
            .iter()
            .map(|span| span.page.to_string())
            .collect();
        let (path, overlap) = (chunk.heading_path.join(" > "), chunk.overlap);
        let words: Vec<&str> = chunk.text.split_whitespace().collect();
        format!(
            "p{} | {path} | {overlap} | {}",
            numbers.join(","),
            words.join(" ")
        )
    });
    told.collect()
}

#[test]
fn every_slide_is_a_chunk_of_its_own_under_its_own_heading() {
    let pages = slides(&[
        "# Welcome\n",
        "# Plan\n\nShort and",
        "no title here\n",
        "",
        "# End",
    ]);
    assert_eq!(
        told(&pages),
        [
            "p1 | Welcome |  | # Welcome",
            "p2 | Plan |  | # Plan Short and",
            "p3 |  |  | no title here",
            "p5 | End |  | # End",
        ]
    );
}

#[test]
fn parts_of_a_book_keep_its_headings_and_their_own_chunks() {
    let part = |number: u32, text| {
        let name = format!("{number}.xhtml");
        at(Locator::Part { name }, number, text)
    };
    let pages = [
        part(1, "# Book one\n"),
        part(2, "## Chapter 1\n\nOnce and"),
        part(3, "upon a time.\n"),
        at(Locator::Message { number: 1 }, 4, "hello\n"),
    ];
    assert_eq!(
        told(&pages),
        [
            "p1 | Book one |  | # Book one",
            "p2 | Book one > Chapter 1 |  | ## Chapter 1 Once and",
            "p3 | Book one > Chapter 1 |  | upon a time.",
            "p4 |  |  | hello",
        ]
    );
}

#[test]
fn code_that_never_ends_does_not_swallow_the_next_slide() {
    let pages = slides(&["```\nls\n", "# Two\n\ntext\n\n```\nx\n```\n"]);
    let told = told(&pages);
    assert_eq!(told.len(), 2);
    assert!(told[1].starts_with("p2 | Two |"), "{told:?}");
}

fn pumps(count: usize) -> String {
    let rows = (1..=count).map(|n| format!("| pump {n} | {n}0 |\n"));
    rows.collect::<Vec<_>>().concat()
}

#[test]
fn the_header_of_a_table_is_repeated_where_it_goes_on() {
    let header = "| item | price |\n|---|---|";
    let rows = pumps(40);
    let chunks = |text: &str| chunk_pages(&pages(&[text]), &by_words(96)).unwrap();
    let table = chunks(&format!("# Prices\n\nAs of today:\n\n{header}\n{rows}"));
    assert!(table.len() > 3, "{}", table.len());
    for chunk in table.iter().skip(1) {
        assert_eq!(chunk.overlap, header);
        assert_eq!(chunk.prefix, "Section: Prices");
        assert!(chunk.text.starts_with("| pump"), "{}", chunk.text);
        let input = chunk.embed_input();
        assert!(
            input.starts_with(&format!("Section: Prices\n{header}\n| pump")),
            "{input}"
        );
    }
    assert!(table[0].text.contains(header) && table[0].text.contains("| pump 1 |"));
    // What comes after the table has nothing to do with its header.
    let after = chunks(&format!("{header}\n{rows}\n{}\n", words(1, 80)));
    assert!(after.last().unwrap().text.contains("W80"));
    assert!(!after.last().unwrap().overlap.contains("item"));
    // A header that would leave no room for rows is not repeated.
    let wide = "| name ".repeat(30);
    let wide = format!("{wide}|\n{}|\n{rows}", "|---".repeat(30));
    assert!(
        chunks(&wide)
            .iter()
            .all(|chunk| Chunk::table_header(&chunk.overlap).is_empty())
    );
    // Rows without a header have none.
    assert!(
        chunks(&rows)
            .iter()
            .all(|chunk| !chunk.overlap.contains("---"))
    );
}

#[test]
fn a_header_stays_with_its_first_row() {
    let header = "| item | price |\n|---|---|\n";
    let rows = pumps(20);
    for before in 1..90 {
        let text = format!("{}\n\n{header}{rows}", words(1, before));
        for chunk in chunk_pages(&pages(&[&text]), &by_words(96)).unwrap() {
            let at = chunk.text.find("| item");
            let whole = at.is_none_or(|at| chunk.text.split_at(at).1.contains("| pump 1 |"));
            assert!(whole, "{before} words before: {}", chunk.text);
        }
    }
}
