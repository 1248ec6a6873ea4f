//! Subtitles (SRT, WebVTT, SBV): what is said, as paragraphs with the time at which each begins.

use super::lines::escape_marks;
use super::{ExtractError, Extraction, Extractor, Input, charset, only_page};

/// Seconds after which a new paragraph begins.
const PARAGRAPH_SECS: u64 = 60;

pub(super) struct SubtitlesExtractor;

impl Extractor for SubtitlesExtractor {
    fn extract(&self, input: &Input<'_>) -> Result<Extraction, ExtractError> {
        let decoded = charset::decode(input.bytes);
        let mut doubts = decoded.doubts();
        let mut track = Track::default();
        for block in blocks(&decoded.text) {
            track.add(&block);
        }
        let markdown = if track.cues == 0 {
            if !decoded.text.trim().is_empty() {
                doubts.push("no times are in it; it is read as text".to_owned());
            }
            escape_marks(&decoded.text)
        } else {
            track.finish()
        };
        Ok(Extraction {
            pages: vec![only_page(markdown, None, doubts)],
            ..Extraction::default()
        })
    }
}

/// Lines between empty ones.
fn blocks(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let mut lines = text.lines();
    std::iter::from_fn(move || {
        let first = lines.by_ref().find(|line| !line.trim().is_empty())?;
        let rest = lines.by_ref().take_while(|line| !line.trim().is_empty());
        Some(std::iter::once(first).chain(rest).collect())
    })
}

#[derive(Default)]
struct Track {
    out: String,
    cues: usize,
    /// When the paragraph at hand began.
    began: u64,
    /// The last line said: recordings of live speech repeat it in the next cue.
    last: String,
}

impl Track {
    fn add(&mut self, block: &[&str]) {
        let timed = block
            .iter()
            .enumerate()
            .find_map(|(at, line)| Some((at, start(line)?)));
        let Some((at, start)) = timed else {
            // A header, a note or a style; in a cue, a part after an empty line.
            let is_machinery = ["WEBVTT", "NOTE", "STYLE", "REGION", "X-TIMESTAMP"]
                .iter()
                .any(|word| block.first().is_some_and(|line| line.starts_with(word)));
            if !is_machinery && self.cues > 0 {
                self.say(block);
            }
            return;
        };
        if self.cues == 0 || start >= self.began + PARAGRAPH_SECS || start < self.began {
            if !self.out.is_empty() {
                self.out.push_str("\n\n");
            }
            let (hours, minutes, secs) = (start / 3600, start / 60 % 60, start % 60);
            let time = format!("[{hours:02}:{minutes:02}:{secs:02}]");
            self.out.push_str(&time);
            self.began = start;
        }
        self.cues += 1;
        self.say(block.get(at + 1..).unwrap_or_default());
    }

    fn say(&mut self, lines: &[&str]) {
        for line in lines {
            let line = plain(line);
            if line.is_empty() || line == self.last {
                continue;
            }
            // Who speaks begins a line.
            let is_turn = line.starts_with("- ") || line.starts_with(">>") || has_speaker(&line);
            self.out.push(if is_turn { '\n' } else { ' ' });
            self.out.push_str(&escape_marks(&line));
            self.last = line;
        }
    }

    fn finish(mut self) -> String {
        self.out.push('\n');
        self.out
    }
}

/// `Ann: ` and the like.
fn has_speaker(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(name, _)| {
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '.' | '-' | '\'');
        name.len() <= 40 && name.starts_with(char::is_uppercase) && name.chars().all(is_name)
    })
}

/// Seconds of the first time of `00:01:30,000 --> 00:01:32,000` or `0:01:30.000,0:01:32.000`.
fn start(line: &str) -> Option<u64> {
    let (from, to) = match line.split_once("-->") {
        Some(times) => times,
        None => line
            .split_once(',')
            .filter(|(from, to)| is_whole(from) && is_whole(to))?,
    };
    seconds(to.split_whitespace().next()?)?;
    seconds(from.trim())
}

fn is_whole(time: &str) -> bool {
    let time = time.trim();
    time.contains(':')
        && time
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, ':' | '.'))
}

fn seconds(time: &str) -> Option<u64> {
    let whole = time.split(['.', ',']).next()?;
    if !whole.contains(':') {
        return None;
    }
    let mut sum = 0_u64;
    for part in whole.split(':') {
        let part: u64 = part.parse().ok()?;
        sum = sum.checked_mul(60)?.checked_add(part)?;
    }
    Some(sum)
}

/// A line without tags; who speaks in a voice tag is named.
fn plain(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['<', '{']) {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        let close = if tag.starts_with('<') { '>' } else { '}' };
        let inner = tag.split_once(close).filter(|(inner, _)| is_tag(inner));
        if let Some((inner, after)) = inner {
            let voice = inner
                .strip_prefix("<v")
                .and_then(|rest| rest.split_once(' '));
            if let Some((_, name)) = voice {
                out.push_str(name.trim());
                out.push_str(": ");
            }
            rest = after;
        } else {
            let mut chars = tag.chars();
            out.extend(chars.next());
            rest = chars.as_str();
        }
    }
    out.push_str(rest);
    let out = out.replace("\\N", " ").replace("&nbsp;", " ");
    let out = out.replace("&lrm;", "").replace("&rlm;", "");
    let out = out
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `<i`, `</c`, `<00:01.000`, `<v Ann`, `<font color="x"`, `{\an8`.
fn is_tag(inner: &str) -> bool {
    let mut chars = inner.chars();
    match (chars.next(), chars.next()) {
        (Some('<'), Some(c)) => c.is_ascii_alphanumeric() || c == '/',
        (Some('{'), Some(c)) => c == '\\',
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shared::format::Format;

    use crate::extract::extract_alone;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let page = extract_alone(Format::Subtitles, "a.srt", text.as_bytes()).unwrap();
        assert_eq!(page.pages[0].markdown, expect, "{text}");
    }

    #[test]
    fn cues_become_paragraphs_with_their_times() {
        check(
            "1\r\n00:00:01,500 --> 00:00:03,000\r\n<i>The tern</i>\r\n{\\an8}flies.\r\n\r\n2\r\n\
             00:00:03,000 --> 00:00:05,000\r\nAnn: Where to?\r\n\r\n3\r\n\
             01:02:03,000 --> 01:02:05,000\r\n- South &amp; on\r\n",
            "[00:00:01] The tern flies.\nAnn: Where to?\n\n[01:02:03]\n- South & on\n",
        );
        check(
            "WEBVTT Kind: captions\n\nNOTE a comment\n00 --> no\n\nSTYLE\n::cue{}\n\nintro\n\
             00:01.000 --> 00:02.000 align:start\n<v Ann Lee>Good <00:01.500><c>day</c>\n\n\
             00:02.000 --> 00:03.000\n# music\n\n01:30.000 --> 01:31.000\nlater 3 < 4\n",
            "[00:00:01]\nAnn Lee: Good day \\# music\n\n[00:01:30] later 3 < 4\n",
        );
        check("0:00:01.000,0:00:02.000\nHello\n\n", "[00:00:01] Hello\n");
        check(
            "1\n00:00:01,000 --> 00:00:02,000\nsaid once\n\n2\n00:00:02,000 --> 00:00:03,000\n\
             said once\nsaid next\n",
            "[00:00:01] said once said next\n",
        );
    }

    #[test]
    fn what_has_no_times_is_text() {
        let page = extract_alone(Format::Subtitles, "a.srt", b"1\nno --> time\n").unwrap();
        assert_eq!(page.pages[0].markdown, "1\nno --> time\n");
        assert!(
            page.pages[0].record.doubts[0].contains("no times"),
            "{page:?}"
        );
        check("", "");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in r"[0-9:,.\->< {}\\v\n\PC]{0,80}") {
            let cue = format!("1\n00:00:01,000 --> 99999999999999999999:00\n{text}");
            for text in [text, cue] {
                extract_alone(Format::Subtitles, "a.srt", text.as_bytes()).unwrap();
            }
        }
    }
}
