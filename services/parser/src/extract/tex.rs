//! TeX and LaTeX: sections as headings, lists, tables, listings; formulas as they are written.
//! Nothing is run, and files that it inputs are not read.

mod environment;
mod source;
mod symbols;

use super::markdown::Names;
use super::{ExtractError, Extraction, Extractor, Input, charset, only_page};

use self::source::Source;

/// Arguments within arguments. Texts that people write stay below 10; the reader recurses.
const MOST_NESTED: u32 = 40;

pub(super) struct TexExtractor;

impl Extractor for TexExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let decoded = charset::decode(input.bytes);
        let (preamble, body) = match decoded.text.split_once("\\begin{document}") {
            Some((preamble, body)) => (preamble, body),
            None => ("", decoded.text.as_str()),
        };
        let body = body.split("\\end{document}").next().unwrap_or_default();
        let mut writer = Writer {
            has_chapters: body.contains("\\chapter"),
            ..Writer::default()
        };
        // The preamble is for the program, but for the names in it.
        writer.read(preamble);
        let titled = writer.title.clone();
        let mut writer = Writer {
            has_chapters: writer.has_chapters,
            ..Writer::default()
        };
        writer.push_front(titled.as_deref(), preamble);
        writer.read(body);
        let mut doubts = decoded.doubts();
        doubts.append(&mut writer.doubts);
        let markdown = writer.finish();
        let names = Names::of(&markdown);
        Ok(Extraction {
            title: titled.or(writer.title).or(names.title),
            pages: vec![only_page(markdown, names.heading, doubts)],
            ..Extraction::default()
        })
    }
}

/// Commands whose arguments are for the program, and how many they have.
const MACHINERY: [(&str, usize); 42] = [
    ("label", 1),
    ("index", 1),
    ("usepackage", 1),
    ("documentclass", 1),
    ("documentstyle", 1),
    ("bibliographystyle", 1),
    ("bibliography", 1),
    ("vspace", 1),
    ("hspace", 1),
    ("setcounter", 2),
    ("addtocounter", 2),
    ("setlength", 2),
    ("addtolength", 2),
    ("pagestyle", 1),
    ("thispagestyle", 1),
    ("pagenumbering", 1),
    ("hyphenation", 1),
    ("addcontentsline", 3),
    ("rule", 2),
    ("newcommand", 2),
    ("renewcommand", 2),
    ("providecommand", 2),
    ("newenvironment", 3),
    ("renewenvironment", 3),
    ("newtheorem", 2),
    ("DeclareMathOperator", 2),
    ("includegraphics", 1),
    ("graphicspath", 1),
    ("hypersetup", 1),
    ("lstset", 1),
    ("geometry", 1),
    ("definecolor", 3),
    ("color", 1),
    ("fontsize", 2),
    ("linespread", 1),
    ("newlength", 1),
    ("newcounter", 1),
    ("theoremstyle", 1),
    ("usetikzlibrary", 1),
    ("pgfplotsset", 1),
    ("selectlanguage", 1),
    ("nocite", 1),
];

/// Commands that name a place elsewhere.
const REFERENCES: [&str; 14] = [
    "ref",
    "eqref",
    "pageref",
    "autoref",
    "cref",
    "Cref",
    "cite",
    "citep",
    "citet",
    "citealp",
    "parencite",
    "textcite",
    "footcite",
    "nameref",
];

#[derive(Default)]
struct Writer {
    out: String,
    title: Option<String>,
    doubts: Vec<String>,
    has_chapters: bool,
    /// Open lists, and whether each is numbered.
    lists: Vec<bool>,
    depth: u32,
    /// Bytes searched in vain for the ends of environments.
    searched: usize,
}

impl Writer {
    fn push_front(&mut self, title: Option<&str>, preamble: &str) {
        let Some(title) = title else { return };
        self.heading(1, title);
        for (command, name) in [("\\author{", "Author"), ("\\date{", "Date")] {
            let value = preamble
                .split_once(command)
                .and_then(|(_, rest)| Source::new(rest).argument_after_brace());
            let value = value.map(|value| self.inline(value)).unwrap_or_default();
            if !value.is_empty() {
                self.paragraph(&format!("{name}: {value}"));
            }
        }
    }

    /// Reads a piece of TeX to the end of `out`.
    fn read(&mut self, text: &str) {
        if self.depth >= MOST_NESTED {
            self.out.push_str(&text.replace(['\\', '{', '}'], " "));
            return;
        }
        self.depth += 1;
        let mut source = Source::new(text);
        while let Some(c) = source.next() {
            match c {
                '\\' => self.command(&mut source),
                '%' => source.skip_comment(),
                '{' | '}' => {}
                '~' => self.push(' '),
                '$' => self.formula(&mut source),
                '-' if source.take("--") => self.push('—'),
                '-' if source.take("-") => self.push('–'),
                '`' if source.take("`") => self.push('“'),
                '\'' if source.take("'") => self.push('”'),
                '`' => self.push('‘'),
                '\'' => self.push('’'),
                c => self.push(c),
            }
        }
        self.depth -= 1;
    }

    /// Adds a character; runs of space are one, and lists are indented.
    fn push(&mut self, c: char) {
        if c == '\n' {
            let text = self.out.trim_end_matches([' ', '\t']).len();
            self.out.truncate(text);
            if !self.out.is_empty() && !self.out.ends_with("\n\n") {
                self.out.push('\n');
            }
        } else if c.is_whitespace() {
            if !self.out.is_empty() && !self.out.ends_with(char::is_whitespace) {
                self.out.push(' ');
            }
        } else {
            if self.out.ends_with('\n') {
                self.out.push_str(&"  ".repeat(self.lists.len().min(8)));
            }
            self.out.push(c);
        }
    }

    fn push_str(&mut self, text: &str) {
        text.chars().for_each(|c| self.push(c));
    }

    /// Text that stands as it is.
    fn paragraph(&mut self, text: &str) {
        self.end_paragraph();
        self.out.push_str(text.trim_matches('\n'));
        self.end_paragraph();
    }

    fn end_paragraph(&mut self) {
        self.push('\n');
        self.push('\n');
    }

    fn heading(&mut self, level: usize, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            self.paragraph(&format!("{} {text}", "#".repeat(level.clamp(1, 6))));
        }
    }

    /// A piece of TeX in one line.
    fn inline(&mut self, text: &str) -> String {
        let around = std::mem::take(&mut self.out);
        let lists = std::mem::take(&mut self.lists);
        self.read(text);
        self.lists = lists;
        let inner = std::mem::replace(&mut self.out, around);
        inner.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// `$…$` and `$$…$$`, of which the first `$` is read.
    fn formula(&mut self, source: &mut Source<'_>) {
        let mark = if source.take("$") { "$$" } else { "$" };
        match source.until(mark) {
            Some(formula) => {
                self.push_str(mark);
                self.push_str(formula.trim());
                self.push_str(mark);
            }
            None => self.push_str(mark),
        }
    }

    fn command(&mut self, source: &mut Source<'_>) {
        let name = source.name();
        if let Some(text) = symbols::symbol(name) {
            self.push_str(text);
            source.end_name(name);
            return;
        }
        if let Some(accent) = symbols::accent(name) {
            source.end_name(name);
            let base = self.inline_letter(source);
            self.push_str(&base);
            self.out.push(accent);
            return;
        }
        if let Some(level) = self.level(name) {
            source.star();
            source.options();
            let title = source.argument().unwrap_or_default();
            let title = self.inline(title);
            self.heading(level, &title);
            return;
        }
        if let Some((_, count)) = MACHINERY.iter().find(|(known, _)| *known == name) {
            source.star();
            for _ in 0..*count {
                source.options();
                source.argument();
            }
            source.options();
            return;
        }
        if REFERENCES.contains(&name) {
            source.star();
            source.options();
            let to = source.argument().unwrap_or_default();
            self.push_str(&format!("[{to}]"));
            return;
        }
        self.named(name, source);
    }

    /// The letter under an accent.
    fn inline_letter(&mut self, source: &mut Source<'_>) -> String {
        let letter = source.argument().unwrap_or_default();
        match letter {
            "\\i" => "i".to_owned(),
            "\\j" => "j".to_owned(),
            letter => self.inline(letter),
        }
    }

    fn level(&self, name: &str) -> Option<usize> {
        let names = [
            "section",
            "subsection",
            "subsubsection",
            "paragraph",
            "subparagraph",
        ];
        let sections = usize::from(self.has_chapters);
        match name {
            "part" => Some(1),
            "chapter" => Some(2),
            name => names
                .iter()
                .position(|known| *known == name)
                .map(|at| at + 2 + sections),
        }
    }

    fn named(&mut self, name: &str, source: &mut Source<'_>) {
        match name {
            "begin" => self.begin(source),
            // The title page is written from the preamble.
            "end" | "author" | "date" | "href" => {
                source.argument();
            }
            "title" => {
                let title = source.argument().unwrap_or_default();
                let title = self.inline(title);
                self.title = Some(title).filter(|title| !title.is_empty());
            }
            "item" => self.item(source),
            "\\" => {
                source.star();
                source.options();
                self.push('\n');
            }
            "par" => self.end_paragraph(),
            "(" | "[" => {
                let (mark, close) = if name == "(" {
                    ("$", "\\)")
                } else {
                    ("$$", "\\]")
                };
                let formula = source.until(close).unwrap_or_default();
                self.push_str(&format!("{mark}{}{mark}", formula.trim()));
            }
            "verb" | "lstinline" => {
                source.star();
                let text = source
                    .next()
                    .and_then(|c| source.until(c.encode_utf8(&mut [0; 4])));
                self.push_str(&format!("`{}`", text.unwrap_or_default()));
            }
            "url" | "path" | "nolinkurl" => {
                let url = source.argument().unwrap_or_default().to_owned();
                self.push_str(&url);
            }
            "footnote" | "thanks" | "marginpar" => {
                let note = source.argument().unwrap_or_default();
                let note = self.inline(note);
                self.push_str(&format!(" ({note})"));
            }
            "caption" => {
                source.star();
                source.options();
                let caption = source.argument().unwrap_or_default();
                let caption = self.inline(caption);
                self.paragraph(&caption);
            }
            "bibitem" => {
                source.options();
                let key = source.argument().unwrap_or_default().to_owned();
                self.end_paragraph();
                self.push_str(&format!("[{key}] "));
            }
            "input" | "include" | "subfile" => {
                source.argument();
                let doubt = "it includes other files, which are not read here";
                if !self.doubts.iter().any(|known| known == doubt) {
                    self.doubts.push(doubt.to_owned());
                }
            }
            "textcolor" | "colorbox" | "raisebox" | "parbox" | "foreignlanguage" => {
                source.options();
                source.argument();
            }
            "def" => {
                source.until("{");
                source.argument_after_brace();
            }
            // Of others the arguments are text.
            _ => source.options(),
        }
    }

    fn item(&mut self, source: &mut Source<'_>) {
        let term = source.option().map(|term| self.inline(term));
        let is_numbered = self.lists.last().copied().unwrap_or(false);
        let indent = self.lists.len().saturating_sub(1).min(8);
        if !self.out.ends_with('\n') {
            self.push('\n');
        }
        self.out.push_str(&"  ".repeat(indent));
        self.out.push_str(if is_numbered { "1. " } else { "- " });
        if let Some(term) = term.filter(|term| !term.is_empty()) {
            self.out.extend([term.as_str(), ": "]);
        }
        source.skip_space();
    }

    fn finish(&self) -> String {
        let text = self.out.trim();
        if text.is_empty() {
            String::new()
        } else {
            format!("{text}\n")
        }
    }
}

#[cfg(test)]
mod tests;
