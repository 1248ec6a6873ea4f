//! A document's pictures: received from the child, read by OCR, answered. The child waits
//! meanwhile, so at most one picture per child is in memory here.

use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::extract::{Ocr as _, OcrError, Picture};
use crate::ocr::OcrPlan;
use crate::wire::{self, Request};

use super::Deadline;

/// What drawing a page may take a child, beside the time for its document.
const DRAWING: Duration = Duration::from_secs(1);

/// The pictures of one document.
pub(super) struct Pictures<'a> {
    plan: &'a OcrPlan,
    /// Time that is left for them.
    left: Duration,
}

impl<'a> Pictures<'a> {
    pub(super) fn new(plan: &'a OcrPlan) -> Self {
        Self {
            plan,
            left: plan.per_document,
        }
    }

    /// Takes a picture of this width, height and resolution from `socket` before `deadline`, and
    /// sends what it says. Gives the time by which the document's own is to be prolonged.
    pub(super) fn answer(
        &mut self,
        socket: &UnixStream,
        deadline: Instant,
        (width, height, dpi): (u32, u32, u32),
    ) -> io::Result<Duration> {
        let count =
            Picture::pixels_of(width, height).ok_or(io::Error::from(io::ErrorKind::InvalidData))?;
        let started = Instant::now();
        let result = if self.left.is_zero() {
            skip(socket, deadline, count)?;
            Err(OcrError::OutOfTime)
        } else {
            let mut pixels = vec![0; count];
            Deadline {
                socket,
                at: deadline,
            }
            .read_exact(&mut pixels)?;
            self.plan.reader.read(&Picture {
                width,
                height,
                dpi,
                pixels,
            })
        };
        let took = started.elapsed() + DRAWING;
        self.left = self.left.saturating_sub(took);
        wire::send_request(socket.as_fd(), &Request::Recognized(result), None)?;
        Ok(took)
    }
}

/// Reads `count` bytes and keeps none.
fn skip(socket: &UnixStream, at: Instant, count: usize) -> io::Result<()> {
    let bytes = u64::try_from(count).unwrap_or(u64::MAX);
    let mut pixels = Deadline { socket, at }.take(bytes);
    if io::copy(&mut pixels, &mut io::sink())? == bytes {
        Ok(())
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}
