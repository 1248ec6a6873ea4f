//! What a message repeats of earlier ones: kept, and set as a quotation below the word `Quoted:`,
//! so that it can be told from what is new.

/// Stands before what is quoted.
const QUOTED: &str = "Quoted:";
/// Stands before what is passed on.
const FORWARDED: &str = "Forwarded:";
/// Lines that an introduction such as `On …, Ann wrote:` may take.
const MOST_INTRODUCTION: usize = 3;
/// Lines within which the header of a repeated message is complete.
const MOST_HEADER: usize = 8;

/// How an introduction ends.
const WROTE: [&str; 14] = [
    "wrote:",
    "writes:",
    "schrieb:",
    "a écrit :",
    "a écrit:",
    "escribió:",
    "ha scritto:",
    "escreveu:",
    "schreef:",
    "skrev:",
    "napisał(a):",
    "написал(а):",
    "yazdı:",
    "写道：",
];
/// What the header of a repeated message begins with.
const FROM: [&str; 12] = [
    "from:",
    "von:",
    "de :",
    "de:",
    "da:",
    "van:",
    "от:",
    "kimden:",
    "差出人:",
    "发件人:",
    "od:",
    "från:",
];
/// What it goes on with.
const OTHERS: [&str; 20] = [
    "sent:",
    "date:",
    "to:",
    "cc:",
    "gesendet:",
    "datum:",
    "an:",
    "envoyé :",
    "envoyé:",
    "à :",
    "à:",
    "enviado:",
    "para:",
    "inviato:",
    "a:",
    "verzonden:",
    "aan:",
    "кому:",
    "kime:",
    "收件人:",
];
/// What it ends with; without it, it may as well be the leg of a journey.
const SUBJECTS: [&str; 10] = [
    "subject:",
    "betreff:",
    "objet :",
    "objet:",
    "asunto:",
    "oggetto:",
    "onderwerp:",
    "тема:",
    "konu:",
    "主题:",
];
/// Words between dashes that say that the rest was passed on.
const PASSED_ON: [&str; 4] = ["forward", "weitergeleitet", "transféré", "reenviado"];
/// Words between dashes that say that the rest is an earlier message.
const EARLIER: [&str; 8] = [
    "original",
    "ursprüngliche",
    "d'origine",
    "oorspronkelijk",
    "исходное",
    "özgün",
    "元の",
    "原始",
];

/// `markdown` with earlier messages as quotations.
pub(super) fn mark(markdown: &str) -> String {
    let lines: Vec<&str> = markdown.lines().collect();
    let mut out = String::with_capacity(markdown.len() + markdown.len() / 16);
    let mut rest = lines.as_slice();
    while let Some((line, after)) = rest.split_first() {
        if let Some(word) = begins_history(rest) {
            quotation(&mut out, word, rest);
            return out;
        }
        let introduction = introduction(rest);
        let quoted = rest.get(introduction..).unwrap_or_default();
        let blank = quoted
            .iter()
            .take_while(|line| line.trim().is_empty())
            .count();
        let body = quoted.get(blank..).unwrap_or_default();
        let length = quoted_lines(body);
        if length > 0 && (introduction > 0 || blank == 0) {
            let (of_it, others) = rest
                .split_at_checked(introduction + blank + length)
                .unwrap_or((rest, &[]));
            quotation(&mut out, QUOTED, of_it);
            rest = others;
        } else if introduction > 0 && is_dated(rest.get(..introduction).unwrap_or_default()) {
            // Nothing marks what follows: programs that answer above do so to the end.
            quotation(&mut out, QUOTED, rest);
            return out;
        } else {
            out.push_str(line);
            out.push('\n');
            rest = after;
        }
    }
    out
}

/// Lines at the beginning that are quoted, with the empty ones between them.
fn quoted_lines(lines: &[&str]) -> usize {
    let mut length = 0;
    for (index, line) in lines.iter().enumerate() {
        if line.trim_start().starts_with('>') {
            length = index + 1;
        } else if !line.trim().is_empty() {
            break;
        }
    }
    length
}

/// The word for the rest of the message, if it is an earlier one from here to the end.
fn begins_history(lines: &[&str]) -> Option<&'static str> {
    let line = bare(lines.first()?);
    if line.starts_with("--") && line.ends_with("--") {
        let words = line.trim_matches('-').trim().to_lowercase();
        let says = |list: &[&str]| list.iter().any(|word| words.contains(word));
        if says(&PASSED_ON) {
            return Some(FORWARDED);
        }
        if says(&EARLIER) {
            return Some(QUOTED);
        }
    }
    if line.starts_with("Begin forwarded message:") {
        return Some(FORWARDED);
    }
    is_header(lines).then_some(QUOTED)
}

/// Whether `lines` begin with the header that Outlook repeats: who, when, to whom, about what.
fn is_header(lines: &[&str]) -> bool {
    let starts = |line: &str, list: &[&str]| {
        let line = line.to_lowercase();
        list.iter().any(|label| line.starts_with(label))
    };
    let Some(first) = lines.first().map(|line| bare(line)) else {
        return false;
    };
    if !starts(&first, &FROM) {
        return false;
    }
    let near = || {
        lines
            .iter()
            .skip(1)
            .take(MOST_HEADER)
            .map(|line| bare(line))
    };
    near().any(|line| starts(&line, &OTHERS)) && near().any(|line| starts(&line, &SUBJECTS))
}

/// How many lines introduce a quotation: `On 3 May, Ann wrote:`; 0 for none.
fn introduction(lines: &[&str]) -> usize {
    for (index, line) in lines.iter().take(MOST_INTRODUCTION).enumerate() {
        let line = bare(line);
        if line.is_empty() || line.starts_with('>') {
            return 0;
        }
        let line = line.to_lowercase();
        if WROTE.iter().any(|wrote| line.ends_with(wrote)) {
            // The lines before it belong to it only if it began there.
            let begins = |at: &usize| lines.get(*at).is_some_and(|line| opens(&bare(line)));
            let opened = (0..=index).find(begins);
            return match opened {
                Some(0) => index + 1,
                None if index == 0 => 1,
                _ => 0,
            };
        }
    }
    0
}

/// Whether an introduction begins so, in the languages of [`WROTE`].
fn opens(line: &str) -> bool {
    const OPENINGS: [&str; 12] = [
        "On ", "Am ", "Le ", "El ", "Il ", "Op ", "Em ", "Den ", "W dniu ", "Dnia ", "At ", "在",
    ];
    OPENINGS.iter().any(|opening| line.starts_with(opening))
}

/// Whether an introduction names a day and opens like one, so that no other sentence passes.
fn is_dated(lines: &[&str]) -> bool {
    let has_number = lines
        .iter()
        .any(|line| line.chars().any(|c| c.is_ascii_digit()));
    has_number && lines.first().is_some_and(|line| opens(&bare(line)))
}

/// `line` without emphasis, escapes and breaks of Markdown.
fn bare(line: &str) -> String {
    let line = line.trim().trim_end_matches('\\').trim_end();
    let plain: String = line.chars().filter(|c| !matches!(c, '*' | '\\')).collect();
    plain.trim().to_owned()
}

/// Writes `lines` below `word`, each one deeper than it was.
fn quotation(out: &mut String, word: &str, lines: &[&str]) {
    let end = lines.iter().rposition(|line| !line.trim().is_empty());
    let Some(lines) = end.and_then(|end| lines.get(..=end)) else {
        return;
    };
    if !out.is_empty() && !out.ends_with("\n\n") {
        out.push('\n');
    }
    out.push_str(word);
    out.push_str("\n\n");
    let has_own_words = lines.iter().any(|line| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with('>')
    });
    for line in lines {
        let body = line.trim_start();
        if body.starts_with('>') && !has_own_words {
            out.push_str(body);
        } else if line.trim().is_empty() {
            out.push('>');
        } else {
            out.push_str("> ");
            out.push_str(line);
        }
        out.push('\n');
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(mark(text), expect, "{text}");
    }

    #[test]
    fn marked_lines_are_set_below_a_word() {
        check(
            "yes\n\n> can it?\n> please\n",
            "yes\n\nQuoted:\n\n> can it?\n> please\n\n",
        );
        check(
            "> a\nfine\n> b\n",
            "Quoted:\n\n> a\n\nfine\n\nQuoted:\n\n> b\n\n",
        );
        check(
            "yes\n\nOn 3 May 2024, Ann <a@x.example>\nwrote:\n> can it?\n",
            "yes\n\nQuoted:\n\n> On 3 May 2024, Ann <a@x.example>\n> wrote:\n> > can it?\n\n",
        );
        check(
            "Ann wrote:\n\n> x\n\nmine\n",
            "Quoted:\n\n> Ann wrote:\n>\n> > x\n\n\nmine\n",
        );
    }

    #[test]
    fn history_without_marks_goes_to_the_end() {
        check(
            "ok\n\n-----Original Message-----\nFrom: Ann\nwhy\n",
            "ok\n\nQuoted:\n\n> -----Original Message-----\n> From: Ann\n> why\n\n",
        );
        check(
            "see below\n---------- Forwarded message ---------\nFrom: Ann\n",
            "see below\n\nForwarded:\n\n> ---------- Forwarded message ---------\n> From: Ann\n\n",
        );
        check(
            "ok\n\n**From:** Ann\\\n**Sent:** Monday\\\n**Subject:** Re\n\nwhy\n",
            "ok\n\nQuoted:\n\n> **From:** Ann\\\n> **Sent:** Monday\\\n> **Subject:** Re\n>\n> why\n\n",
        );
        check(
            "gut\n\nVon: Ann\nGesendet: Montag\nAn: Bob\nBetreff: x\n",
            "gut\n\nQuoted:\n\n> Von: Ann\n> Gesendet: Montag\n> An: Bob\n> Betreff: x\n\n",
        );
        check(
            "ok\n\nOn 3 May 2024, Ann wrote:\n\nwhy\n",
            "ok\n\nQuoted:\n\n> On 3 May 2024, Ann wrote:\n>\n> why\n\n",
        );
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        for text in [
            "From: Berlin\nTo: Munich\nDate: 3 May\n",
            "From: the office\nwe wish you well\n",
            "As Ann wrote:\nnothing is lost\n",
            "--\nAnn\n",
            "-- the original --x\n",
            "On the contrary, as she wrote:\nno\n",
            "",
        ] {
            check(text, text);
        }
    }
}
