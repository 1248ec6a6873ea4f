//! Copy protection. Fonts are often garbled so that nobody copies them; that concerns no text.

use std::collections::HashSet;
use std::ops::ControlFlow;

use crate::extract::parts::Package;
use crate::extract::parts::xml::{Step, attribute, walk};

/// Ways of garbling fonts.
const FONTS: [&str; 2] = [
    "http://www.idpf.org/2008/embedding",
    "http://ns.adobe.com/pdf/enc#RC",
];

/// The paths of what is encrypted.
pub(super) struct Protected(HashSet<String>);

impl Protected {
    pub(super) fn read(package: &mut Package<'_>) -> Self {
        let mut paths = HashSet::new();
        let Ok(xml) = package.part("META-INF/encryption.xml") else {
            return Self(paths);
        };
        let mut is_font = false;
        walk(&xml, |step| {
            if let Step::Open(tag) = step {
                match tag.local_name().as_ref() {
                    b"EncryptedData" => is_font = false,
                    b"EncryptionMethod" => {
                        let way = attribute(tag, "Algorithm").unwrap_or_default();
                        is_font |= FONTS.contains(&way.as_str());
                    }
                    b"CipherReference" if !is_font => {
                        paths.extend(attribute(tag, "URI").map(|path| path.to_lowercase()));
                    }
                    _ => {}
                }
            }
            ControlFlow::Continue(())
        });
        Self(paths)
    }

    pub(super) fn any(&self) -> bool {
        !self.0.is_empty()
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        self.0.contains(&path.to_lowercase())
    }
}
