//! `GET /api/v1/status`: every service's word, and the catalog's.

use std::time::Duration;

use aide::transform::TransformOperation;
use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;
use shared::contract::subject::call;
use shared::contract::{CatalogStatus, ErrorBody, Health};

use crate::app::App;
use crate::error::ApiError;

/// How long to listen for the services; on one machine they answer within a few milliseconds.
const LISTEN_FOR: Duration = Duration::from_millis(250);
/// The catalog is asked beside; a status must come soon or say that it cannot.
const CATALOG_WITHIN: Duration = Duration::from_secs(3);

/// How Ibid is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Status {
    /// The services that answered.
    services: Vec<Health>,
    /// The catalog, unless it did not answer.
    catalog: Option<CatalogStatus>,
    /// Why it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
}

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("status")
        .tag("state")
        .summary("Every service's word, and the catalog's")
        .default_response::<ApiError>()
}

/// The status as far as it can be known; never an error of its own.
pub(crate) async fn status(State(app): State<App>) -> Json<Status> {
    let (services, catalog) = tokio::join!(
        app.bus.gather_health(LISTEN_FOR),
        app.bus
            .call::<_, CatalogStatus>(call::CATALOG_STATUS, &(), CATALOG_WITHIN),
    );
    Json(match catalog {
        Ok(catalog) => Status {
            services,
            catalog: Some(catalog),
            error: None,
        },
        Err(error) => Status {
            services,
            catalog: None,
            error: Some(error),
        },
    })
}
