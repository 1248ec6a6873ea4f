//! Documents that a document carries within.

use super::super::{ExtractedPage, Input};
use super::package::Package;

/// Files of these kinds are read.
const READ: [&str; 8] = [
    "docx", "xlsx", "pptx", "docm", "xlsm", "pptm", "xlsb", "pdf",
];

/// The pages of the documents that the part `owner` has set into itself.
pub(in crate::extract) fn embedded(
    package: &Package,
    owner: &str,
    input: &Input<'_>,
) -> Vec<ExtractedPage> {
    let is_document = |part: &str| {
        let extension = part.rsplit_once('.').map(|(_, extension)| extension);
        extension.is_some_and(|extension| READ.contains(&extension))
    };
    package
        .relations(owner)
        .into_iter()
        .filter(|relation| matches!(relation.kind.as_str(), "package" | "oleObject"))
        .filter(|relation| is_document(&relation.part))
        .filter_map(|relation| {
            let bytes = package.bytes(&relation.part)?;
            Some(input.within(&relation.part, bytes))
        })
        .flatten()
        .collect()
}
