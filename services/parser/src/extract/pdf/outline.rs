//! The outline (bookmarks): its titles become the headings of the pages they point to, so that
//! the path of a section is what the document itself says (ISO 32000-2, 12.3.3).

use std::collections::{BTreeMap, HashMap, HashSet};

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::objects::{array, dictionary, follow, name, one_line, resolve, text};
use super::squeeze::squeeze;

/// Deeper levels are written as this one: Markdown has six.
const MAX_LEVEL: usize = 6;
/// More entries than this are not read.
const MOST_ENTRIES: usize = 20_000;
const MAX_DEPTH: u32 = 32;
/// When a page lacks more titles than this, the outline is that of a larger document.
const MOST_ABSENT: usize = 20;
const MAX_TITLE_CHARACTERS: usize = 200;

/// One entry of an outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) title: String,
    /// From 1, the outermost.
    pub(super) level: usize,
}

/// The entries by the page they point to, from 0, in the outline's order.
pub(super) fn of(document: &Document, pages: &[ObjectId]) -> BTreeMap<usize, Vec<Entry>> {
    let Some(root) = document
        .catalog()
        .ok()
        .and_then(|catalog| dictionary(document, catalog, b"Outlines"))
    else {
        return BTreeMap::new();
    };
    let mut walk = Walk {
        document,
        pages: pages
            .iter()
            .enumerate()
            .map(|(index, id)| (*id, index))
            .collect(),
        names: names(document),
        seen: HashSet::new(),
        found: BTreeMap::new(),
    };
    walk.siblings(root, 1);
    walk.found
}

struct Walk<'a> {
    document: &'a Document,
    pages: HashMap<ObjectId, usize>,
    names: HashMap<Vec<u8>, &'a Object>,
    seen: HashSet<ObjectId>,
    found: BTreeMap<usize, Vec<Entry>>,
}

impl Walk<'_> {
    fn siblings(&mut self, parent: &Dictionary, level: usize) {
        let mut next = parent.get(b"First").and_then(Object::as_reference).ok();
        while let Some(id) = next {
            let Ok(node) = self.document.get_dictionary(id) else {
                return;
            };
            if self.seen.len() >= MOST_ENTRIES || !self.seen.insert(id) {
                return;
            }
            self.entry(node, level);
            if level < usize::try_from(MAX_DEPTH).unwrap_or(1) {
                self.siblings(node, level + 1);
            }
            next = node.get(b"Next").and_then(Object::as_reference).ok();
        }
    }

    fn entry(&mut self, node: &Dictionary, level: usize) {
        let title = text(self.document, node, b"Title");
        let target = resolve(self.document, node, b"Dest").or_else(|| {
            let action = dictionary(self.document, node, b"A")?;
            let is_here = name(self.document, action, b"S") == Some(b"GoTo");
            resolve(self.document, action, b"D").filter(|_| is_here)
        });
        let page = target.and_then(|target| self.page(target));
        if let (Some(title), Some(page)) = (title, page) {
            self.found.entry(page).or_default().push(Entry {
                title: title.chars().take(MAX_TITLE_CHARACTERS).collect(),
                level: level.min(MAX_LEVEL),
            });
        }
    }

    /// The page of a destination: `[page …]`, `<</D [page …]>>`, or the name of one.
    fn page(&self, target: &Object) -> Option<usize> {
        let target = match target {
            Object::String(name, _) | Object::Name(name) => *self.names.get(name)?,
            other => other,
        };
        let target = match target {
            Object::Dictionary(node) => resolve(self.document, node, b"D")?,
            other => other,
        };
        match target.as_array().ok()?.first()? {
            Object::Reference(id) => self.pages.get(id).copied(),
            Object::Integer(index) => usize::try_from(*index).ok(),
            _ => None,
        }
    }
}

/// Named destinations, of the old kind and the new.
fn names(document: &Document) -> HashMap<Vec<u8>, &Object> {
    let mut found = HashMap::new();
    let Ok(catalog) = document.catalog() else {
        return found;
    };
    if let Some(old) = dictionary(document, catalog, b"Dests") {
        for (name, target) in old {
            if let Some(target) = follow(document, target) {
                found.insert(name.clone(), target);
            }
        }
    }
    if let Some(tree) = dictionary(document, catalog, b"Names")
        .and_then(|names| dictionary(document, names, b"Dests"))
    {
        name_tree(document, tree, 0, &mut |name, target| {
            found.insert(name.to_vec(), target);
        });
    }
    found
}

/// Calls `each` with every pair of a name tree.
pub(super) fn name_tree<'a>(
    document: &'a Document,
    node: &'a Dictionary,
    depth: u32,
    each: &mut impl FnMut(&'a [u8], &'a Object),
) {
    for pair in array(document, node, b"Names")
        .unwrap_or_default()
        .chunks_exact(2)
    {
        let [name, target] = pair else { continue };
        let name = follow(document, name).and_then(|name| name.as_str().ok());
        if let (Some(name), Some(target)) = (name, follow(document, target)) {
            each(name, target);
        }
    }
    for kid in array(document, node, b"Kids").unwrap_or_default() {
        if let Some(kid) = follow(document, kid).and_then(|kid| kid.as_dict().ok())
            && depth < MAX_DEPTH
        {
            name_tree(document, kid, depth + 1, each);
        }
    }
}

/// `markdown` with the titles of `entries` as headings of their level: where the page has the
/// title, as a heading or a line of its own, there; else before the page's text.
pub(super) fn apply(markdown: &str, entries: &[Entry]) -> String {
    let mut lines: Vec<String> = markdown.lines().map(str::to_owned).collect();
    let keys: Vec<Option<String>> = keys(&lines);
    let mut before = Vec::new();
    let mut from = 0;
    for entry in entries {
        let heading = format!("{} {}", "#".repeat(entry.level), entry.title);
        let wanted = key(&entry.title);
        let is_it = |key: &Option<String>| key.as_ref().is_some_and(|key| *key == wanted);
        let found = keys
            .iter()
            .skip(from)
            .position(is_it)
            .map(|at| at + from)
            .or_else(|| keys.iter().position(is_it));
        match found.and_then(|at| Some((at, lines.get_mut(at)?))) {
            // The page's own words stay: a number that the outline leaves out, for one.
            Some((at, line)) => {
                let words = line.trim_start_matches('#').trim();
                *line = format!("{} {words}", "#".repeat(entry.level));
                from = at + 1;
            }
            None if !wanted.is_empty() => before.push(heading),
            None => {}
        }
    }
    if before.len() > MOST_ABSENT {
        before.clear();
    }
    before.extend(lines);
    super::blocks::part(&before)
}

/// What each line could be matched by; `None` for rows and code.
fn keys(lines: &[String]) -> Vec<Option<String>> {
    let mut in_fence = false;
    let keys = lines.iter().map(|line| {
        let is_fence = line.trim_start().starts_with("```");
        in_fence ^= is_fence;
        let is_text = !in_fence && !is_fence && !line.starts_with('|') && line.len() < 1000;
        is_text.then(|| key(line)).filter(|key| !key.is_empty())
    });
    keys.collect()
}

/// Letters and digits, without the number that a heading begins with.
fn key(line: &str) -> String {
    let words = line.trim_start_matches('#').trim_start();
    let unnumbered = words
        .split_once(' ')
        .filter(|(number, _)| {
            number.starts_with(|c: char| c.is_ascii_digit())
                && number.chars().all(|c| c.is_ascii_digit() || c == '.')
        })
        .map_or(words, |(_, rest)| rest);
    squeeze(&one_line(unnumbered).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn entry(level: usize, title: &str) -> Entry {
        Entry {
            title: title.to_owned(),
            level,
        }
    }

    #[test]
    fn titles_become_headings() {
        #[track_caller]
        fn check(markdown: &str, entries: &[Entry], expect: &str) {
            assert_eq!(apply(markdown, entries), expect);
        }
        check("# 1 Foo\n\ntext", &[entry(2, "Foo")], "## 1 Foo\n\ntext");
        check(
            "1.2 Foo bar\ntext",
            &[entry(1, "Foo Bar")],
            "# 1.2 Foo bar\n\ntext",
        );
        check(
            "# Foo\n\ntext",
            &[entry(1, "First")],
            "# First\n\n# Foo\n\ntext",
        );
        check(
            "end of it\n\nUses\n\na\n\nUses\n\nb",
            &[entry(1, "Uses"), entry(2, "Uses")],
            "end of it\n\n# Uses\n\na\n\n## Uses\n\nb",
        );
        check("|Foo|\n|---|", &[entry(1, "Foo")], "# Foo\n\n|Foo|\n|---|");
        check("text", &[entry(1, "…")], "text");
        check("", &[entry(1, "Foo")], "# Foo");
        let stale: Vec<_> = (0..21).map(|n| entry(1, &format!("t{n}"))).collect();
        check("One page", &stale, "One page");
    }

    /// A document of two pages with this outline; its objects are numbered from 10.
    fn outline(objects: &[(u32, &str)]) -> BTreeMap<usize, Vec<Entry>> {
        let mut file = "%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R/Outlines 10 0 R/Names \
                        <</Dests<</Names[(two)[4 0 R/Fit]]>>>>>>\nendobj\n2 0 \
                        obj\n<</Type/Pages/Count 2/Kids[3 0 R 4 0 R]>>\nendobj\n3 0 \
                        obj\n<</Type/Page/Parent 2 0 R>>\nendobj\n4 0 obj\n<</Type/Page/Parent 2 0 \
                        R>>\nendobj\n"
            .to_owned();
        for (number, object) in objects {
            write!(file, "{number} 0 obj\n<<{object}>>\nendobj\n").unwrap();
        }
        file += "trailer\n<</Root 1 0 R/Size 20>>\nstartxref\n0\n%%EOF";
        let document = super::super::open::load(file.as_bytes(), None)
            .unwrap()
            .unwrap();
        let pages: Vec<_> = document.page_iter().collect();
        of(&document, &pages)
    }

    #[test]
    fn entries_point_to_pages() {
        let found = outline(&[
            (10, "/First 11 0 R"),
            (11, "/Title(One)/Dest[3 0 R/Fit]/First 12 0 R/Next 13 0 R"),
            (12, "/Title<FEFF00DC>/A<</S/GoTo/D(two)>>"),
            (13, "/Title(Elsewhere)/A<</S/URI/URI(x)>>/Next 14 0 R"),
            (14, "/Title(By number)/Dest[1/Fit]/Next 11 0 R"),
        ]);
        let expect = BTreeMap::from([
            (0, vec![entry(1, "One")]),
            (1, vec![entry(2, "Ü"), entry(1, "By number")]),
        ]);
        assert_eq!(found, expect);
        let endless = [
            (10, "/First 11 0 R"),
            (11, "/Title(A)/Dest[3 0 R]/First 11 0 R/Next 11 0 R"),
        ];
        assert_eq!(outline(&endless)[&0].len(), 1);
        assert!(outline(&[(10, "/First 99 0 R")]).is_empty());
    }
}
