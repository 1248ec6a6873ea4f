//! Identifiers: error codes, numbers of standards and invoices, versions, names in programs,
//! addresses, file names. They mean what they are, letter for letter.

/// Identifiers of a question at most.
const MOST: usize = 16;
/// Digits from which a bare number is somebody's number and not a quantity or a year.
const LONG_NUMBER: usize = 5;
/// Signs that stand within identifiers.
const WITHIN: [char; 9] = ['.', '_', '-', '/', '\\', '@', ':', '#', '§'];

/// The identifiers of `text`, as typed, in order, each once.
pub(super) fn identifiers(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let shouted = !text.chars().any(char::is_lowercase);
    let mut found: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some(rest) = tokens.get(at..).filter(|rest| !rest.is_empty()) {
        let (identifier, taken) = standard(rest, shouted)
            .or_else(|| section(rest))
            .or_else(|| {
                let token = rest.first()?;
                is_identifier(token).then(|| ((*token).to_owned(), 1))
            })
            .map_or((None, 1), |(identifier, taken)| (Some(identifier), taken));
        at += taken;
        if let Some(identifier) = identifier
            && !found.contains(&identifier)
            && found.len() < MOST
        {
            found.push(identifier);
        }
    }
    found
}

/// Whether `token` is a number, or an identifier that another of its kind may take the place of.
pub(super) fn is_number(token: &str) -> bool {
    token.chars().any(|c| c.is_ascii_digit())
        && token
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '/'))
}

/// Pieces between which there is white space, other punctuation, or a script without spaces:
/// identifiers are written in letters of alphabets.
fn tokens(text: &str) -> Vec<&str> {
    let outside = |c: char| !(c.is_alphanumeric() || WITHIN.contains(&c)) || is_unspaced(c);
    text.split(outside)
        .map(trimmed)
        .filter(|token| !token.is_empty())
        .collect()
}

fn trimmed(token: &str) -> &str {
    match token {
        "§" => "§",
        _ => token
            .trim_end_matches(['.', '-', ':', '/', '\\', '@', '#', '§'])
            .trim_start_matches(['.', '-', ':', '@']),
    }
}

/// Han, kana and Hangul, whose words and particles join identifiers without a space; Thai, Lao,
/// Khmer and Burmese.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// `ISO 27001`, `RFC 9110`, `DIN EN 1090`: one or two words in capitals before a number. A
/// question in capitals all over says nothing by them.
fn standard(tokens: &[&str], shouted: bool) -> Option<(String, usize)> {
    if shouted {
        return None;
    }
    let is_capitals = |token: &&&str| {
        (2..=6).contains(&token.len()) && token.chars().all(|c| c.is_ascii_uppercase())
    };
    let words = tokens.iter().take(2).take_while(is_capitals).count();
    let number = tokens.get(words)?;
    let digits = number.chars().filter(char::is_ascii_digit).count();
    let is_number = number.starts_with(|c: char| c.is_ascii_digit()) && digits >= 2;
    (words > 0 && is_number).then(|| {
        let parts = tokens.get(..=words).unwrap_or_default();
        (parts.join(" "), words + 1)
    })
}

/// `§4.2` or `§ 4.2`.
fn section(tokens: &[&str]) -> Option<(String, usize)> {
    let first = tokens.first()?;
    let starts = |token: &str| token.starts_with(|c: char| c.is_ascii_digit());
    let rest = first.strip_prefix('§')?.trim_start_matches('§');
    if starts(rest) {
        return Some(((*first).to_owned(), 1));
    }
    let next = tokens.get(1).filter(|next| rest.is_empty() && starts(next));
    next.map(|next| (format!("{first} {next}"), 2))
}

fn is_identifier(token: &str) -> bool {
    let digits = token.chars().filter(char::is_ascii_digit).count();
    let letters = token.chars().filter(|c| c.is_alphabetic()).count();
    match (letters, digits) {
        (0, 0) => false,
        (0, _) => is_long_number(token, digits),
        (_, 0) => is_name(token),
        _ => !is_quantity(token),
    }
}

/// `20230017`, `555-1234`, `2.3.1`, `#12`; not `1998`, `4.2`, `2019-2021`, `10/15`.
fn is_long_number(token: &str, digits: usize) -> bool {
    let dots = token.matches('.').count();
    let years = token
        .split(['-', '/'])
        .all(|part| part.len() == 4 && (part.starts_with("19") || part.starts_with("20")));
    token.starts_with('#') || dots >= 2 || (digits >= LONG_NUMBER && !years)
}

/// `14-day`, `3rd`, `20kg`, `5pm`, `1990s`, `100-page`: a number with what it counts.
fn is_quantity(token: &str) -> bool {
    let rest = token.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = token.len() - rest.len();
    if digits == 0 || rest.contains(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let counted = rest.trim_start_matches(['-', '.']);
    let is_word = counted.chars().all(char::is_alphabetic);
    let short = counted.chars().count() <= 2 && digits <= LONG_NUMBER;
    is_word && (short || (rest != counted && counted.chars().all(char::is_lowercase)))
        || is_word && counted.chars().all(char::is_lowercase)
}

/// Without a digit: `ERR_CONN_RESET`, `getUserName`, `std::mem`, `ada@example.org`,
/// `handbook.pdf`, `/etc/hosts`.
fn is_name(token: &str) -> bool {
    let inner = token.trim_matches(|c: char| !c.is_alphanumeric());
    let joined = inner.contains('_') || inner.contains("::") || inner.contains('@');
    joined || is_camel(inner) || is_dotted(inner) || is_path(token)
}

/// `getUserName` and `UserNameService`; not `iPhone`, `JavaScript`, `McDonald`, which are words.
fn is_camel(token: &str) -> bool {
    let mut humps = 0;
    let mut low = 0;
    for c in token.chars() {
        if c.is_uppercase() {
            humps += usize::from(low >= 2);
            low = 0;
        } else if c.is_lowercase() {
            low += 1;
        }
    }
    let begins_low = token.starts_with(char::is_lowercase);
    if begins_low { humps >= 1 } else { humps >= 2 }
}

/// `handbook.pdf`, `example.com`; not `e.g`, `U.S`, `word.Next`.
fn is_dotted(token: &str) -> bool {
    token.rsplit_once('.').is_some_and(|(stem, ending)| {
        let is_ending =
            (2..=5).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_lowercase());
        is_ending && stem.chars().filter(|c| c.is_alphanumeric()).count() >= 2
    })
}

/// `/etc/hosts`, `docs/api/v`, `C:\temp`; not `and/or`.
fn is_path(token: &str) -> bool {
    let slashes = token.matches(['/', '\\']).count();
    slashes >= 2 || (slashes == 1 && token.starts_with('/')) || token.contains(":\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_found_as_typed() {
        #[track_caller]
        fn check(text: &str, expect: &[&str]) {
            assert_eq!(identifiers(text), expect, "in `{text}`");
        }
        check("What does E-4711 mean?", &["E-4711"]);
        check("fix ERR_CONN_RESET, please", &["ERR_CONN_RESET"]);
        check("Are we ISO 27001 certified?", &["ISO 27001"]);
        check(
            "DIN EN 1090-2 and RFC 9110.",
            &["DIN EN 1090-2", "RFC 9110"],
        );
        check("what changed in v2.3.1?", &["v2.3.1"]);
        check("what changed in 2.3.1?", &["2.3.1"]);
        check("where is getUserName() called", &["getUserName"]);
        check("UserNameService fails", &["UserNameService"]);
        check("see §4.2 and § 12", &["§4.2", "§ 12"]);
        check(
            "invoice 20230017 or INV-2023/17",
            &["20230017", "INV-2023/17"],
        );
        check("ticket #12", &["#12"]);
        check("mail ada.l@example.org.", &["ada.l@example.org"]);
        check("open handbook.pdf!", &["handbook.pdf"]);
        check(
            "in /etc/hosts or C:\\temp\\a",
            &["/etc/hosts", "C:\\temp\\a"],
        );
        check("std::mem::swap twice, std::mem::swap", &["std::mem::swap"]);
        check("错误E-4711是什么意思", &["E-4711"]);
        check("E-4711은 무엇입니까", &["E-4711"]);
        check("E-4711'in anlamı nedir", &["E-4711"]);
        check("pump KL-40 and COVID-19", &["KL-40", "COVID-19"]);
        check("a W-9 and Q3 of x86_64", &["W-9", "Q3", "x86_64"]);
        check("the IP 10.0.0.1", &["IP 10.0.0.1"]);
    }

    #[test]
    fn words_quantities_and_years_are_none() {
        for text in [
            "",
            "How long do refunds take?",
            "within 14 days, 3 weeks or 4.2 months",
            "a 14-day period, the 3rd time, 20kg, 5pm, the 1990s",
            "in 2023, 2019-2021 and 10/15",
            "e.g. the U.S. market, i.e. ours",
            "iPhone, JavaScript, McDonald and PhD",
            "and/or, either-or, well-known",
            "WHAT IS THE LIMIT FOR 2023",
            "Ölçüm sonuçları nedir",
            "通知期是多久？",
            "1,250,000 euros",
            "...",
        ] {
            assert_eq!(identifiers(text), [""; 0], "in `{text}`");
        }
    }
}
