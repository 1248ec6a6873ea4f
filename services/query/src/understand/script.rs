//! The script of a text.

/// Scripts as far as they tell languages apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Used by one language, whose code this is.
    Alone(&'static str),
    /// Chinese, or Japanese without kana.
    Han,
    /// Of many languages.
    Latin,
    /// Of many languages.
    Cyrillic,
    /// Any other, of one language or more.
    Other,
}

/// The script that most letters of `text` are in; kana makes Han Japanese. `None` without letters.
pub(super) fn script(text: &str) -> Option<Script> {
    let mut counts: Vec<(Script, usize)> = Vec::new();
    for script in text.chars().filter_map(of_letter) {
        match counts.iter_mut().find(|(known, _)| *known == script) {
            Some((_, count)) => *count += 1,
            None => counts.push((script, 1)),
        }
    }
    let has = |wanted| counts.iter().any(|(script, _)| *script == wanted);
    let japanese = has(Script::Han) && has(Script::Alone("ja"));
    // A Latin name in a Chinese question is longer than the question.
    let weight = |(script, count): &(Script, usize)| match script {
        Script::Han | Script::Alone(_) => count * 4,
        _ => *count,
    };
    let most = counts.iter().max_by_key(|counted| weight(counted))?.0;
    Some(if japanese && most == Script::Han {
        Script::Alone("ja")
    } else {
        most
    })
}

fn of_letter(c: char) -> Option<Script> {
    if !c.is_alphabetic() {
        return None;
    }
    Some(match c {
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Script::Alone("el"),
        '\u{400}'..='\u{52f}' => Script::Cyrillic,
        '\u{530}'..='\u{58f}' => Script::Alone("hy"),
        '\u{590}'..='\u{5ff}' => Script::Alone("he"),
        '\u{e00}'..='\u{e7f}' => Script::Alone("th"),
        '\u{10a0}'..='\u{10ff}' => Script::Alone("ka"),
        '\u{3040}'..='\u{30ff}' => Script::Alone("ja"),
        '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7af}' => Script::Alone("ko"),
        '\u{2e80}'..='\u{2fdf}'
        | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}' => Script::Han,
        '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Script::Latin,
        _ => Script::Other,
    })
}
