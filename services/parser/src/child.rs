//! The child process: it takes documents over its standard input, a Unix socket, and reads them
//! within its limits. It has no settings, no log and no network.

mod files;
mod limits;
mod pictures;
mod recognition;
mod sandbox;

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use shared::secret::Password;

use crate::extract::{ExtractError, Extraction, Extractors, Input, Ocr, Spent, places};
use crate::wire::{self, Answer, Request, Setup, Task};

use self::pictures::ParentOcr;

/// Exit code for a wrong start, as of sysexits.
const USAGE: u8 = 64;

/// Reads one document within a child.
pub trait Reader {
    /// The document `bytes`, whose pictures `ocr` reads.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read(&self, task: &Task, bytes: &[u8], ocr: &dyn Ocr) -> Result<Extraction, ExtractError>;
}

impl Reader for Extractors {
    fn read(&self, task: &Task, bytes: &[u8], ocr: &dyn Ocr) -> Result<Extraction, ExtractError> {
        let spent = Spent::default();
        let input = Input::new(&task.name, bytes, self, ocr, &spent)
            .with_password(task.password.as_ref().map(Password::reveal));
        self.extract(task.format, &input)
    }
}

/// The program of a child: serves until the parent closes its end.
pub fn child_main() -> ExitCode {
    serve(|setup| Box::new(Extractors::new(setup.second_reader.clone())))
}

/// Serves with the reader that `build` makes once the setup is known.
pub fn serve(build: impl FnOnce(&Setup) -> Box<dyn Reader>) -> ExitCode {
    // A panic's text may quote the document.
    std::panic::set_hook(Box::new(|_| {}));
    match try_serve(build) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => ExitCode::from(USAGE),
        Err(_) => ExitCode::FAILURE,
    }
}

fn try_serve(build: impl FnOnce(&Setup) -> Box<dyn Reader>) -> io::Result<()> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    socket
        .peer_addr()
        .map_err(|_not_a_socket| io::Error::from(io::ErrorKind::InvalidInput))?;
    let setup = match wire::receive_request(socket.as_fd())? {
        Some((Request::Setup(setup), None)) => setup,
        Some((Request::Recognize(recognition), Some(picture))) => {
            return Err(recognition::become_program(&recognition, picture, socket));
        }
        _ => return Err(io::ErrorKind::InvalidInput.into()),
    };
    limits::apply(setup.parent, setup.memory_bytes)?;
    let reader = build(&setup);
    let confined = files::confine(&setup.second_reader).unwrap_or(false);
    let sandboxed = sandbox::enter().is_ok();
    let ready = Answer::Ready {
        sandboxed,
        confined,
    };
    (&socket).write_all(&wire::encode(&ready)?)?;
    while let Some((request, file)) = wire::receive_request(socket.as_fd())? {
        let (Request::Extract(task), Some(file)) = (request, file) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        limits::allow_cpu(setup.cpu_secs)?;
        let ocr = ParentOcr::new(&socket, &setup);
        answer(&mut &socket, (reader.as_ref(), &ocr), &task, file)?;
    }
    Ok(())
}

fn answer(
    to: &mut &UnixStream,
    (reader, ocr): (&dyn Reader, &dyn Ocr),
    task: &Task,
    file: OwnedFd,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    File::from(file).read_to_end(&mut bytes)?;
    let panicked = || ExtractError::Damaged {
        what: "the reader failed on it".to_owned(),
    };
    let result = catch_unwind(AssertUnwindSafe(|| reader.read(task, &bytes, ocr)))
        .unwrap_or_else(|_panic| Err(panicked()));
    let last = match result {
        Ok(extraction) => {
            let done = Answer::Done {
                title: extraction.title,
                notes: extraction.notes,
            };
            for page in extraction.pages {
                // Places are an extra: a page without them is read all the same.
                let found = catch_unwind(|| places(&page, &extraction.characters));
                to.write_all(&wire::encode(&Answer::Page(page))?)?;
                if let Ok(Some(places)) = found {
                    to.write_all(&wire::encode(&Answer::Places(places))?)?;
                }
            }
            done
        }
        Err(error) => Answer::Failed(error),
    };
    to.write_all(&wire::encode(&last)?)
}
