//! The page's files, built into the program.

use std::sync::LazyLock;

use shared::format::Format;

/// A file with its media type.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    /// Its name below `/assets/`.
    pub name: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// The page itself.
pub const INDEX: Asset = Asset {
    name: "index.html",
    media_type: "text/html; charset=utf-8",
    text: include_str!("../page/index.html"),
};

const SCRIPT: &str = "text/javascript; charset=utf-8";

const ASSETS: [Asset; 21] = [
    Asset {
        name: "style.css",
        media_type: "text/css; charset=utf-8",
        text: include_str!("../page/style.css"),
    },
    Asset {
        name: "icon.svg",
        media_type: "image/svg+xml",
        text: include_str!("../page/icon.svg"),
    },
    Asset {
        name: "main.js",
        media_type: SCRIPT,
        text: include_str!("../page/main.js"),
    },
    Asset {
        name: "api.js",
        media_type: SCRIPT,
        text: include_str!("../page/api.js"),
    },
    Asset {
        name: "ask.js",
        media_type: SCRIPT,
        text: include_str!("../page/ask.js"),
    },
    Asset {
        name: "dom.js",
        media_type: SCRIPT,
        text: include_str!("../page/dom.js"),
    },
    Asset {
        name: "library.js",
        media_type: SCRIPT,
        text: include_str!("../page/library.js"),
    },
    Asset {
        name: "login.js",
        media_type: SCRIPT,
        text: include_str!("../page/login.js"),
    },
    Asset {
        name: "models.js",
        media_type: SCRIPT,
        text: include_str!("../page/models.js"),
    },
    Asset {
        name: "options.js",
        media_type: SCRIPT,
        text: include_str!("../page/options.js"),
    },
    Asset {
        name: "why.js",
        media_type: SCRIPT,
        text: include_str!("../page/why.js"),
    },
    Asset {
        name: "reader.js",
        media_type: SCRIPT,
        text: include_str!("../page/reader.js"),
    },
    Asset {
        name: "sources.js",
        media_type: SCRIPT,
        text: include_str!("../page/sources.js"),
    },
    Asset {
        name: "turn.js",
        media_type: SCRIPT,
        text: include_str!("../page/turn.js"),
    },
    Asset {
        name: "detail.js",
        media_type: SCRIPT,
        text: include_str!("../page/detail.js"),
    },
    Asset {
        name: "ledger.js",
        media_type: SCRIPT,
        text: include_str!("../page/ledger.js"),
    },
    Asset {
        name: "unlock.js",
        media_type: SCRIPT,
        text: include_str!("../page/unlock.js"),
    },
    Asset {
        name: "markdown.js",
        media_type: SCRIPT,
        text: include_str!("../page/markdown.js"),
    },
    Asset {
        name: "pick.js",
        media_type: SCRIPT,
        text: include_str!("../page/pick.js"),
    },
    Asset {
        name: "status.js",
        media_type: SCRIPT,
        text: include_str!("../page/status.js"),
    },
    Asset {
        name: "uploads.js",
        media_type: SCRIPT,
        text: include_str!("../page/uploads.js"),
    },
];

/// The page with what this program reads filled in.
pub fn index() -> Asset {
    static TEXT: LazyLock<String> = LazyLock::new(|| INDEX.text.replace("{{accept}}", &accept()));
    Asset {
        text: TEXT.as_str(),
        ..INDEX
    }
}

/// The extensions of all formats, as a file chooser wants them: `.md,.txt,.pdf`.
fn accept() -> String {
    let extensions = Format::ALL.into_iter().flat_map(Format::extensions);
    let dotted: Vec<String> = extensions.map(|name| format!(".{name}")).collect();
    dotted.join(",")
}

/// The file called `name` below `/assets/`.
pub fn find(name: &str) -> Option<Asset> {
    ASSETS.iter().find(|asset| asset.name == name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every name between `start` and the next quotation mark.
    fn names<'a>(text: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
        text.split(start)
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
    }

    #[test]
    fn everything_the_page_loads_is_built_in() {
        let mut seen = 0;
        for name in names(INDEX.text, "\"/assets/") {
            assert!(find(name).is_some(), "index.html loads {name}");
            seen += 1;
        }
        for script in ASSETS.iter().filter(|asset| asset.media_type == SCRIPT) {
            for name in names(script.text, "from \"./") {
                assert!(find(name).is_some(), "{} imports {name}", script.name);
                seen += 1;
            }
        }
        assert!(seen > 10, "only {seen} names found");
    }

    #[test]
    fn the_file_chooser_offers_every_format() {
        let text = index().text;
        assert!(!text.contains("{{"), "something is not filled in");
        let accept = names(text, "accept=\"").next().unwrap();
        let offered: Vec<&str> = accept.split(',').collect();
        for extension in [".pdf", ".docx", ".eml", ".zip", ".tiff", ".ipynb", ".rs"] {
            assert!(offered.contains(&extension), "{extension} in {accept}");
        }
    }

    #[test]
    fn nothing_is_loaded_from_elsewhere_and_no_text_becomes_markup() {
        for asset in ASSETS.iter().chain([&INDEX]) {
            let text = asset.text.replace("http://www.w3.org/2000/svg", "");
            for bad in [
                "http://",
                "https://",
                "url(",
                "@import",
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "style=\"",
                "onclick=\"",
            ] {
                assert!(!text.contains(bad), "{} has `{bad}`", asset.name);
            }
        }
    }
}
