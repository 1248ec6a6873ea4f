//! Source code and settings: one block as it stands, in which nothing is a heading.

use super::lines::fenced;
use super::{ExtractError, Extraction, Extractor, Input, charset, only_page};

/// Names of languages whose files have another extension, or none.
const LANGUAGES: [(&str, &str); 36] = [
    ("bas", "vb"),
    ("bat", "batch"),
    ("cc", "cpp"),
    ("cjs", "javascript"),
    ("cs", "csharp"),
    ("cxx", "cpp"),
    ("el", "lisp"),
    ("erl", "erlang"),
    ("ex", "elixir"),
    ("exs", "elixir"),
    ("f90", "fortran"),
    ("h", "c"),
    ("hh", "cpp"),
    ("hpp", "cpp"),
    ("hs", "haskell"),
    ("jl", "julia"),
    ("js", "javascript"),
    ("kt", "kotlin"),
    ("kts", "kotlin"),
    ("m", "objectivec"),
    ("mjs", "javascript"),
    ("mk", "makefile"),
    ("ml", "ocaml"),
    ("patch", "diff"),
    ("pl", "perl"),
    ("pm", "perl"),
    ("ps1", "powershell"),
    ("py", "python"),
    ("pyi", "python"),
    ("rb", "ruby"),
    ("rs", "rust"),
    ("sh", "bash"),
    ("tf", "hcl"),
    ("ts", "typescript"),
    ("vbs", "vb"),
    ("yml", "yaml"),
];

pub(super) struct CodeExtractor;

impl Extractor for CodeExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let decoded = charset::decode(input.bytes);
        let doubts = decoded.doubts();
        let text = decoded.text.trim_matches('\n');
        let markdown = if text.trim().is_empty() {
            String::new()
        } else {
            format!("{}\n", fenced(text, &language(input.name)))
        };
        Ok(Extraction {
            pages: vec![only_page(markdown, None, doubts)],
            ..Extraction::default()
        })
    }
}

/// What the fence says.
fn language(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let extension = file
        .rsplit_once('.')
        .map_or(file, |(_, extension)| extension);
    let extension = extension.to_lowercase();
    let known = LANGUAGES.iter().find(|(known, _)| *known == extension);
    let language = known.map_or(extension.as_str(), |(_, language)| *language);
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-');
    if language.chars().all(is_word) {
        language.to_owned()
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shared::format::Format;

    use crate::extract::extract_alone;

    #[test]
    fn code_is_one_fence() {
        #[track_caller]
        fn check(name: &str, text: &str, expect: &str) {
            let page = extract_alone(Format::Code, name, text.as_bytes()).unwrap();
            assert_eq!(page.pages[0].markdown, expect, "{name}");
        }
        check("a.rs", "fn a() {\n}\n", "```rust\nfn a() {\n}\n```\n");
        check("x/Dockerfile", "FROM a\n", "```dockerfile\nFROM a\n```\n");
        check("a.toml", "# note\na = 1", "```toml\n# note\na = 1\n```\n");
        check(
            "a.sh",
            "\n  cat <<E\n```\nE\r\n",
            "````bash\n  cat <<E\n```\nE\n````\n",
        );
        check("a b.c d", "x", "```\nx\n```\n");
        check("a.py", " \n", "");
    }

    proptest! {
        #[test]
        fn no_bytes_panic(name in "\\PC{0,12}", bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            extract_alone(Format::Code, &name, &bytes).unwrap();
        }
    }
}
