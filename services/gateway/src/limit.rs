//! So many requests in hand and no more. A request counts until the last byte of its answer has
//! left, so a streamed answer counts as long as it streams.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use shared::contract::ErrorCode;
use shared::service::{HealthBoard, InHand};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::ApiError;
use crate::held::hold;

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
            hold(response, place)
        }
        Err(error) => error.into_response(),
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
