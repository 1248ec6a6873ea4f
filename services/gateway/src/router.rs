//! All routes with all layers, and each with its description.

use aide::axum::ApiRouter;
use aide::axum::routing::{delete_with, get_with, post_with};
use aide::transform::TransformOperation;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use axum::{Extension, Router};

use crate::app::App;
use crate::door::enter;
use crate::error::ApiError;
use crate::extract::JSON_BYTES;
use crate::guard::{Guard, guard};
use crate::limit::{Limit, limit};
use crate::openapi::PlainText;
use crate::report::report;
use crate::settings::Settings;
use crate::within::within;
use crate::{openapi, routes};

/// All routes with all layers, for a server on `port`.
pub fn router(app: App, settings: &Settings, port: u16) -> Router {
    openapi::begin();
    let requests = Limit::new(settings.max_requests, app.health.clone());
    let guards = Guard::new(port, app.door.is_locked());
    let api = quick()
        .layer(from_fn_with_state(app.deadlines.ordinary(), within))
        .merge(slow().layer(from_fn_with_state(app.deadlines.patient(), within)))
        .merge(streams())
        .layer(from_fn_with_state(requests, limit));
    let routes = ApiRouter::new().nest("/api/v1", api).merge(probes());
    let (router, description) = openapi::finish(routes);
    router
        .route("/", get(routes::page::index))
        .route("/assets/{name}", get(routes::page::asset))
        .fallback(routes::fallback::no_such_route)
        .method_not_allowed_fallback(routes::fallback::wrong_method)
        .layer(DefaultBodyLimit::max(JSON_BYTES))
        .layer(Extension(description))
        .layer(from_fn_with_state(app.door.clone(), enter))
        .layer(from_fn_with_state(guards, guard))
        .layer(from_fn(report))
        .with_state(app)
}

/// What one ordinary call answers.
fn quick() -> ApiRouter<App> {
    use routes::{
        get_document, get_page, list_documents, list_pages, login, logout, models, openapi,
        retry_document, search, status, unlock_document,
    };
    ApiRouter::new()
        .api_route(
            "/documents",
            get_with(list_documents::list, list_documents::describe),
        )
        .api_route(
            "/documents/{id}",
            get_with(get_document::get, get_document::describe),
        )
        .api_route(
            "/documents/{id}/pages",
            get_with(list_pages::list, list_pages::describe),
        )
        .api_route(
            "/documents/{id}/pages/{number}",
            get_with(get_page::get, get_page::describe),
        )
        .api_route(
            "/documents/{id}/retry",
            post_with(retry_document::retry, retry_document::describe),
        )
        .api_route(
            "/documents/{id}/password",
            post_with(unlock_document::unlock, unlock_document::describe),
        )
        .api_route("/search", post_with(search::search, search::describe))
        .api_route("/models", get_with(models::list, models::describe))
        .api_route("/status", get_with(status::status, status::describe))
        .api_route("/login", post_with(login::login, login::describe))
        .api_route("/logout", post_with(logout::logout, logout::describe))
        .api_route(
            "/openapi.json",
            get_with(openapi::openapi, openapi::describe),
        )
}

/// What reads or purges whole stores, or loads a model.
fn slow() -> ApiRouter<App> {
    use routes::{delete_document, dump, fsck, retry, try_model};
    ApiRouter::new()
        .api_route(
            "/documents/{id}",
            delete_with(delete_document::delete, delete_document::describe),
        )
        .api_route("/retry", post_with(retry::retry, retry::describe))
        .api_route(
            "/models/try",
            post_with(try_model::try_model, try_model::describe),
        )
        .api_route("/fsck", get_with(fsck::fsck, fsck::describe))
        .api_route("/dump", get_with(dump::dump, dump::describe))
}

/// What lasts as long as it lasts: deadlines are on its pauses.
fn streams() -> ApiRouter<App> {
    use routes::{admit_documents, ask, events, original};
    ApiRouter::new()
        .api_route(
            "/documents",
            post_with(admit_documents::admit, admit_documents::describe)
                .layer(DefaultBodyLimit::disable()),
        )
        .api_route(
            "/documents/{id}/original",
            get_with(original::get, original::describe),
        )
        .api_route("/ask", post_with(ask::ask, ask::describe))
        .api_route("/events", get_with(events::events, events::describe))
}

/// What is asked about Ibid itself, outside of the limit of requests.
fn probes() -> ApiRouter<App> {
    use routes::{healthz, metrics, readyz};
    ApiRouter::new()
        .api_route("/healthz", get_with(healthz::healthz, healthz::describe))
        .api_route("/readyz", get_with(readyz::readyz, readyz::describe))
        .api_route("/metrics", get_with(metrics::metrics, describe_metrics))
}

fn describe_metrics(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation
        .id("metrics")
        .tag("state")
        .summary("What every process has counted, in Prometheus' text format")
        .response_with::<200, PlainText, _>(|response| response.description("The metrics."))
        .default_response::<ApiError>()
}
