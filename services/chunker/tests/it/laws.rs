//! What holds for every document.

use chunker::{Budget, ChunkError, PageText, chunk_pages};
use proptest::prelude::*;
use shared::contract::{Chunk, ChunksMade, Locator, is_table_rule};

use crate::support::{by_letters, by_words, mini_lm, pages};

/// Generated headings start with this word, and nothing else does.
const MARK: &str = "Heading";

/// Chunks `pages` and checks every law; gives the chunks.
pub(crate) fn check_laws(pages: &[PageText], budget: &Budget) -> Vec<Chunk> {
    let chunks = match chunk_pages(pages, budget) {
        Ok(chunks) => chunks,
        Err(ChunkError::NoText) => {
            let words = pages
                .iter()
                .any(|p| p.markdown.contains(char::is_alphanumeric));
            assert!(!words, "text was not seen");
            return Vec::new();
        }
        Err(error) => panic!("{error:?}"),
    };
    assert!(!chunks.is_empty());
    covers_every_byte_once(pages, &chunks);
    stays_in_its_place(pages, &chunks);
    for (index, chunk) in chunks.iter().enumerate() {
        assert_eq!(chunk.index as usize, index, "order");
        assert!(!chunk.text.is_empty());
        assert!(
            chunk.text.len() <= ChunksMade::MAX_TEXT_BYTES,
            "fits a message"
        );
        let tokens = budget.tokenizer.exact(&chunk.embed_input()).unwrap();
        assert_eq!(chunk.tokens, tokens, "tokens of chunk {index}");
        assert!(tokens <= budget.window, "chunk {index} has {tokens} tokens");
        check_overlap(pages, budget, (&chunks, index));
        if is_heading(chunk.text.trim_start().lines().next().unwrap_or_default()) {
            assert_eq!(chunk.overlap, "", "overlap over a heading in chunk {index}");
        }
        if let Some(innermost) = chunk.heading_path.last() {
            let shortened = chunk.prefix.strip_prefix("Section: ").unwrap_or_default();
            let last = shortened.rsplit(" > ").next().unwrap_or_default();
            assert!(
                innermost.contains(last),
                "the innermost heading stays in chunk {index}"
            );
        } else {
            assert_eq!(chunk.prefix, "");
        }
    }
    assert_eq!(
        chunk_pages(pages, budget).unwrap(),
        chunks,
        "the same again"
    );
    chunks
}

/// The overlap is the end of the chunk before, or the header of the table that goes on.
fn check_overlap(pages: &[PageText], budget: &Budget, (chunks, index): (&[Chunk], usize)) {
    let chunk = &chunks[index];
    let overlap = budget.tokenizer.exact(&chunk.overlap).unwrap();
    let special = budget.tokenizer.special();
    let span = chunk.spans[0];
    let page = pages.iter().find(|page| page.number == span.page).unwrap();
    let above = page.markdown.get(..span.start as usize).unwrap();
    if let Some(header) = open_table(above, &chunk.text) {
        let tokens = budget.tokenizer.estimate(header).unwrap();
        // Cut within a row, or with a header that leaves no room for rows.
        if above.ends_with('\n') && tokens <= budget.window / 3 {
            assert_eq!(chunk.overlap, header.trim(), "header before chunk {index}");
            return;
        }
    }
    if !Chunk::table_header(&chunk.overlap).is_empty() {
        assert!(
            above.contains(&chunk.overlap),
            "whose header is before chunk {index}?"
        );
        assert!(
            overlap <= budget.window / 3 + special,
            "header of {overlap}"
        );
        return;
    }
    assert!(overlap <= budget.window / 8 + special, "overlap {overlap}");
    let before = index
        .checked_sub(1)
        .map_or("", |before| &chunks[before].text);
    assert!(
        before.trim_end().ends_with(&chunk.overlap),
        "overlap of chunk {index}"
    );
}

/// Header and rule of the table that `above` ends with and `below` goes on with.
fn open_table<'a>(above: &'a str, below: &str) -> Option<&'a str> {
    let row = |line: &str| line.trim_start().starts_with('|');
    let fences = above
        .lines()
        .filter(|line| line.trim_start().starts_with(['`', '~']));
    let in_code = fences.count() % 2 == 1;
    if !row(below) || in_code {
        return None;
    }
    let mut start = above.len();
    for line in above.split_inclusive('\n').rev() {
        if !row(line) {
            break;
        }
        start -= line.len();
    }
    let table = above.get(start..)?;
    let mut lines = table.split_inclusive('\n');
    let (header, rule) = (lines.next()?, lines.next()?);
    let named = header.contains(char::is_alphanumeric) && is_table_rule(rule);
    table.get(..header.len() + rule.len()).filter(|_| named)
}

/// Text of two places is never in one chunk, nor its overlap.
fn stays_in_its_place(pages: &[PageText], chunks: &[Chunk]) {
    for chunk in chunks {
        let mut at = 0;
        let mut places = Vec::new();
        for span in &chunk.spans {
            let end = at + (span.end - span.start) as usize;
            let words = chunk.text.get(at..end).unwrap_or_default();
            if words.contains(char::is_alphanumeric) {
                let page = pages.iter().find(|page| page.number == span.page).unwrap();
                places.push(page.locator.clone());
            }
            at = end;
        }
        if let Some(first) = places.first() {
            let flows = matches!(first, Locator::PdfPage { .. });
            assert!(
                places.iter().all(|place| flows || place == first),
                "{places:?} in chunk {}",
                chunk.index
            );
        }
    }
}

fn covers_every_byte_once(pages: &[PageText], chunks: &[Chunk]) {
    let mut spans = Vec::new();
    for chunk in chunks {
        let mut text = String::new();
        for span in &chunk.spans {
            let page = pages.iter().find(|page| page.number == span.page).unwrap();
            let slice = page.markdown.get(span.start as usize..span.end as usize);
            text.push_str(slice.expect("spans lie on character borders"));
            spans.push(*span);
        }
        assert_eq!(chunk.text, text, "text of chunk {}", chunk.index);
    }
    let mut spans = spans.into_iter().peekable();
    for page in pages {
        let mut at = 0;
        while let Some(span) = spans.next_if(|span| span.page == page.number) {
            assert_eq!(span.start, at, "gap or overlap on page {}", page.number);
            assert!(span.end > span.start);
            at = span.end;
        }
        assert_eq!(
            at as usize,
            page.markdown.len(),
            "page {} is covered",
            page.number
        );
    }
    assert_eq!(spans.next(), None, "spans in order of pages");
}

fn is_heading(line: &str) -> bool {
    line.trim_start()
        .trim_start_matches('#')
        .trim_start()
        .starts_with(MARK)
}

/// A line that belongs to a heading or to nothing: an underline or a rule.
fn is_underline(line: &str) -> bool {
    matches!(line.trim(), "====" | "* * *")
}

/// No chunk is a bare heading, unless the document is nothing else or has so many headings in a
/// row that no chunk could hold them with text.
fn check_no_bare_heading(pages: &[PageText], budget: &Budget, chunks: &[Chunk]) {
    let bare = |text: &str| {
        text.lines()
            .all(|line| line.trim().is_empty() || is_heading(line) || is_underline(line))
    };
    let texts: Vec<&str> = pages.iter().map(|page| page.markdown.as_str()).collect();
    let whole = texts.join("\n");
    let (mut run, mut longest) = (0, 0);
    for line in whole.lines().filter(|line| !line.trim().is_empty()) {
        let heading = is_heading(line) || is_underline(line);
        run = if heading {
            run + budget.tokenizer.estimate(line).unwrap()
        } else {
            0
        };
        longest = longest.max(run);
    }
    if bare(&whole) || longest > budget.window / 4 {
        return;
    }
    for chunk in chunks {
        let parts: Vec<&str> = chunk
            .spans
            .iter()
            .filter_map(|span| {
                let page = pages.iter().find(|page| page.number == span.page)?;
                page.markdown.get(span.start as usize..span.end as usize)
            })
            .collect();
        assert!(
            !bare(&parts.join("\n")),
            "chunk {} is a bare heading: {parts:?}",
            chunk.index
        );
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[a-z]{1,9}",
        1 => "[A-Z][a-z]{0,6}[.,;:!?]?",
        1 => "[a-z]{2,6}[.!?]",
        1 => "[0-9]{1,5}",
        1 => "[äöüßéñçığş]{1,6}",
        // Fences are generated whole: a stray one would make code of the headings below.
        1 => "\\PC{1,4}".prop_map(|text| text.replace(['`', '~'], "x")),
    ]
}

fn prose() -> impl Strategy<Value = String> {
    (proptest::collection::vec(word(), 1..60), "[ \n]")
        .prop_map(|(words, separator)| words.join(&separator))
}

fn heading() -> impl Strategy<Value = String> {
    (
        1..=6_usize,
        proptest::collection::vec("[a-z]{1,8}", 0..8),
        any::<bool>(),
    )
        .prop_map(|(level, words, setext)| {
            let title = format!("{MARK} {}", words.join(" "));
            let title = title.trim();
            if setext {
                format!("\n{title}\n====")
            } else {
                format!("{} {title}", "#".repeat(level))
            }
        })
}

fn block() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prose(),
        4 => heading(),
        1 => prose().prop_map(|text| format!("```\n# comment\n{text}\n```")),
        1 => prose().prop_map(|text| format!("~~~~\n```\n# comment\n{text}\n~~~~")),
        2 => proptest::collection::vec("[a-z]{1,6}", 2..90)
            .prop_map(|cells| format!("| a | b |\n|---|---|\n| {} |", cells.join(" |\n| "))),
        1 => (proptest::collection::vec("[a-z]{1,6}", 1..40), proptest::collection::vec(prose(), 1..8))
            .prop_map(|(names, rows)| format!(
                "| {} |\n|{}\n| {} |",
                names.join(" | "),
                "---|".repeat(names.len()),
                rows.join(" |\n| ").replace('\n', " ").replace(" | | ", " |\n| "),
            )),
        1 => proptest::collection::vec(prose(), 1..4)
            .prop_map(|items| format!("- {}", items.join("\n- "))),
        1 => "[a-zA-Z0-9+/]{1,700}",
        1 => "[一-龥。、！]{1,300}",
        1 => "[ぁ-ん]{1,200}",
        1 => "[ \t\n\u{a0}\u{200b}\u{85}]{1,80}",
        1 => "[\u{300}-\u{320}👨\u{200d}🏽]{1,40}",
        1 => Just("* * *\n".to_owned()),
        1 => "[CLS\\[\\]SEP ]{1,40}",
        1 => "\\.{1,300}",
    ]
}

fn page() -> impl Strategy<Value = String> {
    (
        proptest::collection::vec((block(), "\n{1,3}"), 0..9),
        any::<bool>(),
    )
        .prop_map(|(blocks, ends_with_line)| {
            let text: String = blocks
                .iter()
                .flat_map(|(a, b)| [a.as_str(), b.as_str()])
                .collect();
            if ends_with_line {
                text
            } else {
                text.trim_end().to_owned()
            }
        })
}

fn document() -> impl Strategy<Value = Vec<PageText>> {
    proptest::collection::vec(page(), 1..6).prop_map(|texts| pages(&texts))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn laws_hold_when_words_are_tokens(pages in document(), window in 96..300_u32) {
        let budget = by_words(window);
        let chunks = check_laws(&pages, &budget);
        check_no_bare_heading(&pages, &budget, &chunks);
    }

    #[test]
    fn laws_hold_when_letters_are_tokens(pages in document(), window in 96..300_u32) {
        let budget = by_letters(window);
        let chunks = check_laws(&pages, &budget);
        check_no_bare_heading(&pages, &budget, &chunks);
    }

    #[test]
    fn laws_hold_over_places(
        pages in document(),
        kinds in proptest::collection::vec(0..6_u32, 6),
        window in 96..300_u32,
    ) {
        let mut pages = pages;
        for (page, kind) in pages.iter_mut().zip(kinds) {
            let number = page.number;
            page.locator = match kind {
                0 => Locator::Slide { number },
                1 => Locator::Part { name: format!("part {number}") },
                2 => Locator::Entry {
                    path: format!("{}.pdf", number / 3),
                    inner: Box::new(Locator::Slide { number }),
                },
                3 => Locator::Message { number },
                _ => page.locator.clone(),
            };
        }
        check_laws(&pages, &by_words(window));
        check_laws(&pages, &by_letters(window));
    }

    #[test]
    fn laws_hold_for_any_characters(texts in proptest::collection::vec("(?s).{0,400}", 1..5)) {
        check_laws(&pages(&texts), &by_letters(96));
    }
}

#[test]
fn laws_hold_with_the_real_tokenizer() {
    let Some(budget) = mini_lm() else { return };
    let config = ProptestConfig {
        cases: 100,
        failure_persistence: None,
        ..Default::default()
    };
    proptest!(config, |(pages in document())| {
        let chunks = check_laws(&pages, &budget);
        check_no_bare_heading(&pages, &budget, &chunks);
    });
}

#[test]
fn laws_hold_for_extreme_documents() {
    let budget = by_letters(96);
    for text in [
        "a".repeat(200_000),
        " ".repeat(200_000) + "a",
        format!("a{}b", " ".repeat(200_000)),
        "。".repeat(20_000),
        "\u{301}".repeat(20_000),
        "# x\n".repeat(5_000),
        "#".repeat(5_000),
        "```\n".repeat(5_001),
        "a\n\n".repeat(20_000),
        "| a |\n".repeat(5_000),
        format!("# {}\n\ntext", "Long ".repeat(59)),
    ] {
        check_laws(&pages(&[text]), &budget);
    }
}
