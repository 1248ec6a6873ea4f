//! What a file's name says about its format.

use super::Format;

impl Format {
    /// The usual extensions of its files, lower-case, without the dot.
    pub fn extensions(self) -> &'static [&'static str] {
        BY_FORMAT
            .iter()
            .find(|(format, _)| *format == self)
            .map_or(&[], |(_, extensions)| extensions)
    }
}

/// Extensions by format, lower-case.
const BY_FORMAT: [(Format, &[&str]); 30] = [
    (
        Format::Markdown,
        &[
            "md", "markdown", "mdown", "mkd", "mkdn", "mdx", "qmd", "rmd",
        ],
    ),
    (Format::Text, &["txt", "text"]),
    (Format::Pdf, &["pdf"]),
    (Format::Html, &["html", "htm", "xhtml", "xht", "shtml"]),
    (Format::Csv, &["csv", "tsv", "tab"]),
    (Format::Docx, &["docx", "docm", "dotx", "dotm"]),
    (
        Format::Pptx,
        &["pptx", "pptm", "ppsx", "ppsm", "potx", "potm"],
    ),
    (Format::Xlsx, &["xlsx", "xlsm", "xlsb", "xltx", "xltm"]),
    (Format::Xls, &["xls", "xlt", "xla"]),
    (Format::Ods, &["ods", "ots"]),
    (Format::Odt, &["odt", "ott", "odm"]),
    (Format::Odp, &["odp", "otp"]),
    (Format::Rtf, &["rtf"]),
    (Format::Doc, &["doc", "dot"]),
    (Format::Ppt, &["ppt", "pps", "pot"]),
    (Format::Epub, &["epub"]),
    (
        Format::Json,
        &[
            "json",
            "geojson",
            "har",
            "webmanifest",
            "jsonld",
            "json5",
            "jsonc",
        ],
    ),
    (Format::Jsonl, &["jsonl", "ndjson"]),
    (
        Format::Xml,
        &[
            "xml", "rss", "atom", "rdf", "xsd", "xsl", "xslt", "wsdl", "svg", "plist", "opml",
            "kml", "gpx", "xliff", "xlf", "tmx", "tei", "dita", "ditamap", "docbook", "dbk",
            "fodt", "fods", "fodp", "musicxml", "resx", "csproj", "vcxproj", "nuspec", "xaml",
            "xbrl", "jats", "nxml",
        ],
    ),
    (Format::Notebook, &["ipynb"]),
    (Format::Asciidoc, &["adoc", "asciidoc", "asc"]),
    (Format::Rst, &["rst", "rest"]),
    (Format::Tex, &["tex", "latex", "ltx"]),
    (Format::Subtitles, &["srt", "vtt", "sbv"]),
    (Format::Code, &CODE),
    (Format::Eml, &["eml", "emlx", "mht", "mhtml"]),
    (Format::Msg, &["msg", "oft"]),
    (Format::Mbox, &["mbox", "mbx"]),
    (Format::Zip, &["zip"]),
    (
        Format::Image,
        &[
            "png", "jpg", "jpeg", "jpe", "tif", "tiff", "gif", "bmp", "webp",
        ],
    ),
];

/// Extensions of source code, settings and the like.
#[rustfmt::skip]
const CODE: [&str; 176] = [
    "ada", "adb", "ads", "agda", "applescript", "as", "asm", "astro", "awk", "bas", "bash", "bat",
    "bazel", "bib", "bicep", "bzl", "c", "c++", "cbl", "cc", "cfg", "cfm", "cjs", "clj", "cljc", "cljs",
    "cmake", "cmd", "cob", "coffee", "conf", "cpp", "cr", "cs", "cshtml", "css", "cts", "cu", "cuh",
    "cxx", "d", "dart", "diff", "dockerfile", "edn", "ejs", "el", "elm", "env", "erb", "erl", "ex",
    "exs", "f", "f03", "f77", "f90", "f95", "fish", "for", "fs", "fsi", "fsx", "gd", "glsl", "gn",
    "go", "gql", "gradle", "graphql", "groovy", "h", "h++", "haml", "hbs", "hcl", "hh", "hlsl", "hpp",
    "hrl", "hs", "hxx", "idl", "ini", "ino", "ipp", "j2", "java", "jinja", "jinja2", "jl", "js", "jsp",
    "jsx", "kt", "kts", "less", "lhs", "lisp", "ll", "lock", "lsp", "lua", "m", "mak", "mat", "metal",
    "mjs", "mk", "ml", "mli", "mm", "mts", "mustache", "nim", "nix", "pas", "patch", "php", "pl", "pm",
    "pp", "prisma", "pro", "properties", "proto", "ps1", "psd1", "psm1", "pug", "purs", "py", "pyi",
    "pyx", "r", "rake", "rb", "reg", "rkt", "rs", "s", "sass", "sbt", "scala", "scm", "scss", "sh",
    "sol", "sql", "st", "sty", "sv", "svelte", "svh", "swift", "tcl", "tf", "tfvars", "thrift", "toml",
    "ts", "tsx", "twig", "v", "vb", "vbs", "vhd", "vhdl", "vim", "vue", "wat", "wgsl", "yaml", "yml",
    "zig", "zsh",
];

/// Names of source code and settings that have no extension, lower-case.
#[rustfmt::skip]
const CODE_NAMES: [&str; 24] = [
    "dockerfile", "containerfile", "makefile", "gnumakefile", "cmakelists.txt", "jenkinsfile",
    "vagrantfile", "gemfile", "rakefile", "procfile", "brewfile", "justfile", "build", "workspace",
    "sconstruct", ".gitignore", ".gitattributes", ".dockerignore", ".editorconfig", ".env",
    ".bashrc", ".zshrc", ".profile", ".npmrc",
];

/// The format that files of this name have.
pub(super) fn by_name(name: &str) -> Option<Format> {
    let file = file_name(name).to_lowercase();
    if CODE_NAMES.contains(&file.as_str()) {
        return Some(Format::Code);
    }
    let extension = of(name);
    let has_it = |(_, extensions): &&(Format, &[&str])| extensions.contains(&extension.as_str());
    BY_FORMAT.iter().find(has_it).map(|(format, _)| *format)
}

/// The part of `name` after its last dot, lower-case; empty when there is none.
pub(super) fn of(name: &str) -> String {
    file_name(name)
        .rsplit_once('.')
        .map(|(_, extension)| extension.to_lowercase())
        .unwrap_or_default()
}

fn file_name(name: &str) -> &str {
    name.rsplit(['/', '\\']).next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_means_one_format() {
        let mut all: Vec<_> = BY_FORMAT.iter().flat_map(|(_, list)| *list).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(BY_FORMAT.iter().map(|(format, _)| *format).eq(Format::ALL));
    }
}
