//! Where a document lives in the user's world: its identity within the collection.

use shared::contract::CollectionName;

use crate::error::ApiError;

/// As long as Linux allows a path to be.
const MAX_BYTES: usize = 4096;
const SCHEME: &str = "upload://";

/// An absolute file path, or `upload://{collection}/{relative name}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePath(String);

impl SourcePath {
    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path `text` of a document in `collection`.
    ///
    /// # Errors
    /// A path that is neither absolute nor a clean upload path of this collection.
    pub fn parse(text: &str, collection: &CollectionName) -> Result<Self, ApiError> {
        let refuse = |rule: String| {
            Err(ApiError::bad_request(
                format!("`{}` is not a document's path", text.escape_debug()),
                format!("{rule}, or leave `path` out"),
            ))
        };
        if text.is_empty() || text.len() > MAX_BYTES || text.contains(char::is_control) {
            return refuse(format!(
                "give 1 to {MAX_BYTES} bytes without control characters"
            ));
        }
        let Some(rest) = text.strip_prefix(SCHEME) else {
            return if is_absolute(text) {
                Ok(Self(text.to_owned()))
            } else {
                refuse("give an absolute path without `.`, `..` and `//`".to_owned())
            };
        };
        let clean = rest
            .strip_prefix(collection.as_str())
            .and_then(|rest| rest.strip_prefix('/'))
            .is_some_and(is_clean);
        if clean {
            Ok(Self(text.to_owned()))
        } else {
            refuse(format!(
                "give `{SCHEME}{collection}/` and a relative name without `..`"
            ))
        }
    }

    /// The path of an upload that named none: the file's own name, with `\` as `/`.
    ///
    /// # Errors
    /// A name that is no clean relative name.
    pub fn of_upload(file_name: &str, collection: &CollectionName) -> Result<Self, ApiError> {
        if file_name.is_empty() {
            return Err(ApiError::bad_request(
                "the file has no name",
                "send its `filename`, or a `path` before it",
            ));
        }
        let name = file_name.replace('\\', "/");
        Self::parse(&format!("{SCHEME}{collection}/{name}"), collection).map_err(|_refused| {
            ApiError::bad_request(
                format!("`{}` is no file's name", file_name.escape_debug()),
                "send a relative name without `..`, or a `path` before the file",
            )
        })
    }

    /// The path's last part.
    pub fn name(&self) -> &str {
        self.0.rsplit(['/', '\\']).next().unwrap_or(&self.0)
    }
}

/// One document has one path: two ways to write it would be two documents.
fn is_absolute(text: &str) -> bool {
    if let Some(rest) = text.strip_prefix('/') {
        return is_clean(rest);
    }
    let mut chars = text.chars();
    let drive = chars
        .next()
        .is_some_and(|letter| letter.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && chars.next().is_some_and(|mark| mark == '\\' || mark == '/');
    drive && chars.as_str().split(['/', '\\']).all(is_name)
}

fn is_clean(relative: &str) -> bool {
    relative.split('/').all(is_name)
}

fn is_name(part: &str) -> bool {
    !part.is_empty() && part != "." && part != ".."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expect: Option<&str>) {
        let collection = "docs".parse().unwrap();
        let parsed = SourcePath::parse(path, &collection).ok();
        assert_eq!(parsed.as_ref().map(SourcePath::name), expect, "{path}");
    }

    #[test]
    fn absolute_paths_and_clean_uploads_are_taken() {
        check("/home/a/plan.md", Some("plan.md"));
        check("C:\\texts\\plan.md", Some("plan.md"));
        check("upload://docs/plan.md", Some("plan.md"));
        check("upload://docs/a b/Übersicht.pdf", Some("Übersicht.pdf"));
        check("", None);
        check("plan.md", None);
        check("/", None);
        check("/home/a/", None);
        check("/home/../a.md", None);
        check("/home/./a.md", None);
        check("//home/a.md", None);
        check("/home/..a.md", Some("..a.md"));
        check("C:\\texts\\..\\a.md", None);
        check("C:\\", None);
        check("/home/\0/plan.md", None);
        check("/line\nbreak", None);
        check("upload://docs/", None);
        check("upload://docs", None);
        check("upload://docs/../x", None);
        check("upload://docs/a//x", None);
        check("upload://docs/./x", None);
        check("upload://other/x", None);
        check("upload://docsx/x", None);
        check(&format!("/{}", "a".repeat(5000)), None);
    }

    #[test]
    fn an_upload_without_a_path_is_named_by_its_file() {
        let collection = CollectionName::default();
        let path = SourcePath::of_upload("notes\\may.txt", &collection).unwrap();
        assert_eq!(path.as_str(), "upload://default/notes/may.txt");
        for (name, part) in [("", "has no name"), ("../../etc/passwd", "no file's name")] {
            let error = SourcePath::of_upload(name, &collection).unwrap_err();
            assert!(error.message.contains(part), "{}", error.message);
            assert!(error.remedy.contains("`path` before"), "{}", error.remedy);
        }
    }
}
