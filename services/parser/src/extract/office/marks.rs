//! Signs that travel through `anydoc` within text. They are Unicode non-characters, so no document
//! holds them: those that one does hold are taken out first.

/// Before hidden text.
pub(in crate::extract) const HIDE: char = '\u{fdd0}';
/// After hidden text.
pub(in crate::extract) const SHOW: char = '\u{fdd1}';
/// Before and after the number of a slide, or of a part that stands elsewhere.
pub(in crate::extract) const PLACE: char = '\u{fdd2}';

/// Whether `c` is one of the signs.
pub(in crate::extract) fn is_mark(c: char) -> bool {
    matches!(c, HIDE | SHOW | PLACE)
}

/// The sign of place `number`.
pub(in crate::extract) fn place(number: usize) -> String {
    format!("{PLACE}{number}{PLACE}")
}

/// The number of the place that `text` is the sign of.
pub(in crate::extract) fn place_of(text: &str) -> Option<usize> {
    let inner = text.trim().strip_prefix(PLACE)?.strip_suffix(PLACE)?;
    inner.parse().ok()
}

/// `text` with what was hidden in brackets that say so, and without places.
pub(in crate::extract) fn shown(text: &str) -> String {
    if !text.contains(is_mark) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    // White space after hidden text, until it is known whether more hidden text follows.
    let mut gap: Option<String> = None;
    let mut in_place = false;
    for c in text.chars() {
        in_place ^= c == PLACE;
        match (c, &mut gap) {
            _ if in_place => {}
            (SHOW, None) => gap = Some(String::new()),
            (SHOW | PLACE, _) => {}
            (HIDE, None) => out.push_str("(hidden: "),
            (HIDE, Some(white)) => {
                out.push_str(white);
                gap = None;
            }
            (c, Some(white)) if c.is_whitespace() => white.push(c),
            (c, Some(white)) => {
                out.push(')');
                out.push_str(white);
                out.push(c);
                gap = None;
            }
            (c, None) => out.push(c),
        }
    }
    if let Some(white) = gap {
        out.push(')');
        out.push_str(&white);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_hidden_together() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            let text = text.replace('<', "\u{fdd0}").replace('>', "\u{fdd1}");
            assert_eq!(shown(&text), expect);
        }
        check("plain", "plain");
        check("a <b> c", "a (hidden: b) c");
        check("<b>", "(hidden: b)");
        check("a <b>< c> <d>, e", "a (hidden: b c d), e");
        assert_eq!(shown(&format!("a{}b", place(3))), "ab");
        assert_eq!(place_of(&place(12)), Some(12));
        assert_eq!(place_of("12"), None);
    }
}
