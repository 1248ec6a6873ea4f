//! `GET /readyz`: the services behind the gateway answer.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use shared::contract::CatalogStatus;
use shared::contract::subject::call;

use crate::app::App;
use crate::error::ApiError;

/// A probe is asked often and must fail soon.
const WITHIN: Duration = Duration::from_secs(2);

/// Says that documents can be taken in and asked.
#[derive(Debug, Serialize)]
pub(crate) struct Ready {
    ready: bool,
    sequence: u64,
}

/// 200 once the catalog answers, else its error.
pub(crate) async fn readyz(State(app): State<App>) -> Result<Json<Ready>, ApiError> {
    let status: CatalogStatus = app.bus.call(call::CATALOG_STATUS, &(), WITHIN).await?;
    Ok(Json(Ready {
        ready: true,
        sequence: status.sequence,
    }))
}
