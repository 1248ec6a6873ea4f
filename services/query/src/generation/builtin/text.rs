//! Tokens back to text, as they come.

use std::mem::take;

/// Puts the bytes of tokens together; a character is handed out once all its bytes are there.
#[derive(Debug, Default)]
pub(super) struct TextStream {
    pending: Vec<u8>,
}

impl TextStream {
    /// Takes the bytes of one token and gives the text that is now whole; may be empty.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let mut text = String::new();
        loop {
            let error = match std::str::from_utf8(&self.pending) {
                Ok(whole) => {
                    text.push_str(whole);
                    self.pending.clear();
                    return text;
                }
                Err(error) => error,
            };
            let rest = self.pending.split_off(error.valid_up_to());
            let valid = std::mem::replace(&mut self.pending, rest);
            text.push_str(&String::from_utf8_lossy(&valid));
            let Some(wrong) = error.error_len() else {
                return text;
            };
            text.push(char::REPLACEMENT_CHARACTER);
            self.pending.drain(..wrong.min(self.pending.len()));
        }
    }

    /// What is left at the end; half a character becomes U+FFFD.
    pub(super) fn finish(&mut self) -> String {
        String::from_utf8_lossy(&take(&mut self.pending)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_come_whole() {
        #[track_caller]
        fn check(tokens: &[&[u8]], expect: &[&str]) {
            let mut stream = TextStream::default();
            let mut found: Vec<String> = tokens.iter().map(|bytes| stream.push(bytes)).collect();
            found.push(stream.finish());
            assert_eq!(found, expect);
        }
        check(&[b"ab", b"c"], &["ab", "c", ""]);
        check(&[b"a\xc3", b"\xa9b"], &["a", "éb", ""]);
        let emoji = "🦀".as_bytes();
        check(
            &[&emoji[..1], &emoji[1..2], &emoji[2..]],
            &["", "", "🦀", ""],
        );
        check(&[b"\xc3", b"x"], &["", "\u{fffd}x", ""]);
        check(&[b"\xff\xffx"], &["\u{fffd}\u{fffd}x", ""]);
        check(&[b"a\xe2\x82"], &["a", "\u{fffd}"]);
    }
}
