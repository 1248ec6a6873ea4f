//! Aligning a page's Markdown with PDFium's characters, word by word: the text goes on where it
//! was, or is looked up again where the two readings differ (other columns, marks, lines put in).

use std::collections::HashMap;

use shared::contract::PlaceRun;
use unicode_normalization::UnicodeNormalization as _;

/// Letters by which a word is looked up, those of the next word among them.
const LOOKED_UP: usize = 3;
/// Places of these letters that are compared, nearest first.
const MOST_TRIED: usize = 128;
/// Letters that are compared at each.
const COMPARED: usize = 32;
/// Longer words, such as a line of Chinese, are aligned in parts.
const LONGEST_WORD: usize = 12;

/// A character of PDFium's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Letter {
    pub(super) c: char,
    /// Its first index on the page and the index after it.
    pub(super) place: (u32, u32),
}

/// A letter or digit as both readings have it: compatibility forms, case and accents folded.
#[derive(Clone, Copy)]
struct Unit {
    folded: char,
    /// Which source character it came from.
    source: usize,
    starts_word: bool,
}

/// The stretches of `markdown` that `letters` has, in the Markdown's order.
pub(super) fn align(markdown: &str, letters: &[Letter]) -> Vec<PlaceRun> {
    let source: Vec<(usize, char)> = markdown.char_indices().collect();
    let text = units(source.iter().map(|(_, c)| *c));
    let page = units(letters.iter().map(|letter| letter.c));
    let pairs = Matching::new(&text, &page).pairs();
    let atoms = atoms(&pairs, &text, &page);
    Joining {
        source: &source,
        letters,
        end: markdown.len(),
    }
    .runs(&atoms)
}

fn units(characters: impl Iterator<Item = char>) -> Vec<Unit> {
    let mut units = Vec::new();
    let (mut starts_word, mut length) = (true, 0);
    for (source, c) in characters.enumerate() {
        if c.is_whitespace() || c == '|' {
            (starts_word, length) = (true, 0);
            continue;
        }
        let folded = std::iter::once(c).nfkd().flat_map(char::to_lowercase);
        for folded in folded.filter(|c| c.is_alphanumeric()) {
            let starts = starts_word || length == LONGEST_WORD;
            length = if starts { 1 } else { length + 1 };
            starts_word = false;
            units.push(Unit {
                folded,
                source,
                starts_word: starts,
            });
        }
    }
    units
}

/// The search for each word's place.
struct Matching<'a> {
    text: &'a [Unit],
    page: &'a [Unit],
    /// Where any few letters begin on the page, in order.
    index: HashMap<[char; LOOKED_UP], Vec<usize>>,
    taken: Vec<bool>,
}

impl<'a> Matching<'a> {
    fn new(text: &'a [Unit], page: &'a [Unit]) -> Self {
        let mut index: HashMap<_, Vec<usize>> = HashMap::new();
        for at in 0..page.len() {
            if let Some(key) = key(page, at) {
                index.entry(key).or_default().push(at);
            }
        }
        Self {
            text,
            page,
            index,
            taken: vec![false; page.len()],
        }
    }

    /// Pairs of units of the text and of the page.
    fn pairs(mut self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::with_capacity(self.text.len());
        let (mut at, mut cursor) = (0, 0);
        while at < self.text.len() {
            let end = self.word_end(at);
            let length = end - at;
            let goes_on = self.same(at, cursor, length) == length && self.is_free(cursor);
            let place = if goes_on {
                Some(cursor)
            } else {
                self.look_up(at, cursor, length)
            };
            if let Some(place) = place {
                pairs.extend((0..length).map(|step| (at + step, place + step)));
                if let Some(taken) = self.taken.get_mut(place..place + length) {
                    taken.fill(true);
                }
                cursor = place + length;
            }
            at = end;
        }
        pairs
    }

    fn word_end(&self, at: usize) -> usize {
        let rest = self.text.get(at + 1..).unwrap_or_default();
        let length = rest.iter().position(|unit| unit.starts_word);
        at + 1 + length.unwrap_or(rest.len())
    }

    fn is_free(&self, at: usize) -> bool {
        self.taken.get(at).is_some_and(|taken| !taken)
    }

    /// How many units from `at` in the text are those from `place` on the page, up to `most`.
    fn same(&self, at: usize, place: usize, most: usize) -> usize {
        let text = self.text.get(at..).unwrap_or_default();
        let page = self.page.get(place..).unwrap_or_default();
        let both = text.iter().zip(page).take(most);
        both.take_while(|(a, b)| a.folded == b.folded).count()
    }

    /// The free place that has the word and most of what follows it; the nearest after `cursor`
    /// among equals.
    fn look_up(&self, at: usize, cursor: usize, length: usize) -> Option<usize> {
        let places = self.index.get(&key(self.text, at)?)?;
        let split = places.partition_point(|place| *place < cursor);
        let after = places.get(split..).unwrap_or_default().iter();
        let before = places.get(..split).unwrap_or_default().iter().rev();
        let near = after
            .take(MOST_TRIED / 2)
            .chain(before.take(MOST_TRIED / 2))
            .copied();
        let mut best: Option<(usize, usize)> = None;
        for place in near.filter(|place| self.is_free(*place)) {
            let same = self.same(at, place, COMPARED);
            if same >= length && best.is_none_or(|(most, _)| same > most) {
                best = Some((same, place));
            }
        }
        best.map(|(_, place)| place)
    }
}

fn key(units: &[Unit], at: usize) -> Option<[char; LOOKED_UP]> {
    let [a, b, c] = units.get(at..at + LOOKED_UP)? else {
        return None;
    };
    Some([a.folded, b.folded, c.folded])
}

/// Source characters that belong together: one and one, or a ligature and its letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Atom {
    text: (usize, usize),
    page: (usize, usize),
}

fn atoms(pairs: &[(usize, usize)], text: &[Unit], page: &[Unit]) -> Vec<Atom> {
    let mut atoms: Vec<Atom> = Vec::new();
    for (a, b) in pairs {
        let (Some(a), Some(b)) = (text.get(*a), page.get(*b)) else {
            continue;
        };
        let (a, b) = (a.source, b.source);
        match atoms.last_mut() {
            // Another letter of the same source character.
            Some(last) if a < last.text.1 => last.page.1 = last.page.1.max(b + 1),
            Some(last) if (last.page.0..last.page.1).contains(&b) && a == last.text.1 => {
                last.text.1 = a + 1;
            }
            _ => atoms.push(Atom {
                text: (a, a + 1),
                page: (b, b + 1),
            }),
        }
    }
    atoms
}

/// Atoms put together to runs.
struct Joining<'a> {
    source: &'a [(usize, char)],
    letters: &'a [Letter],
    end: usize,
}

impl Joining<'_> {
    fn runs(&self, atoms: &[Atom]) -> Vec<PlaceRun> {
        let mut runs = Vec::new();
        let mut open: Option<Atom> = None;
        for atom in atoms {
            open = match open {
                Some(run) if self.joins(&run, atom) => Some(Atom {
                    text: (run.text.0, atom.text.1),
                    page: (run.page.0, atom.page.1),
                }),
                run => {
                    runs.extend(run.and_then(|run| self.run(&run)));
                    Some(*atom)
                }
            };
        }
        runs.extend(open.and_then(|run| self.run(&run)));
        runs
    }

    /// Whether each character from the beginning of `run` to the end of `next` has its own.
    fn joins(&self, run: &Atom, next: &Atom) -> bool {
        let is_even = |atom: &Atom| {
            atom.text.1 - atom.text.0 == atom.page.1.saturating_sub(atom.page.0)
                && self
                    .letters_of(atom.page)
                    .iter()
                    .all(|letter| letter.place.1 - letter.place.0 == 1)
        };
        let gap = self.source.get(run.text.1..next.text.0);
        let page_gap = self.letters.get(run.page.1..next.page.0);
        let (Some(gap), Some(page_gap)) = (gap, page_gap) else {
            return false;
        };
        // Neither has letters in the gap but those that found no place.
        let alike = |((_, a), b): (&(usize, char), &Letter)| {
            *a == b.c
                || (a.is_whitespace() && b.c.is_whitespace())
                || !(a.is_alphanumeric()
                    || b.c.is_alphanumeric()
                    || a.is_whitespace()
                    || b.c.is_whitespace())
        };
        is_even(run)
            && is_even(next)
            && gap.len() == page_gap.len()
            && gap.iter().zip(page_gap).all(alike)
            && page_gap
                .iter()
                .all(|letter| letter.place.1 - letter.place.0 == 1)
    }

    fn letters_of(&self, page: (usize, usize)) -> &[Letter] {
        self.letters.get(page.0..page.1).unwrap_or_default()
    }

    fn run(&self, run: &Atom) -> Option<PlaceRun> {
        let byte = |character: usize| {
            let at = self.source.get(character).map_or(self.end, |(at, _)| *at);
            u32::try_from(at).ok()
        };
        let letters = self.letters_of(run.page);
        Some(PlaceRun {
            bytes: (byte(run.text.0)?, byte(run.text.1)?),
            characters: (letters.first()?.place.0, letters.last()?.place.1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(page: &str) -> Vec<Letter> {
        let mut index = 0;
        let letters = page.chars().map(|c| {
            let first = index;
            index += u32::try_from(c.len_utf16()).unwrap();
            Letter {
                c,
                place: (first, index),
            }
        });
        letters.collect()
    }

    /// The runs as `markdown=page`.
    #[track_caller]
    fn check(markdown: &str, page: &str, expect: &[&str]) {
        let units: Vec<u16> = page.encode_utf16().collect();
        let shown = align(markdown, &letters(page)).into_iter().map(|run| {
            let bytes = run.bytes.0 as usize..run.bytes.1 as usize;
            let units = &units[run.characters.0 as usize..run.characters.1 as usize];
            let text = String::from_utf16(units).unwrap();
            format!("{}={text}", markdown.get(bytes).unwrap())
        });
        assert_eq!(shown.collect::<Vec<_>>(), expect);
    }

    #[test]
    fn text_goes_on_where_it_was() {
        check(
            "Some words, here.",
            "Some words, here.",
            &["Some words, here=Some words, here"],
        );
        check(
            "# A title\n\nTwo lines\nof it",
            "A title\r\nTwo lines\r\nof it",
            &["A title\n\nTwo lines=A title\r\nTwo lines", "of it=of it"],
        );
        check("it’s “so”", "it's \"so\"", &["it’s “so=it's \"so"]);
        check("", "words", &[]);
        check("words", "", &[]);
    }

    #[test]
    fn text_is_found_again_where_it_differs() {
        check(
            "left one\nleft two\nright one",
            "left one right one\r\nleft two",
            &[
                "left one=left one",
                "left two=left two",
                "right one=right one",
            ],
        );
        check(
            "| Name | Price |\n|---|---|\n| Mouse | $82.14 |",
            "Name Price\r\nMouse $82.14",
            &["Name=Name", "Price=Price", "Mouse=Mouse", "82.14=82.14"],
        );
        check(
            "known (hidden) words",
            "known words",
            &["known=known", "words=words"],
        );
        check(
            "second first",
            "first second",
            &["second=second", "first=first"],
        );
        // Each occurrence has its own place.
        check("same same", "same\r\nsame", &["same=same", "same=same"]);
    }

    #[test]
    fn letters_may_be_written_in_other_ways() {
        check("first of", "ﬁrst of", &["fi=ﬁ", "rst of=rst of"]);
        check("ﬁrst", "first", &["ﬁ=fi", "rst=rst"]);
        check("example", "exam\u{2}\r\nple", &["exam=exam", "ple=ple"]);
        check("café", "cafe\u{301}", &["café=cafe"]);
        check("𝐀bc", "𝐀bc", &["𝐀=𝐀", "bc=bc"]);
        check(
            "你好世界再见朋友们大家早上好",
            "你好世界再见朋友们大家早上好",
            &["你好世界再见朋友们大家早上好=你好世界再见朋友们大家早上好"],
        );
        check("שלום", "שלום", &["שלום=שלום"]);
    }

    #[test]
    fn endless_repetition_ends() {
        let text = "a ".repeat(50_000);
        let other = "aab".repeat(30_000);
        assert!(!align(&text, &letters(&other)).is_empty());
        assert!(align(&"xyzw ".repeat(20_000), &letters(&"xyzxyz".repeat(20_000))).is_empty());
    }
}
