//! What parent and child say to each other over one Unix socket pair: a 4-byte length (big
//! endian), then JSON. A document travels as an open file beside its request, a picture as bytes
//! after its answer.

use std::io::{self, IoSlice, IoSliceMut, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use shared::contract::PagePlaces;
use shared::format::Format;
use shared::secret::Password;

use crate::extract::{ExtractError, ExtractedPage, OcrError, Recognized, SecondReader};

/// Requests are small: a format, a name, a path; at most the text of one picture.
const MAX_REQUEST_BYTES: usize = 4 << 20;

/// What the parent asks for. The first request is `Setup` or `Recognize`, once.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// How to read, and within which limits.
    Setup(Setup),
    /// Read the document whose file comes with this.
    Extract(Task),
    /// To the `Picture` that the child has sent: what it says.
    Recognized(Result<Recognized, OcrError>),
    /// Become the OCR program; the picture comes with this as its standard input, and the socket
    /// becomes its standard output.
    Recognize(Recognition),
}

/// An OCR program and its limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recognition {
    /// The process that must still be the parent.
    pub parent: i32,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its whole environment.
    pub environment: Vec<(String, String)>,
    /// Address space, in bytes.
    pub memory_bytes: u64,
    /// Processor time, in seconds.
    pub cpu_secs: u64,
}

/// What holds for a child's whole life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The process that must still be the parent.
    pub parent: i32,
    /// Address space, in bytes.
    pub memory_bytes: u64,
    /// Processor time per document, in seconds.
    pub cpu_secs: u64,
    /// How PDFs are checked.
    pub second_reader: SecondReader,
    /// How pictures are read.
    pub ocr: OcrSetup,
}

/// What a child knows of the OCR that its parent does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OcrSetup {
    /// Why no picture is read, where none is.
    pub absent: Option<OcrError>,
    /// Pixels per inch at which pages are drawn.
    pub dpi: u32,
}

/// One document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// How it is read.
    pub format: Format,
    /// The file's own name.
    pub name: String,
    /// What may open it.
    #[serde(default)]
    pub password: Option<Password>,
}

/// What the child answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// To `Setup`: it takes documents now.
    Ready {
        /// Whether the kernel holds the system call filter.
        sandboxed: bool,
        /// Whether the kernel keeps it from other files.
        confined: bool,
    },
    /// To `Extract`: a picture to be read, whose pixels follow this, and then the parent's
    /// `Recognized`.
    Picture {
        /// In pixels.
        width: u32,
        /// In pixels.
        height: u32,
        /// Pixels per inch; 0 when not known.
        dpi: u32,
    },
    /// To `Extract`: one page; more answers follow.
    Page(ExtractedPage),
    /// To `Extract`: where the text of the page before this stands on its PDF page.
    Places(PagePlaces),
    /// To `Extract`: that was all.
    Done {
        /// The document's title.
        title: Option<String>,
        /// What concerns the whole document.
        notes: Vec<String>,
    },
    /// To `Extract`: it cannot be read.
    Failed(ExtractError),
}

/// `message` with its length before it.
///
/// # Errors
/// When it does not encode, or is longer than 4 GiB.
pub fn encode<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len()).map_err(io::Error::other)?;
    Ok([&length.to_be_bytes(), body.as_slice()].concat())
}

/// The next message of at most `limit` bytes, and its length; `None` at the end of the stream.
///
/// # Errors
/// [`io::ErrorKind::FileTooLarge`] beyond `limit`; else what reading or decoding says.
pub fn read<T: DeserializeOwned>(
    mut from: impl Read,
    limit: usize,
) -> io::Result<Option<(T, usize)>> {
    let mut prefix = [0; 4];
    let mut have = 0;
    while let Some(rest) = prefix.get_mut(have..).filter(|rest| !rest.is_empty()) {
        match from.read(rest)? {
            0 if have == 0 => return Ok(None),
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => have += n,
        }
    }
    let length = usize::try_from(u32::from_be_bytes(prefix)).map_err(io::Error::other)?;
    if length > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    Ok(Some((serde_json::from_slice(&body)?, length)))
}

/// Sends a request, with a file if the request is about one.
///
/// # Errors
/// When the child is gone, or takes nothing.
pub fn send_request(
    to: BorrowedFd<'_>,
    request: &Request,
    file: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let message = encode(request)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let files: Vec<_> = file.into_iter().collect();
    if !files.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&files)) {
        return Err(io::Error::other("no room for the file"));
    }
    // NOSIGNAL: a dead child is an error here, not the end of the parent.
    let flags = SendFlags::NOSIGNAL;
    let mut sent = rustix::net::sendmsg(to, &[IoSlice::new(&message)], &mut control, flags)?;
    while let Some(rest) = message.get(sent..).filter(|rest| !rest.is_empty()) {
        match rustix::net::send(to, rest, flags)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            more => sent += more,
        }
    }
    Ok(())
}

/// The next request with its file; `None` once the parent has closed its end.
///
/// # Errors
/// When what comes is no request.
pub fn receive_request(from: BorrowedFd<'_>) -> io::Result<Option<(Request, Option<OwnedFd>)>> {
    let mut reader = FileReader {
        socket: from,
        file: None,
    };
    let request = read(&mut reader, MAX_REQUEST_BYTES)?;
    Ok(request.map(|(request, _)| (request, reader.file)))
}

/// Reads a socket and keeps the file that comes with the bytes.
struct FileReader<'a> {
    socket: BorrowedFd<'a>,
    file: Option<OwnedFd>,
}

impl Read for FileReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = loop {
            let mut parts = [IoSliceMut::new(buffer)];
            match rustix::net::recvmsg(
                self.socket.as_fd(),
                &mut parts,
                &mut control,
                RecvFlags::CMSG_CLOEXEC,
            ) {
                Err(rustix::io::Errno::INTR) => {}
                received => break received?,
            }
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                self.file = files.last().or_else(|| self.file.take());
            }
        }
        Ok(received.bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_file_travels_beside_its_request() {
        let (parent, child) = UnixStream::pair().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"the document").unwrap();
        file.rewind().unwrap();
        let task = Task {
            format: Format::Text,
            name: "a.txt".to_owned(),
            password: None,
        };
        send_request(
            parent.as_fd(),
            &Request::Extract(task.clone()),
            Some(file.as_fd()),
        )
        .unwrap();
        drop((parent, file));

        let (request, received) = receive_request(child.as_fd()).unwrap().unwrap();
        assert!(matches!(request, Request::Extract(got) if got == task));
        let text = io::read_to_string(std::fs::File::from(received.unwrap())).unwrap();
        assert_eq!(text, "the document");
        assert!(
            receive_request(child.as_fd()).unwrap().is_none(),
            "the parent has closed"
        );
    }

    #[test]
    fn a_message_longer_than_allowed_is_refused_before_it_is_read() {
        let answer = Answer::Done {
            title: None,
            notes: vec!["n".repeat(100)],
        };
        let bytes = encode(&answer).unwrap();
        assert_eq!(
            read(bytes.as_slice(), 200).unwrap(),
            Some((answer, bytes.len() - 4))
        );
        let error = read::<Answer>(bytes.as_slice(), 50).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        let error = read::<Answer>(&bytes[..20], 200).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        let error = read::<Answer>(&bytes[..2], 200).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(read::<Answer>(io::empty(), 200).unwrap(), None);
    }
}
