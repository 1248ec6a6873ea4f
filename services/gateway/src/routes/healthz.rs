//! `GET /healthz`: the process answers.

use aide::transform::TransformOperation;
use axum::Json;
use axum::extract::State;
use shared::contract::Health;

use crate::app::App;
use crate::openapi;

pub(crate) fn describe(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    openapi::open(operation)
        .id("healthz")
        .tag("state")
        .summary("Whether the gateway answers")
}

/// The gateway's own health; says nothing about the services behind it.
pub(crate) async fn healthz(State(app): State<App>) -> Json<Health> {
    Json(app.health.read())
}
