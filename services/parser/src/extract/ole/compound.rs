//! Streams of a compound file ([MS-CFB]).

use std::io::{Cursor, Read as _};

use cfb::CompoundFile;

use crate::extract::ExtractError;

/// What every compound file begins with.
const HEADER_BYTES: usize = 512;
/// A stream, at most.
const MOST_BYTES: u64 = 512 << 20;
/// Streams of a file that are copied.
const MOST_STREAMS: usize = 10_000;

/// An open compound file.
pub(in crate::extract) struct Compound<'a>(CompoundFile<Cursor<&'a [u8]>>);

impl<'a> Compound<'a> {
    pub(in crate::extract) fn open(bytes: &'a [u8]) -> Result<Self, ExtractError> {
        if bytes.len() < HEADER_BYTES {
            return Err(damaged("it is cut off"));
        }
        match CompoundFile::open(Cursor::new(bytes)) {
            Ok(file) => Ok(Self(file)),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                Err(damaged("it is cut off"))
            }
            Err(_) => Err(damaged("the table of its parts is broken")),
        }
    }

    pub(in crate::extract) fn has(&self, path: &str) -> bool {
        self.0.is_stream(path)
    }

    /// The whole of the stream `path`.
    pub(in crate::extract) fn stream(&mut self, path: &str) -> Result<Vec<u8>, ExtractError> {
        let broken = |_error| damaged("one of its parts is broken");
        let stream = self.0.open_stream(path).map_err(broken)?;
        let mut bytes = Vec::new();
        // What can be read of a broken stream is worth having.
        let read = stream.take(MOST_BYTES).read_to_end(&mut bytes);
        if bytes.is_empty() {
            read.map_err(broken)?;
        }
        Ok(bytes)
    }

    /// The first of these streams that is there.
    pub(in crate::extract) fn first_stream(
        &mut self,
        paths: &[&str],
    ) -> Result<Vec<u8>, ExtractError> {
        match paths.iter().find(|path| self.has(path)) {
            Some(path) => self.stream(path),
            None => Err(damaged("the part with its text is not in it")),
        }
    }

    /// The same streams in a file that is sound, for readers that believe what a file says.
    pub(super) fn rebuilt(&mut self) -> Result<Vec<u8>, ExtractError> {
        let broken = |_error| damaged("its parts cannot be taken apart");
        let entries = self.0.walk().take(MOST_STREAMS);
        let entries: Vec<_> = entries
            .filter(|entry| !entry.is_root())
            .map(|entry| (entry.path().to_path_buf(), entry.is_stream()))
            .collect();
        let mut copy = CompoundFile::create(Cursor::new(Vec::new())).map_err(broken)?;
        for (path, is_stream) in entries {
            if !is_stream {
                copy.create_storage(&path).map_err(broken)?;
                continue;
            }
            let mut from = self.0.open_stream(&path).map_err(broken)?.take(MOST_BYTES);
            let mut to = copy.create_stream(&path).map_err(broken)?;
            std::io::copy(&mut from, &mut to).map_err(broken)?;
        }
        copy.flush().map_err(broken)?;
        Ok(copy.into_inner().into_inner())
    }
}

fn damaged(what: &str) -> ExtractError {
    ExtractError::Damaged {
        what: what.to_owned(),
    }
}
