//! The shape of files.

use super::Source;

/// Lines of a file, its tests not counted, above which it is told as long.
const LONG: usize = 400;

/// Files over [`LONG`] lines.
pub(super) fn long(sources: &[Source]) -> Vec<String> {
    let counted = sources
        .iter()
        .map(|source| (source, source.without_tests().count()));
    counted
        .filter(|(_, lines)| *lines > LONG)
        .map(|(source, lines)| format!("`{}` has {lines} lines without its tests", source.path))
        .collect()
}

/// Modules in a `mod.rs`: the house has `foo.rs` beside `foo/`. A test's shared helpers are the
/// exception that cargo asks for.
pub(super) fn mod_files(sources: &[Source]) -> Vec<String> {
    let named = sources
        .iter()
        .filter(|source| source.path.ends_with("/mod.rs"));
    named
        .filter(|source| !source.path.contains("/tests/"))
        .map(|source| {
            format!(
                "`{}`: name the file after its module, beside its folder",
                source.path
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, lines: usize) -> Source {
        Source {
            path: path.to_owned(),
            text: "x\n".repeat(lines),
        }
    }

    #[test]
    fn long_files_and_mod_files_are_found() {
        assert!(long(&[source("a.rs", 400)]).is_empty());
        assert_eq!(long(&[source("a.rs", 401)]).len(), 1);
        assert!(mod_files(&[source("shared/src/bus.rs", 1)]).is_empty());
        assert_eq!(mod_files(&[source("shared/src/bus/mod.rs", 1)]).len(), 1);
    }
}
