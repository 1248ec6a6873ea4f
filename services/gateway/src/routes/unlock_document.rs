//! `POST /api/v1/documents/{id}/password`: opens a locked document with its password, without a
//! new upload.

use aide::transform::TransformOperation;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;
use shared::blobs::original_key;
use shared::contract::subject::call;
use shared::contract::{Admit, Admitted, DocumentId, DocumentState, DocumentView, ErrorCode};

use crate::app::App;
use crate::error::ApiError;
use crate::extract::{Body, Document};
use crate::http_status::Code;
use crate::openapi::Accepted;
use crate::sealing;

/// What opens a document. It has no `Debug`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Unlock {
    /// The document's password.
    password: String,
}

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("unlock_document")
        .tag("documents")
        .summary("Opens a locked document with its password")
        .description(
            "Reads the document again, from its stored original. The password is kept sealed with \
             the key of the data folder, for later readings, until the document is deleted.",
        )
}

/// The document, queued again.
pub(crate) async fn unlock(
    State(app): State<App>,
    Document(id): Document,
    body: Result<Body<Unlock>, ApiError>,
) -> Result<Accepted<Admitted>, ApiError> {
    let Body(Unlock { password }) = body.map_err(without_body)?;
    let Some(password) = sealing::password(password)? else {
        return Err(ApiError::bad_request(
            "the password is empty",
            "give the password that opens the document",
        ));
    };
    let view: DocumentView = app.call(call::CATALOG_GET, &id).await?;
    check(&app, &id, &view).await?;
    let admit = Admit {
        password: Some(app.sealing.seal(password, &view.content).await?),
        path: view.path,
        collection: view.collection,
        content: view.content,
        bytes: view.bytes,
        format: view.format,
        force: false,
        modified_ms: None,
    };
    Ok(Accepted(app.call(call::CATALOG_ADMIT, &admit).await?))
}

/// The reason why a body is not understood may quote it.
fn without_body(error: ApiError) -> ApiError {
    if error.code == Code::from(ErrorCode::BadRequest) {
        return ApiError::bad_request("the body is not understood", "send `{\"password\": \"…\"}`");
    }
    error
}

/// Whether a password is of any use.
async fn check(app: &App, id: &DocumentId, view: &DocumentView) -> Result<(), ApiError> {
    if view.state == DocumentState::Ready {
        return Err(ApiError::bad_request(
            format!("`{}` is read already and needs no password", view.name),
            format!("ask it; `POST /api/v1/documents/{id}/retry` reads it again"),
        ));
    }
    if app.blobs.exists(&original_key(&view.content)).await? {
        return Ok(());
    }
    Err(ApiError::new(
        ErrorCode::NotFound,
        format!("the stored original of `{}` is gone", view.name),
        "add the file again with its password",
    ))
}
