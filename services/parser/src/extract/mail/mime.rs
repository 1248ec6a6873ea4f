//! A message as it was sent: RFC 5322 and MIME.

use std::panic::catch_unwind;

use mail_parser::{
    HeaderName, Message, MessageParser, MessagePart, MessagePartId, MimeHeaders as _, PartType,
};

use super::super::ExtractError;
use super::plain::{self, Breaks};
use super::{
    Attachment, Body, Content, Mail, Piece, Taken, decode, file_name, header, invite, tnef,
};

/// Parts that hold other parts. Real messages have a few.
const MOST_CONTAINERS: usize = 1_000;
/// The end of each is searched, through all that follows if need be: so many bytes altogether,
/// some seconds.
const MOST_SEARCHED: usize = 4 << 30;

/// Reads the message that `raw` is.
///
/// # Errors
/// When there is no message in it.
pub(in crate::extract) fn read(raw: &[u8]) -> Result<Mail<'static>, ExtractError> {
    let containers = containers(raw);
    if containers > MOST_CONTAINERS || containers.saturating_mul(raw.len()) > MOST_SEARCHED {
        return Err(ExtractError::TooLarge {
            what: "the e-mail has too many parts with parts within".to_owned(),
        });
    }
    let damaged = || ExtractError::Damaged {
        what: "it has no header of an e-mail".to_owned(),
    };
    // One message must not take those beside it in a mailbox with it.
    let parsed = catch_unwind(|| MessageParser::default().parse(raw));
    let message = parsed.ok().flatten().ok_or_else(damaged)?;
    if !is_mail(&message) {
        return Err(damaged());
    }
    Ok(Reader::new(&message).read())
}

/// Any text with a colon in its first line has a header of a kind.
fn is_mail(message: &Message<'_>) -> bool {
    message
        .headers()
        .iter()
        .any(|header| !header.name.is_other() || header.name.as_str().starts_with("X-"))
}

/// How often parts with parts within are declared.
fn containers(raw: &[u8]) -> usize {
    let starts = |word: &[u8], at: &[u8]| {
        at.get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    raw.iter()
        .enumerate()
        .filter(|(_, byte)| matches!(byte, b'm' | b'M'))
        .filter_map(|(index, _)| raw.get(index..))
        .filter(|at| starts(b"multipart/", at) || starts(b"message/", at))
        .count()
}

struct Reader<'m, 'x> {
    message: &'m Message<'x>,
    mail: Mail<'static>,
    taken: Taken,
}

impl<'m, 'x> Reader<'m, 'x> {
    fn new(message: &'m Message<'x>) -> Self {
        Self {
            message,
            mail: Mail::default(),
            taken: Taken::default(),
        }
    }

    fn read(mut self) -> Mail<'static> {
        let message = self.message;
        self.mail.subject = header::text(message, &HeaderName::Subject);
        self.mail.from = header::people(message, &HeaderName::From);
        self.mail.sender = header::people(message, &HeaderName::Sender);
        self.mail
            .sender
            .retain(|sender| !self.mail.from.contains(sender));
        self.mail.to = header::people(message, &HeaderName::To);
        self.mail.cc = header::people(message, &HeaderName::Cc);
        self.mail.bcc = header::people(message, &HeaderName::Bcc);
        self.mail.date = header::date(message);
        self.mail.body = Body {
            plain: self.pieces(&message.text_body),
            html: self.pieces(&message.html_body),
        };
        if self.is_pgp() {
            self.mail.body = Body::default();
            self.refuse("text", "an encrypted e-mail");
        }
        for &id in &message.attachments {
            if let Some(part) = message.part(id) {
                self.attach(part);
            }
        }
        self.mail.doubts.dedup();
        self.mail
    }

    /// The texts among the parts `ids`.
    fn pieces(&mut self, ids: &[MessagePartId]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for part in ids.iter().filter_map(|id| self.message.part(*id)) {
            let is_page = matches!(part.body, PartType::Html(_));
            if !is_page && !matches!(part.body, PartType::Text(_)) {
                continue;
            }
            let decoded = decode::text(part, &self.message.raw_message);
            if let Some(doubt) = decoded.doubt
                && !self.mail.doubts.contains(&doubt)
            {
                self.mail.doubts.push(doubt);
            }
            pieces.push(if is_page {
                Piece::Html(decoded.text)
            } else {
                Piece::Plain(plain::to_markdown(&decoded.text, breaks(part)))
            });
        }
        pieces
    }

    /// Whether the text is a message that PGP locked.
    fn is_pgp(&self) -> bool {
        let locked = |piece: &Piece| {
            let (Piece::Plain(text) | Piece::Html(text)) = piece else {
                return false;
            };
            text.trim_start().starts_with("-----BEGIN PGP MESSAGE-----")
        };
        self.mail.body.plain.iter().any(locked)
    }

    fn attach(&mut self, part: &MessagePart<'_>) {
        match kind(part).as_str() {
            // Signatures say nothing, and the version part of PGP says "1".
            "application/pgp-signature"
            | "application/pkcs7-signature"
            | "application/x-pkcs7-signature"
            | "application/pgp-encrypted"
            // What a saved web page is drawn with.
            | "text/css"
            // The text once more, for devices that ask for it.
            | "text/x-amp-html"
            | "text/watch-html"
            | "text/javascript"
            | "application/javascript"
            | "application/pgp-keys" => {}
            "application/pkcs7-mime" | "application/x-pkcs7-mime" => self.attach_smime(part),
            "application/octet-stream" if self.is_under("multipart/encrypted") => {
                self.refuse("text", "an encrypted e-mail");
            }
            "text/calendar" | "application/ics" => self.attach_calendar(part),
            "application/ms-tnef" | "application/vnd.ms-tnef" => self.attach_tnef(part),
            "text/enriched" | "text/richtext" if self.has_text() => {}
            kind if is_damaged_text(part, kind) => self.add_damaged_text(part, kind),
            _ => self.attach_file(part),
        }
    }

    /// A piece of the text whose encoding is damaged counts as an attachment to the parser.
    fn add_damaged_text(&mut self, part: &MessagePart<'_>, kind: &str) {
        let decoded = decode::text(part, &self.message.raw_message);
        self.mail.doubts.extend(decoded.doubt);
        if kind == "text/html" {
            self.mail.body.html.push(Piece::Html(decoded.text));
        } else {
            let text = plain::to_markdown(&decoded.text, breaks(part));
            self.mail.body.plain.push(Piece::Plain(text));
        }
    }

    fn has_text(&self) -> bool {
        !(self.mail.body.plain.is_empty() && self.mail.body.html.is_empty())
    }

    fn is_under(&self, container: &str) -> bool {
        kind(self.message.root_part()) == container
    }

    fn attach_smime(&mut self, part: &MessagePart<'_>) {
        let smime = part
            .content_type()
            .and_then(|kind| kind.attribute("smime-type"))
            .unwrap_or_default();
        let what = if smime.starts_with("signed") || smime.starts_with("compressed") {
            "an e-mail packed into its signature"
        } else {
            "an encrypted e-mail"
        };
        self.refuse("text", what);
    }

    fn refuse(&mut self, name: &str, what: &str) {
        let name = self.taken.free(name);
        self.mail.attachments.push(Attachment {
            name,
            content: Content::Refused(ExtractError::Unsupported {
                what: what.to_owned(),
            }),
            inline: false,
            doubt: None,
        });
    }

    /// Programs send a meeting twice, as a form of the text and as a file.
    fn attach_calendar(&mut self, part: &MessagePart<'_>) {
        let decoded = decode::text(part, &self.message.raw_message);
        let text = if decoded.text.is_empty() {
            let (bytes, _) = decode::file(part, &self.message.raw_message);
            super::super::charset::decode(&bytes).text
        } else {
            decoded.text
        };
        let invites = invite::read(&text);
        if invites.is_empty() {
            self.attach_file(part);
        }
        for invite in invites {
            if !self.mail.invites.contains(&invite) {
                self.mail.invites.push(invite);
            }
        }
    }

    fn attach_tnef(&mut self, part: &MessagePart<'_>) {
        let (bytes, _) = decode::file(part, &self.message.raw_message);
        let Some(unpacked) = tnef::read(&bytes) else {
            self.attach_file(part);
            return;
        };
        let has_text = self.has_text();
        if let Some(piece) = unpacked.text.filter(|_| !has_text) {
            self.mail.body.html.push(piece);
        }
        for (name, content) in unpacked.files {
            let name = file_name(&name).unwrap_or_else(|| "attachment".to_owned());
            let name = self.taken.free(&name);
            self.mail.attachments.push(Attachment {
                name,
                content: Content::Bytes(content.into()),
                inline: false,
                doubt: None,
            });
        }
    }

    /// A picture that the text shows, or that nobody called an attachment.
    fn is_inline(&self, part: &MessagePart<'_>) -> bool {
        let attached = part
            .content_disposition()
            .is_some_and(mail_parser::ContentType::is_attachment);
        let is_shown = || part.content_id().is_some_and(|id| self.mail.body.shows(id));
        kind(part).starts_with("image/") && (!attached || is_shown())
    }

    fn attach_file(&mut self, part: &MessagePart<'_>) {
        let name = self.taken.free(&name(part));
        let raw = &self.message.raw_message;
        let (content, doubt) = match &part.body {
            PartType::Message(inner) => {
                let bytes = nested(part, inner, raw).to_vec();
                (Content::Sent(bytes.into()), None)
            }
            PartType::Multipart(_) => return,
            _ => {
                let (bytes, doubt) = decode::file(part, raw);
                let bytes = bytes.into_owned().into();
                // A message that the parser could not take apart where it found it.
                if kind(part) == "message/rfc822" {
                    (Content::Sent(bytes), doubt)
                } else {
                    (Content::Bytes(bytes), doubt)
                }
            }
        };
        let inline = self.is_inline(part);
        self.mail.attachments.push(Attachment {
            name,
            content,
            inline,
            doubt,
        });
    }
}

fn is_damaged_text(part: &MessagePart<'_>, kind: &str) -> bool {
    let attached = part
        .content_disposition()
        .is_some_and(mail_parser::ContentType::is_attachment);
    part.is_encoding_problem
        && !attached
        && part.attachment_name().is_none()
        && matches!(kind, "" | "text/plain" | "text/html")
}

/// The bytes of a message within `part`: its own when it was packed, else a range of the outer.
fn nested<'m>(part: &MessagePart<'_>, inner: &'m Message<'_>, raw: &'m [u8]) -> &'m [u8] {
    let packed = part.content_transfer_encoding().is_some_and(|encoding| {
        encoding.eq_ignore_ascii_case("base64") || encoding.eq_ignore_ascii_case("quoted-printable")
    });
    if packed {
        return &inner.raw_message;
    }
    let range = usize::try_from(part.offset_body)
        .ok()
        .zip(usize::try_from(part.offset_end).ok());
    let found = range.and_then(|(start, end)| raw.get(start..end));
    found.unwrap_or_default()
}

/// `type/subtype`, in small letters; empty when the part does not say.
fn kind(part: &MessagePart<'_>) -> String {
    part.content_type()
        .map(|kind| format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or_default()))
        .unwrap_or_default()
        .to_ascii_lowercase()
}

fn breaks(part: &MessagePart<'_>) -> Breaks {
    let says = |name: &str, value: &str| {
        part.content_type()
            .and_then(|kind| kind.attribute(name))
            .is_some_and(|found| found.eq_ignore_ascii_case(value))
    };
    if says("format", "flowed") {
        Breaks::Flowed {
            delete_space: says("delsp", "yes"),
        }
    } else {
        Breaks::Fixed
    }
}

/// The name of the file that `part` is; made up from what it is when it has none.
fn name(part: &MessagePart<'_>) -> String {
    const EXTENSIONS: [(&str, &str); 14] = [
        ("text/plain", "txt"),
        ("text/html", "html"),
        ("text/csv", "csv"),
        ("text/markdown", "md"),
        ("text/rfc822-headers", "txt"),
        ("message/delivery-status", "txt"),
        ("application/pdf", "pdf"),
        ("application/json", "json"),
        ("application/rtf", "rtf"),
        ("text/rtf", "rtf"),
        ("text/xml", "xml"),
        ("application/xml", "xml"),
        ("image/jpeg", "jpg"),
        ("image/png", "png"),
    ];
    let kind = kind(part);
    let is_message = matches!(part.body, PartType::Message(_))
        || matches!(kind.as_str(), "message/rfc822" | "message/global");
    if let Some(name) = part.attachment_name().and_then(file_name) {
        let has_extension = name.rsplit_once('.').is_some_and(|(_, end)| end.len() < 6);
        return if is_message && !has_extension {
            format!("{name}.eml")
        } else {
            name
        };
    }
    if is_message {
        let subject = part.message().and_then(Message::subject);
        let title = subject.and_then(|subject| file_name(&subject.replace(['/', '\\'], "-")));
        return format!("{}.eml", title.as_deref().unwrap_or("message"));
    }
    let extension = EXTENSIONS.iter().find(|(known, _)| *known == kind);
    let stem = match kind.split('/').next() {
        Some("image") => "picture",
        Some("text") => "text",
        _ => "attachment",
    };
    extension.map_or_else(|| stem.to_owned(), |(_, end)| format!("{stem}.{end}"))
}
