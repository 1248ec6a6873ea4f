//! OCR as a child has it: pictures go to the parent, which answers with their text.

use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use crate::extract::{Ocr, OcrError, Picture, Recognized};
use crate::wire::{self, Answer, Request, Setup};

use super::limits;

/// The parent's OCR. One picture is under way at a time.
pub(super) struct ParentOcr<'a> {
    socket: &'a UnixStream,
    setup: &'a Setup,
}

impl<'a> ParentOcr<'a> {
    pub(super) fn new(socket: &'a UnixStream, setup: &'a Setup) -> Self {
        Self { socket, setup }
    }

    fn ask(&self, picture: &Picture) -> io::Result<Result<Recognized, OcrError>> {
        let mut to = self.socket;
        let &Picture {
            width, height, dpi, ..
        } = picture;
        to.write_all(&wire::encode(&Answer::Picture { width, height, dpi })?)?;
        to.write_all(&picture.pixels)?;
        let Some((Request::Recognized(answer), None)) = wire::receive_request(self.socket.as_fd())?
        else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        // A page that was drawn has cost processor time of its own; the parent bounds how many
        // pictures a document may send.
        if !matches!(&answer, Err(error) if error.is_final()) {
            limits::allow_cpu(self.setup.cpu_secs)?;
        }
        Ok(answer)
    }
}

impl Ocr for ParentOcr<'_> {
    fn read(&self, picture: &Picture) -> Result<Recognized, OcrError> {
        self.ready()?;
        let count = Picture::pixels_of(picture.width, picture.height);
        if count != Some(picture.pixels.len()) {
            return Err(OcrError::Failed("the picture is too large".to_owned()));
        }
        // When the socket fails the parent is gone, and the next word to it ends this child.
        self.ask(picture)
            .unwrap_or_else(|_gone| Err(OcrError::Failed("the parser is ending".to_owned())))
    }

    fn dpi(&self) -> u32 {
        self.setup.ocr.dpi
    }

    fn ready(&self) -> Result<(), OcrError> {
        self.setup.ocr.absent.clone().map_or(Ok(()), Err)
    }
}
