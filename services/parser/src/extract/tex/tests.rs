//! Small TeX texts, element by element.

use proptest::prelude::*;
use shared::format::Format;

use super::super::{Extraction, extract_alone};

fn extract(text: &str) -> Extraction {
    extract_alone(Format::Tex, "a.tex", text.as_bytes()).unwrap()
}

#[track_caller]
fn check(text: &str, expect: &str) {
    assert_eq!(extract(text).pages[0].markdown, expect, "{text}");
}

#[test]
fn structure_is_kept() {
    check(
        "\\documentclass[a4]{article}\n\\usepackage{x} % no\n\\title{The \\emph{Plan}}\n\\author{Ann \\and Bo}\n\
         \\begin{document}\n\\maketitle\n\\section[short]{Keys \\& doors}\\label{s}\nThe keys% here\n lie in \\textbf{the safe}.\n\n\
         \\subsection*{More}\nSee \\ref{s}.\n\\end{document}\nignored",
        "# The Plan\n\nAuthor: Ann and Bo\n\n## Keys & doors\n\nThe keyslie in the safe.\n\n### More\n\nSee [s].\n",
    );
    check(
        "\\chapter{One}\\section{Two}text",
        "## One\n\n### Two\n\ntext\n",
    );
    check("a\n\n\n\nb\\par c\\\\d", "a\n\nb\n\nc\nd\n");
}

#[test]
fn lists_tables_and_listings() {
    check(
        "\\begin{itemize}[a]\n\\item one\n \\begin{enumerate}\\item two\\end{enumerate}\n\\item \n  three\n\\end{itemize}\nend",
        "- one\n  1. two\n- three\n\nend\n",
    );
    check(
        "\\begin{description}\\item[Tern] a bird\\end{description}",
        "- Tern: a bird\n",
    );
    check(
        "\\begin{table}\\caption{Rooms}\\begin{tabular}{l|r}\\hline\nRoom & Seats \\\\ \\cline{1-2}\nTern & 12\\% \\\\\n\
         \\multicolumn{2}{c}{all \\& more}\\\\\\bottomrule\n\\end{tabular}\\end{table}",
        "Rooms\n\n| Room | Seats |\n| --- | --- |\n| Tern | 12% |\n| all & more |  |\n",
    );
    check(
        "\\begin{verbatim}\n  % kept \\emph{x}\n\\end{verbatim}",
        "```\n  % kept \\emph{x}\n```\n",
    );
    check(
        "\\begin{minted}{rust}\nfn a() {}\n\\end{minted} \\verb|a_b| x",
        "```rust\nfn a() {}\n```\n\n`a_b` x\n",
    );
}

#[test]
fn characters_formulas_and_links() {
    check(
        "caf\\'e na\\\"{\\i}ve \\c{c}a Stra\\ss e \\o{}re ``so'' -- 5\\,\\%---\\textgreater{} x\\ldots",
        "café naïve ça Straße øre “so” – 5 %—> x…\n",
    );
    check(
        "so $a_{1} \\leq 2$ and \\[x^2\\] \\(y\\)",
        "so $a_{1} \\leq 2$ and $$x^2$$ $y$\n",
    );
    check(
        "\\begin{equation}\\label{e}\nE = mc^2\n\\end{equation}",
        "$$\n\\label{e}\nE = mc^2\n$$\n",
    );
    check(
        "\\href{https://x.example}{the list}\\footnote{by Ann} \\url{https://y.example/a_b} \\cite{k}",
        "the list (by Ann) https://y.example/a_b [k]\n",
    );
    check(
        "\\unknown[opt]{text} {\\bf bold} \\textcolor{red}{hot}",
        "text bold hot\n",
    );
    check(
        "\\begin{theorem}[Tern]All fly.\\end{theorem}",
        "Theorem (Tern). All fly.\n",
    );
}

#[test]
fn what_is_not_read_is_told() {
    let page = extract("\\input{other}\\begin{tikzpicture}\\draw;\\end{tikzpicture}text")
        .pages
        .remove(0);
    assert_eq!(page.markdown, "text\n");
    assert_eq!(page.record.doubts.len(), 2);
}

#[test]
fn depth_costs_structure_not_the_process() {
    let deep = format!("{}x{}", "\\footnote{".repeat(20_000), "}".repeat(20_000));
    assert!(extract(&deep).pages[0].markdown.contains('x'));
    let lists = format!("{}x", "\\begin{itemize}\\item ".repeat(2_000));
    assert!(extract(&lists).pages[0].markdown.contains('x'));
    extract(&"\\begin{a}\\end{b}".repeat(2_000));
}

proptest! {
    #[test]
    fn no_text_panics(text in r"([\\{}\[\]$%&~`'a-c \n\PC]|\\item|\\begin\{tabular\}|\\end\{tabular\}|\\verb|\\'){0,60}") {
        extract(&text);
    }
}
