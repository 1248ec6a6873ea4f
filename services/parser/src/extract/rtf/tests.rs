use shared::format::Format;

use super::*;
use crate::extract::extract_alone;
use crate::extract::office::CUT_OFF;

fn extract(rtf: &str) -> Extraction {
    let rtf = format!("{{\\rtf1\\ansi\\ansicpg1252\\deff0{{\\fonttbl{{\\f0 Arial;}}}}{rtf}}}");
    extract_alone(Format::Rtf, "a.rtf", rtf.as_bytes()).unwrap()
}

#[track_caller]
fn check(rtf: &str, expect: &str) {
    assert_eq!(extract(rtf).pages[0].markdown, expect, "{rtf}");
}

#[test]
fn characters_are_what_they_stand_for() {
    check(
        "caf\\'e9 \\u8364? \\uc2\\u26085xx\\uc1 \\emdash \\{x\\}\\par",
        "café € 日—{x}\n",
    );
    check("a\\~b\\_c\\-d\\par next", "a b-cd\n\nnext\n");
}

#[test]
fn tables_and_notes_are_kept() {
    let row = |left: &str, right: &str| {
        format!("\\trowd\\cellx1000\\cellx2000\\pard\\intbl {left}\\cell {right}\\cell\\row ")
    };
    check(
        &format!(
            "{}{}\\pard after\\par",
            row("part", "price"),
            row("valve", "10")
        ),
        "| part | price |\n| --- | --- |\n| valve | 10 |\n\nafter\n",
    );
    check(
        "said{\\footnote \\pard where}.\\par next\\par",
        "said[^1].\n\n[^1]: where\n\nnext\n",
    );
    check(
        "text{\\*\\atnid A}{\\*\\atnauthor Ann}\\chatn{\\*\\annotation{\\*\\atndate 1}why?}\\par",
        "text[^1]\n\n[^1]: Comment: why?\n",
    );
}

#[test]
fn hidden_text_is_marked() {
    let extraction = extract("a {\\v b{\\b c}} d\\v  e\\v0  f\\plain\\par{\\v g\\plain h}\\par");
    assert_eq!(
        extraction.pages[0].markdown,
        "a (hidden: bc) d(hidden:  e) f\n\n(hidden: g)h\n"
    );
    assert_eq!(extraction.pages[0].record.doubts, [HAS_HIDDEN]);
}

#[test]
fn properties_and_pictures_are_no_text() {
    let extraction =
        extract("{\\info{\\title The \\'c4nderung}{\\author Ann}}{\\pict\\pngblip 89504e47}x\\par");
    assert_eq!(extraction.title.as_deref(), Some("The Änderung"));
    assert_eq!(extraction.pages[0].markdown, "x\n");
}

#[test]
fn what_is_cut_off_is_read_as_far_as_it_goes() {
    let cut = b"{\\rtf1\\ansi first\\par {\\v sec";
    let extraction = extract_alone(Format::Rtf, "a.rtf", cut).unwrap();
    assert_eq!(extraction.pages[0].markdown, "first\n\n(hidden: sec)\n");
    assert_eq!(extraction.pages[0].record.doubts, [CUT_OFF, HAS_HIDDEN]);
    let deep = format!("{{\\rtf1 {}text", "{".repeat(200_000));
    let extraction = extract_alone(Format::Rtf, "a.rtf", deep.as_bytes()).unwrap();
    assert_eq!(extraction.pages[0].markdown, "text\n");
    assert!(extract_alone(Format::Rtf, "a.rtf", b"plain").is_err());
    let binary = b"{\\rtf1 a\\bin99999999999999 {\\par}}";
    assert!(extract_alone(Format::Rtf, "a.rtf", binary).is_ok());
}

#[test]
fn plain_text_is_there_when_it_is_needed() {
    let rtf = b"{\\rtf1{\\fonttbl{\\f0 Arial;}}caf\\'e9{\\*\\gen x}\\par b\\u8364?\\tab c}";
    assert_eq!(Filtered::of(rtf).plain, "café\nb€ c");
}
