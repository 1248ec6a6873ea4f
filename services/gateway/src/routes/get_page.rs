//! `GET /api/v1/documents/{id}/pages/{number}`: one page as Markdown.

use aide::transform::TransformOperation;
use axum::Json;
use axum::extract::State;
use shared::contract::ErrorCode;

use crate::app::App;
use crate::document_pages::{PageText, ReadDocument};
use crate::error::ApiError;
use crate::extract::PageOf;

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("get_page")
        .tag("documents")
        .summary("One page as Markdown")
}

/// The page.
pub(crate) async fn get(State(app): State<App>, page: PageOf) -> Result<Json<PageText>, ApiError> {
    let document = ReadDocument::open(&app, &page.document).await?;
    let pages = &document.manifest.pages;
    let Some(record) = pages.iter().find(|record| record.number == page.number) else {
        return Err(ApiError::new(
            ErrorCode::NotFound,
            format!("`{}` has no page {}", document.view.name, page.number),
            format!("give a number from 1 to {}", pages.len()),
        ));
    };
    Ok(Json(document.text(record).await?))
}
