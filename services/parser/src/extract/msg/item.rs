//! One message of a store, by its properties, [MS-OXPROPS].

use encoding_rs::Encoding;
use mail_parser::DateTime;

use super::super::mail::{
    Attachment, Content, Mail, Piece, Taken, address, calendar_lines, date_of, file_name, one_line,
    plain_page,
};
use super::super::{ExtractError, charset};
use super::rtf;
use super::store::{Store, Table, code_page};

/// Numbers of the properties that are read, with the specification's names.
mod number {
    /// `PidTagMessageClass`
    pub(super) const CLASS: u16 = 0x001a;
    /// `PidTagSubject`
    pub(super) const SUBJECT: u16 = 0x0037;
    /// `PidTagNormalizedSubject`
    pub(super) const SUBJECT_WITHOUT_PREFIX: u16 = 0x0e1d;
    /// `PidTagConversationTopic`
    pub(super) const TOPIC: u16 = 0x0070;
    /// `PidTagSentRepresentingName`
    pub(super) const FROM_NAME: u16 = 0x0042;
    /// `PidTagSentRepresentingSmtpAddress`
    pub(super) const FROM_SMTP: u16 = 0x5d02;
    /// `PidTagSentRepresentingEmailAddress`
    pub(super) const FROM_ADDRESS: u16 = 0x0065;
    /// `PidTagSenderName`
    pub(super) const SENDER_NAME: u16 = 0x0c1a;
    /// `PidTagSenderSmtpAddress`
    pub(super) const SENDER_SMTP: u16 = 0x5d01;
    /// `PidTagSenderEmailAddress`
    pub(super) const SENDER_ADDRESS: u16 = 0x0c1f;
    /// `PidTagClientSubmitTime`
    pub(super) const SENT: u16 = 0x0039;
    /// `PidTagMessageDeliveryTime`
    pub(super) const DELIVERED: u16 = 0x0e06;
    /// `PidTagTransportMessageHeaders`
    pub(super) const HEADER: u16 = 0x007d;
    /// `PidTagDisplayName`
    pub(super) const NAME: u16 = 0x3001;
    /// `PidTagSmtpAddress`
    pub(super) const SMTP: u16 = 0x39fe;
    /// `PidTagEmailAddress`
    pub(super) const ADDRESS: u16 = 0x3003;
    /// `PidTagRecipientType`
    pub(super) const RECIPIENT_KIND: u16 = 0x0c15;
    /// `PidTagDisplayTo`
    pub(super) const SHOWN_TO: u16 = 0x0e04;
    /// `PidTagDisplayCc`
    pub(super) const SHOWN_CC: u16 = 0x0e03;
    /// `PidTagInternetCodepage`
    pub(super) const TEXT_CODE_PAGE: u16 = 0x3fde;
    /// `PidTagMessageCodepage`
    pub(super) const CODE_PAGE: u16 = 0x3ffd;
    /// `PidTagBody`
    pub(super) const PLAIN: u16 = 0x1000;
    /// `PidTagHtml`
    pub(super) const PAGE: u16 = 0x1013;
    /// `PidTagRtfCompressed`
    pub(super) const RTF: u16 = 0x1009;
    /// `PidTagStartDate`
    pub(super) const START: u16 = 0x0060;
    /// `PidTagEndDate`
    pub(super) const END: u16 = 0x0061;
    /// `PidTagAttachLongFilename`
    pub(super) const FILE_NAME: u16 = 0x3707;
    /// `PidTagAttachFilename`
    pub(super) const SHORT_FILE_NAME: u16 = 0x3704;
    /// `PidTagAttachMimeTag`
    pub(super) const MIME_KIND: u16 = 0x370e;
    /// `PidTagAttachContentId`
    pub(super) const CONTENT_ID: u16 = 0x3712;
    /// `PidTagAttachmentHidden`
    pub(super) const HIDDEN: u16 = 0x7ffe;
    /// `PidTagAttachDataBinary`
    pub(super) const DATA: u16 = 0x3701;
    /// `PidTagAttachMethod`
    pub(super) const METHOD: u16 = 0x3705;
}

/// Messages within messages of one file.
const MOST_NESTED: u32 = 8;

/// An object of a store: its path, and the bytes before its table of properties.
#[derive(Debug, Clone)]
pub(super) struct Object {
    path: String,
    header: usize,
}

/// The message that the file is.
pub(super) fn top() -> Object {
    Object {
        path: "/".to_owned(),
        header: 32,
    }
}

/// What the object of an attachment is called when it is no plain file.
const EMBEDDED: &str = "__substg1.0_3701000D";

/// Reads the message `object`, which lies within `depth` others.
pub(super) fn read(store: &mut Store<'_>, object: &Object, depth: u32) -> Mail<'static> {
    let table = store.table(&object.path, object.header);
    // The code page of the properties; that of the text can be another one.
    let encoding = table.integer(number::CODE_PAGE).and_then(code_page);
    let mut item = Item {
        store,
        path: &object.path,
        table,
        encoding,
        mail: Mail::default(),
    };
    item.read_envelope();
    item.read_body();
    item.read_meeting();
    item.read_attachments(depth);
    item.mail
}

struct Item<'s, 'a> {
    store: &'s mut Store<'a>,
    path: &'s str,
    table: Table,
    encoding: Option<&'static Encoding>,
    mail: Mail<'static>,
}

impl Item<'_, '_> {
    fn text(&mut self, number: u16) -> Option<String> {
        self.store.text(self.path, number, self.encoding)
    }

    fn first_text(&mut self, numbers: &[u16]) -> Option<String> {
        numbers.iter().find_map(|number| self.text(*number))
    }

    fn read_envelope(&mut self) {
        self.mail.subject = self
            .first_text(&[
                number::SUBJECT,
                number::SUBJECT_WITHOUT_PREFIX,
                number::TOPIC,
            ])
            .map(|subject| one_line(&subject));
        let from = self.person(
            number::FROM_NAME,
            &[number::FROM_SMTP, number::FROM_ADDRESS],
        );
        let sender = self.person(
            number::SENDER_NAME,
            &[number::SENDER_SMTP, number::SENDER_ADDRESS],
        );
        match (from, sender) {
            (Some(from), Some(sender)) if from != sender => {
                self.mail.from.push(from);
                self.mail.sender.push(sender);
            }
            (from, sender) => self.mail.from.extend(from.or(sender)),
        }
        self.read_recipients();
        let sent = [number::SENT, number::DELIVERED]
            .iter()
            .find_map(|number| self.table.time(*number));
        self.mail.date = match sent {
            Some(seconds) => Some(date_of(&DateTime::from_timestamp(seconds))),
            None => self
                .text(number::HEADER)
                .and_then(|header| header_date(&header)),
        };
    }

    /// The person whose name is the property `name` and whose address is one of `addresses`.
    fn person(&mut self, name: u16, addresses: &[u16]) -> Option<String> {
        let name = self.text(name);
        let found = addresses
            .iter()
            .find_map(|number| self.text(*number).filter(|text| is_internet(text)));
        address(name.as_deref(), found.as_deref())
    }

    fn read_recipients(&mut self) {
        for path in self.store.children(self.path, "__recip_version1.0_") {
            let table = self.store.table(&path, 8);
            let mut get = |number| self.store.text(&path, number, self.encoding);
            let name = get(number::NAME);
            let email = get(number::SMTP)
                .or_else(|| get(number::ADDRESS))
                .filter(|text| is_internet(text));
            let list = match table.integer(number::RECIPIENT_KIND).map(|kind| kind & 0xf) {
                Some(2) => &mut self.mail.cc,
                Some(3) => &mut self.mail.bcc,
                _ => &mut self.mail.to,
            };
            list.extend(address(name.as_deref(), email.as_deref()));
        }
        // Drafts and damaged files have only what was shown.
        if self.mail.to.is_empty() {
            let shown = self.text(number::SHOWN_TO).map(|text| one_line(&text));
            self.mail.to.extend(shown);
        }
        if self.mail.cc.is_empty() {
            let shown = self.text(number::SHOWN_CC).map(|text| one_line(&text));
            self.mail.cc.extend(shown);
        }
    }

    fn read_body(&mut self) {
        let encoding = self
            .table
            .integer(number::TEXT_CODE_PAGE)
            .and_then(code_page)
            .or(self.encoding);
        if let Some(text) = self.store.text(self.path, number::PLAIN, encoding) {
            self.mail.body.plain.push(Piece::Plain(plain_page(&text)));
        }
        let page = match self.store.bytes(self.path, number::PAGE) {
            Some(page) => Some(charset::decode_declared(&page, encoding).text),
            None => self.store.text(self.path, number::PAGE, encoding),
        };
        if let Some(page) = page.filter(|page| !page.trim().is_empty()) {
            self.mail.body.html.push(Piece::Html(page));
        } else if self.mail.body.plain.is_empty() {
            let packed = self.store.bytes(self.path, number::RTF);
            let rtf = packed.and_then(|packed| rtf::unpacked(&packed));
            self.mail.body.html.extend(rtf.map(Piece::Rtf));
        }
    }

    /// When a meeting is, which its text hardly says.
    fn read_meeting(&mut self) {
        let class = self.class();
        if !class.starts_with("ipm.appointment") && !class.starts_with("ipm.schedule.meeting") {
            return;
        }
        let time = |number| self.table.time(number).map(DateTime::from_timestamp);
        let (start, end) = (time(number::START), time(number::END));
        let subject = self.mail.subject.clone().unwrap_or_default();
        self.mail.invites.extend(start.map(|start| {
            let end = end.map(|end| date_of(&end));
            calendar_lines(&subject, &date_of(&start), end.as_deref())
        }));
    }

    fn class(&mut self) -> String {
        self.text(number::CLASS)
            .unwrap_or_default()
            .to_ascii_lowercase()
    }

    fn read_attachments(&mut self, depth: u32) {
        let class = self.class();
        let mut taken = Taken::default();
        for path in self.store.children(self.path, "__attach_version1.0_") {
            let table = self.store.table(&path, 8);
            let content = self.content(&path, &table, depth, &class);
            let mut get = |number| self.store.text(&path, number, self.encoding);
            let name = [number::FILE_NAME, number::SHORT_FILE_NAME, number::NAME]
                .iter()
                .find_map(|number| get(*number));
            let kind = get(number::MIME_KIND)
                .unwrap_or_default()
                .to_ascii_lowercase();
            let id = get(number::CONTENT_ID);
            let name = name_of(name.as_deref(), &content);
            let is_shown = id.is_some_and(|id| self.mail.body.shows(&id));
            let is_picture = kind.starts_with("image/") || is_picture_name(&name);
            self.mail.attachments.push(Attachment {
                name: taken.free(&name),
                content,
                inline: is_picture && (is_shown || table.is_set(number::HIDDEN)),
                doubt: None,
            });
        }
    }

    fn content(&mut self, path: &str, table: &Table, depth: u32, class: &str) -> Content<'static> {
        if self.store.holds(path, EMBEDDED) {
            return self.embedded(path, table, depth);
        }
        let refused = |what: &str| {
            Content::Refused(ExtractError::Unsupported {
                what: what.to_owned(),
            })
        };
        let Some(bytes) = self.store.bytes(path, number::DATA) else {
            return refused("a link to a file that is kept elsewhere");
        };
        if class.starts_with("ipm.note.smime.multipartsigned") {
            Content::Sent(bytes.into())
        } else if class.starts_with("ipm.note.smime") {
            refused("an encrypted e-mail")
        } else {
            Content::Bytes(bytes.into())
        }
    }

    fn embedded(&mut self, path: &str, table: &Table, depth: u32) -> Content<'static> {
        /// The method of attachments that are messages.
        const MESSAGE: u32 = 5;
        if table.integer(number::METHOD) != Some(MESSAGE) {
            return Content::Refused(ExtractError::Unsupported {
                what: "an embedded object".to_owned(),
            });
        }
        if depth >= MOST_NESTED {
            return Content::Refused(ExtractError::TooLarge {
                what: "files lie within files more than 8 deep".to_owned(),
            });
        }
        let inner = Object {
            path: format!("{path}{EMBEDDED}/"),
            header: 24,
        };
        Content::Mail(Box::new(read(self.store, &inner, depth + 1)))
    }
}

fn name_of(name: Option<&str>, content: &Content<'_>) -> String {
    let is_message = matches!(content, Content::Mail(_) | Content::Sent(_));
    let subject = match content {
        Content::Mail(mail) => mail.subject.as_deref(),
        _ => None,
    };
    let name = name.or(subject).map(|name| name.replace(['/', '\\'], "-"));
    let name = name.as_deref().and_then(file_name);
    let ends = |name: &str| name.to_lowercase().ends_with(".msg");
    match name {
        Some(name) if is_message && !ends(&name) => format!("{name}.msg"),
        Some(name) => name,
        None if is_message => "message.msg".to_owned(),
        None => "attachment".to_owned(),
    }
}

fn is_picture_name(name: &str) -> bool {
    let name = name.to_lowercase();
    [
        ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".emf", ".wmf",
    ]
    .iter()
    .any(|end| name.ends_with(end))
}

/// Whether `text` is no address within Exchange, such as `/o=org/ou=…`.
fn is_internet(text: &str) -> bool {
    text.contains('@')
}

/// The date of the header that the message was sent with.
fn header_date(header: &str) -> Option<String> {
    let date = header.lines().find_map(|line| {
        let (label, value) = line.split_once(':')?;
        label.eq_ignore_ascii_case("date").then(|| value.trim())
    })?;
    let parsed = DateTime::parse_rfc822(date).filter(DateTime::is_valid);
    Some(parsed.map_or_else(|| date.to_owned(), |date| date_of(&date)))
}
