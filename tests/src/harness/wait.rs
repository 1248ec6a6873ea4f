//! Waiting for a condition, never for a time.

use std::fmt::Display;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// Between two looks at a condition.
const PAUSE: Duration = Duration::from_millis(50);

/// Looks at `condition` until it holds, and gives its value.
///
/// # Errors
/// After `limit`, with `what` and the state that was last seen.
pub async fn wait_for<T, E: Display>(
    what: &str,
    limit: Duration,
    mut condition: impl AsyncFnMut() -> Result<T, E>,
) -> Result<T> {
    let started = Instant::now();
    loop {
        let state = match tokio::time::timeout(limit, condition()).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(state)) => format!("{state:#}"),
            Err(_) => "the condition itself did not answer".to_owned(),
        };
        if started.elapsed() >= limit {
            bail!(
                "waited {} s for {what}; last seen: {state}",
                limit.as_secs()
            );
        }
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_state_is_told() {
        let mut looks = 0;
        let error = wait_for("rain", Duration::from_millis(120), async || {
            looks += 1;
            Err::<(), _>(format!("cloud {looks}"))
        })
        .await
        .unwrap_err()
        .to_string();
        assert!(error.contains("rain") && error.contains("cloud"), "{error}");
        assert!(!error.ends_with("cloud 1"), "{error}");
    }

    #[tokio::test]
    async fn the_value_is_given_as_soon_as_it_is_there() {
        let mut looks = 0;
        let limit = Duration::from_secs(5);
        let value = wait_for("three", limit, async || {
            looks += 1;
            if looks == 3 { Ok(looks) } else { Err(looks) }
        });
        assert_eq!(value.await.unwrap(), 3);
    }
}
