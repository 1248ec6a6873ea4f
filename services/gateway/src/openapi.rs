//! The API's description, made of the routes' own types: `GET /api/v1/openapi.json`.

use std::marker::PhantomData;

use aide::OperationOutput;
use aide::axum::ApiRouter;
use aide::generate::{GenContext, in_context};
use aide::openapi::{
    ApiKeyLocation, Info, MediaType, OpenApi, Operation, RequestBody, Response, SchemaObject,
    SecurityScheme,
};
use aide::transform::{TransformOpenApi, TransformOperation};
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::{Json, Router};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use crate::app::App;

/// The security schemes.
const TOKEN: &str = "token";
const SESSION: &str = "session";

/// The finished description. Cheap to clone.
#[derive(Clone)]
pub struct Description(pub Bytes);

/// Call before the first route is made: what the routes' types look like is gathered from there
/// on, by this thread.
pub fn begin() {
    in_context(|ctx| {
        // OpenAPI 3.1 speaks the draft of 2020-12.
        let settings = SchemaSettings::draft2020_12()
            .with(|settings| settings.definitions_path = "#/components/schemas/".into());
        ctx.schema = SchemaGenerator::new(settings);
    });
}

/// The routes, and their description.
pub fn finish(routes: ApiRouter<App>) -> (Router<App>, Description) {
    let mut api = OpenApi {
        info: Info {
            title: "Ibid".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            description: Some(
                "Questions to your own documents, answered on your own machine. Errors have code, \
                 message, remedy and trace id. docs/api.md shows every route at work."
                    .to_owned(),
            ),
            ..Info::default()
        },
        ..OpenApi::default()
    };
    let router = routes.finish_api_with(&mut api, describe);
    let mut document = serde_json::to_value(&api).unwrap_or_default();
    tidy(&mut document);
    let bytes = serde_json::to_vec(&document).unwrap_or_default();
    (router, Description(bytes.into()))
}

fn describe(api: TransformOpenApi<'_>) -> TransformOpenApi<'_> {
    let mut api = api
        .security_scheme(
            TOKEN,
            SecurityScheme::Http {
                scheme: "bearer".to_owned(),
                bearer_format: None,
                description: Some(
                    "The token of this Ibid, where one is needed: always beyond loopback."
                        .to_owned(),
                ),
                extensions: <_>::default(),
            },
        )
        .security_scheme(
            SESSION,
            SecurityScheme::ApiKey {
                location: ApiKeyLocation::Cookie,
                name: "ibid_session_4277".to_owned(),
                description: Some(
                    "Set by the login; the number is the port of the gateway.".to_owned(),
                ),
                extensions: <_>::default(),
            },
        );
    // Either of the two, or neither where no token is set.
    let any = [None, Some(TOKEN), Some(SESSION)];
    let requirement = |scheme: Option<&str>| {
        scheme
            .map(|scheme| (scheme.to_owned(), Vec::new()))
            .into_iter()
            .collect()
    };
    api.inner_mut().security = any.into_iter().map(requirement).collect();
    api
}

/// Names in descriptions are links for rustdoc, and plain code elsewhere. A parameter that may be
/// left out has no default, and `null` is none: it would not fit the parameter's own type.
fn tidy(document: &mut Value) {
    match document {
        Value::Object(fields) => {
            fields.retain(|name, value| name != "default" || !value.is_null());
            for (name, value) in fields {
                match value {
                    Value::String(text) if name == "description" => {
                        *text = text.replace("[`", "`").replace("`]", "`");
                    }
                    value => tidy(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// Describes a body that is a multipart form with the fields of `T`.
pub(crate) fn set_form<T: JsonSchema>(ctx: &mut GenContext, operation: &mut Operation) {
    let schema = ctx.schema.subschema_for::<T>();
    let form = RequestBody {
        content: content("multipart/form-data", schema),
        required: true,
        ..RequestBody::default()
    };
    aide::operation::set_body(ctx, operation, form);
}

fn content<C: FromIterator<(String, MediaType)>>(kind: &str, schema: schemars::Schema) -> C {
    let media = MediaType {
        schema: Some(SchemaObject {
            json_schema: schema,
            external_docs: None,
            example: None,
        }),
        ..MediaType::default()
    };
    [(kind.to_owned(), media)].into_iter().collect()
}

/// Of an operation that needs no token.
pub(crate) fn open(mut operation: TransformOperation<'_>) -> TransformOperation<'_> {
    operation.inner_mut().security = vec![<_>::default()];
    operation
}

/// A stream of server-sent events with `T` as data, for descriptions.
pub(crate) struct EventStream<T>(PhantomData<T>);

impl<T: JsonSchema> OperationOutput for EventStream<T> {
    type Inner = T;

    fn operation_response(ctx: &mut GenContext, _: &mut Operation) -> Option<Response> {
        let schema = ctx.schema.subschema_for::<T>();
        Some(Response {
            description: "Server-sent events; the schema is of each event's data.".to_owned(),
            content: content("text/event-stream", schema),
            ..Response::default()
        })
    }
}

/// The bytes of a file, for descriptions.
pub(crate) struct FileBytes;

impl OperationOutput for FileBytes {
    type Inner = Self;

    fn operation_response(_: &mut GenContext, _: &mut Operation) -> Option<Response> {
        let schema = json_schema!({ "type": "string", "format": "binary" });
        Some(Response {
            description: "The bytes.".to_owned(),
            content: content("application/octet-stream", schema),
            ..Response::default()
        })
    }
}

/// An answer in `text/plain`, for descriptions.
pub(crate) struct PlainText;

impl OperationOutput for PlainText {
    type Inner = Self;

    fn operation_response(_: &mut GenContext, _: &mut Operation) -> Option<Response> {
        let schema = json_schema!({ "type": "string" });
        Some(Response {
            content: content("text/plain", schema),
            ..Response::default()
        })
    }
}

/// A JSON answer with status 202.
pub(crate) struct Accepted<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Accepted<T> {
    fn into_response(self) -> axum::response::Response {
        (StatusCode::ACCEPTED, Json(self.0)).into_response()
    }
}

impl<T: JsonSchema> OperationOutput for Accepted<T> {
    type Inner = T;

    fn operation_response(ctx: &mut GenContext, operation: &mut Operation) -> Option<Response> {
        Json::<T>::operation_response(ctx, operation)
    }

    fn inferred_responses(
        ctx: &mut GenContext,
        operation: &mut Operation,
    ) -> Vec<(Option<aide::openapi::StatusCode>, Response)> {
        let accepted = aide::openapi::StatusCode::Code(202);
        Self::operation_response(ctx, operation)
            .map(|response| (Some(accepted), response))
            .into_iter()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_for_rustdoc_become_code() {
        let mut document = serde_json::json!({
            "description": "For [`After`], an [array].",
            "items": [{ "description": "[`A`]", "title": "[`B`]" }],
        });
        tidy(&mut document);
        let expect = serde_json::json!({
            "description": "For `After`, an [array].",
            "items": [{ "description": "`A`", "title": "[`B`]" }],
        });
        assert_eq!(document, expect);
    }

    #[test]
    fn null_is_no_default() {
        let mut document = serde_json::json!({
            "parameters": [{ "schema": { "type": "string", "default": null } }],
            "default": { "default": 5 },
        });
        tidy(&mut document);
        let expect = serde_json::json!({
            "parameters": [{ "schema": { "type": "string" } }],
            "default": { "default": 5 },
        });
        assert_eq!(document, expect);
    }
}
