//! Small reStructuredText texts, element by element.

use proptest::prelude::*;
use shared::format::Format;

use super::super::{Extraction, extract_alone};

fn extract(text: &str) -> Extraction {
    extract_alone(Format::Rst, "a.rst", text.as_bytes()).unwrap()
}

#[track_caller]
fn check(text: &str, expect: &str) {
    assert_eq!(extract(text).pages[0].markdown, expect, "{text}");
}

#[test]
fn headings_and_paragraphs() {
    check(
        "====\nPlan\n====\n\nKeys\n====\n\nin the\nsafe\n\nDoors\n-----\n\nMore\n====\n# end\n",
        "# Plan\n\n## Keys\n\nin the\nsafe\n\n### Doors\n\n## More\n\n\\# end\n",
    );
    check("one\n\n-----\n\ntwo\n", "one\n\ntwo\n");
    check(
        ".. a comment\n   goes on\n\n.. _target: https://x\n\ntext\n",
        "text\n",
    );
}

#[test]
fn lists_and_fields() {
    check(
        "- one\n  goes on\n\n  * two\n\n1. first\n#. next\n",
        "- one\n  goes on\n\n  - two\n\n1. first\n1. next\n",
    );
    check(
        "Tern\n  a bird\n\n:Author: Ann\n",
        "- Tern:\n  a bird\n\n- Author: Ann\n",
    );
    check("| one\n| two\n", "one\ntwo\n");
}

#[test]
fn listings_and_directives() {
    check(
        "Run this::\n\n   a = 1\n\n   # b\n\nend\n",
        "Run this:\n\n```\na = 1\n\n# b\n```\n\nend\n",
    );
    check(
        ".. code-block:: rust\n   :linenos:\n\n   fn a() {\n   }\n\nend",
        "```rust\nfn a() {\n}\n```\n\nend\n",
    );
    check(
        ">>> 1 + 1\n2\n\nend",
        "```python\n>>> 1 + 1\n2\n```\n\nend\n",
    );
    check(
        ".. note:: mind it\n\n   and more\n\n.. image:: a.png\n   :alt: the mill\n",
        "Note: mind it\n\nand more\n\nthe mill\n",
    );
    check(
        ".. py:function:: open(door)\n\n   Opens it.\n",
        "py:function: open(door)\n\nOpens it.\n",
    );
    check(
        ".. toctree::\n   :maxdepth: 2\n\n   a\n   b\n\n.. math:: x^2\n\n.. [1] a note\n",
        "$$\nx^2\n$$\n\n[1] a note\n",
    );
    let page = extract(".. include:: other.rst\n");
    assert!(
        page.pages[0].record.doubts[0].contains("includes"),
        "{page:?}"
    );
}

#[test]
fn tables() {
    let expect = "| Room | Seats |\n| --- | --- |\n| Tern | 12 |\n";
    check(
        "+------+-------+\n| Room | Seats |\n+======+=======+\n| Tern | 12    |\n+------+-------+\n",
        expect,
    );
    check(
        "=====  =====\nRoom   Seats\n=====  =====\nTern   12\n=====  =====\n",
        expect,
    );
    check(
        ".. list-table::\n   :header-rows: 1\n\n   * - Room\n     - Seats\n   * - Tern\n     - 12\n",
        expect,
    );
    check(
        ".. csv-table::\n   :header: Room, Seats\n\n   Tern, 12\n",
        expect,
    );
}

#[test]
fn marks_within_lines() {
    check(
        "see `the list <https://x.example>`_ and `here`_ or ``a*b``",
        "see the list and here or `a*b`\n",
    );
    check(
        ":ref:`the keys <keys>` of :class:`~a.Door` :math:`x^2` [1]_",
        "the keys of a.Door $x^2$ [1]\n",
    );
}

proptest! {
    #[test]
    fn no_text_panics(text in r"([=\-+| :`<>_.*a\n\PC]|\.\. a::|\n  ){0,80}", table in r"[+|=\- a\n\PC]{0,60}") {
        extract(&text);
        extract(&format!("+--+\n{table}"));
        extract(&format!("== ==\n{table}\n== =="));
    }
}
