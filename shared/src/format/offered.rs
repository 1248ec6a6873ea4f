//! The extensions of files that are read, for file choosers and help texts.

use super::Format;

impl Format {
    /// The usual extensions of its files, lower-case, without the dot.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Markdown => &["md", "markdown", "mdown"],
            Self::Text => &["txt", "text"],
            Self::Pdf => &["pdf"],
            Self::Html => &["html", "htm", "xhtml"],
            Self::Csv => &["csv", "tsv", "tab"],
            Self::Docx => &["docx", "docm", "dotx"],
            Self::Pptx => &["pptx", "pptm", "ppsx"],
            Self::Xlsx => &["xlsx", "xlsm", "xlsb"],
            Self::Xls => &["xls"],
            Self::Ods => &["ods"],
            Self::Odt => &["odt"],
            Self::Odp => &["odp"],
            Self::Rtf => &["rtf"],
            Self::Doc => &["doc"],
            Self::Ppt => &["ppt", "pps"],
            Self::Epub => &["epub"],
            Self::Json => &["json"],
            Self::Jsonl => &["jsonl", "ndjson"],
            Self::Xml => &["xml", "rss", "atom"],
            Self::Notebook => &["ipynb"],
            Self::Asciidoc => &["adoc", "asciidoc"],
            Self::Rst => &["rst"],
            Self::Tex => &["tex", "latex"],
            Self::Subtitles => &["srt", "vtt"],
            Self::Code => &[
                "c", "cc", "cpp", "cs", "css", "go", "h", "hpp", "ini", "java", "js", "kt", "lua",
                "php", "pl", "py", "r", "rb", "rs", "scala", "sh", "sql", "swift", "toml", "ts",
                "yaml", "yml",
            ],
            Self::Eml => &["eml"],
            Self::Msg => &["msg"],
            Self::Mbox => &["mbox"],
            Self::Zip => &["zip"],
            Self::Image => &["png", "jpg", "jpeg", "tif", "tiff"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_means_one_format() {
        let mut all: Vec<_> = Format::ALL
            .into_iter()
            .flat_map(Format::extensions)
            .collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
