//! Which part of a package stands for which, as Office documents say it.

use super::xml::{Tag, Visit, visit};

/// A line of a `.rels` part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::extract) struct Relation {
    /// What the owner calls it.
    pub(in crate::extract) id: String,
    /// The last word of its type, such as `slide`.
    pub(in crate::extract) kind: String,
    /// The part's path in the package.
    pub(in crate::extract) part: String,
}

#[derive(Default)]
struct Relations {
    owner: String,
    found: Vec<Relation>,
}

/// Where the relations of the part `owner` are written.
pub(in crate::extract) fn part_for(owner: &str) -> String {
    match owner.rsplit_once('/') {
        Some((folder, name)) => format!("{folder}/_rels/{name}.rels"),
        None => format!("_rels/{owner}.rels"),
    }
}

/// The relations of the part `owner` to other parts, read from `xml`.
pub(in crate::extract) fn read(owner: &str, xml: &str) -> Vec<Relation> {
    let mut relations = Relations {
        owner: owner.to_owned(),
        found: Vec::new(),
    };
    visit(xml, &mut relations);
    relations.found
}

impl Visit for Relations {
    fn open(&mut self, tag: &Tag<'_>) {
        let is_outside = || tag.attribute("TargetMode").as_deref() == Some("External");
        if tag.local() != "Relationship" || is_outside() {
            return;
        }
        let (Some(id), Some(kind), Some(target)) = (
            tag.attribute("Id"),
            tag.attribute("Type"),
            tag.attribute("Target"),
        ) else {
            return;
        };
        self.found.push(Relation {
            id,
            kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
            part: resolved(&self.owner, &target),
        });
    }

    fn text(&mut self, _text: &str) {}

    fn close(&mut self, _name: &str) {}
}

/// The path that `target` means to the part `owner`.
fn resolved(owner: &str, target: &str) -> String {
    let target = target.replace('\\', "/");
    let mut path: Vec<&str> = match target.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => owner.split('/').collect(),
    };
    path.pop();
    for step in target.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            step => path.push(step),
        }
    }
    path.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_paths_in_the_package() {
        #[track_caller]
        fn check(owner: &str, target: &str, expect: &str) {
            assert_eq!(resolved(owner, target), expect);
        }
        check(
            "ppt/presentation.xml",
            "slides/slide1.xml",
            "ppt/slides/slide1.xml",
        );
        check("ppt/slides/slide1.xml", "../media/a.png", "ppt/media/a.png");
        check("ppt/slides/slide1.xml", "/ppt/a.xml", "ppt/a.xml");
        check("", "word/document.xml", "word/document.xml");
        check("a/b.xml", "../../../c.xml", "c.xml");
        assert_eq!(
            part_for("word/document.xml"),
            "word/_rels/document.xml.rels"
        );
        assert_eq!(part_for(""), "_rels/.rels");
    }

    #[test]
    fn what_lies_outside_is_left_out() {
        let xml = "<Relationships><Relationship Id=\"r1\" Type=\"http://x/slide\" Target=\"a.xml\"/>\
                   <Relationship Id=\"r2\" Type=\"http://x/image\" Target=\"http://e/x\" \
                   TargetMode=\"External\"/></Relationships>";
        let expect = Relation {
            id: "r1".to_owned(),
            kind: "slide".to_owned(),
            part: "ppt/a.xml".to_owned(),
        };
        assert_eq!(read("ppt/presentation.xml", xml), [expect]);
    }
}
