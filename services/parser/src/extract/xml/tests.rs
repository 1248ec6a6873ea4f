//! Small XML texts of each kind.

use proptest::prelude::*;
use shared::contract::Locator;
use shared::format::Format;

use super::super::{Extraction, extract_alone};

fn extract(xml: &str) -> Extraction {
    extract_alone(Format::Xml, "a.xml", xml.as_bytes()).unwrap()
}

#[track_caller]
fn check(xml: &str, expect: &str) {
    let extraction = extract(xml);
    assert_eq!(extraction.pages[0].markdown, expect, "{xml}");
    assert_eq!(
        extraction.pages[0].record.doubts,
        Vec::<String>::new(),
        "{xml}"
    );
}

#[test]
fn data_is_tables_and_named_values() {
    check(
        "<?xml version=\"1.0\"?><book><land><name>France</name><seat>Paris</seat></land>\
         <land><name>T &amp; T</name><seat>Port&#x20;of Spain</seat></land></book>",
        "# book\n\n## land\n\n| name | seat |\n| --- | --- |\n| France | Paris |\n\
         | T & T | Port of Spain |\n",
    );
    check(
        "<order n=\"7\"><price currency=\"EUR\">1.50</price><to><city>Ulm</city></to>\
         <tag>a</tag><tag>b</tag><empty/></order>",
        "# order\n\n- n: 7\n- price: 1.50 (currency: EUR)\n- to:\n  - city: Ulm\n- tag: a, b\n",
    );
    check(
        "<x:a xmlns:x=\"u\"><x:b><![CDATA[1 < 2]]></x:b><!-- no --><?p no?></x:a>",
        "# a\n\n- b: 1 < 2\n",
    );
}

#[test]
fn documents_are_headings_and_paragraphs() {
    check(
        "<article><title>Rooms</title><para>The <emphasis>small</emphasis>\n  one.</para>\
         <section><title>Keys</title><para># in the safe</para><itemizedlist>\
         <listitem>one</listitem><listitem>two</listitem></itemizedlist>\
         <programlisting>open\n  now</programlisting>\
         <table><row><entry>a</entry><entry>b</entry></row><row><entry>1</entry></row></table>\
         </section></article>",
        "# Rooms\n\nThe small one.\n\n## Keys\n\n\\# in the safe\n\n- one\n- two\n\n\
         ```\nopen\n  now\n```\n\n| a | b |\n| --- | --- |\n| 1 |  |\n",
    );
    check(
        "<svg><g><title>Plan</title><path d=\"M0\"/><text>Door <tspan>A</tspan></text></g></svg>",
        "Plan\n\nDoor A\n",
    );
}

#[test]
fn feeds_are_read_entry_by_entry() {
    let page = extract(
        "<rss><channel><title>News</title><link>https://n.example/</link>\
         <description>All of it</description><item><title>Mill &amp;amp; tern</title>\
         <link>https://n.example/1</link><dc:creator>Ann</dc:creator><pubDate>Tue</pubDate>\
         <category>a</category><category>b</category><guid>x</guid>\
         <description>&lt;p&gt;Short words here&lt;/p&gt;</description>\
         <content:encoded><![CDATA[<h2>Part</h2><p>Short words here &copy; and <b>more</b></p>]]>\
         </content:encoded></item></channel></rss>",
    );
    assert_eq!(
        page.pages[0].markdown,
        "# News\n\n- link: https://n.example/\n\nAll of it\n\n## Mill & tern\n\n\
         - link: https://n.example/1\n- author: Ann\n- date: Tue\n- category: a, b\n\n\
         #### Part\n\nShort words here © and **more**\n"
    );
    assert_eq!(page.title.as_deref(), Some("News"));
    let heading = "News".to_owned();
    assert_eq!(page.pages[0].record.locator, Locator::Section { heading });
    check(
        "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>Log</title><entry>\
         <title>One</title><author><name>Bo</name></author><updated>2024</updated>\
         <link href=\"https://l.example\"/><content type=\"xhtml\"><div><p>a</p><p>b</p></div>\
         </content></entry></feed>",
        "# Log\n\n## One\n\n- author: Bo\n- updated: 2024\n- link: https://l.example\n\na\n\nb\n",
    );
}

#[test]
fn entities_are_read_within_bounds() {
    #[track_caller]
    fn doubted(xml: &str, expect: &str, doubt: &str) {
        let page = extract(xml).pages.remove(0);
        assert!(page.markdown.contains(expect), "{}", page.markdown);
        assert!(page.markdown.len() < 1 << 20);
        assert!(page.record.doubts[0].contains(doubt), "{:?}", page.record);
    }
    check(
        "<!DOCTYPE a [<!ENTITY firm \"Tern &amp; Co\"><!ENTITY both '&firm;, &firm;'>]>\
         <a><b>&both;</b><c>caf&eacute; &unknown; a & b</c></a>",
        "# a\n\n- b: Tern & Co, Tern & Co\n- c: café &unknown; a & b\n",
    );
    let mut bomb = String::from("<!DOCTYPE a [<!ENTITY l0 \"lol\">");
    for n in 1..10 {
        let inner = format!("&l{};", n - 1).repeat(10);
        bomb.extend(["<!ENTITY l", &n.to_string(), " \"", &inner, "\">"]);
    }
    doubted(
        &format!("{bomb}]><a><b>kept</b>&l9;</a>"),
        "kept",
        "without end",
    );
    doubted(
        "<!DOCTYPE a [<!ENTITY r \"&r;&r;\">]><a>kept &r;</a>",
        "kept",
        "without end",
    );
    doubted(
        "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/hostname\">]><a>kept &x;</a>",
        "kept &x;",
        "not loaded",
    );
}

#[test]
fn broken_and_deep_xml_is_read_as_far_as_it_goes() {
    #[track_caller]
    fn check(xml: &str, expect: &str, doubt: &str) {
        let page = extract(xml).pages.remove(0);
        assert!(page.markdown.contains(expect), "{}", page.markdown);
        assert!(page.record.doubts[0].contains(doubt), "{:?}", page.record);
    }
    check(
        "<a><b>one</b><c>two",
        "- b: one\n- c: two",
        "before its elements do",
    );
    check("<a><b>one</b>\n<!-- open <c>two</c>", "two", "line 2");
    check("only words", "only words", "no XML");
    let deep = format!("{}bottom{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    check(&deep, "bottom", "deeper");
    let deep = "<a>x".repeat(100_000);
    check(&deep, "x", "deeper");
}

#[test]
fn the_charset_is_the_declared_one() {
    let xml = "<?xml version=\"1.0\" encoding=\"iso-8859-2\"?><a><b>Brzęczyszczykiewicz</b></a>";
    let (bytes, ..) = encoding_rs::ISO_8859_2.encode(xml);
    let page = extract_alone(Format::Xml, "a.xml", &bytes).unwrap();
    assert!(
        page.pages[0].markdown.contains("Brzęczyszczykiewicz"),
        "{page:?}"
    );
}

proptest! {
    #[test]
    fn no_text_panics(text in r#"[<>/!\[\]&;#"'=?aA\-\n\PC]{0,80}"#) {
        extract_alone(Format::Xml, "a.xml", text.as_bytes()).unwrap();
        let feed = format!("<rss><channel><item><title>{text}");
        extract_alone(Format::Xml, "a.xml", feed.as_bytes()).unwrap();
    }
}
