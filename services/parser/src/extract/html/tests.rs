//! Small pages, element by element.

use shared::contract::Locator;
use shared::format::Format;

use super::*;
use crate::extract::extract_alone;

fn extract(html: &str) -> Extraction {
    extract_alone(Format::Html, "a.html", html.as_bytes()).unwrap()
}

#[track_caller]
fn check(html: &str, expect: &str) {
    assert_eq!(extract(html).pages[0].markdown, expect, "{html}");
}

#[test]
fn text_keeps_its_structure() {
    check(
        "<h1>Plan</h1><p>One<p>Two &amp; &#8364;5",
        "# Plan\n\nOne\n\nTwo & €5\n",
    );
    check(
        "<ul><li>one<ul><li>two</ul><li>three</ul>",
        "- one\n  - two\n- three\n",
    );
    check("<ol start=3><li>c<li>d</ol>", "3. c\n4. d\n");
    check("<b>bold</b> and <i>slanted</i>", "**bold** and *slanted*\n");
    check("price: <s>10</s> 8", "price: ~~10~~ 8\n");
    check(
        "10<sup>3</sup> m<sup>-1</sup> 1<sup>st</sup>",
        "10^3 m^-1 1st\n",
    );
    check("soft\u{ad}hyphen &#7;bell", "softhyphen bell\n");
    check(
        "<pre><code class=\"x language-rust\">fn a() {\n  b\n}\n</code></pre>",
        "```rust\nfn a() {\n  b\n}\n```\n",
    );
    check("<pre>a ``` b\n# c</pre>", "````\na ``` b\n# c\n````\n");
    check("<pre>  a\n\n\n b</pre>", "```\n  a\n\n\n b\n```\n");
    check("<p># no heading", "\\# no heading\n");
    check(
        "<h2><b>Steel<br>grades</b>\u{200b}</h2> text",
        "## Steel grades\n\ntext\n",
    );
    check("<h2> </h2><span> one </span>", "one\n");
}

#[test]
fn links_are_text_and_pictures_their_description() {
    check(
        "see <a href=\"http://x.example/a\">the list</a>.",
        "see the list.\n",
    );
    check(
        "<a href=\"mailto:ann@x.example?subject=hi\">Ann</a>",
        "Ann (ann@x.example)\n",
    );
    check(
        "<a href=\"tel:+441632960\">+44 1632 960</a>",
        "+44 1632 960\n",
    );
    check(
        "<img src=\"http://x.example/a.png\" alt=\"the old\n mill\"><img src=b.png>",
        "the old mill\n",
    );
}

#[test]
fn tables_hold_data() {
    check(
        "<table><caption>Parts</caption><tr><th>part<th>price<tr><td>valve<td>1,050 | net</table>",
        "Parts\n\n| part | price |\n| --- | --- |\n| valve | 1,050 \\| net |\n",
    );
    check(
        "<table><tr><td>a<td><td>b<tr><td>c<td> <td><p>d</p><p>e</p></table>",
        "| a | b |\n| --- | --- |\n| c | d e |\n",
    );
    check(
        "<table><tr><th>Founded<td>1975<tr><th>Seat<td>Redmond</table>",
        "|  |  |\n| --- | --- |\n| Founded | 1975 |\n| Seat | Redmond |\n",
    );
    check(
        "<table><thead><tr><th>region<th>year<th>sum<tbody><tr><td rowspan=2>North<td>2024<td>1\
         <tr><td>2025<td>2<tr><td colspan=2>all<td>3</table>",
        "| region | year | sum |\n| --- | --- | --- |\n| North | 2024 | 1 |\n\
         | North | 2025 | 2 |\n| all |  | 3 |\n",
    );
    check(
        "<table><tr><th>part<th>sizes<tr><td>pipe<td><table><tr><td>1<td>2<tr><td>3</table></table>",
        "| part | sizes |\n| --- | --- |\n| pipe | 1, 2; 3 |\n",
    );
}

#[test]
fn tables_that_place_things_fall_apart() {
    check(
        "<table><tr><td><h2>Left</h2>text<td><table><tr><th>a<th>b<tr><td>1<td>2</table></table>",
        "## Left\n\ntext\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n",
    );
    check(
        "<table role=presentation><tr><td>•<td>a point</table>",
        "• a point\n",
    );
    check("<table><tr><td>one<tr><td>two</table>", "one\n\ntwo\n");
    check(
        "<table><tr><td>☐<td>Annual report<tr><td> </table>",
        "☐ Annual report\n",
    );
}

#[test]
fn machinery_and_hidden_text_go() {
    let page = extract(
        "<html><head><title>The\n page</title><style>b{}</style></head><body>\
         <script>var a = 1</script><p hidden>secret</p><p style=\"color:red; Display: none\">draft\
         <p>shown<svg><title>drawing</title><text>x</text></svg><template>t</template>",
    );
    assert_eq!(page.pages[0].markdown, "# The page\n\nshown\n");
    assert_eq!(page.title.as_deref(), Some("The page"));
    assert_eq!(page.notes, ["text that is not shown is left out"]);
    let heading = "The page".to_owned();
    assert_eq!(page.pages[0].record.locator, Locator::Section { heading });

    let page = extract("<body style=\"visibility:hidden\"><p>waits for its program</body>");
    assert_eq!(page.pages[0].markdown, "waits for its program\n");
    assert!(page.notes[0].contains("hidden until"), "{page:?}");
}

#[test]
fn menus_go_unless_they_are_the_page() {
    let menu = "<nav><a href=a>Home</a> <a href=b>Products</a></nav>";
    let page = extract(&format!(
        "{menu}<p>The text of this page is longer than its menu.</p>"
    ));
    assert_eq!(
        page.pages[0].markdown,
        "The text of this page is longer than its menu.\n"
    );
    assert_eq!(page.notes, ["menus are left out"]);
    let page = extract(&format!("<h1>Index</h1>{menu}"));
    assert_eq!(page.pages[0].markdown, "# Index\n\nHome Products\n");
    assert_eq!(page.notes, Vec::<String>::new());
    check(
        "<p>text of the page</p><aside>a side note</aside>",
        "text of the page\n\na side note\n",
    );
}

#[test]
fn the_charset_is_what_the_page_says() {
    let html = "<meta charset=iso-8859-2><p>Grzegorz Brzęczyszczykiewicz";
    let (bytes, ..) = encoding_rs::ISO_8859_2.encode(html);
    let page = extract_alone(Format::Html, "a.html", &bytes).unwrap();
    assert!(
        page.pages[0].markdown.contains("Brzęczyszczykiewicz"),
        "{page:?}"
    );
    // It says one thing and is another.
    let html = "<meta charset=us-ascii><p>Grüße aus Köln";
    check(html, "Grüße aus Köln\n");
}

#[test]
fn depth_costs_structure_not_text() {
    let deep = format!(
        "{}bottom <b>of</b> it{}after",
        "<div>".repeat(5_000),
        "</div>".repeat(5_000)
    );
    let page = extract(&deep);
    assert_eq!(page.pages[0].markdown, "bottom of it\n\nafter\n");
    assert!(page.notes[0].contains("nested"), "{page:?}");
}

#[test]
fn lesser_elements() {
    check(
        "<p>Birds<dl><dt>Tern<dt>Sterna<dd>a bird<div><dt>Reed<dd><p>a plant<p>by water</div></dl>end",
        "Birds\n\n- Tern, Sterna: a bird\n- Reed: a plant\n\n  by water\n\nend\n",
    );
    check(
        "<details><summary>More</summary><p>Rest</details>",
        "More\n\nRest\n",
    );
    check(
        "<figure><img src=a.png alt=mill><figcaption>The mill</figcaption></figure>",
        "mill\n\nThe mill\n",
    );
    check(
        "<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rt>ji</rt></ruby>です",
        "漢字 (kanji)です\n",
    );
    check(
        "<html><frameset><frame src=a><noframes><h2>Two</h2><p>three</noframes></frameset>",
        "## Two\n\nthree\n",
    );
}
