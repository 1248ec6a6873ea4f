//! Small AsciiDoc texts, element by element.

use proptest::prelude::*;
use shared::format::Format;

use super::super::{Extraction, extract_alone};

fn extract(text: &str) -> Extraction {
    extract_alone(Format::Asciidoc, "a.adoc", text.as_bytes()).unwrap()
}

#[track_caller]
fn check(text: &str, expect: &str) {
    assert_eq!(extract(text).pages[0].markdown, expect, "{text}");
}

#[test]
fn headings_and_paragraphs() {
    check(
        ":toc: left\n:room: Tern\n// no\n= Plan\n\nThe *small*\n{room} one. +\nNext {other}\n\n== Keys\n////\nno\n////\ntext\n",
        "# Plan\n\nThe *small*\nTern one.\nNext {other}\n\n## Keys\n\ntext\n",
    );
    check(
        "Plan\n====\n\nKeys here\n---------\ntext\n",
        "# Plan\n\n## Keys here\n\ntext\n",
    );
    check(
        "NOTE: mind it\n\n[WARNING]\n====\nhot\n====\n",
        "NOTE: mind it\n\nWARNING:\n\nhot\n",
    );
    check(
        "[#id]\n.A title\ntext\n'''\nend\n",
        "A title\n\ntext\nend\n",
    );
}

#[test]
fn lists() {
    check(
        "* one\n** two\n* three\n. first\n.. second\n",
        "- one\n  - two\n- three\n1. first\n  1. second\n",
    );
    check(
        "* one\n+\nmore\n\nTern:: a bird\nReed::\n  a plant\n",
        "- one\n\nmore\n\n- Tern: a bird\n- Reed:\na plant\n",
    );
    check("- [x] done\n- open\n", "- [x] done\n- open\n");
}

#[test]
fn listings_and_tables() {
    check(
        "[source,rust]\n----\nfn a() {}\n= no\n----\nend\n",
        "```rust\nfn a() {}\n= no\n```\n\nend\n",
    );
    check("....\n as is\n....\n", "```\n as is\n```\n");
    check("```sh\nls\n```\n", "```sh\nls\n```\n");
    check(
        "[cols=\"1,2\", options=\"header\"]\n|===\n| a | b\n\n|1\n|2 is\nlong\n2+|both\n|===\n",
        "| a | b |\n| --- | --- |\n| 1 | 2 is long |\n| both |  |\n",
    );
    check("|===\n|a |x\\|y\n|===\n", "| a | x\\|y |\n| --- | --- |\n");
    check(
        ",===\na,\"b,c\"\n1,2\n,===\n",
        "| a | b,c |\n| --- | --- |\n| 1 | 2 |\n",
    );
    check("++++\n<p>raw <b>page</b></p>\n++++\n", "raw **page**\n");
}

#[test]
fn macros_become_their_text() {
    check(
        "see https://x.example/a[the list], https://y.example",
        "see the list, https://y.example\n",
    );
    check(
        "link:a.html[here] and xref:b.adoc#c[there] or <<id>> <<id,it>>",
        "here and there or id it\n",
    );
    check(
        "mailto:ann@x.example[Ann] pressed kbd:[Ctrl+C] in menu:File[Save]",
        "Ann (ann@x.example) pressed Ctrl+C in File > Save\n",
    );
    check(
        "image::mill.png[The old mill, width=300]\nin**side**footnote:[said Ann]",
        "The old mill\ninside (said Ann)\n",
    );
    check("array[1] is [2] [[anchor]]end", "array[1] is [2] end\n");
    let page = extract("include::other.adoc[]\ntext");
    assert!(
        page.pages[0].record.doubts[0].contains("includes"),
        "{page:?}"
    );
}

proptest! {
    #[test]
    fn no_text_panics(text in r"[=*.|\[\]:{}<>+\-`# a\n,\PC]{0,100}", table in r"[|!\\+*.2<a \n\PC]{0,60}") {
        extract(&text);
        extract(&format!("[cols=3*]\n|===\n{table}\n|==="));
    }
}
