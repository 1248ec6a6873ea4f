//! The gateway's HTTP API, as a test calls it.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures::StreamExt;
use reqwest::multipart::{Form, Part};
use reqwest::{Method, Url};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use shared::contract::{
    Admitted, AnswerEvent, CatalogStatus, DeletionReceipt, DocumentId, DocumentPage, DocumentState,
    DocumentView, DumpPage, DumpRow, FsckReport, GeneratorList, Health, Locator, Question, Retried,
    Retry, SearchReply,
};

use super::wait_for;

/// The name of a token's event.
const TOKEN: &[u8] = b"event: token";

/// A document to be added.
#[derive(Debug, Clone, Default)]
pub struct Upload {
    /// Its identity.
    pub path: String,
    /// `default` when empty.
    pub collection: String,
    /// Do all work again.
    pub force: bool,
    /// What opens it; nothing when empty.
    pub password: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A page as the gateway shows it.
#[derive(Debug, Clone, Deserialize)]
pub struct ReadPage {
    /// From 1.
    pub number: u32,
    /// Where it stands.
    pub locator: Locator,
    /// Its text.
    pub markdown: String,
}

/// A client of one running gateway.
#[derive(Debug, Clone)]
pub struct Client {
    base: Url,
    http: reqwest::Client,
}

impl Client {
    /// A client of the gateway at `base`.
    ///
    /// # Errors
    /// An address that does not parse.
    pub fn new(base: &str) -> Result<Self> {
        let http = reqwest::Client::builder()
            .no_proxy()
            .connect_timeout(Duration::from_secs(5))
            .timeout(Duration::from_mins(2))
            .build()?;
        Ok(Self {
            base: base
                .parse()
                .with_context(|| format!("`{base}` is no address"))?,
            http,
        })
    }

    /// Where the gateway is.
    pub fn url(&self) -> &Url {
        &self.base
    }

    /// Adds a document; returns when the catalog has it, not when it is searchable.
    ///
    /// # Errors
    /// The gateway refused, or did not answer.
    pub async fn add(&self, upload: &Upload) -> Result<Admitted> {
        let name = upload
            .path
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned();
        let mut form = Form::new().text("path", upload.path.clone());
        if !upload.collection.is_empty() {
            form = form.text("collection", upload.collection.clone());
        }
        if upload.force {
            form = form.text("force", "true");
        }
        if !upload.password.is_empty() {
            form = form.text("password", upload.password.clone());
        }
        let form = form.part("file", Part::bytes(upload.bytes.clone()).file_name(name));
        let url = self.base.join("/api/v1/documents")?;
        decode(self.http.post(url).multipart(form).send().await?).await
    }

    /// All documents, `collection` and `state` permitting.
    ///
    /// # Errors
    /// The gateway refused, or did not answer.
    pub async fn documents(
        &self,
        collection: Option<&str>,
        state: Option<DocumentState>,
    ) -> Result<Vec<DocumentView>> {
        let mut documents = Vec::new();
        let mut after = None;
        loop {
            let mut url = self.base.join("/api/v1/documents?limit=500")?;
            let mut query = |name: &str, value: Option<&str>| {
                if let Some(value) = value {
                    url.query_pairs_mut().append_pair(name, value);
                }
            };
            let state = state.map(serde_json::to_value).transpose()?;
            query("collection", collection);
            query("state", state.as_ref().and_then(Value::as_str));
            query("after", after.as_deref());
            let page: DocumentPage = decode(self.http.get(url).send().await?).await?;
            documents.extend(page.documents);
            after = page.next;
            if after.is_none() {
                return Ok(documents);
            }
        }
    }

    /// One document, with its page ledger.
    ///
    /// # Errors
    /// The gateway refused, or did not answer.
    pub async fn document(&self, id: &DocumentId) -> Result<DocumentView> {
        self.call(Method::GET, &format!("/api/v1/documents/{id}"), None::<&()>)
            .await
    }

    /// The pages of what is searchable of a document, with their Markdown.
    ///
    /// # Errors
    /// The gateway refused, or did not answer.
    pub async fn pages(&self, id: &DocumentId) -> Result<Vec<ReadPage>> {
        let mut pages = Vec::new();
        let mut after = 0;
        loop {
            let path = format!("/api/v1/documents/{id}/pages?limit=100&after={after}");
            let mut list: Value = self.call(Method::GET, &path, None::<&()>).await?;
            let mut part = |name: &str| list.get_mut(name).map(Value::take).unwrap_or_default();
            pages.extend(serde_json::from_value::<Vec<ReadPage>>(part("pages"))?);
            match part("next").as_u64() {
                Some(next) => after = next,
                None => return Ok(pages),
            }
        }
    }

    /// Deletes a document.
    ///
    /// # Errors
    /// The gateway refused, or did not answer.
    pub async fn delete(&self, id: &DocumentId) -> Result<DeletionReceipt> {
        self.call(
            Method::DELETE,
            &format!("/api/v1/documents/{id}"),
            None::<&()>,
        )
        .await
    }

    /// Queues documents again.
    ///
    /// # Errors
    /// The gateway refused, or did not answer.
    pub async fn retry(&self, retry: &Retry) -> Result<Retried> {
        self.call(Method::POST, "/api/v1/retry", Some(retry)).await
    }

    /// The passages found.
    ///
    /// # Errors
    /// The gateway refused, or did not answer.
    pub async fn search(&self, question: &Question) -> Result<SearchReply> {
        self.call(Method::POST, "/api/v1/search", Some(question))
            .await
    }

    /// The events of an answer, from first to last.
    ///
    /// # Errors
    /// The gateway refused, did not answer, or sent what is no event.
    pub async fn ask(&self, question: &Question) -> Result<Vec<AnswerEvent>> {
        Ok(self.ask_timed(question).await?.0)
    }

    /// As [`Client::ask`], with the time from the request to the first token.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub async fn ask_timed(&self, question: &Question) -> Result<(Vec<AnswerEvent>, Duration)> {
        let started = Instant::now();
        let url = self.base.join("/api/v1/ask")?;
        let response = self.http.post(url).json(question).send().await?;
        if !response.status().is_success() {
            bail!("ask: {} {}", response.status(), response.text().await?);
        }
        let mut body = response.bytes_stream();
        let mut bytes = Vec::new();
        let mut first = None;
        while let Some(piece) = body.next().await {
            bytes.extend_from_slice(&piece?);
            let is_there = || bytes.windows(TOKEN.len()).any(|window| window == TOKEN);
            if first.is_none() && is_there() {
                first = Some(started.elapsed());
            }
        }
        let first = first.unwrap_or_else(|| started.elapsed());
        Ok((events(&String::from_utf8(bytes)?)?, first))
    }

    /// The generators there are.
    ///
    /// # Errors
    /// The gateway refused, or did not answer.
    pub async fn models(&self) -> Result<GeneratorList> {
        self.call(Method::GET, "/api/v1/models", None::<&()>).await
    }

    /// Services and catalog.
    ///
    /// # Errors
    /// The gateway refused, or did not answer.
    pub async fn status(&self) -> Result<(Vec<Health>, CatalogStatus)> {
        let mut status: Value = self
            .call(Method::GET, "/api/v1/status", None::<&()>)
            .await?;
        let mut part = |name: &str| status.get_mut(name).map(Value::take).unwrap_or_default();
        Ok((
            serde_json::from_value(part("services"))?,
            serde_json::from_value(part("catalog"))?,
        ))
    }

    /// What the stores disagree on.
    ///
    /// # Errors
    /// The gateway refused, or did not answer.
    pub async fn fsck(&self) -> Result<FsckReport> {
        self.call(Method::GET, "/api/v1/fsck", None::<&()>).await
    }

    /// Everything visible.
    ///
    /// # Errors
    /// The gateway refused, or did not answer.
    pub async fn dump(&self) -> Result<Vec<DumpRow>> {
        let mut rows = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let mut url = self.base.join("/api/v1/dump")?;
            if let Some(after) = &after {
                url.query_pairs_mut().append_pair("after", after);
            }
            let page: DumpPage = decode(self.http.get(url).send().await?).await?;
            rows.extend(page.rows);
            after = page.next;
            if after.is_none() {
                return Ok(rows);
            }
        }
    }

    /// Waits until `wanted` documents are there and none has work to come.
    ///
    /// # Errors
    /// After `limit`, with the counts last seen.
    pub async fn wait_until_final(
        &self,
        wanted: usize,
        limit: Duration,
    ) -> Result<Vec<DocumentView>> {
        wait_for("all documents to be final", limit, async || {
            let documents = self.documents(None, None).await?;
            let open = documents
                .iter()
                .filter(|document| !document.state.is_final());
            let waiting: Vec<_> = open
                .map(|document| (&document.name, document.state))
                .take(5)
                .collect();
            if waiting.is_empty() && documents.len() == wanted {
                return Ok(documents);
            }
            bail!(
                "{} of {wanted} documents, such as {waiting:?}",
                documents.len()
            )
        })
        .await
    }

    /// Waits until the document is searchable as it was last admitted.
    ///
    /// # Errors
    /// After `limit`, or at once when it failed.
    pub async fn wait_until_ready(
        &self,
        admitted: &Admitted,
        limit: Duration,
    ) -> Result<DocumentView> {
        let view = wait_for("the document to be final", limit, async || {
            let view = self.document(&admitted.document_id).await?;
            if view.state.is_final() && view.generation >= admitted.generation {
                return Ok(view);
            }
            bail!("{:?} in generation {:?}", view.state, view.generation)
        })
        .await?;
        match view.state {
            DocumentState::Ready => Ok(view),
            state => bail!("`{}` is {state:?}: {:?}", view.name, view.error),
        }
    }

    async fn call<Q: Serialize, A: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&Q>,
    ) -> Result<A> {
        let mut request = self.http.request(method, self.base.join(path)?);
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.with_context(|| path.to_owned())?;
        decode(response).await.with_context(|| path.to_owned())
    }
}

async fn decode<A: DeserializeOwned>(response: reqwest::Response) -> Result<A> {
    let status = response.status();
    let body = response.bytes().await?;
    if !status.is_success() {
        bail!("{status}: {}", String::from_utf8_lossy(&body));
    }
    serde_json::from_slice(&body)
        .with_context(|| format!("decoding {}", std::any::type_name::<A>()))
}

/// The events of an event stream: the `data` lines of each block, joined.
fn events(stream: &str) -> Result<Vec<AnswerEvent>> {
    let mut events = Vec::new();
    for block in stream.replace("\r\n", "\n").split("\n\n") {
        let data: Vec<&str> = block
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .map(|data| data.strip_prefix(' ').unwrap_or(data))
            .collect();
        if !data.is_empty() {
            let data = data.join("\n");
            events.push(serde_json::from_str(&data).with_context(|| format!("event `{data}`"))?);
        }
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_streams_are_read_block_by_block() {
        let stream =
            ": keep-alive\n\nevent: token\ndata: {\"event\":\"token\",\ndata: \"text\":\"a\"}\n\n";
        let expect = vec![AnswerEvent::Token { text: "a".into() }];
        assert_eq!(events(stream).unwrap(), expect);
        assert!(events("data: nonsense\n\n").is_err());
    }
}
