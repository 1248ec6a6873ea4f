//! Markdown: one page as it stands, named after its first heading.

use pulldown_cmark::{Event, HeadingLevel, MetadataBlockKind, Options, Parser, Tag, TagEnd};

use super::{ExtractError, Extraction, Extractor, Input, charset, only_page};

pub(super) struct MarkdownExtractor;

impl Extractor for MarkdownExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let decoded = charset::decode(input.bytes);
        let names = Names::of(&decoded.text);
        let doubts = decoded.doubts();
        Ok(Extraction {
            title: names.title,
            pages: vec![only_page(
                without_embedded(&decoded.text),
                names.heading,
                doubts,
            )],
            ..Extraction::default()
        })
    }
}

/// `text` without the pictures that are written into it as data: megabytes that say nothing.
pub(super) fn without_embedded(text: &str) -> String {
    const START: &str = "data:";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, data)) = rest.split_once(START) {
        out.push_str(before);
        let end = data.find([')', '"', '\'', '>', ' ', '\n', ']']);
        let (data, after) = data.split_at(end.unwrap_or(data.len()));
        let is_embedded = before.ends_with(['(', '"', '\'', '<', ' ']) && data.contains(";base64,");
        if !is_embedded {
            out.push_str(START);
            out.push_str(data);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// `text` with its headings `levels` deeper, for a place within another document.
pub(super) fn demoted(text: &str, levels: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fence = None;
    for line in text.split_inclusive('\n') {
        let mark = line.trim_end();
        match fence {
            Some(open) if mark == open => fence = None,
            None if mark.starts_with("```") => fence = Some(mark.trim_end_matches(|c| c != '`')),
            None if line.starts_with('#') => {
                let depth = line.len() - line.trim_start_matches('#').len();
                out.push_str(&"#".repeat(levels.min(6_usize.saturating_sub(depth))));
            }
            _ => {}
        }
        out.push_str(line);
    }
    out
}

/// What a Markdown document calls itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// `title` of the front matter, else the first heading if it is of the first level.
    pub(super) title: Option<String>,
    /// The first heading, of whatever level.
    pub(super) heading: Option<String>,
}

impl Names {
    pub(super) fn of(text: &str) -> Self {
        let mut names = Self::default();
        let (mut in_front_matter, mut level, mut collected) = (false, None, String::new());
        for event in Parser::new_ext(text, Options::ENABLE_YAML_STYLE_METADATA_BLOCKS) {
            match event {
                Event::Start(Tag::MetadataBlock(MetadataBlockKind::YamlStyle)) => {
                    in_front_matter = true;
                }
                Event::End(TagEnd::MetadataBlock(_)) => in_front_matter = false,
                Event::Text(yaml) if in_front_matter => names.title = front_matter_title(&yaml),
                Event::Start(Tag::Heading { level: found, .. }) => {
                    level = Some(found);
                    collected.clear();
                }
                Event::Text(part) | Event::Code(part) if level.is_some() => {
                    collected.push_str(&part);
                }
                Event::SoftBreak | Event::HardBreak if level.is_some() => collected.push(' '),
                Event::End(TagEnd::Heading(found)) => {
                    let heading = collected.split_whitespace().collect::<Vec<_>>().join(" ");
                    if heading.is_empty() {
                        level = None;
                        continue;
                    }
                    if names.title.is_none() && found == HeadingLevel::H1 {
                        names.title = Some(heading.clone());
                    }
                    names.heading = Some(heading);
                    break;
                }
                _ => {}
            }
        }
        names
    }
}

fn front_matter_title(yaml: &str) -> Option<String> {
    let value = yaml
        .lines()
        .find_map(|line| line.strip_prefix("title:"))?
        .trim();
    let value = value.trim_matches(['"', '\'']).trim();
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use shared::contract::Locator;
    use shared::format::Format;

    use crate::extract::extract_alone;

    #[track_caller]
    fn check(text: &str, title: Option<&str>, locator: &Locator) {
        let extraction = extract_alone(Format::Markdown, "a.md", text.as_bytes()).unwrap();
        assert_eq!(extraction.title.as_deref(), title, "{text:?}");
        assert_eq!(&extraction.pages[0].record.locator, locator, "{text:?}");
        assert_eq!(extraction.pages[0].markdown, text);
    }

    #[test]
    fn pictures_within_the_text_are_left_out() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            let page = extract_alone(Format::Markdown, "a.md", text.as_bytes()).unwrap();
            assert_eq!(page.pages[0].markdown, expect);
        }
        let data = "data:image/png;base64,iVBORw0KGgo=";
        check(&format!("a ![mill]({data}) b"), "a ![mill]() b");
        check(
            &format!("<img src=\"{data}\" alt=mill>"),
            "<img src=\"\" alt=mill>",
        );
        check(&format!("[mill]: {data}\nend"), "[mill]: \nend");
        check("metadata:x;base64, (data:y)", "metadata:x;base64, (data:y)");
    }

    fn section(heading: &str) -> Locator {
        Locator::Section {
            heading: heading.to_owned(),
        }
    }

    #[test]
    fn title_and_first_heading() {
        let block = Locator::Block { number: 1 };
        check(
            "# Plan\n\ntext\n\n# Later\n",
            Some("Plan"),
            &section("Plan"),
        );
        check(
            "intro\n\n## The *small* `thing`\n",
            None,
            &section("The small thing"),
        );
        check("Setext\n======\n", Some("Setext"), &section("Setext"));
        check(
            "---\ntitle: \"Front\"\nid: 3\n---\n\n# First\n",
            Some("Front"),
            &section("First"),
        );
        check("---\nid: 3\n---\n\ntext\n", None, &block);
        check("```sh\n# not a heading\n```\n", None, &block);
        check("```sh\n# no\n```\n\n### Yes\n", None, &section("Yes"));
        check("#\n\ntext", None, &block);
        check("", None, &block);
    }
}
