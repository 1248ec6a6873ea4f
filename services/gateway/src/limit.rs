//! So many requests in hand and no more. A request counts until the last byte of its answer has
//! left, so a streamed answer counts as long as it streams.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http_body::{Frame, SizeHint};
use shared::contract::ErrorCode;
use shared::service::{HealthBoard, InHand};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::ApiError;

/// Places for requests in hand. Cheap to clone.
#[derive(Clone)]
pub struct Limit {
    places: Arc<Semaphore>,
    health: HealthBoard,
}

impl Limit {
    /// At most `most` at once, counted on `health`.
    pub fn new(most: usize, health: HealthBoard) -> Self {
        Self {
            places: Arc::new(Semaphore::new(most.max(1))),
            health,
        }
    }

    /// Takes a place.
    ///
    /// # Errors
    /// [`ErrorCode::Busy`] when there is none.
    pub fn take(&self) -> Result<Place, ApiError> {
        match Arc::clone(&self.places).try_acquire_owned() {
            Ok(permit) => Ok(Place {
                _permit: permit,
                _in_hand: self.health.in_hand(),
            }),
            Err(_full) => Err(busy("requests")),
        }
    }
}

/// The error of a limit that is reached.
pub fn busy(what: &str) -> ApiError {
    ApiError::new(
        ErrorCode::Busy,
        format!("the gateway has all the {what} it can work on"),
        "try again in a moment",
    )
}

/// A place taken, until dropped.
pub struct Place {
    _permit: OwnedSemaphorePermit,
    _in_hand: InHand,
}

/// The layer that takes a place for every request.
pub async fn limit(State(limit): State<Limit>, request: Request, next: Next) -> Response {
    match limit.take() {
        Ok(place) => {
            let response = next.run(request).await;
            response.map(|body| {
                Body::new(Held {
                    body,
                    _place: place,
                })
            })
        }
        Err(error) => error.into_response(),
    }
}

/// A body that keeps its request's place until it is sent or given up.
struct Held {
    body: Body,
    _place: Place,
}

impl http_body::Body for Held {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_once_dropped() {
        let limit = Limit::new(2, HealthBoard::new("gateway"));
        let first = limit.take().unwrap();
        let _second = limit.take().unwrap();
        assert_eq!(limit.take().err().unwrap().code, ErrorCode::Busy.into());
        assert_eq!(limit.health.read().in_flight, 2);
        drop(first);
        assert!(limit.take().is_ok());
    }
}
