//! A response's body with something that lives until the last byte has left, or the client has
//! gone: the request's place, its clock, its span.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::response::Response;
use http_body::{Frame, SizeHint};

/// A body that holds `H`.
struct Held<H> {
    body: Body,
    _held: H,
}

/// `response`, whose body holds `held`.
pub(crate) fn hold<H: Send + Unpin + 'static>(response: Response, held: H) -> Response {
    response.map(|body| Body::new(Held { body, _held: held }))
}

impl<H: Unpin> http_body::Body for Held<H> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
