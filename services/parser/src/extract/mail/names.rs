//! Names of files as a citation may show them.

use std::collections::{HashMap, HashSet};

/// Longer names are cut before their extension.
const MOST_CHARACTERS: usize = 120;
/// A longer one is no extension.
const MOST_EXTENSION: usize = 12;

/// The last part of `raw`, a name that someone else chose; `None` when nothing is left of it.
pub(in crate::extract) fn file_name(raw: &str) -> Option<String> {
    let last = raw
        .rsplit(['/', '\\'])
        .find(|part| !part.trim().is_empty())?;
    let name = plain(last);
    let name = name.trim_matches('.').trim();
    (!name.is_empty()).then(|| shortened(name))
}

/// The parts of `raw`, a path that someone else chose, joined by `/`: without a drive, a root, or
/// a way up.
pub(in crate::extract) fn path(raw: &str) -> Option<String> {
    let parts: Vec<String> = raw
        .split(['/', '\\'])
        .enumerate()
        .map(|(index, part)| (index, plain(part)))
        .filter(|(index, part)| {
            let is_drive = *index == 0 && part.len() == 2 && part.ends_with(':');
            !part.is_empty() && part != "." && part != ".." && !is_drive
        })
        .map(|(_, part)| shortened(&part))
        .collect();
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Without control characters, and without those that turn the direction of writing: `exe.fdp`
/// must not read `pdf.exe`.
fn plain(raw: &str) -> String {
    let shown = |c: char| {
        let turns = matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
            || matches!(c, '\u{2060}'..='\u{2069}' | '\u{feff}');
        !turns && (c == '\t' || c == '\n' || !c.is_control())
    };
    let name: String = raw.chars().filter(|c| shown(*c)).collect();
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= MOST_CHARACTERS {
        return name.to_owned();
    }
    let (stem, extension) = parted(name);
    let kept: String = stem.chars().take(MOST_CHARACTERS).collect();
    format!("{}…{extension}", kept.trim_end())
}

/// `name` before its extension, and the extension with its dot.
fn parted(name: &str) -> (&str, &str) {
    match name.rfind('.').and_then(|at| name.split_at_checked(at)) {
        Some((stem, extension)) if !stem.is_empty() && extension.len() <= MOST_EXTENSION => {
            (stem, extension)
        }
        _ => (name, ""),
    }
}

/// The names that are taken within one container.
#[derive(Debug, Default)]
pub(in crate::extract) struct Taken {
    all: HashSet<String>,
    /// How often a name was asked for.
    asked: HashMap<String, u32>,
}

impl Taken {
    /// `name`, or `name (2)` when it is taken; the number stands before the extension, which says
    /// how the file is read.
    pub(in crate::extract) fn free(&mut self, name: &str) -> String {
        if self.all.insert(name.to_owned()) {
            self.asked.insert(name.to_owned(), 1);
            return name.to_owned();
        }
        let (stem, extension) = parted(name);
        loop {
            let asked = self.asked.entry(name.to_owned()).or_insert(1);
            *asked += 1;
            let numbered = format!("{stem} ({asked}){extension}");
            if self.all.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_only_names() {
        #[track_caller]
        fn check(raw: &str, expect: Option<&str>) {
            assert_eq!(file_name(raw).as_deref(), expect, "{raw:?}");
        }
        check("invoice.pdf", Some("invoice.pdf"));
        check("../../etc/passwd", Some("passwd"));
        check("C:\\temp\\a b.txt", Some("a b.txt"));
        check("a\u{0}b\r\n c.txt", Some("ab c.txt"));
        check("gpj.\u{202e}exe", Some("gpj.exe"));
        check("folder/", Some("folder"));
        check("..", None);
        check(" / ", None);
        let long = format!("{}.pdf", "ü".repeat(300));
        let short = file_name(&long).unwrap();
        assert!(short.ends_with("….pdf") && short.chars().count() < 130);
    }

    #[test]
    fn paths_lead_nowhere_else() {
        #[track_caller]
        fn check(raw: &str, expect: Option<&str>) {
            assert_eq!(path(raw).as_deref(), expect, "{raw:?}");
        }
        check("ok/readme.txt", Some("ok/readme.txt"));
        check("../../../tmp/evil.txt", Some("tmp/evil.txt"));
        check("/etc/evil.txt", Some("etc/evil.txt"));
        check("C:\\Windows\\evil.txt", Some("Windows/evil.txt"));
        check("a/./b//c", Some("a/b/c"));
        check("a/b:/c", Some("a/b:/c"));
        check("../..", None);
        check("", None);
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        let mut taken = Taken::default();
        assert_eq!(taken.free("a.pdf"), "a.pdf");
        assert_eq!(taken.free("a (2).pdf"), "a (2).pdf");
        assert_eq!(taken.free("a.pdf"), "a (3).pdf");
        assert_eq!(taken.free("a.pdf"), "a (4).pdf");
        assert_eq!(taken.free("notes"), "notes");
        assert_eq!(taken.free("notes"), "notes (2)");
        assert_eq!(taken.free(".env"), ".env");
        assert_eq!(taken.free(".env"), ".env (2)");
    }
}
