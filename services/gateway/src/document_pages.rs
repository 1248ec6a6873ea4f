//! A document's pages: the ledger from the catalog, their Markdown from the blob store.
//!
//! Both are of the version that can be found now, while a newer one may be on its way.

use schemars::JsonSchema;
use serde::Serialize;
use shared::blobs::{BlobError, Blobs};
use shared::contract::subject::call;
use shared::contract::{
    DocumentId, DocumentView, ErrorCode, FileHash, ListPages, PageList, PageManifest, PageView,
    ReadMethod,
};

use crate::app::App;
use crate::error::ApiError;

/// A page with how it was read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PageText {
    #[serde(flatten)]
    page: PageView,
    /// Its text; empty when it could not be read, absent when no text was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    markdown: Option<String>,
}

impl PageText {
    /// `page` without its text.
    pub fn without_text(page: PageView) -> Self {
        Self {
            page,
            markdown: None,
        }
    }

    /// Bytes of its text.
    pub fn bytes(&self) -> usize {
        self.markdown.as_ref().map_or(0, String::len)
    }

    /// Its number.
    pub fn number(&self) -> u32 {
        self.page.record.number
    }
}

/// A part of the pages of a document.
pub struct DocumentPages {
    /// The document.
    pub view: DocumentView,
    /// The pages asked for, without their text.
    pub list: PageList,
    blobs: Blobs,
}

impl DocumentPages {
    /// What `wanted` asks for.
    ///
    /// # Errors
    /// No such document, or it has no pages.
    pub async fn open(app: &App, wanted: &ListPages) -> Result<Self, ApiError> {
        let view: DocumentView = app.call(call::CATALOG_GET, &wanted.document).await?;
        let list: PageList = app.call(call::CATALOG_PAGES, wanted).await?;
        if list.folder.is_empty() {
            return Err(no_pages(&view));
        }
        Ok(Self {
            view,
            list,
            blobs: app.blobs.clone(),
        })
    }

    /// Page `number` alone.
    ///
    /// # Errors
    /// As [`DocumentPages::open`], and when the document has no such page.
    pub async fn page(app: &App, id: &DocumentId, number: u32) -> Result<PageText, ApiError> {
        let wanted = ListPages {
            document: id.clone(),
            after: number.saturating_sub(1),
            limit: 1,
            missing: false,
        };
        let mut pages = Self::open(app, &wanted).await?;
        match pages.list.pages.pop() {
            Some(page) if page.record.number == number => pages.text(page).await,
            _ => Err(ApiError::new(
                ErrorCode::NotFound,
                format!("`{}` has no page {number}", pages.view.name),
                format!("give a number from 1 to {}", pages.list.total),
            )),
        }
    }

    /// The version the pages are of, which may be older than the one last admitted.
    pub fn version(&self) -> FileHash {
        let name = self.list.folder.rsplit('/').next().unwrap_or_default();
        let hash = name.split('-').next().unwrap_or_default();
        hash.parse()
            .unwrap_or_else(|_no_hash| self.view.file_hash.clone())
    }

    /// The document's own title, where its pages tell one.
    ///
    /// # Errors
    /// When the disk refuses.
    pub async fn title(&self) -> Result<Option<String>, ApiError> {
        let key = format!("{}/{}", self.list.folder, PageManifest::FILE);
        match self.blobs.get(&key).await {
            Ok(bytes) => {
                let manifest = serde_json::from_slice::<PageManifest>(&bytes);
                Ok(manifest.ok().and_then(|manifest| manifest.title))
            }
            Err(BlobError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// `page` with its text.
    ///
    /// # Errors
    /// When the text is gone, as after a deletion meanwhile.
    pub async fn text(&self, page: PageView) -> Result<PageText, ApiError> {
        if page.record.method == ReadMethod::Missing {
            return Ok(PageText {
                page,
                markdown: Some(String::new()),
            });
        }
        let number = page.record.number;
        let key = format!("{}/{}", self.list.folder, PageManifest::page_file(number));
        match self.blobs.get(&key).await {
            Ok(text) => Ok(PageText {
                page,
                markdown: Some(String::from_utf8_lossy(&text).into_owned()),
            }),
            Err(BlobError::NotFound { .. }) => Err(ApiError::new(
                ErrorCode::NotFound,
                format!("page {number} of `{}` is gone", self.view.name),
                "ask again if the document was changed or deleted just now, else run `ibid fsck`",
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
            "ask again when its state is `ready` or `partial`",
        ),
    }
}
