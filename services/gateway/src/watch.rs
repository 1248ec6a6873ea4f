//! A request is over when the last byte of its answer has left: until then its span stays open
//! and its clock runs, so that both include a streamed answer.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::http::Method;
use axum::response::Response;
use http_body::{Frame, SizeHint};
use tracing::{Span, debug};

/// Measures one request until dropped.
pub struct Watch {
    span: Span,
    method: Method,
    route: String,
    status: u16,
    started: Instant,
}

impl Watch {
    /// Starts; the request is worked on in `span`. `route` is the pattern, never the path.
    pub fn start(span: &Span, method: Method, route: String) -> Self {
        Self {
            span: span.clone(),
            method,
            route,
            status: 0,
            started: Instant::now(),
        }
    }

    /// `response`, watched to its end.
    pub fn over(mut self, response: Response) -> Response {
        self.status = response.status().as_u16();
        response.map(|body| Body::new(Watched { body, _watch: self }))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let took = self.started.elapsed();
        shared::metrics::gateway_request(self.method.as_str(), &self.route, self.status, took);
        self.span.record("http.status", self.status);
        self.span.in_scope(|| {
            debug!(
                http.status = self.status,
                duration_ms = took.as_secs_f64() * 1000.0,
                "answered"
            );
        });
    }
}

/// A body with the watch over its request.
struct Watched {
    body: Body,
    _watch: Watch,
}

impl http_body::Body for Watched {
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
