//! Rebuilding a PDF whose cross-references, trailer or page tree are lost: lopdf scans for the
//! objects once the file has a trailer again, and the pages among them get a new tree.

mod orphans;

use std::collections::BTreeSet;

use lopdf::{Dictionary, Document, Object, ObjectId};

use super::objects::{array, dictionary, follow, integer};
use super::open;

/// Page attributes that a page may take from the nodes above it (ISO 32000-2, table 31).
const INHERITED: [&[u8]; 4] = [b"Resources", b"MediaBox", b"CropBox", b"Rotate"];
/// A page tree deeper than this is a loop.
const MAX_DEPTH: u32 = 64;
/// Object numbers beyond this are not believed (Annex C of ISO 32000-1).
const MAX_NUMBER: u32 = 8_388_000;
const HEADER: &[u8] = b"%PDF-";

/// A document with a whole page tree.
pub(super) struct Rebuilt {
    pub(super) bytes: Vec<u8>,
    /// Pages that the old tree claimed and the file does not have.
    pub(super) lost: usize,
    /// Whether the pages' texts are there but not their fonts.
    pub(super) is_without_fonts: bool,
}

/// `None` when no page is found.
pub(super) fn rebuild(bytes: &[u8]) -> Option<Rebuilt> {
    let (with_trailer, root) = close(bytes)?;
    let mut document = open::load(&with_trailer, None)?.ok()?;
    drop(with_trailer);
    let (mut pages, declared) = pages(&document, root);
    let is_without_pages = pages.is_empty();
    if is_without_pages {
        pages = orphans::pages(&mut document);
    }
    if pages.is_empty() {
        return None;
    }
    let lost = declared.saturating_sub(pages.len());
    plant(&mut document, root, &pages);
    let bytes = open::saved(&mut document)?;
    Some(Rebuilt {
        bytes,
        lost: lost.max(usize::from(is_without_pages)),
        is_without_fonts: is_without_pages,
    })
}

/// The file from its header on, its last object ended, with an empty catalog and a trailer; and
/// the catalog's number. The page tree's is the next.
fn close(bytes: &[u8]) -> Option<(Vec<u8>, u32)> {
    let body = find(bytes, HEADER).map_or(bytes, |at| bytes.get(at..).unwrap_or_default());
    let root = highest_number(body)?.checked_add(1)?;
    let tree = root.checked_add(1)?;
    let mut out = Vec::with_capacity(body.len() + 256);
    if !body.starts_with(HEADER) {
        out.extend_from_slice(b"%PDF-1.7\n");
    }
    out.extend_from_slice(body);
    let ending = format!(
        "\nendstream\nendobj\n{root} 0 obj\n<</Type/Catalog/Pages {tree} 0 R>>\nendobj\n{tree} 0 \
         obj\n<</Type/Pages/Kids[]/Count 0>>\nendobj\ntrailer\n<</Size {}/Root {root} 0 \
         R>>\nstartxref\n0\n%%EOF\n",
        tree + 1
    );
    out.extend_from_slice(ending.as_bytes());
    Some((out, root))
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

/// The highest object number defined by an `n g obj`; `None` without any.
fn highest_number(bytes: &[u8]) -> Option<u32> {
    let words = bytes.split(|byte| byte.is_ascii_whitespace() || *byte == b'<');
    let mut before = [None; 2];
    let mut highest = None;
    for word in words.filter(|word| !word.is_empty()) {
        if word == b"obj"
            && let [Some(number), Some(_)] = before
            && number < MAX_NUMBER
        {
            highest = highest.max(Some(number));
        }
        let number = std::str::from_utf8(word)
            .ok()
            .filter(|word| word.len() <= 8)
            .and_then(|word| word.parse().ok());
        let [_, last] = before;
        before = [last, number];
    }
    highest
}

/// The pages in order, those of the file's own tree if it is whole, else all page objects; and
/// how many there should be.
fn pages(document: &Document, root: u32) -> (Vec<ObjectId>, usize) {
    let mut in_tree = Vec::new();
    let mut declared = 0;
    for (id, object) in &document.objects {
        let Some(catalog) = object
            .as_dict()
            .ok()
            .filter(|node| node.has_type(b"Catalog"))
        else {
            continue;
        };
        let tree = dictionary(document, catalog, b"Pages");
        if let Some(tree) = tree.filter(|_| id.0 != root) {
            let mut found = Vec::new();
            collect(document, tree, 0, &mut BTreeSet::new(), &mut found);
            if found.len() >= in_tree.len() {
                in_tree = found;
                let count = integer(document, tree, b"Count").unwrap_or(0);
                declared = usize::try_from(count).unwrap_or(0);
            }
        }
    }
    if !in_tree.is_empty() && in_tree.len() >= declared {
        return (in_tree, declared);
    }
    let is_page = |object: &Object| object.as_dict().is_ok_and(|node| node.has_type(b"Page"));
    let all = document
        .objects
        .iter()
        .filter(|(_, object)| is_page(object));
    (all.map(|(id, _)| *id).collect(), declared)
}

fn collect(
    document: &Document,
    node: &Dictionary,
    depth: u32,
    seen: &mut BTreeSet<ObjectId>,
    found: &mut Vec<ObjectId>,
) {
    for kid in array(document, node, b"Kids").unwrap_or_default() {
        let (Ok(id), Some(node)) = (
            kid.as_reference(),
            follow(document, kid).and_then(|kid| kid.as_dict().ok()),
        ) else {
            continue;
        };
        if depth > MAX_DEPTH || !seen.insert(id) {
            continue;
        }
        if node.has(b"Kids") {
            collect(document, node, depth + 1, seen, found);
        } else {
            found.push(id);
        }
    }
}

/// Puts `pages` under one new node, each with what it took from its old ones. A catalog that the
/// file has keeps what else it knows: outline, labels, forms.
fn plant(document: &mut Document, root: u32, pages: &[ObjectId]) {
    let tree = (root + 1, 0);
    for page in pages {
        let taken = inherited(document, *page);
        if let Ok(node) = document.get_dictionary_mut(*page) {
            for (key, value) in taken {
                node.set(key, value);
            }
            node.set("Type", Object::Name(b"Page".to_vec()));
            node.set("Parent", tree);
        }
    }
    let is_own = |(id, object): &(&ObjectId, &Object)| {
        id.0 != root && object.as_dict().is_ok_and(|node| node.has_type(b"Catalog"))
    };
    let own = document.objects.iter().rfind(is_own).map(|(id, _)| *id);
    let catalog = own.unwrap_or((root, 0));
    if let Ok(node) = document.get_dictionary_mut(catalog) {
        node.set("Pages", tree);
    }
    let kids: Vec<Object> = pages.iter().map(|page| (*page).into()).collect();
    let mut node = Dictionary::new();
    node.set("Type", Object::Name(b"Pages".to_vec()));
    node.set("Count", i64::try_from(pages.len()).unwrap_or(i64::MAX));
    node.set("Kids", kids);
    document.objects.insert(tree, node.into());
    document.trailer.set("Root", catalog);
}

fn inherited(document: &Document, page: ObjectId) -> Vec<(Vec<u8>, Object)> {
    let Ok(mut node) = document.get_dictionary(page) else {
        return Vec::new();
    };
    let has = |node: &Dictionary, key: &[u8]| node.has(key);
    let mut missing: Vec<&[u8]> = INHERITED
        .into_iter()
        .filter(|key| !has(node, key))
        .collect();
    let mut taken = Vec::new();
    for _ in 0..MAX_DEPTH {
        let Some(parent) = dictionary(document, node, b"Parent") else {
            break;
        };
        node = parent;
        missing.retain(|key| match node.get(key) {
            Ok(value) => {
                taken.push((key.to_vec(), value.clone()));
                false
            }
            Err(_) => true,
        });
    }
    // A page without a size is none to some readers.
    if missing.contains(&b"MediaBox".as_slice()) {
        let a4 = [0, 0, 595, 842].map(Object::Integer);
        taken.push((b"MediaBox".to_vec(), a4.to_vec().into()));
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "3 0 obj\n<</Type/Page/Parent 2 0 R/Contents 4 0 R>>\nendobj\n4 0 obj\n\
                        <</Length 35>>\nstream\nBT /F 12 Tf 72 700 Td (Found) Tj ET\nendstream\n\
                        endobj\n";

    #[track_caller]
    fn check(file: &str, pages: usize, lost: usize) {
        let rebuilt = rebuild(file.as_bytes());
        let found = rebuilt.as_ref().map_or(0, |rebuilt| {
            let document = open::load(&rebuilt.bytes, None).unwrap().unwrap();
            document.page_iter().count()
        });
        assert_eq!(
            (found, rebuilt.map_or(0, |rebuilt| rebuilt.lost)),
            (pages, lost),
            "{file}"
        );
    }

    #[test]
    fn pages_without_a_tree_or_a_trailer_are_found() {
        let tree = |count| {
            format!(
                "1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[3 0 \
                 R]/Count {count}/MediaBox[0 0 300 300]>>\nendobj\n"
            )
        };
        check(&format!("%PDF-1.4\n{}{PAGE}", tree(1)), 1, 0);
        check(&format!("%PDF-1.4\n{}{PAGE}", tree(3)), 1, 2);
        check(&format!("%PDF-1.4\n{PAGE}"), 1, 0);
        check(&format!("junk\n{PAGE}"), 1, 0);
        let second = PAGE.replace("3 0 obj", "5 0 obj");
        check(&format!("junk\n%PDF-1.4\n{PAGE}\n{second}"), 2, 0);
        let cut = PAGE.split_once("ET").unwrap().0;
        check(&format!("%PDF-1.4\n{cut}"), 1, 0);
        let (_, content) = PAGE.split_once("endobj\n").unwrap();
        check(&format!("%PDF-1.4\n{content}"), 1, 1);
        check("%PDF-1.4\n1 0 obj\n<</Type/Catalog>>\nendobj", 0, 0);
        check("%PDF-1.4", 0, 0);
        check("", 0, 0);
        check("%PDF-1.4\n99999999999 0 obj 4294967295 0 obj", 0, 0);
    }

    #[test]
    fn pages_keep_what_they_took_from_above_and_loops_end() {
        let file = format!(
            "%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[2 \
             0 R 3 0 R 3 0 R]/Parent 2 0 R/Count 1/MediaBox[0 0 300 300]>>\nendobj\n{PAGE}"
        );
        let rebuilt = rebuild(file.as_bytes()).unwrap();
        let document = open::load(&rebuilt.bytes, None).unwrap().unwrap();
        let pages: Vec<_> = document.page_iter().collect();
        let page = document.get_dictionary(pages[0]).unwrap();
        let size = array(&document, page, b"MediaBox").unwrap();
        assert_eq!((pages.len(), size[2].as_i64().unwrap()), (1, 300));
    }
}
