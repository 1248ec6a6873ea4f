//! The gateway's API as the commands use it.

mod sse;

use std::path::Path;
use std::time::Duration;

use futures::{Stream, StreamExt as _, TryStreamExt as _};
use reqwest::multipart::{Form, Part};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use shared::contract::{
    Admitted, AnswerEvent, CatalogStatus, CollectionName, DeletionReceipt, DocumentId,
    DocumentPage, DocumentState, DocumentView, ErrorBody, ErrorCode, FsckReport, Health, Question,
    Retried, Retry, SearchReply,
};

use crate::error::Complaint;
use crate::supervise::endpoint::Endpoint;

/// For everything but uploads, answers and checks of all stores.
const DEADLINE: Duration = Duration::from_secs(30);
const LONG_DEADLINE: Duration = Duration::from_mins(30);
/// Between two pieces of a streamed answer.
const SILENCE: Duration = Duration::from_mins(2);
/// Documents per page of a listing.
const PAGE: u32 = 500;

/// Why the gateway did not give what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// It does not answer.
    #[error("the gateway does not answer")]
    Unreachable(#[source] reqwest::Error),
    /// It answered with an error.
    #[error("{0}")]
    Said(ErrorBody),
    /// It answered something else than it should.
    #[error("the gateway's answer is not understood: {0}")]
    Strange(String),
    /// The file to send cannot be read.
    #[error("cannot read the file: {0}")]
    File(std::io::Error),
}

impl ClientError {
    /// Whether the same request may work a little later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            Self::Said(error) => {
                matches!(
                    error.code,
                    ErrorCode::Busy | ErrorCode::Unavailable | ErrorCode::Deadline
                )
            }
            Self::Strange(_) | Self::File(_) => false,
        }
    }

    /// The error as told by the gateway, or in its manner.
    pub fn into_body(self) -> ErrorBody {
        match self {
            Self::Said(error) => error,
            Self::Unreachable(_) => ErrorBody::new(
                ErrorCode::Unavailable,
                "the gateway does not answer",
                "see the log of `ibid up`, or start it again",
            ),
            Self::Strange(answer) => ErrorBody::new(
                ErrorCode::Internal,
                format!("the gateway's answer is not understood: {answer}"),
                "use the same version of `ibid` for `up` and for this command",
            ),
            Self::File(error) => ErrorBody::new(
                ErrorCode::BadRequest,
                format!("cannot be read: {error}"),
                "check the file and its permissions",
            ),
        }
    }
}

impl From<ClientError> for Complaint {
    fn from(error: ClientError) -> Self {
        error.into_body().into()
    }
}

/// What `GET /api/v1/status` tells.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Status {
    /// Every service that answered.
    pub services: Vec<Health>,
    /// The catalog, unless it did not answer.
    pub catalog: Option<CatalogStatus>,
    /// Why it did not.
    #[serde(default)]
    pub error: Option<ErrorBody>,
}

/// Which documents are listed.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Only of this collection.
    pub collection: Option<CollectionName>,
    /// Only in this state.
    pub state: Option<DocumentState>,
}

/// A file to send.
#[derive(Debug, Clone)]
pub struct Upload<'a> {
    /// The file; its absolute path is the document's identity.
    pub path: &'a Path,
    /// Where it goes.
    pub collection: &'a CollectionName,
    /// Do all work again even if nothing changed.
    pub force: bool,
}

/// A gateway on this machine. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Gateway {
    base: String,
    http: Client,
}

impl Gateway {
    /// The gateway at `url`. No proxy, no redirect.
    pub fn at(url: &str) -> Self {
        let http = Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(Duration::from_secs(5))
            .build()
            .unwrap_or_default();
        Self {
            base: url.trim_end_matches('/').to_owned(),
            http,
        }
    }

    /// The gateway of the Ibid that runs on the data folder.
    ///
    /// # Errors
    /// When none runs.
    pub fn find(data: &Path) -> Result<(Self, Endpoint), Complaint> {
        let endpoint = Endpoint::find(data)
            .ok_or_else(|| Complaint::new("Ibid is not running", "start it with `ibid up`"))?;
        Ok((Self::at(&endpoint.url), endpoint))
    }

    /// Whether it answers at all.
    pub async fn is_alive(&self) -> bool {
        let asked = self
            .request(Method::GET, "/healthz")
            .timeout(Duration::from_secs(2))
            .send();
        asked.await.is_ok_and(|answer| answer.status().is_success())
    }

    /// Services and catalog.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn status(&self) -> Result<Status, ClientError> {
        answer(
            self.request(Method::GET, "/api/v1/status")
                .timeout(DEADLINE),
        )
        .await
    }

    /// Sends a file.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn upload(&self, upload: &Upload<'_>) -> Result<Admitted, ClientError> {
        let file = tokio::fs::File::open(upload.path)
            .await
            .map_err(ClientError::File)?;
        let length = file.metadata().await.map_err(ClientError::File)?.len();
        let name = upload
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let part = Part::stream_with_length(file, length).file_name(name);
        let form = Form::new()
            .text("path", upload.path.to_string_lossy().into_owned())
            .text("collection", upload.collection.to_string())
            .text("force", upload.force.to_string())
            .part("file", part);
        let request = self
            .request(Method::POST, "/api/v1/documents")
            .timeout(LONG_DEADLINE);
        answer(request.multipart(form)).await
    }

    /// One document.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn document(&self, id: &DocumentId) -> Result<DocumentView, ClientError> {
        let path = format!("/api/v1/documents/{id}");
        answer(self.request(Method::GET, &path).timeout(DEADLINE)).await
    }

    /// All documents of a listing, page by page.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn documents(&self, listing: &Listing) -> Result<Vec<DocumentView>, ClientError> {
        let mut all = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = self.page(listing, after.as_deref()).await?;
            let empty = page.documents.is_empty();
            all.extend(page.documents);
            match page.next {
                Some(next) if !empty => after = Some(next),
                _ => return Ok(all),
            }
        }
    }

    async fn page(
        &self,
        listing: &Listing,
        after: Option<&str>,
    ) -> Result<DocumentPage, ClientError> {
        let mut query = vec![("limit", PAGE.to_string())];
        query.extend(
            listing
                .collection
                .as_ref()
                .map(|name| ("collection", name.to_string())),
        );
        query.extend(listing.state.map(|state| ("state", state_name(state))));
        query.extend(after.map(|after| ("after", after.to_owned())));
        let path = format!("/api/v1/documents?{}", encode(&query));
        answer(self.request(Method::GET, &path).timeout(DEADLINE)).await
    }

    /// Deletes a document.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn delete(&self, id: &DocumentId) -> Result<DeletionReceipt, ClientError> {
        let path = format!("/api/v1/documents/{id}");
        answer(self.request(Method::DELETE, &path).timeout(LONG_DEADLINE)).await
    }

    /// Searches.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn search(&self, question: &Question) -> Result<SearchReply, ClientError> {
        answer(
            self.request(Method::POST, "/api/v1/search")
                .timeout(DEADLINE)
                .json(question),
        )
        .await
    }

    /// Asks; the answer comes event by event, and each must come in time.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn ask(
        &self,
        question: &Question,
    ) -> Result<impl Stream<Item = Result<AnswerEvent, ClientError>> + use<>, ClientError> {
        let asked = self
            .request(Method::POST, "/api/v1/ask")
            .json(question)
            .send();
        let response = match tokio::time::timeout(SILENCE, asked).await {
            Ok(sent) => refuse(sent.map_err(ClientError::Unreachable)?).await?,
            Err(_elapsed) => return Err(silent()),
        };
        let pieces = response
            .bytes_stream()
            .map_err(ClientError::Unreachable)
            .boxed();
        Ok(sse::events(pieces, SILENCE))
    }

    /// Tries documents again.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn retry(&self, retry: &Retry) -> Result<Retried, ClientError> {
        answer(
            self.request(Method::POST, "/api/v1/retry")
                .timeout(DEADLINE)
                .json(retry),
        )
        .await
    }

    /// Checks that all stores agree.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn fsck(&self) -> Result<FsckReport, ClientError> {
        answer(
            self.request(Method::GET, "/api/v1/fsck")
                .timeout(LONG_DEADLINE),
        )
        .await
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base))
    }
}

fn silent() -> ClientError {
    ClientError::Said(ErrorBody::new(
        ErrorCode::Deadline,
        format!("no answer within {} seconds", SILENCE.as_secs()),
        "ask again; `ibid status` shows what is busy",
    ))
}

async fn answer<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, ClientError> {
    let response = refuse(request.send().await.map_err(ClientError::Unreachable)?).await?;
    let bytes = response.bytes().await.map_err(ClientError::Unreachable)?;
    serde_json::from_slice(&bytes).map_err(|error| ClientError::Strange(error.to_string()))
}

/// Turns an answer of an error status into the error its body tells.
async fn refuse(response: Response) -> Result<Response, ClientError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let body = response.bytes().await.map_err(ClientError::Unreachable)?;
    Err(said(status, &body))
}

fn said(status: StatusCode, body: &[u8]) -> ClientError {
    serde_json::from_slice::<ErrorBody>(body).map_or_else(
        |_| ClientError::Strange(format!("status {status}")),
        ClientError::Said,
    )
}

/// The state's name in queries, the same as in JSON.
fn state_name(state: DocumentState) -> String {
    serde_json::to_value(state)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// `a=1&b=x%20y`.
fn encode(query: &[(&str, String)]) -> String {
    let escape = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    let pair = |(key, value): &(&str, String)| {
        format!("{key}={}", value.bytes().map(escape).collect::<String>())
    };
    query.iter().map(pair).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_told_as_the_gateway_says_them() {
        let body = br#"{"code":"busy","message":"too much","remedy":"wait","trace_id":"0a"}"#;
        let error = said(StatusCode::SERVICE_UNAVAILABLE, body);
        assert!(error.is_passing());
        assert_eq!(error.to_string(), "too much; wait");
        let error = said(StatusCode::BAD_GATEWAY, b"<html>");
        assert!(
            !error.is_passing() && error.to_string().contains("502"),
            "{error}"
        );
    }

    #[test]
    fn queries_are_escaped() {
        let query = [("after", "a b&c=ü".to_owned()), ("limit", "5".to_owned())];
        assert_eq!(encode(&query), "after=a%20b%26c%3D%C3%BC&limit=5");
        assert_eq!(state_name(DocumentState::Ready), "ready");
    }
}
