//! Reading one page of a PDF by both readers, in a limited child, on demand.

use std::fs::File;
use std::num::NonZeroUsize;
use std::process::ExitCode;

use shared::format::Format;
use shared::secret::Password;

use crate::child::serve;
use crate::error::PoolError;
use crate::extract::{ExtractError, ExtractedPage, ReadingsReader};
use crate::pool::{Plan, Pool};
use crate::wire::Task;

/// A page as both readers have it; `Err` says why one has not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Readings {
    /// With structure, as Markdown.
    pub first: Result<String, String>,
    /// `PDFium`'s plain text.
    pub second: Result<String, String>,
}

/// The program of a child that reads page `number` of every document twice.
pub fn child_main(number: u32) -> ExitCode {
    serve(|setup| Box::new(ReadingsReader::new(setup.second_reader.clone(), number)))
}

/// Both readings of a page of the PDF `file`. The plan's arguments make the program call
/// [`child_main`] with the page's number.
///
/// # Errors
/// What the child said, or how it ended.
pub async fn read(
    plan: Plan,
    file: File,
    name: String,
    password: Option<Password>,
) -> Result<Readings, PoolError> {
    let pool = Pool::start(plan, NonZeroUsize::MIN).map_err(PoolError::Start)?;
    let task = Task {
        format: Format::Pdf,
        name,
        password,
    };
    let mut pages = pool.extract(task, file).await?.pages.into_iter();
    match (pages.next(), pages.next()) {
        (Some(first), Some(second)) => Ok(Readings {
            first: text(first),
            second: text(second),
        }),
        _ => Err(PoolError::Extract(ExtractError::Damaged {
            what: "it has no pages".to_owned(),
        })),
    }
}

fn text(page: ExtractedPage) -> Result<String, String> {
    page.record.error.map_or(Ok(page.markdown), Err)
}
