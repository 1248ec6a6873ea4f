//! `GET /api/v1/documents/{id}/pages/{number}`: one page as Markdown.

use aide::transform::TransformOperation;
use axum::Json;
use axum::extract::State;

use crate::app::App;
use crate::document_pages::{DocumentPages, PageText};
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
    Ok(Json(
        DocumentPages::page(&app, &page.document, page.number).await?,
    ))
}
