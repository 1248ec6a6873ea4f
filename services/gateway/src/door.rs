//! Who has the token. Without one in force, whoever passes the [`crate::guard`] is let in.
//!
//! A program sends the token with every request. The page sends it once, to the login, and gets a
//! cookie that only the token's holder can make: how long it holds, signed. Nothing is kept here,
//! so a session outlives a restart, and another token ends them all.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use shared::contract::ErrorCode;
use tokio::sync::Semaphore;

use crate::error::ApiError;
use crate::http_status::Code;
use crate::token::{Token, hex};

/// How long a wrong token waits for its answer.
const WRONG_WAITS: Duration = Duration::from_secs(1);
/// So many wrong ones may wait at once; meanwhile no token is looked at, so this is also how many
/// can be tried in a second.
const WRONG_AT_ONCE: usize = 16;
/// How long a session holds.
const SESSION: Duration = Duration::from_hours(30 * 24);

/// The one way in. Cheap to clone.
#[derive(Clone)]
pub struct Door {
    token: Option<Arc<Token>>,
    cookie: Arc<str>,
    wrong: Arc<Semaphore>,
    wrong_waits: Duration,
}

impl Door {
    /// A door that `token` opens, or an open one, of a server on `port`.
    pub fn new(token: Option<Token>, port: u16) -> Self {
        Self {
            token: token.map(Arc::new),
            // Cookies know no ports: two servers of one machine must not take each other's.
            cookie: format!("ibid_session_{port}").into(),
            wrong: Arc::new(Semaphore::new(WRONG_AT_ONCE)),
            wrong_waits: WRONG_WAITS,
        }
    }

    /// Whether a token is needed.
    pub fn is_locked(&self) -> bool {
        self.token.is_some()
    }

    /// Checks a request by its path and headers.
    ///
    /// # Errors
    /// [`Code::Unauthorized`] without token or session, [`ErrorCode::Busy`] while too many wrong
    /// ones wait.
    pub async fn check(&self, path: &str, headers: &HeaderMap) -> Result<(), ApiError> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        if is_open(path) {
            return Ok(());
        }
        if let Some(given) = headers.get(header::AUTHORIZATION) {
            let given = given.to_str().ok().and_then(bearer).unwrap_or_default();
            return self.try_token(given).await;
        }
        let now = seconds_now();
        if sessions(headers, &self.cookie).any(|session| holds(token, session, now)) {
            return Ok(());
        }
        Err(unauthorized("this Ibid answers only with its token"))
    }

    /// The cookie of a new session, for whoever has the token; `None` when none is needed.
    ///
    /// # Errors
    /// As [`Door::check`].
    pub async fn log_in(&self, given: &str) -> Result<Option<String>, ApiError> {
        self.try_token(given).await?;
        Ok(self.token.as_ref().map(|token| {
            let session = session(token, seconds_now() + SESSION.as_secs());
            self.set_cookie(&session, SESSION.as_secs())
        }))
    }

    /// The cookie that ends a session in the browser that gets it.
    pub fn log_out(&self) -> String {
        self.set_cookie("", 0)
    }

    fn set_cookie(&self, value: &str, seconds: u64) -> String {
        format!(
            "{}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict",
            self.cookie
        )
    }

    async fn try_token(&self, given: &str) -> Result<(), ApiError> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        if self.wrong.available_permits() == 0 {
            return Err(too_many());
        }
        if token.is(given) {
            return Ok(());
        }
        let Ok(place) = Arc::clone(&self.wrong).try_acquire_owned() else {
            return Err(too_many());
        };
        // A task of its own: the place stays taken even if the client does not wait.
        let wait = self.wrong_waits;
        let waited = tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            drop(place);
        });
        waited.await.ok();
        Err(unauthorized("the token is wrong"))
    }
}

/// The layer that lets requests in.
pub async fn enter(State(door): State<Door>, request: Request, next: Next) -> Response {
    match door.check(request.uri().path(), request.headers()).await {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// What shows nothing of the documents and is needed to log in, or to see whether Ibid lives.
fn is_open(path: &str) -> bool {
    matches!(path, "/" | "/healthz" | "/readyz" | "/api/v1/login") || path.starts_with("/assets/")
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The values of the cookie called `name`.
fn sessions<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter_map(move |(found, value)| (found == name).then_some(value))
}

fn session(token: &Token, until: u64) -> String {
    let until = until.to_string();
    let signature = hex(&token.sign(&signed(&until)));
    format!("{until}.{signature}")
}

fn holds(token: &Token, session: &str, now: u64) -> bool {
    let Some((until, signature)) = session.split_once('.') else {
        return false;
    };
    until.parse().is_ok_and(|until: u64| now < until) && token.has_signed(&signed(until), signature)
}

fn signed(until: &str) -> String {
    format!("ibid session until {until}")
}

fn seconds_now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}

fn unauthorized(message: &str) -> ApiError {
    ApiError::new(
        Code::Unauthorized,
        message,
        "open the link that `ibid link` prints, or send `Authorization: Bearer TOKEN`",
    )
}

fn too_many() -> ApiError {
    ApiError::new(
        ErrorCode::Busy,
        "too many wrong tokens were sent",
        "try again in a moment",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn locked(wrong_waits: Duration) -> Door {
        Door {
            wrong_waits,
            ..Door::new(Some(Token::new(TOKEN)), 4277)
        }
    }

    async fn check(door: &Door, path: &str, headers: &[(&'static str, &str)]) -> Option<Code> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        door.check(path, &map).await.err().map(|error| error.code)
    }

    #[tokio::test]
    async fn token_or_session_opens_and_nothing_else() {
        let door = locked(Duration::ZERO);
        let closed = Some(Code::Unauthorized);
        for path in [
            "/",
            "/assets/main.js",
            "/healthz",
            "/readyz",
            "/api/v1/login",
        ] {
            assert_eq!(check(&door, path, &[]).await, None, "{path}");
        }
        for path in [
            "/api/v1/status",
            "/metrics",
            "/assets",
            "/api/v1/openapi.json",
            "//",
        ] {
            assert_eq!(check(&door, path, &[]).await, closed, "{path}");
        }
        let status = "/api/v1/status";
        let with = |value: &str| ("authorization", value.to_owned());
        for (value, expect) in [
            (with("Bearer 0123456789abcdef"), None),
            (with("bearer 0123456789abcdef"), None),
            (with("Bearer 0123456789abcdeF"), closed),
            (with("Basic 0123456789abcdef"), closed),
            (with("0123456789abcdef"), closed),
        ] {
            assert_eq!(check(&door, status, &[(value.0, &value.1)]).await, expect);
        }

        let cookie = door.log_in(TOKEN).await.unwrap().unwrap();
        for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=2592000"] {
            assert!(cookie.contains(part), "{cookie}");
        }
        assert!(!cookie.contains(TOKEN));
        let pair = cookie.split(';').next().unwrap();
        assert_eq!(check(&door, status, &[("cookie", pair)]).await, None);
        let among = format!("theme=dark; {pair}");
        assert_eq!(check(&door, status, &[("cookie", &among)]).await, None);
        let forged = pair.replace("ibid_session_4277=", "ibid_session_4277=9");
        assert_eq!(check(&door, status, &[("cookie", &forged)]).await, closed);
        let other = pair.replace("4277", "4278");
        assert_eq!(check(&door, status, &[("cookie", &other)]).await, closed);
        let another = Door::new(Some(Token::new("another-token-of-16")), 4277);
        assert_eq!(check(&another, status, &[("cookie", pair)]).await, closed);
        assert!(door.log_out().contains("Max-Age=0"));
    }

    #[test]
    fn a_session_ends() {
        let token = Token::new(TOKEN);
        let session = session(&token, 1_000);
        assert!(holds(&token, &session, 999));
        assert!(!holds(&token, &session, 1_000));
        assert!(!holds(&token, &session.replace("1000", "2000"), 1_000));
        assert!(!holds(&token, "", 0));
    }

    #[tokio::test]
    async fn wrong_tokens_wait_and_too_many_are_turned_away() {
        let wait = Duration::from_millis(300);
        let door = locked(wait);
        let started = tokio::time::Instant::now();
        assert!(door.log_in("wrong").await.is_err());
        assert!(started.elapsed() >= wait);
        // A client that does not wait for the answer does not free its place either.
        let hasty = (0..WRONG_AT_ONCE).map(|_| door.log_in("wrong"));
        let hasty = futures::future::join_all(hasty);
        let soon = Duration::from_millis(1);
        assert!(tokio::time::timeout(soon, hasty).await.is_err());
        let code = door.log_in(TOKEN).await.err().map(|error| error.code);
        assert_eq!(code, Some(ErrorCode::Busy.into()));
        let freed = door
            .wrong
            .acquire_many(u32::try_from(WRONG_AT_ONCE).unwrap());
        drop(freed.await.unwrap());
        assert!(door.log_in(TOKEN).await.is_ok());
    }

    #[tokio::test]
    async fn an_open_door_asks_for_nothing() {
        let door = Door::new(None, 4277);
        assert_eq!(check(&door, "/api/v1/status", &[]).await, None);
        assert_eq!(door.log_in("anything").await, Ok(None));
    }
}
