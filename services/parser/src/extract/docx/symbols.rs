//! Characters of the fonts Symbol and Wingdings, which count their signs in their own way.

/// From 0x41: the capital Greek letters, then from 0x61 the small ones.
const GREEK_CAPITALS: &str = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ";
const GREEK_SMALL: &str = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ";

/// Other signs of Symbol.
const SYMBOL: [(u32, char); 26] = [
    (0x22, '∀'),
    (0x24, '∃'),
    (0xa2, '′'),
    (0xa3, '≤'),
    (0xa5, '∞'),
    (0xab, '↔'),
    (0xac, '←'),
    (0xad, '↑'),
    (0xae, '→'),
    (0xaf, '↓'),
    (0xb0, '°'),
    (0xb1, '±'),
    (0xb2, '″'),
    (0xb3, '≥'),
    (0xb4, '×'),
    (0xb6, '∂'),
    (0xb7, '•'),
    (0xb8, '÷'),
    (0xb9, '≠'),
    (0xba, '≡'),
    (0xbb, '≈'),
    (0xce, '∈'),
    (0xd2, '®'),
    (0xd3, '©'),
    (0xd6, '√'),
    (0xe5, '∑'),
];
/// Signs of Wingdings that say something.
const WINGDINGS: [(u32, char); 14] = [
    (0x28, '☎'),
    (0x2a, '✉'),
    (0x4a, '☺'),
    (0x6c, '●'),
    (0x6e, '■'),
    (0x6f, '☐'),
    (0xa7, '▪'),
    (0xa8, '☐'),
    (0xdf, '←'),
    (0xe0, '→'),
    (0xfb, '✗'),
    (0xfc, '✓'),
    (0xfd, '☒'),
    (0xfe, '☑'),
];

/// The character that `code` (hexadecimal) of `font` shows; `None` for a mere ornament.
pub(super) fn symbol(font: &str, code: &str) -> Option<char> {
    let code = u32::from_str_radix(code, 16).ok()?;
    // Fonts of signs count from the private area.
    let own = if (0xf000..=0xf0ff).contains(&code) {
        code - 0xf000
    } else {
        code
    };
    let among = |table: &[(u32, char)]| {
        let found = table.iter().find(|(code, _)| *code == own);
        found.map(|(_, c)| *c)
    };
    match font {
        "Symbol" => among(&SYMBOL)
            .or_else(|| greek(own))
            .or_else(|| char::from_u32(own).filter(char::is_ascii_graphic)),
        "Wingdings" => among(&WINGDINGS),
        _ if own != code => None,
        _ => char::from_u32(code),
    }
}

fn greek(code: u32) -> Option<char> {
    let (letters, first) = match code {
        0x41..=0x5a => (GREEK_CAPITALS, 0x41),
        0x61..=0x7a => (GREEK_SMALL, 0x61),
        _ => return None,
    };
    letters.chars().nth(usize::try_from(code - first).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_what_they_show() {
        #[track_caller]
        fn check(font: &str, code: &str, expect: Option<char>) {
            assert_eq!(symbol(font, code), expect, "{font} {code}");
        }
        check("Symbol", "F06D", Some('μ'));
        check("Symbol", "F057", Some('Ω'));
        check("Symbol", "F07A", Some('ζ'));
        check("Symbol", "B0", Some('°'));
        check("Symbol", "F02B", Some('+'));
        check("Wingdings", "F0FE", Some('☑'));
        check("Wingdings", "F021", None);
        check("Arial", "2192", Some('→'));
        check("Webdings", "F021", None);
        check("Arial", "D800", None);
        check("Arial", "x", None);
    }
}
