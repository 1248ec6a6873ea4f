//! `GET /healthz`: the process answers.

use axum::Json;
use axum::extract::State;
use shared::contract::Health;

use crate::app::App;

/// The gateway's own health; says nothing about the services behind it.
pub(crate) async fn healthz(State(app): State<App>) -> Json<Health> {
    Json(app.health.read())
}
