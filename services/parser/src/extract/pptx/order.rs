//! Which slides there are, in the order in which they are shown.

use std::collections::{BTreeMap, BTreeSet};

use super::super::office::package::Package;
use super::super::office::relations;
use super::super::office::xml::{Tag, Visit, escaped, visit};

/// The main part, where the package does not say another.
const MAIN: &str = "ppt/presentation.xml";
/// Namespaces of the main part that is written where there is none.
const PRESENTATION: &str = "http://schemas.openxmlformats.org/presentationml/2006/main";
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";

/// The parts of all slides. A presentation whose main part is lost gets one that lists its slides
/// by their numbers.
pub(super) fn slides(package: &mut Package) -> Vec<String> {
    let main = package.main_part(MAIN);
    let mut listed = Listed::default();
    if let Some(xml) = package.xml(&main) {
        visit(&xml, &mut listed);
    }
    let of_id: BTreeMap<String, String> = package
        .relations(&main)
        .into_iter()
        .map(|relation| (relation.id, relation.part))
        .collect();
    let mut seen = BTreeSet::new();
    let parts: Vec<String> = listed
        .ids
        .iter()
        .filter_map(|id| of_id.get(id))
        .filter(|part| seen.insert((*part).clone()))
        .cloned()
        .collect();
    if parts.iter().any(|part| package.has(part)) {
        return parts;
    }
    let parts = by_number(package);
    write(package, &main, &parts);
    parts
}

fn by_number(package: &Package) -> Vec<String> {
    let number = |name: &str| {
        let name = name.strip_prefix("ppt/slides/slide")?;
        name.strip_suffix(".xml")?.parse::<u32>().ok()
    };
    let mut parts: Vec<(u32, String)> = package
        .names()
        .filter_map(|name| Some((number(name)?, name.to_owned())))
        .collect();
    parts.sort();
    parts.into_iter().map(|(_, name)| name).collect()
}

fn write(package: &mut Package, main: &str, parts: &[String]) {
    let ids: Vec<String> = (1..=parts.len())
        .map(|number| format!("<p:sldId r:id=\"s{number}\"/>"))
        .collect();
    let ids = ids.concat();
    let text = format!(
        "<p:presentation xmlns:p=\"{PRESENTATION}\" xmlns:r=\"{RELATIONS}\">\
         <p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
    );
    let relation = |(part, number): (&String, usize)| {
        let part = escaped(part);
        format!("<Relationship Id=\"s{number}\" Type=\"{RELATIONS}/slide\" Target=\"/{part}\"/>")
    };
    let lines: String = parts.iter().zip(1..).map(relation).collect();
    let lines = format!("<Relationships xmlns=\"{PACKAGE}\">{lines}</Relationships>");
    package.set(main, text.into_bytes());
    package.set(&relations::part_for(main), lines.into_bytes());
}

#[derive(Default)]
struct Listed {
    ids: Vec<String>,
}

impl Visit for Listed {
    fn open(&mut self, tag: &Tag<'_>) {
        if tag.local() == "sldId" {
            self.ids.extend(tag.prefixed("id"));
        }
    }

    fn text(&mut self, _text: &str) {}

    fn close(&mut self, _name: &str) {}
}
