//! Reading a document's Markdown pages from the blob store.

use schemars::JsonSchema;
use serde::Serialize;
use shared::blobs::{BlobError, Blobs};
use shared::contract::subject::call;
use shared::contract::{
    DocumentId, DocumentView, ErrorCode, PageManifest, PageRecord, Pipeline, ReadMethod,
};

use crate::app::App;
use crate::error::ApiError;

/// A page with its text.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PageText {
    #[serde(flatten)]
    record: PageRecord,
    /// Its text; empty when it could not be read.
    markdown: String,
}

impl PageText {
    /// Bytes of its text.
    pub fn bytes(&self) -> usize {
        self.markdown.len()
    }
}

/// A document whose pages have been read.
pub struct ReadDocument {
    /// The document.
    pub view: DocumentView,
    /// Its pages, without their text.
    pub manifest: PageManifest,
    folder: String,
    blobs: Blobs,
}

impl ReadDocument {
    /// The version of document `id` that was last admitted.
    ///
    /// # Errors
    /// No such document, or its pages are not there.
    pub async fn open(app: &App, id: &DocumentId) -> Result<Self, ApiError> {
        let view: DocumentView = app.call(call::CATALOG_GET, id).await?;
        let folder = PageManifest::folder(&view.file_hash, Pipeline::PARSER);
        let manifest = match app
            .blobs
            .get(&format!("{folder}/{}", PageManifest::FILE))
            .await
        {
            Ok(manifest) => manifest,
            Err(BlobError::NotFound { .. }) => return Err(no_pages(&view)),
            Err(error) => return Err(error.into()),
        };
        let manifest = serde_json::from_slice(&manifest).map_err(|error| {
            ApiError::internal(
                format!("the page list of `{}` is damaged", view.name),
                "add the document again with `ibid add --force`",
                &error,
            )
        })?;
        Ok(Self {
            view,
            manifest,
            folder,
            blobs: app.blobs.clone(),
        })
    }

    /// One of its pages, with its text.
    ///
    /// # Errors
    /// When the text is gone, as after a deletion meanwhile.
    pub async fn text(&self, record: &PageRecord) -> Result<PageText, ApiError> {
        let record = record.clone();
        if record.method == ReadMethod::Missing {
            return Ok(PageText {
                record,
                markdown: String::new(),
            });
        }
        let key = format!("{}/{}", self.folder, PageManifest::page_file(record.number));
        match self.blobs.get(&key).await {
            Ok(text) => Ok(PageText {
                record,
                markdown: String::from_utf8_lossy(&text).into_owned(),
            }),
            Err(BlobError::NotFound { .. }) => Err(ApiError::new(
                ErrorCode::NotFound,
                format!("page {} of `{}` is gone", record.number, self.view.name),
                "run `ibid fsck`, unless the document was deleted just now",
            )),
            Err(error) => Err(error.into()),
        }
    }
}

fn no_pages(view: &DocumentView) -> ApiError {
    let name = &view.name;
    match &view.error {
        Some(error) => ApiError::new(
            ErrorCode::NotFound,
            format!("`{name}` has no pages: {}", error.message),
            error.remedy.clone(),
        ),
        None => ApiError::new(
            ErrorCode::NotFound,
            format!("the pages of `{name}` are not read yet"),
            "ask again when its state is no longer `queued` or `parsing`",
        ),
    }
}
