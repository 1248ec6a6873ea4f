//! Every format that is read has its fuzz target.

use crate::tidy::Source;

const FORMATS: &str = "shared/src/format.rs";
const TARGETS: &str = "fuzz/fuzz_targets/";

/// Formats, by name, that no fuzz target reads.
pub(super) fn missing(sources: &[Source]) -> Vec<String> {
    let formats = sources.iter().find(|source| source.path == FORMATS);
    let names: Vec<&str> = formats
        .map(|formats| names(&formats.text))
        .unwrap_or_default();
    if names.is_empty() {
        return vec![format!("`{FORMATS}` names no formats that could be found")];
    }
    names
        .into_iter()
        .filter(|name| {
            let target = format!("{TARGETS}{name}.rs");
            !sources.iter().any(|source| source.path == target)
        })
        .map(|name| format!("format `{name}` has no target `{TARGETS}{name}.rs`"))
        .collect()
}

/// The right sides of `Self::Pdf => "pdf",` in the function that names formats.
fn names(text: &str) -> Vec<&str> {
    let (_, named) = text.split_once("fn name(self)").unwrap_or_default();
    let arms = named.lines().take_while(|line| line.trim() != "}");
    let arms = arms.filter_map(|line| {
        let arm = line.trim().strip_prefix("Self::")?;
        let (_, name) = arm.split_once(" => \"")?;
        name.strip_suffix("\",")
    });
    arms.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_without_a_target_is_named() {
        let source = |path: &str, text: &str| Source {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let sources = [
            source(
                FORMATS,
                "fn name(self) {\n    Self::Pdf => \"pdf\",\n    Self::Docx => \"docx\",\n}\n\
                 fn other() {\n    Self::Pdf => \"PDF\",\n}\n",
            ),
            source("fuzz/fuzz_targets/pdf.rs", ""),
        ];
        let missing = missing(&sources);
        assert_eq!(missing.len(), 1, "{missing:?}");
        assert!(missing[0].contains("`docx`"), "{missing:?}");
        assert_eq!(super::missing(&[]).len(), 1);
    }
}
