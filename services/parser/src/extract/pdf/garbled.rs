//! Text that a page's fonts do not let anyone decode: codes, glyph names and private letters in
//! place of what the page shows.

use super::Merged;
use super::first::OcrReason;

/// A page with a larger share of undecoded letters is garbled.
const GARBLED: f64 = 0.1;
/// A page with a larger share has parts that are.
const SOILED: f64 = 0.02;
const FEWEST: usize = 4;
const VOWELS: [char; 12] = ['a', 'e', 'i', 'o', 'u', 'y', 'A', 'E', 'I', 'O', 'U', 'Y'];

/// `page` with a doubt about its text when part of it is not decoded; a reader's suspicion goes
/// when all of it is.
pub(super) fn judge(mut page: Merged) -> Merged {
    let (bad, all) = count(&page.markdown);
    let share = bad as f64 / all.max(1) as f64;
    if bad < FEWEST || share < SOILED {
        // The first reader also takes rows of dots and formulas for garbage.
        if page.wants_ocr == Some(OcrReason::Garbled) && bad == 0 && has_words(&page.markdown) {
            page.wants_ocr = None;
            page.doubts
                .retain(|doubt| doubt != OcrReason::Garbled.doubt());
            return page.doubt("without structure: the structured reader gave up".to_owned());
        }
        return page;
    }
    if share >= GARBLED {
        if page.wants_ocr.is_none() {
            return page.wanting_ocr(Some(OcrReason::Garbled));
        }
        return page;
    }
    page.doubt(format!("{bad} characters could not be decoded"))
}

/// Whether most words look like words: letters that a wrong code table gives have few vowels.
fn has_words(text: &str) -> bool {
    let (mut likely, mut all) = (0, 0);
    for word in text.split(|c: char| !c.is_alphabetic()) {
        if word.chars().count() > 3 {
            all += 1;
            likely += usize::from(!word.is_ascii() || word.contains(VOWELS));
        }
    }
    all > 0 && likely * 5 >= all * 4
}

/// Letters that are not decoded, and all. White space is none.
fn count(text: &str) -> (usize, usize) {
    let (mut bad, mut all) = (0, 0);
    for word in text.split_whitespace() {
        let letters = word.chars().count();
        all += letters;
        bad += if is_code(word) {
            letters
        } else {
            word.chars().filter(|c| is_undecoded(*c)).count()
        };
    }
    (bad, all)
}

/// U+FFFD, and private letters. Symbol fonts put their bullets into the first private block.
fn is_undecoded(c: char) -> bool {
    let is_symbol = matches!(c, '\u{f020}'..='\u{f0ff}');
    !is_symbol && matches!(c, '\u{fffd}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10fffd}')
}

/// `(cid:12)(cid:7)`, `/G1A/g07`.
fn is_code(word: &str) -> bool {
    let is_number = |number: &str| {
        (1..=5).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_hexdigit())
    };
    let is_cid = word
        .strip_prefix("(cid:")
        .and_then(|rest| rest.split_once(')'))
        .is_some_and(|(number, _)| is_number(number));
    let is_glyph = || {
        let mut names = word
            .strip_prefix('/')
            .into_iter()
            .flat_map(|rest| rest.split('/'));
        let mut any = false;
        let is_name = |name: &str| name.strip_prefix(['G', 'g']).is_some_and(is_number);
        names.all(|name| {
            any = true;
            is_name(name)
        }) && any
    };
    is_cid || is_glyph()
}

#[cfg(test)]
mod tests {
    use shared::contract::ReadMethod;

    use super::*;

    #[test]
    fn what_is_not_decoded_is_seen() {
        #[track_caller]
        fn check(text: &str, reason: Option<OcrReason>, doubts: usize) {
            let page = judge(Merged::read(text.to_owned(), ReadMethod::TextLayer));
            assert_eq!(
                (page.wants_ocr, page.doubts.len()),
                (reason, doubts),
                "{text}"
            );
        }
        let garbled = Some(OcrReason::Garbled);
        check("(cid:12)(cid:7)(cid:33) (cid:1)", garbled, 1);
        check("/G12/G1A /g07 and", garbled, 1);
        check("\u{fffd}\u{fffd}\u{fffd}\u{fffd} name", garbled, 1);
        check("\u{e012}\u{e013}\u{e014} \u{e015}\u{e016}", garbled, 1);
        let mostly = format!(
            "{} \u{fffd}\u{fffd}\u{fffd}\u{fffd}",
            "readable ".repeat(10)
        );
        check(&mostly, None, 1);
        check("\u{f0b7} first\n\u{f0b7} second\n\u{f0b7} third", None, 0);
        check("the /Gold/ path /G7 of nations (cid unknown)", None, 0);
        check("plain text", None, 0);
        check("", None, 0);
    }

    #[test]
    fn a_suspicion_goes_when_all_is_decoded() {
        #[track_caller]
        fn check(text: &str, reason: Option<OcrReason>, doubt: &str) {
            let page = Merged::read(text.to_owned(), ReadMethod::Fallback);
            let page = judge(page.wanting_ocr(Some(OcrReason::Garbled)));
            assert_eq!(page.wants_ocr, reason);
            assert!(page.doubts[0].contains(doubt), "{page:?}");
        }
        check("1 Contents … 12", None, "structure");
        check(
            "Wklv zdv rqfh sodlq whaw",
            Some(OcrReason::Garbled),
            "garbled",
        );
    }
}
