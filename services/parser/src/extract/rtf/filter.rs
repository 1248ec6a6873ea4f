//! RTF, token by token: enough to mark hidden text, to find the title, and to have plain text where
//! nothing better can be had.

use encoding_rs::WINDOWS_1252;

/// Groups within groups, at most.
const MOST_NESTED: usize = 500;
/// Signs of hidden text as RTF writes them; see `office::marks`.
const HIDE: &[u8] = b"{\\uc1\\u-560?}";
const SHOW: &[u8] = b"{\\uc1\\u-559?}";
/// Groups that are no text, beside all that begin with `\*`.
const NO_TEXT: [&str; 14] = [
    "fonttbl",
    "colortbl",
    "stylesheet",
    "info",
    "pict",
    "header",
    "headerl",
    "headerr",
    "headerf",
    "footer",
    "footerl",
    "footerr",
    "footerf",
    "fldinst",
];

/// A document in a form that `anydoc` reads whole.
pub(super) struct Filtered {
    pub(super) bytes: Vec<u8>,
    /// The title among the document's properties.
    pub(super) title: Option<String>,
    /// Its text alone.
    pub(super) plain: String,
    /// Whether all groups end.
    pub(super) is_whole: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Group {
    is_hidden: bool,
    is_text: bool,
    is_title: bool,
    /// Characters after `\u` that stand for it where it is not known.
    replacements: usize,
}

struct Filter<'a> {
    rest: &'a [u8],
    out: Vec<u8>,
    groups: Vec<Group>,
    group: Group,
    plain: String,
    title: String,
    /// Characters to be left out after `\u`.
    skip: usize,
}

impl Filtered {
    /// Of the bytes of an RTF file.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut filter = Filter {
            rest: bytes,
            out: Vec::with_capacity(bytes.len()),
            groups: Vec::new(),
            group: Group {
                is_text: true,
                replacements: 1,
                ..Group::default()
            },
            plain: String::new(),
            title: String::new(),
            skip: 0,
        };
        while filter.step() {}
        let is_whole = filter.groups.is_empty();
        // What is open is closed, so that hidden text ends.
        while !filter.groups.is_empty() {
            filter.close();
        }
        let title: Vec<&str> = filter.title.split_whitespace().collect();
        Self {
            bytes: filter.out,
            title: (!title.is_empty()).then(|| title.join(" ")),
            plain: filter.plain,
            is_whole,
        }
    }
}

impl Filter<'_> {
    fn take(&mut self, length: usize) -> &[u8] {
        let (taken, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    /// Reads one token; says whether there was one.
    fn step(&mut self) -> bool {
        match self.rest {
            [] => return false,
            [b'{', ..] => {
                self.take(1);
                self.open();
            }
            [b'}', ..] => {
                self.take(1);
                // A closing sign too many ends the document for all readers.
                if self.groups.is_empty() {
                    return false;
                }
                self.close();
            }
            [b'\\', letter, ..] if letter.is_ascii_alphabetic() => self.word(),
            [b'\\', b'\'', high, low, ..] => {
                let digits = [*high, *low];
                let code = std::str::from_utf8(&digits)
                    .ok()
                    .and_then(|digits| u8::from_str_radix(digits, 16).ok());
                let token = self.take(4).to_vec();
                self.out.extend(token);
                if let Some(code) = code {
                    self.byte(code);
                }
            }
            [b'\\', b'*', ..] => {
                self.group.is_text = false;
                self.out.extend(b"\\*");
                self.take(2);
            }
            [b'\\', symbol, ..] => {
                let symbol = *symbol;
                self.out.extend([b'\\', symbol]);
                self.take(2);
                match symbol {
                    b'\\' | b'{' | b'}' => self.byte(symbol),
                    b'~' => self.byte(b' '),
                    b'_' => self.byte(b'-'),
                    b'\n' | b'\r' => self.text('\n'),
                    _ => {}
                }
            }
            [byte, ..] => {
                let byte = *byte;
                self.take(1);
                self.out.push(byte);
                if !matches!(byte, b'\n' | b'\r') {
                    self.byte(byte);
                }
            }
        }
        true
    }

    fn open(&mut self) {
        self.out.push(b'{');
        self.groups.push(self.group);
        self.group.is_text &= self.groups.len() < MOST_NESTED;
    }

    fn close(&mut self) {
        if let Some(outer) = self.groups.pop() {
            if self.group.is_hidden && !outer.is_hidden && self.group.is_text {
                self.out.extend(SHOW);
            }
            self.out.push(b'}');
            self.group = outer;
        }
    }

    /// A control word with its number and the space that ends it.
    fn word(&mut self) {
        let rest = self.rest.get(1..).unwrap_or_default();
        let letters = rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        let name = String::from_utf8_lossy(rest.get(..letters).unwrap_or_default()).into_owned();
        let after = rest.get(letters..).unwrap_or_default();
        let sign = usize::from(after.first() == Some(&b'-'));
        let digits = after
            .iter()
            .skip(sign)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let length = if digits > 0 { sign + digits } else { 0 };
        let number = after.get(..length).unwrap_or_default();
        let number = std::str::from_utf8(number)
            .ok()
            .and_then(|number| number.parse::<i64>().ok());
        let space = usize::from(after.get(length) == Some(&b' '));
        let token = self.take(1 + letters + length + space).to_vec();
        self.control(&name, number, &token);
    }

    fn control(&mut self, name: &str, number: Option<i64>, token: &[u8]) {
        match name {
            "bin" => {
                // Whatever follows is no RTF, and never text.
                self.take(usize::try_from(number.unwrap_or_default()).unwrap_or_default());
                return;
            }
            "v" | "plain" => {
                let hides = name == "v" && number != Some(0);
                let turned = hides != self.group.is_hidden && self.group.is_text;
                if turned && !hides {
                    self.out.extend(SHOW);
                }
                self.out.extend(token);
                if turned && hides {
                    self.out.extend(HIDE);
                }
                self.group.is_hidden = hides;
                return;
            }
            // A comment becomes a note. What stands around it says who wrote it, and when.
            "annotation" if self.out.ends_with(b"\\*") => {
                self.out.truncate(self.out.len() - 2);
                self.out.extend(b"\\footnote Comment: ");
                self.group.is_text = true;
                return;
            }
            _ => {}
        }
        self.out.extend(token);
        match name {
            "uc" => self.group.replacements = number.and_then(|n| n.try_into().ok()).unwrap_or(1),
            "u" => {
                let code = number.map(|n| if n < 0 { n + 65_536 } else { n });
                let c = code
                    .and_then(|code| u32::try_from(code).ok())
                    .and_then(char::from_u32);
                self.text(c.unwrap_or('\u{fffd}'));
                self.skip = self.group.replacements;
            }
            "title" => {
                self.group.is_title = true;
                self.group.is_text = false;
            }
            "par" | "line" | "row" | "sect" | "page" => self.text('\n'),
            "tab" | "cell" | "nestcell" => self.text(' '),
            name if NO_TEXT.contains(&name) => self.group.is_text = false,
            _ => {}
        }
    }

    fn byte(&mut self, byte: u8) {
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        let bytes = [byte];
        let (text, _) = WINDOWS_1252.decode_without_bom_handling(&bytes);
        for c in text.chars() {
            self.text(c);
        }
    }

    fn text(&mut self, c: char) {
        if self.group.is_title {
            self.title.push(c);
        } else if self.group.is_text {
            self.plain.push(c);
        }
    }
}
