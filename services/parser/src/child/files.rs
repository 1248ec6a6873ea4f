//! Which files a child may open by name: the machine's own libraries and fonts, for reading, and
//! PDFium's library. Not the data folder and nobody's home, so that a reader that was taken over
//! sees no document but the one it was given. By Landlock, best effort: a kernel without it
//! leaves the other limits.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, path_beneath_rules,
};

use crate::extract::SecondReader;

/// What libraries open by themselves: other libraries, fonts, locales, time zones.
const READABLE: [&str; 6] = [
    "/usr",
    "/lib",
    "/lib64",
    "/etc/fonts",
    "/etc/ld.so.cache",
    "/proc/self",
];

/// Confines this thread, and those it starts, for good. Whether the kernel holds it.
///
/// # Errors
/// When the kernel knows Landlock and refuses.
pub(super) fn confine(second_reader: &SecondReader) -> Result<bool, RulesetError> {
    let abi = ABI::V5;
    let library = match second_reader {
        SecondReader::Library(path) => Some(path.as_path()),
        SecondReader::Absent(_) => None,
    };
    let readable = READABLE.iter().map(std::path::Path::new).chain(library);
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .handle_access(AccessNet::from_all(abi))?
        .create()?
        // Paths that are not there are left out.
        .add_rules(path_beneath_rules(readable, AccessFs::from_read(abi)))?
        .restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}
