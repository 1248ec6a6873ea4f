//! A request is over when the last byte of its answer has left: until then its span stays open
//! and its clock runs, so that both include a streamed answer.

use std::time::Instant;

use axum::http::Method;
use axum::response::Response;
use tracing::{Span, debug};

use crate::held::hold;

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
        hold(response, self)
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
