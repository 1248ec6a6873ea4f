//! An e-mail, however it was kept: what it says as one page, then what is attached to it, each
//! file with its own place.

mod body;
mod decode;
mod header;
mod invite;
mod mime;
mod names;
mod page;
mod plain;
mod quote;
mod tnef;

use std::borrow::Cow;

use shared::contract::{Locator, PageRecord, ReadMethod};

use super::input::{located, missing_entry};
use super::{ExtractError, ExtractedPage, Input};

pub(super) use self::header::{address, date_of};
pub(super) use self::invite::calendar_lines;
pub(super) use self::mime::read;
pub(super) use self::names::{Taken, file_name, path};
pub(super) use self::page::one_line;

/// Smaller pictures within a text are logos and rulers, never text.
const SMALL_PICTURE: usize = 4 << 10;

/// A message, as far as it is worth reading.
#[derive(Debug, Default)]
pub(super) struct Mail<'a> {
    pub(super) subject: Option<String>,
    /// Senders and recipients as `Name <address>`.
    pub(super) from: Vec<String>,
    /// Who sent it for them, where that is someone else.
    pub(super) sender: Vec<String>,
    pub(super) to: Vec<String>,
    pub(super) cc: Vec<String>,
    pub(super) bcc: Vec<String>,
    /// `2024-02-29 08:15:00 +01:00`, or as it is written.
    pub(super) date: Option<String>,
    /// The text in the forms that the message has it in.
    pub(super) body: Body,
    /// Meetings that it proposes, as Markdown.
    pub(super) invites: Vec<String>,
    pub(super) attachments: Vec<Attachment<'a>>,
    /// What may be wrong with the text.
    pub(super) doubts: Vec<String>,
}

/// The text of a message, once per form.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) plain: Vec<Piece>,
    pub(super) html: Vec<Piece>,
}

impl Body {
    /// Whether the text shows the attached picture that is called `id`.
    pub(super) fn shows(&self, id: &str) -> bool {
        let reference = format!("cid:{}", id.trim_matches(['<', '>']));
        self.html.iter().any(|piece| match piece {
            Piece::Html(page) => page.contains(&reference),
            Piece::Plain(_) | Piece::Rtf(_) => false,
        })
    }
}

/// A piece of the text; messages may consist of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Markdown, made of plain text.
    Plain(String),
    /// A web page.
    Html(String),
    /// Rich Text Format.
    Rtf(Vec<u8>),
}

/// A file that a message carries.
#[derive(Debug)]
pub(super) struct Attachment<'a> {
    /// Clean, and its own within the message.
    pub(super) name: String,
    pub(super) content: Content<'a>,
    /// A picture within the text.
    pub(super) inline: bool,
    /// What may be wrong with it.
    pub(super) doubt: Option<String>,
}

/// What a file holds.
#[derive(Debug)]
pub(super) enum Content<'a> {
    Bytes(Cow<'a, [u8]>),
    /// A message as it was sent, not read yet.
    Sent(Cow<'a, [u8]>),
    /// A message that was read with the one around it.
    Mail(Box<Mail<'a>>),
    /// It is known beforehand that it is not read.
    Refused(ExtractError),
}

/// Where a message stands: its own place, and what the names of its files begin with.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) locator: Option<Locator>,
    pub(super) before_names: String,
}

impl Place {
    /// A file of its own: the section that its subject names.
    pub(super) fn alone() -> Self {
        Self {
            locator: None,
            before_names: String::new(),
        }
    }

    /// The message `number` of a mailbox, from 1.
    pub(super) fn message(number: u32) -> Self {
        Self {
            locator: Some(Locator::Message { number }),
            before_names: format!("message {number} › "),
        }
    }
}

impl Mail<'_> {
    /// Whether nothing was found that makes a message.
    pub(super) fn is_empty(&self) -> bool {
        let people = self.from.len() + self.to.len() + self.cc.len() + self.bcc.len();
        let text = self.body.plain.len() + self.body.html.len() + self.attachments.len();
        self.subject.is_none() && people + text == 0
    }

    /// The message's own page, and those of its files after it.
    pub(super) fn pages(mut self, input: &Input<'_>, place: &Place) -> Vec<ExtractedPage> {
        let attachments = std::mem::take(&mut self.attachments);
        let (mut files, mut names, mut pictures) = (Vec::new(), Vec::new(), Vec::new());
        for attachment in attachments {
            let path = format!("{}{}", place.before_names, attachment.name);
            let list = if attachment.inline {
                &mut pictures
            } else {
                &mut names
            };
            list.push(attachment.name.clone());
            files.extend(attachment.pages(input, &path));
        }
        let written = page::write(&mut self, input, &names, &pictures);
        let locator = place.locator.clone().unwrap_or_else(|| {
            self.subject
                .clone()
                .map_or(Locator::Block { number: 1 }, |heading| Locator::Section {
                    heading,
                })
        });
        let mut pages = vec![ExtractedPage {
            record: PageRecord {
                number: 1,
                locator,
                method: ReadMethod::Native,
                characters: 0,
                doubts: self.doubts,
                error: None,
            },
            markdown: written,
        }];
        pages.extend(files);
        pages
    }
}

impl Attachment<'_> {
    fn pages(self, input: &Input<'_>, path: &str) -> Vec<ExtractedPage> {
        let mut pages = match self.content {
            Content::Bytes(bytes) if self.inline => picture_pages(input, path, &bytes),
            Content::Bytes(bytes) => input.within(path, &bytes),
            Content::Sent(bytes) => sent_pages(input, path, &bytes)
                .unwrap_or_else(|error| vec![missing_entry(path, &error)]),
            Content::Mail(mail) => inner_pages(input, path, *mail)
                .unwrap_or_else(|error| vec![missing_entry(path, &error)]),
            Content::Refused(error) => vec![missing_entry(path, &error)],
        };
        if let Some(first) = pages.first_mut() {
            first.record.doubts.extend(self.doubt);
        }
        pages
    }
}

fn sent_pages(
    input: &Input<'_>,
    path: &str,
    bytes: &[u8],
) -> Result<Vec<ExtractedPage>, ExtractError> {
    let inner = input.inside(path, bytes.len())?;
    let pages = read(bytes)?.pages(&inner, &Place::alone());
    Ok(pages.into_iter().map(|page| located(path, page)).collect())
}

fn inner_pages(
    input: &Input<'_>,
    path: &str,
    mail: Mail<'_>,
) -> Result<Vec<ExtractedPage>, ExtractError> {
    let inner = input.inside(path, 0)?;
    let pages = mail.pages(&inner, &Place::alone());
    Ok(pages.into_iter().map(|page| located(path, page)).collect())
}

/// A picture within the text is decoration unless it turns out to say something.
fn picture_pages(input: &Input<'_>, path: &str, bytes: &[u8]) -> Vec<ExtractedPage> {
    if bytes.len() < SMALL_PICTURE {
        return Vec::new();
    }
    let mut pages = input.within(path, bytes);
    pages.retain(|page| {
        page.record.method != ReadMethod::Missing && !page.markdown.trim().is_empty()
    });
    pages
}

/// A text that no message could be made of, as Markdown.
pub(super) fn plain_page(text: &str) -> String {
    plain::to_markdown(text, plain::Breaks::Fixed)
}

#[cfg(test)]
mod tests;
