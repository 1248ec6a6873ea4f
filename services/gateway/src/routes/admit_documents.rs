//! `POST /api/v1/documents`: takes documents in.
//!
//! A multipart form with the fields `path`, `modified` and `password` (optional, for the next
//! file), `collection`, `force`, and then `file`. More `file` fields may follow, each with a `path`,
//! `modified` and `password` of its own before it. A field that comes after the last file would have no effect,
//! and is refused together with that file. One file is answered by an object, several by an array,
//! in which a file that was not taken has an `error`; the others are not held up by it.

use std::sync::Arc;
use std::time::Duration;

use aide::transform::TransformOperation;
use axum::extract::State;
use axum::extract::multipart::Field;
use schemars::JsonSchema;
use serde::Serialize;
use shared::contract::subject::call;
use shared::contract::{Admit, Admitted, CollectionName, ErrorCode, Sha256Hex};
use shared::format::{Format, detect};
use shared::secret::Password;
use tokio::time::timeout;

use crate::app::App;
use crate::error::ApiError;
use crate::extract::Form;
use crate::http_status::Code;
use crate::intake::{self, Limits, Staged, in_time};
use crate::limit::busy;
use crate::openapi::Accepted;
use crate::sealing;
use crate::source_path::SourcePath;

/// Bytes of a field that is not a file.
const FIELD_BYTES: usize = 8 * 1024;
/// Files of one request; each is stored and admitted before the next is read.
const MAX_FILES: usize = 1000;
/// How long an upload waits for a place; its bytes wait on the sender's side.
const PLACE_WITHIN: Duration = Duration::from_secs(5);

/// What the fields before a file said.
#[derive(Debug, Clone, Default)]
struct Said {
    path: Option<String>,
    collection: CollectionName,
    force: bool,
    /// When the next file was last written, in milliseconds since 1970.
    modified_ms: Option<i64>,
    /// For the next file.
    password: Option<Password>,
    /// The last of these fields, until a file follows.
    unused: Option<&'static str>,
}

/// A file that lies on the disk and is not admitted yet.
#[derive(Debug)]
struct Arrived {
    path: SourcePath,
    said: Said,
    format: Format,
    staged: Staged,
}

/// What became of a file so far, with the path that was given for it.
type Received<T> = (Option<String>, Result<T, ApiError>);

/// A document that was taken in.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TakenIn")]
pub(crate) struct Taken {
    /// Its path, which is its identity within the collection.
    path: String,
    /// Its collection.
    collection: CollectionName,
    /// The hash of its bytes.
    content: Sha256Hex,
    /// Their number.
    bytes: u64,
    /// How it will be read.
    format: Format,
    #[serde(flatten)]
    admitted: Admitted,
}

/// What became of one of several files.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "OneOfSeveral")]
pub(crate) enum Outcome {
    /// It was taken in.
    Taken(Box<Taken>),
    /// It was not; the others are not held up by it.
    Refused {
        /// Its path, if one was given.
        path: Option<String>,
        /// Why not.
        error: Refusal,
    },
}

/// One file's outcome, or those of several.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Added")]
pub(crate) enum Answer {
    /// The form had one file.
    One(Box<Taken>),
    /// In the order of the form.
    Several(Vec<Outcome>),
}

/// Why a file was not taken in.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Refusal {
    /// For programs.
    code: Code,
    /// What went wrong, for people.
    message: String,
    /// What to do about it.
    remedy: String,
}

impl Outcome {
    fn new(path: Option<String>, result: Result<Taken, ApiError>) -> Self {
        match result {
            Ok(taken) => Self::Taken(Box::new(taken)),
            Err(ApiError {
                code,
                message,
                remedy,
                ..
            }) => Self::Refused {
                path,
                error: Refusal {
                    code,
                    message,
                    remedy,
                },
            },
        }
    }
}

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("add_documents")
        .tag("documents")
        .summary("Takes documents in")
        .description(
            "Answers when the catalog has them, not when they are searchable. One file is \
             answered by an object, several by an array.",
        )
}

/// Admits every file of the form.
pub(crate) async fn admit(
    State(app): State<App>,
    form: Result<Form, ApiError>,
) -> Result<Accepted<Answer>, ApiError> {
    let place = Arc::clone(&app.uploads).acquire_owned();
    let Ok(Ok(_place)) = timeout(PLACE_WITHIN, place).await else {
        return Err(busy("uploads"));
    };
    let pause = app.deadlines.upload_pause;
    let Form(mut form) = form?;
    let mut said = Said::default();
    let mut results = Vec::new();
    // A file is admitted once it is known that no field for it comes too late.
    let mut last: Option<Received<Arrived>> = None;
    while let Some(mut field) = in_time(pause, form.next_field()).await? {
        match field.name().unwrap_or_default() {
            "path" => {
                said.path = Some(text(&mut field, pause).await?);
                said.unused = Some("path");
            }
            "collection" => {
                said.collection = collection(&text(&mut field, pause).await?)?;
                said.unused = Some("collection");
            }
            "force" => {
                said.force = flag(&text(&mut field, pause).await?)?;
                said.unused = Some("force");
            }
            "modified" => {
                said.modified_ms = moment(&text(&mut field, pause).await?)?;
                said.unused = Some("modified");
            }
            "password" => {
                said.password = sealing::password(text(&mut field, pause).await?)?;
                said.unused = Some("password");
            }
            "file" if results.len() + 1 < MAX_FILES || last.is_none() => {
                results.extend(settle(&app, last.take()).await);
                said.unused = None;
                let path = said.path.take();
                let arrived = receive(&app, &said, path.as_deref(), &mut field).await;
                said.password = None;
                said.modified_ms = None;
                let refused = arrived.as_ref().err().map(|error| error.code);
                last = Some((path, arrived));
                // Who was too slow has had the time there is.
                let goes_on = match refused {
                    None => true,
                    Some(Code::TooSlow) => false,
                    Some(_) => intake::read_on(&mut field, pause).await,
                };
                if !goes_on {
                    break;
                }
            }
            "file" => {
                settle(&app, last.take()).await;
                return Err(ApiError::new(
                    ErrorCode::TooLarge,
                    format!("the form has more than {MAX_FILES} files"),
                    "send the rest in another request",
                ));
            }
            other => {
                return Err(ApiError::bad_request(
                    format!("the form has no field `{}`", other.escape_debug()),
                    "send `path`, `collection`, `force`, `modified`, `password`, then `file`",
                ));
            }
        }
    }
    if let (Some(field), Some((_, arrived))) = (said.unused, &mut last) {
        *arrived = Err(ApiError::bad_request(
            format!("`{field}` comes after the file"),
            "send `path`, `collection`, `force`, `modified` and `password` before the file they \
             are for",
        ));
    }
    results.extend(settle(&app, last).await);
    respond(results)
}

/// Has the catalog admit the file, if there is one that has arrived.
async fn settle(app: &App, last: Option<Received<Arrived>>) -> Option<Received<Taken>> {
    let (path, arrived) = last?;
    let taken = match arrived {
        Ok(arrived) => admit_one(app, arrived).await,
        Err(error) => Err(error),
    };
    Some((path, taken))
}

/// Receives one file.
async fn receive(
    app: &App,
    said: &Said,
    path: Option<&str>,
    field: &mut Field<'_>,
) -> Result<Arrived, ApiError> {
    let path = match path {
        Some(path) => SourcePath::parse(path, &said.collection)?,
        None => SourcePath::of_upload(field.file_name().unwrap_or_default(), &said.collection)?,
    };
    let limits = Limits {
        bytes: app.max_upload_bytes,
        pause: app.deadlines.upload_pause,
    };
    let check = |head: &[u8]| {
        detect(path.name(), head).map_err(|error| {
            let text = error.to_string();
            let (message, remedy) = text.rsplit_once("; ").unwrap_or((&text, "convert it"));
            ApiError::new(ErrorCode::UnsupportedFormat, message, remedy)
        })
    };
    let (staged, format) = intake::receive(field, &app.staging, limits, check).await?;
    Ok(Arrived {
        path,
        said: said.clone(),
        format,
        staged,
    })
}

/// Stores a file's bytes, then has the catalog admit it.
async fn admit_one(app: &App, arrived: Arrived) -> Result<Taken, ApiError> {
    let Arrived {
        path,
        said,
        format,
        staged,
    } = arrived;
    let password = match said.password {
        Some(password) => Some(app.sealing.seal(password, &staged.content).await?),
        None => None,
    };
    staged.store(&app.blobs).await?;
    let admit = Admit {
        path: path.as_str().to_owned(),
        collection: said.collection,
        content: staged.content.clone(),
        bytes: staged.bytes,
        format,
        force: said.force,
        password,
        modified_ms: said.modified_ms,
    };
    let admitted: Admitted = app.call(call::CATALOG_ADMIT, &admit).await?;
    // A deletion of the same bytes elsewhere may have removed the original between its storing
    // and the admission, which now protects it.
    if !staged.is_stored(&app.blobs).await? {
        staged.store(&app.blobs).await?;
    }
    Ok(Taken {
        path: admit.path,
        collection: admit.collection,
        content: admit.content,
        bytes: admit.bytes,
        format,
        admitted,
    })
}

/// One file: an object or an error; several: an array.
fn respond(mut results: Vec<Received<Taken>>) -> Result<Accepted<Answer>, ApiError> {
    if results.len() > 1 {
        let all = results
            .into_iter()
            .map(|(path, result)| Outcome::new(path, result))
            .collect();
        return Ok(Accepted(Answer::Several(all)));
    }
    match results.pop() {
        Some((_, result)) => Ok(Accepted(Answer::One(Box::new(result?)))),
        None => Err(ApiError::bad_request(
            "the form has no file",
            "send a field `file`",
        )),
    }
}

async fn text(field: &mut Field<'_>, pause: Duration) -> Result<String, ApiError> {
    let mut bytes = Vec::new();
    while let Some(piece) = intake::next_piece(field, pause).await? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > FIELD_BYTES {
            return Err(ApiError::new(
                ErrorCode::TooLarge,
                format!("a field has more than {FIELD_BYTES} bytes"),
                "send documents as `file`",
            ));
        }
    }
    String::from_utf8(bytes)
        .map_err(|error| ApiError::bad_request(format!("a field is {error}"), "send UTF-8"))
}

fn collection(text: &str) -> Result<CollectionName, ApiError> {
    if text.is_empty() {
        return Ok(CollectionName::default());
    }
    text.parse().map_err(|error| {
        ApiError::bad_request(format!("{error}"), "give another name to `collection`")
    })
}

fn flag(text: &str) -> Result<bool, ApiError> {
    match text {
        "true" | "1" | "on" => Ok(true),
        "" | "false" | "0" | "off" => Ok(false),
        other => Err(ApiError::bad_request(
            format!("`force` is `{}`", other.escape_debug()),
            "give `true` or `false`",
        )),
    }
}

/// A moment as RFC 3339 or as milliseconds since 1970.
fn moment(text: &str) -> Result<Option<i64>, ApiError> {
    if text.is_empty() {
        return Ok(None);
    }
    let millis = text.parse::<i64>().ok().or_else(|| {
        let moment: jiff::Timestamp = text.parse().ok()?;
        Some(moment.as_millisecond())
    });
    // What no calendar holds is no date of a file.
    let known = millis.filter(|millis| jiff::Timestamp::from_millisecond(*millis).is_ok());
    known.map(Some).ok_or_else(|| {
        ApiError::bad_request(
            format!("`modified` is `{}`", text.escape_debug()),
            "give when the file was last written, as `2026-11-30T10:15:00Z` or in milliseconds \
             since 1970",
        )
    })
}
