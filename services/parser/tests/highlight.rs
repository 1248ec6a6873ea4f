//! Where a cited word stands on its page: its box has ink, and another program, poppler, finds the
//! same word there.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use parser::extract::{Extractors, Highlighter, PageBox, Picture, SecondReader, places};
use shared::contract::PagePlaces;
use shared::format::Format;

use crate::support::{corpus, second_reader};

/// Pages of the corpus' drive that are looked at.
const PAGES: usize = 20;
/// Words of each.
const WORDS: usize = 6;
/// Letters of a word that is looked for.
const LETTERS: usize = 5;
/// Points by which two programs may see a border differently.
const NEARLY: f32 = 2.0;
/// Darker is ink: halfway between black and white.
const INK: u8 = 128;
/// Pixels per inch of the drawn page.
const DPI: u32 = 144;

/// A word where poppler sees it, in points from the page's top left corner.
struct Seen {
    word: String,
    left: f32,
    top: f32,
    right: f32,
    bottom: f32,
}

/// Words of page `number` by `pdftotext -bbox`; `None` when that is not installed.
fn seen(file: &Path, number: u32) -> Option<Vec<Seen>> {
    let number = number.to_string();
    let output = Command::new("pdftotext")
        .args(["-f", &number, "-l", &number, "-bbox"])
        .arg(file)
        .arg("-")
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = text.lines().filter_map(|line| {
        let rest = line.trim().strip_prefix("<word ")?;
        let (places, word) = rest.split_once('>')?;
        let of = |name: &str| -> Option<f32> {
            let (_, after) = places.split_once(&format!("{name}=\""))?;
            after.split('"').next()?.parse().ok()
        };
        Some(Seen {
            word: bare(word.split("</word>").next()?),
            left: of("xMin")?,
            top: of("yMin")?,
            right: of("xMax")?,
            bottom: of("yMax")?,
        })
    });
    Some(words.collect())
}

fn bare(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.to_lowercase()
}

/// Words of `markdown` that poppler has on the page too, spread over it.
fn chosen(markdown: &str, seen: &[Seen]) -> Vec<(Range<usize>, String)> {
    let mut words = Vec::new();
    let mut at = 0;
    for part in markdown.split_inclusive(char::is_whitespace) {
        let start = at;
        at += part.len();
        let word = part.trim_matches(|c: char| !c.is_alphanumeric());
        let is_plain = word.chars().all(char::is_alphabetic);
        if !is_plain || word.chars().count() < LETTERS {
            continue;
        }
        let start = start + part.find(word).unwrap();
        let lower = bare(word);
        if seen.iter().any(|seen| seen.word == lower) {
            words.push((start..start + word.len(), lower));
        }
    }
    let step = (words.len() / WORDS).max(1);
    words.into_iter().step_by(step).take(WORDS).collect()
}

fn agrees(one: &PageBox, seen: &Seen) -> bool {
    let (x, y) = (
        f32::midpoint(seen.left, seen.right),
        f32::midpoint(seen.top, seen.bottom),
    );
    let across = one.left - NEARLY..one.left + one.width + NEARLY;
    let down = one.top - NEARLY..one.top + one.height + NEARLY;
    across.contains(&x) && down.contains(&y) && one.width < 2.0 * (seen.right - seen.left) + 4.0
}

/// Dark pixels of `picture` within `one`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pixels of a page, cut at 0"
)]
fn ink(picture: &Picture, one: &PageBox, points: (f32, f32)) -> usize {
    let (width, height) = (picture.width as f32, picture.height as f32);
    let pixel = |place: f32, of: f32, all: f32| ((place / of * all).max(0.0)) as usize;
    let columns = pixel(one.left, points.0, width)..pixel(one.left + one.width, points.0, width);
    let rows = pixel(one.top, points.1, height)..pixel(one.top + one.height, points.1, height);
    let line = picture.width as usize;
    rows.flat_map(|row| columns.clone().map(move |column| row * line + column))
        .filter(|at| picture.pixels.get(*at).is_some_and(|pixel| *pixel < INK))
        .count()
}

/// A file's pages by number, as read, each with where its text stands.
struct Read<'a> {
    file: &'a Path,
    highlighter: Highlighter<'a>,
    pages: Vec<(PagePlaces, String)>,
}

impl<'a> Read<'a> {
    fn new(extractors: &Extractors, file: &'a Path, bytes: &'a [u8]) -> Self {
        let name = file.file_name().unwrap().to_string_lossy();
        let extraction = extractors.extract_file(Format::Pdf, &name, bytes).unwrap();
        let highlighter = extractors.highlighter(bytes, None).unwrap();
        let pages = extraction
            .pages
            .into_iter()
            .filter_map(|page| Some((places(&page, &extraction.characters)?, page.markdown)))
            .collect();
        Self {
            file,
            highlighter,
            pages,
        }
    }

    /// Looks at the words of one page; how many there were.
    fn check(&self, places: &PagePlaces, markdown: &str) -> usize {
        let seen = seen(self.file, places.physical).unwrap();
        let picture = self
            .highlighter
            .drawing()
            .draw(places.physical, DPI)
            .unwrap();
        let words = chosen(markdown, &seen);
        for (range, word) in &words {
            let told = format!("`{word}` of {} p.{}", self.file.display(), places.physical);
            let found = self.highlighter.boxes(places, markdown, range).unwrap();
            assert!(!found.boxes.is_empty(), "no box for {told}");
            // A word broken at a line's end has two.
            let is_there = found.boxes.iter().any(|one| {
                let same = |seen: &&Seen| seen.word == *word;
                seen.iter().filter(same).any(|seen| agrees(one, seen))
            });
            assert!(is_there, "{told} is not in {:?}", found.boxes);
            for one in &found.boxes {
                let dark = ink(&picture, one, (found.width, found.height));
                assert!(
                    dark > word.len(),
                    "{told} has {dark} dark pixels in {one:?}"
                );
            }
        }
        words.len()
    }
}

fn has_poppler() -> bool {
    let there = Command::new("pdftotext").arg("-v").output().is_ok();
    if !there {
        println!("skipped: pdftotext (poppler-utils) is not installed");
    }
    there
}

fn pdfs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pdfs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "pdf") {
            found.push(path);
        }
    }
    found.sort();
}

#[test]
fn a_cited_word_lies_in_its_box() {
    let (Some(folder), SecondReader::Library(_), true) =
        (corpus("folder"), second_reader(), has_poppler())
    else {
        return;
    };
    let extractors = Extractors::new(second_reader());
    let mut files = Vec::new();
    pdfs(&folder, &mut files);
    let (mut pages, mut words) = (0, 0);
    for file in &files {
        let bytes = std::fs::read(file).unwrap();
        let large = bytes.len() > 2 << 20;
        if pages >= PAGES || large {
            continue;
        }
        let read = Read::new(&extractors, file, &bytes);
        let step = (read.pages.len() / 3).max(1);
        for (places, markdown) in read.pages.iter().step_by(step).take(3) {
            let found = read.check(places, markdown);
            pages += usize::from(found > 0);
            words += found;
        }
    }
    println!("{words} words on {pages} pages lie in their boxes");
    assert!(pages >= PAGES, "only {pages} pages with words");
    assert!(words >= 3 * PAGES, "only {words} words");
}

#[test]
fn a_word_of_a_turned_or_two_column_page_lies_in_its_box() {
    let (Some(folder), SecondReader::Library(_), true) =
        (corpus("docs"), second_reader(), has_poppler())
    else {
        return;
    };
    let extractors = Extractors::new(second_reader());
    for name in ["rotated-page-90.pdf", "multi-column-2p.pdf"] {
        let file = folder.join(name);
        let bytes = std::fs::read(&file).unwrap();
        let read = Read::new(&extractors, &file, &bytes);
        let found: usize = read
            .pages
            .iter()
            .map(|(places, markdown)| read.check(places, markdown))
            .sum();
        assert!(found >= 5, "{name}: only {found} words");
    }
}
