//! A piece of TeX that is read from its beginning to its end.

#[derive(Clone)]
pub(super) struct Source<'a> {
    rest: &'a str,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        Some(c)
    }

    /// Reads `text` if it comes next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Reads up to `end` and over it.
    pub(super) fn until(&mut self, end: &str) -> Option<&'a str> {
        let (text, rest) = self.rest.split_once(end)?;
        self.rest = rest;
        Some(text)
    }

    /// Bytes that are left.
    pub(super) fn len(&self) -> usize {
        self.rest.len()
    }

    /// All that is left.
    pub(super) fn take_rest(&mut self) -> &'a str {
        std::mem::take(&mut self.rest)
    }

    /// The name of a command whose backslash is read: letters, or one other character.
    pub(super) fn name(&mut self) -> &'a str {
        let letters = self.rest.find(|c: char| !c.is_ascii_alphabetic());
        let mut end = letters.unwrap_or(self.rest.len());
        if end == 0 {
            end = self.rest.chars().next().map_or(0, char::len_utf8);
        }
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name
    }

    /// What ends the name of a command without arguments: space that is none of the text, or `{}`.
    pub(super) fn end_name(&mut self, name: &str) {
        if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let rest = self.rest.trim_start_matches([' ', '\t']);
            self.rest = rest.strip_prefix("{}").unwrap_or(rest);
        }
    }

    pub(super) fn star(&mut self) {
        self.take("*");
    }

    pub(super) fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// A comment goes with its line end and the space after it.
    pub(super) fn skip_comment(&mut self) {
        let (_, rest) = self.rest.split_once('\n').unwrap_or(("", ""));
        self.rest = rest.trim_start_matches([' ', '\t']);
    }

    /// Reads over `[…]`, as often as it comes.
    pub(super) fn options(&mut self) {
        while self.option().is_some() {}
    }

    /// `[…]`, if it comes next.
    pub(super) fn option(&mut self) -> Option<&'a str> {
        let inner = self.rest.strip_prefix('[')?;
        let end = closing(inner, '[', ']')?;
        let (inner, rest) = (inner.get(..end)?, inner.get(end + 1..)?);
        self.rest = rest;
        Some(inner)
    }

    /// The next argument: `{…}`, or one character.
    pub(super) fn argument(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        if let Some(inner) = rest.strip_prefix('{') {
            self.rest = inner;
            return self.argument_after_brace();
        }
        let mut end = rest.chars().next()?.len_utf8();
        if rest.starts_with('\\') {
            let letters = rest.get(1..)?.find(|c: char| !c.is_ascii_alphabetic());
            end = 1 + letters.unwrap_or(rest.len() - 1);
        } else if rest.starts_with('}') {
            return None;
        }
        let (argument, rest) = rest.split_at(end);
        self.rest = rest;
        Some(argument)
    }

    /// The rest of an argument whose `{` is read.
    pub(super) fn argument_after_brace(&mut self) -> Option<&'a str> {
        let end = closing(self.rest, '{', '}')?;
        let inner = self.rest.get(..end)?;
        self.rest = self.rest.get(end + 1..)?;
        Some(inner)
    }
}

/// Bytes of an argument. What is open for longer has not been closed.
const MOST_ARGUMENT_BYTES: usize = 100_000;

/// Where what is open closes.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let (mut depth, mut escaped) = (1_usize, false);
    for (at, c) in text.char_indices() {
        if at > MOST_ARGUMENT_BYTES {
            return None;
        }
        if std::mem::take(&mut escaped) {
            continue;
        }
        if c == '\\' {
            escaped = true;
        } else if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}
