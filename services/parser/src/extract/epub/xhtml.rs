//! Chapters are XHTML and the reader of web pages takes HTML: what the one closes in itself stays
//! open in the other, and a `<title/>` or `<script/>` would swallow the chapter.

/// Elements that never have content in HTML.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
    "track", "wbr",
];

/// The chapter as HTML without its title, and the title: it is the whole book's more often than
/// the chapter's, so it makes no heading.
pub(super) fn as_html(bytes: &[u8]) -> (Vec<u8>, Option<String>) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return (bytes.to_vec(), None);
    };
    let opened = opened(text);
    match split_title(&opened) {
        Some((before, title, after)) => {
            let words: Vec<&str> = title.split_whitespace().collect();
            let title = words.join(" ");
            let plain = !title.is_empty() && !title.contains(['<', '&']);
            (
                format!("{before}{after}").into_bytes(),
                plain.then_some(title),
            )
        }
        None => (opened.into_bytes(), None),
    }
}

/// What stands before, in and behind the title in the head.
fn split_title(text: &str) -> Option<(&str, &str, &str)> {
    let head = text.find("</head>")?;
    let (before, rest) = text.split_at(text.get(..head)?.find("<title")?);
    let (_, inside) = rest.split_once('>')?;
    let (title, after) = inside.split_once("</title>")?;
    Some((before, title, after))
}

/// `text` with `<a id="x"/>` as `<a id="x"></a>`.
fn opened(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/>") {
        out.push_str(before);
        let tag = before.rsplit_once('<').map_or("", |(_, tag)| tag);
        let name: &str = tag.split_whitespace().next().unwrap_or_default();
        let is_tag = name.starts_with(|c: char| c.is_ascii_alphabetic()) && !tag.contains('>');
        if is_tag && !VOID.contains(&name) {
            out.push_str("></");
            out.push_str(name);
            out.push('>');
        } else {
            out.push_str("/>");
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_closes_itself_is_closed() {
        #[track_caller]
        fn check(xhtml: &str, html: &str, title: Option<&str>) {
            let (found, found_title) = as_html(xhtml.as_bytes());
            assert_eq!(String::from_utf8(found).unwrap(), html);
            assert_eq!(found_title.as_deref(), title);
        }
        check(
            "<head><title/><script src=\"a\"/></head><p>x<br/><a id=\"b\"/>y</p>",
            "<head><script src=\"a\"></script></head><p>x<br/><a id=\"b\"></a>y</p>",
            None,
        );
        check(
            "<head><title>The\n Mill</title></head>a /> b",
            "<head></head>a /> b",
            Some("The Mill"),
        );
        check("<title>x</title>", "<title>x</title>", None);
    }
}
