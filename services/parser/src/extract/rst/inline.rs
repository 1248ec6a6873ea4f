//! Marks within a line of reStructuredText.

/// `line` with roles, references and links as their text.
pub(super) fn of(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('`') {
        // Code has two marks on either side.
        if let Some(code) = after.strip_prefix('`') {
            let Some((code, after)) = code.split_once("``") else {
                out.push_str(before);
                out.push_str("``");
                rest = code;
                continue;
            };
            out.push_str(before);
            out.extend(["`", code, "`"]);
            rest = after;
            continue;
        }
        let Some((inner, after)) = after.split_once('`') else {
            out.push_str(before);
            out.push('`');
            rest = after;
            continue;
        };
        push_interpreted(&mut out, before, inner);
        let after = after.strip_prefix("__").unwrap_or(after);
        rest = after.strip_prefix('_').unwrap_or(after);
    }
    out.push_str(rest);
    out.replace("]_", "]").replace("\\ ", "").replace("|_", "|")
}

/// Writes `before` and the text of what stands in single marks after it.
fn push_interpreted(out: &mut String, before: &str, inner: &str) {
    let role = before.strip_suffix(':').and_then(|before| {
        let at = before
            .rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '+')));
        let start = at.map_or(0, |at| {
            at + before
                .get(at..)
                .and_then(|rest| rest.chars().next())
                .map_or(1, char::len_utf8)
        });
        let (text, role) = before.split_at(start);
        role.strip_prefix(':').map(|role| (text, role))
    });
    let (text, role) = role.unwrap_or((before, ""));
    out.push_str(text.strip_suffix('_').unwrap_or(text));
    if role == "math" {
        out.extend(["$", inner, "$"]);
        return;
    }
    // What it leads to is in angles; `~a.b.c` shows its last part.
    let label = inner
        .split_once('<')
        .filter(|_| inner.ends_with('>'))
        .map(|(label, _)| label.trim());
    match label {
        Some("") => out.push_str(inner.trim_matches(['<', '>'])),
        Some(label) => out.push_str(label),
        None => out.push_str(inner.trim_start_matches(['~', '!'])),
    }
}
