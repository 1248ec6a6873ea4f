//! Phrases in quotation marks.

/// Phrases of a question at most.
const MOST: usize = 8;
/// Characters of a phrase at most; more is a quotation and no phrase to find.
const LONGEST: usize = 200;

/// Pairs of quotation marks that differ. English, French, German, Polish, Chinese and Japanese
/// ones; `»…«` is the German use of the French marks.
const PAIRS: [(char, &[char]); 8] = [
    ('“', &['”']),
    ('„', &['“', '”']),
    ('«', &['»']),
    ('»', &['«']),
    ('「', &['」']),
    ('『', &['』']),
    ('‹', &['›']),
    ('《', &['》']),
];

/// The phrases of `text` in quotation marks, as they stand within them, each once. An apostrophe
/// is no quotation mark, and neither is the sign for inches.
pub(super) fn phrases(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut rest = text;
    let mut before = None;
    while let Some((open, closers)) = next_opening(rest, before) {
        let (_, from) = rest.split_at(open);
        let mut inner = from.chars();
        let mark = inner.next();
        let inner = inner.as_str();
        let Some(end) = closing(inner, closers) else {
            before = mark;
            rest = inner;
            continue;
        };
        let (phrase, after) = inner.split_at(end);
        let phrase = phrase.trim();
        let is_phrase = phrase.contains(char::is_alphanumeric) && phrase.chars().count() <= LONGEST;
        if is_phrase && !found.iter().any(|known| known == phrase) && found.len() < MOST {
            found.push(phrase.to_owned());
        }
        let mut after = after.chars();
        before = after.next();
        rest = after.as_str();
    }
    found
}

/// Where the next quotation begins, and what ends it. `before` is the character before `text`.
fn next_opening(text: &str, before: Option<char>) -> Option<(usize, &'static [char])> {
    let mut before = before;
    for (at, c) in text.char_indices() {
        let pair = PAIRS.iter().find(|(open, _)| *open == c);
        if let Some((_, closers)) = pair {
            return Some((at, closers));
        }
        if c == '"' && !before.is_some_and(char::is_alphanumeric) {
            return Some((at, &['"']));
        }
        before = Some(c);
    }
    None
}

/// Where the first of `closers` stands in `text`; a straight one only where no word goes on.
fn closing(text: &str, closers: &[char]) -> Option<usize> {
    text.char_indices().find_map(|(at, c)| {
        let next = text.get(at..)?.chars().nth(1);
        let ends = c != '"' || !next.is_some_and(char::is_alphanumeric);
        (closers.contains(&c) && ends).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_stand_in_quotation_marks() {
        #[track_caller]
        fn check(text: &str, expect: &[&str]) {
            assert_eq!(phrases(text), expect, "in `{text}`");
        }
        check("who wrote \"notice period\"?", &["notice period"]);
        check("“net 30 days” and “gross”", &["net 30 days", "gross"]);
        check("« délai de préavis » svp", &["délai de préavis"]);
        check("was heißt „fristlos“ hier", &["fristlos"]);
        check("»fristlos« hier", &["fristlos"]);
        check("co znaczy „okres”?", &["okres"]);
        check("「通知期」是多久", &["通知期"]);
        check("合同中“通知期”是多久", &["通知期"]);
        check("『契約』とは", &["契約"]);
        check("\"twice\" and \"twice\"", &["twice"]);
        check("don't and won't, the employee's", &[]);
        check("a 5\" pipe of 7\" length", &[]);
        check("a \"never closed", &[]);
        check("empty \"\" and \"...\" say nothing", &[]);
        check("a \"open and “closed one”", &["closed one"]);
        check(&format!("\"{}\"", "x".repeat(201)), &[]);
        check("", &[]);
        let many: Vec<String> = (0..20).map(|n| format!("\"p{n}\" ")).collect();
        let many = many.concat();
        assert_eq!(phrases(&many).len(), MOST);
    }
}
