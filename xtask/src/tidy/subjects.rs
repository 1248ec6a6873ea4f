//! Subjects and stream names stand in one file.

use super::Source;

/// Where they stand.
const HOME: &str = "shared/src/contract/subject.rs";
/// How the literals begin.
const BEGINNINGS: [&str; 14] = [
    "ingest.v",
    "deadletter.v",
    "progress.v",
    "health.v",
    "metrics.v",
    "embed.v",
    "search.v",
    "catalog.v",
    "query.v",
    "desk.v",
    "rerank.v",
    "INGEST_",
    "DEADLETTER",
    "coroner",
];

/// Literals elsewhere, in code that is not a test. The checker itself has to name them.
pub(super) fn strays(sources: &[Source]) -> Vec<String> {
    let checked = sources
        .iter()
        .filter(|source| source.path != HOME && !source.path.starts_with("xtask/"));
    checked.flat_map(strays_in).collect()
}

fn strays_in(source: &Source) -> Vec<String> {
    let lines = (1..).zip(source.without_tests());
    lines
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .filter(|(_, line)| {
            BEGINNINGS
                .iter()
                .any(|text| line.contains(&format!("\"{text}")))
        })
        .map(|(number, _)| {
            format!(
                "`{}`:{number}: a subject belongs into `{HOME}`",
                source.path
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_found_outside_their_home() {
        #[track_caller]
        fn check(path: &str, text: &str, expect: usize) {
            let source = Source {
                path: path.to_owned(),
                text: text.to_owned(),
            };
            assert_eq!(strays(&[source]).len(), expect, "{path}: {text}");
        }
        let literal = "let subject = \"ingest.v1.parse\";";
        check("services/parser/src/stage.rs", literal, 1);
        check(
            "services/parser/src/stage.rs",
            "//! on \"ingest.v1.parse\"",
            0,
        );
        check(
            "services/parser/src/stage.rs",
            &format!("#[cfg(test)]\n{literal}"),
            0,
        );
        check(HOME, literal, 0);
    }
}
