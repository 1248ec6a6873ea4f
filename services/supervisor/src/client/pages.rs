//! Documents from the inside: their ledger, their pages, their original.

use std::io::{Seek as _, SeekFrom};

use futures::TryStreamExt as _;
use reqwest::Method;
use serde::{Deserialize, Serialize};
use shared::contract::{DocumentId, PageView};
use tokio::io::AsyncWriteExt as _;

use super::{ClientError, DEADLINE, Gateway, LONG_DEADLINE, refuse};

/// Pages of a ledger asked for at once.
const PAGES: u32 = 500;

/// The page ledger of a document, or a part of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ledger {
    /// The document's own title.
    #[serde(default)]
    pub title: Option<String>,
    /// What concerns the whole document.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The pages.
    pub pages: Vec<PageView>,
    /// Where the next part begins.
    #[serde(default, skip_serializing)]
    pub next: Option<u32>,
    /// All pages that match.
    pub total: u32,
}

/// A page with its text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PageText {
    /// How it was read.
    #[serde(flatten)]
    pub page: PageView,
    /// Its Markdown.
    #[serde(default)]
    pub markdown: String,
}

impl Gateway {
    /// The first `most` pages of a document's ledger, or of its missing pages.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn ledger(
        &self,
        id: &DocumentId,
        missing: bool,
        most: usize,
    ) -> Result<Ledger, ClientError> {
        let mut whole = self.ledger_part(id, missing, 0).await?;
        while let Some(after) = whole.next
            && whole.pages.len() < most
        {
            let part = self.ledger_part(id, missing, after).await?;
            // A cursor that does not move would never end.
            whole.next = part.next.filter(|next| *next > after);
            whole.pages.extend(part.pages);
        }
        whole.pages.truncate(most);
        Ok(whole)
    }

    async fn ledger_part(
        &self,
        id: &DocumentId,
        missing: bool,
        after: u32,
    ) -> Result<Ledger, ClientError> {
        let query = [
            ("text", "false".to_owned()),
            ("missing", missing.to_string()),
            ("after", after.to_string()),
            ("limit", PAGES.to_string()),
        ];
        let path = format!("/api/v1/documents/{id}/pages");
        let request = self.server.request_with(Method::GET, &path, &query);
        self.answer(self.signed(request).timeout(DEADLINE)).await
    }

    /// One page with its text.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn page_text(&self, id: &DocumentId, number: u32) -> Result<PageText, ClientError> {
        let path = format!("/api/v1/documents/{id}/pages/{number}");
        self.answer(self.request(Method::GET, &path).timeout(DEADLINE))
            .await
    }

    /// The original, in a file without a name.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub async fn original(&self, id: &DocumentId) -> Result<std::fs::File, ClientError> {
        let path = format!("/api/v1/documents/{id}/original");
        let asked = self
            .send(self.request(Method::GET, &path).timeout(LONG_DEADLINE))
            .await;
        let response = refuse(asked.map_err(ClientError::Unreachable)?).await?;
        let file = tempfile::tempfile().map_err(ClientError::File)?;
        let mut writer = tokio::fs::File::from_std(file);
        let mut pieces = response.bytes_stream().map_err(ClientError::Unreachable);
        while let Some(piece) = pieces.try_next().await? {
            writer.write_all(&piece).await.map_err(ClientError::File)?;
        }
        writer.flush().await.map_err(ClientError::File)?;
        let mut file = writer.into_std().await;
        file.seek(SeekFrom::Start(0)).map_err(ClientError::File)?;
        Ok(file)
    }
}
