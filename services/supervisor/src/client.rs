//! The gateway's API as the commands use it.

mod error;
mod find;
mod pages;
mod sse;

use std::path::Path;
use std::time::Duration;

use futures::{Stream, StreamExt as _, TryStreamExt as _};
use reqwest::multipart::{Form, Part};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use shared::contract::{
    Admitted, AnswerEvent, CatalogStatus, CollectionName, DeletionReceipt, DocumentId,
    DocumentPage, DocumentState, DocumentView, ErrorBody, ErrorCode, FsckReport, GeneratorId,
    GeneratorList, GeneratorTried, Health, Question, Retried, Retry, SearchReply,
};
use shared::http::HttpServer;
use shared::secret::Password;
use tokio::time::Instant;

pub use error::ClientError;
pub use find::token;
use find::{Home, Token};
pub use pages::{Ledger, PageText};

/// For everything but uploads, answers and checks of all stores.
const DEADLINE: Duration = Duration::from_secs(30);
const LONG_DEADLINE: Duration = Duration::from_mins(30);
/// A model of some gigabytes, read from a slow disk.
const LOADING: Duration = Duration::from_mins(10);
/// Between two pieces of a streamed answer.
const SILENCE: Duration = Duration::from_mins(2);
/// For the restart of a gateway; it takes a second.
const RESTART_WITHIN: Duration = Duration::from_secs(5);
/// Documents per page of a listing.
const PAGE: u32 = 500;

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
    /// What may open it.
    pub password: Option<&'a Password>,
}

/// A gateway. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Gateway {
    server: HttpServer,
    token: Option<Token>,
    home: Option<Home>,
}

impl Gateway {
    fn over(server: HttpServer) -> Self {
        Self {
            server,
            token: None,
            home: None,
        }
    }

    /// Its address.
    pub fn url(&self) -> &str {
        self.server.url()
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
        self.answer(
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
        let metadata = file.metadata().await.map_err(ClientError::File)?;
        let name = upload
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let part = Part::stream_with_length(file, metadata.len()).file_name(name);
        let mut form = Form::new()
            .text("path", upload.path.to_string_lossy().into_owned())
            .text("collection", upload.collection.to_string())
            .text("force", upload.force.to_string());
        if let Some(modified) = modified_ms(&metadata) {
            form = form.text("modified", modified.to_string());
        }
        if let Some(password) = upload.password {
            form = form.text("password", password.reveal().to_owned());
        }
        let form = form.part("file", part);
        let request = self
            .request(Method::POST, "/api/v1/documents")
            .timeout(LONG_DEADLINE);
        self.answer(request.multipart(form)).await
    }

    /// One document.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn document(&self, id: &DocumentId) -> Result<DocumentView, ClientError> {
        let path = format!("/api/v1/documents/{id}");
        self.answer(self.request(Method::GET, &path).timeout(DEADLINE))
            .await
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

    /// How many documents a listing has.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn number_of_documents(&self, listing: &Listing) -> Result<u64, ClientError> {
        Ok(self.page(listing, None).await?.total)
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
        let request = self
            .server
            .request_with(Method::GET, "/api/v1/documents", &query);
        self.answer(self.signed(request).timeout(DEADLINE)).await
    }

    /// Deletes a document.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn delete(&self, id: &DocumentId) -> Result<DeletionReceipt, ClientError> {
        let path = format!("/api/v1/documents/{id}");
        self.answer(self.request(Method::DELETE, &path).timeout(LONG_DEADLINE))
            .await
    }

    /// Searches.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn search(&self, question: &Question) -> Result<SearchReply, ClientError> {
        self.answer(
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
        let asked = self.send(self.request(Method::POST, "/api/v1/ask").json(question));
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
        self.answer(
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
        self.answer(
            self.request(Method::GET, "/api/v1/fsck")
                .timeout(LONG_DEADLINE),
        )
        .await
    }

    /// The language models that can answer.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn models(&self) -> Result<GeneratorList, ClientError> {
        self.answer(
            self.request(Method::GET, "/api/v1/models")
                .timeout(DEADLINE),
        )
        .await
    }

    /// Has a language model make one token, loading it if need be.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn try_model(&self, id: &GeneratorId) -> Result<GeneratorTried, ClientError> {
        self.answer(
            self.request(Method::POST, "/api/v1/models/try")
                .timeout(LOADING)
                .json(&serde_json::json!({ "id": id })),
        )
        .await
    }

    async fn answer<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, ClientError> {
        let sent = self.send(request).await;
        let response = refuse(sent.map_err(ClientError::Unreachable)?).await?;
        let bytes = response.bytes().await.map_err(ClientError::Unreachable)?;
        serde_json::from_slice(&bytes).map_err(|error| ClientError::Strange(error.to_string()))
    }

    /// Sends. While nothing listens there although the Ibid of this machine runs, its gateway is
    /// being started again, and is waited for; nothing has been sent then.
    async fn send(&self, request: RequestBuilder) -> Result<Response, reqwest::Error> {
        let started = Instant::now();
        loop {
            // A file that is read while it is sent cannot be sent twice.
            let Some(again) = request.try_clone() else {
                return request.send().await;
            };
            match again.send().await {
                Err(error)
                    if error.is_connect()
                        && started.elapsed() < RESTART_WITHIN
                        && self.pid().is_some()
                        && !self.has_ended() =>
                {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                sent => return sent,
            }
        }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.signed(self.server.request(method, path))
    }

    fn signed(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.token {
            Some(Token(token)) => request.bearer_auth(token),
            None => request,
        }
    }
}

/// When a file was last written, in milliseconds since 1970, where its file system tells.
fn modified_ms(metadata: &std::fs::Metadata) -> Option<i64> {
    let modified = metadata.modified().ok()?;
    match modified.duration_since(std::time::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_millis()).ok(),
        Err(before) => Some(-i64::try_from(before.duration().as_millis()).ok()?),
    }
}

fn silent() -> ClientError {
    ClientError::Said(ErrorBody::new(
        ErrorCode::Deadline,
        format!("no answer within {} seconds", SILENCE.as_secs()),
        "ask again; `ibid status` shows what is busy",
    ))
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
    if status == StatusCode::UNAUTHORIZED {
        return ClientError::Token;
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::try_lock;
    use crate::supervise::endpoint::{Endpoint, lock_file};
    use tokio::io::AsyncWriteExt as _;

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
    fn a_missing_token_is_told_with_its_remedy() {
        let error = said(StatusCode::UNAUTHORIZED, b"{}");
        assert!(!error.is_passing());
        assert!(error.into_body().remedy.contains("IBID_TOKEN"));
    }

    /// An Ibid that runs in this process, as far as its data folder tells.
    fn home(data: &Path, url: &str) -> (std::fs::File, Gateway) {
        let endpoint = Endpoint {
            url: url.to_owned(),
            bus_url: String::new(),
            bus_token: String::new(),
            pid: std::process::id(),
        };
        let up = try_lock(&lock_file(data)).unwrap().unwrap();
        endpoint.publish(data).unwrap();
        (up, Gateway::of_this_machine(data).unwrap())
    }

    #[tokio::test]
    async fn a_gateway_that_is_being_started_again_is_waited_for_and_one_that_has_ended_is_not() {
        let data = tempfile::tempdir().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let (up, gateway) = home(data.path(), &format!("http://{address}"));
        let asked = tokio::spawn({
            let gateway = gateway.clone();
            async move { gateway.status().await }
        });
        // The first attempt has been refused by now or will be; either way it is asked again.
        tokio::time::timeout(Duration::from_millis(300), std::future::pending::<()>())
            .await
            .ok();
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let (mut stream, _) = listener.accept().await.unwrap();
        let body = r#"{"services":[],"catalog":null}"#;
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(answer.as_bytes()).await.unwrap();
        assert!(asked.await.unwrap().unwrap().services.is_empty());

        drop((stream, listener, up));
        let started = Instant::now();
        let error = gateway.status().await.unwrap_err().into_body();
        assert!(started.elapsed() < RESTART_WITHIN);
        let told = format!("the gateway does not answer at `http://{address}`");
        assert_eq!(error.message, told);
    }

    #[test]
    fn states_have_the_names_of_the_contract() {
        assert_eq!(state_name(DocumentState::Ready), "ready");
    }
}
