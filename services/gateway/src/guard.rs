//! Where a request may come from. What protects the documents of a gateway without a token is
//! that only this machine's own page and programs are answered.
//!
//! - `Host` must be this server by a loopback name and its own port. A site that points its own
//!   name at 127.0.0.1 (DNS rebinding) is thereby refused, as its name stands in `Host`. Where a
//!   token protects ([`crate::door`]) the server may go by any name: such a site has no token.
//! - `Origin`, when present, must be this server, and `Sec-Fetch-Site`, when present, must be
//!   `same-origin` or `none`: a page of another site or port can then neither change nor ask for
//!   anything. There is no CORS, so it could not read an answer either.
//! - Programs such as curl send neither header and are answered.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::error::ApiError;
use crate::http_status::Code;

const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The names this server goes by.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    port: u16,
    any_name: bool,
}

impl Guard {
    /// For a server on `port`; by any name, when a token protects it.
    pub fn new(port: u16, any_name: bool) -> Self {
        Self { port, any_name }
    }

    /// Checks a request by its method, path and headers.
    ///
    /// # Errors
    /// [`Code::ForeignHost`] or [`Code::ForeignOrigin`].
    pub fn check(self, method: &Method, path: &str, headers: &HeaderMap) -> Result<(), ApiError> {
        let host = self.host(headers)?;
        // Following a link to the page from elsewhere is fine; asking the API from there is not.
        let is_read = matches!(*method, Method::GET | Method::HEAD);
        if is_read && !path.starts_with("/api/") {
            return Ok(());
        }
        self.check_origin(host, headers)
    }

    /// The name this server was asked by.
    fn host(self, headers: &HeaderMap) -> Result<&str, ApiError> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().unwrap_or_default(),
            _ => "",
        };
        if self.is_own(host) || (self.any_name && !host.is_empty()) {
            return Ok(host);
        }
        let shown = if host.is_empty() { "(none)" } else { host };
        Err(ApiError::new(
            Code::ForeignHost,
            format!("`{}` is not this server", shown.escape_debug()),
            format!("open `http://127.0.0.1:{}`", self.port),
        ))
    }

    fn check_origin(self, host: &str, headers: &HeaderMap) -> Result<(), ApiError> {
        for origin in headers.get_all(header::ORIGIN) {
            let own = origin
                .to_str()
                .ok()
                .and_then(|origin| self.strip_scheme(origin))
                .is_some_and(|from| self.is_own_origin(from, host));
            if !own {
                return Err(foreign_origin());
            }
        }
        for site in headers.get_all("sec-fetch-site") {
            if site != "same-origin" && site != "none" {
                return Err(foreign_origin());
            }
        }
        Ok(())
    }

    /// A proxy in front may speak TLS; on this machine nothing does.
    fn strip_scheme(self, origin: &str) -> Option<&str> {
        origin.strip_prefix("http://").or_else(|| {
            let secure = origin.strip_prefix("https://");
            secure.filter(|_| self.any_name)
        })
    }

    fn is_own_origin(self, from: &str, host: &str) -> bool {
        if self.any_name {
            from.eq_ignore_ascii_case(host)
        } else {
            self.is_own(from)
        }
    }

    /// Whether `host`, with its port, is this server. Port 80 is left out by browsers.
    fn is_own(self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(80)),
        };
        port == Some(self.port) && NAMES.iter().any(|own| own.eq_ignore_ascii_case(name))
    }
}

fn foreign_origin() -> ApiError {
    ApiError::new(
        Code::ForeignOrigin,
        "the request comes from another site's page",
        "use this server's own page, or a program",
    )
}

/// The layer that checks every request.
pub async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    match guard.check(request.method(), request.uri().path(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(request: (&str, &str), headers: &[(&'static str, &str)], expect: Option<Code>) {
        let (method, path) = request;
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let got = Guard::new(4277, false).check(&method.parse().unwrap(), path, &map);
        assert_eq!(
            got.err().map(|error| error.code),
            expect,
            "{method} {path} {headers:?}"
        );
    }

    #[test]
    fn the_host_must_be_this_server() {
        let page = ("GET", "/");
        let foreign = Some(Code::ForeignHost);
        check(page, &[("host", "127.0.0.1:4277")], None);
        check(page, &[("host", "localhost:4277")], None);
        check(page, &[("host", "LocalHost:4277")], None);
        check(page, &[("host", "[::1]:4277")], None);
        check(page, &[], foreign);
        check(page, &[("host", "127.0.0.1")], foreign);
        check(page, &[("host", "127.0.0.1:80")], foreign);
        check(page, &[("host", "[::1]")], foreign);
        check(page, &[("host", "evil.example:4277")], foreign);
        check(page, &[("host", "localhost.evil.example:4277")], foreign);
        check(page, &[("host", "evil.example@127.0.0.1:4277")], foreign);
        check(page, &[("host", "127.0.0.1:4277:4277")], foreign);
        check(page, &[("host", "")], foreign);
        check(
            page,
            &[("host", "127.0.0.1:4277"), ("host", "evil.example")],
            foreign,
        );
    }

    #[test]
    fn another_origin_may_neither_change_nor_ask() {
        let foreign = Some(Code::ForeignOrigin);
        let host = ("host", "127.0.0.1:4277");
        let ask = ("POST", "/api/v1/ask");
        check(ask, &[host], None);
        check(ask, &[host, ("origin", "http://127.0.0.1:4277")], None);
        check(ask, &[host, ("origin", "http://localhost:4277")], None);
        check(ask, &[host, ("origin", "http://localhost:3000")], foreign);
        check(ask, &[host, ("origin", "https://127.0.0.1:4277")], foreign);
        check(ask, &[host, ("origin", "https://evil.example")], foreign);
        check(ask, &[host, ("origin", "null")], foreign);
        check(ask, &[host, ("sec-fetch-site", "same-origin")], None);
        check(ask, &[host, ("sec-fetch-site", "none")], None);
        check(ask, &[host, ("sec-fetch-site", "cross-site")], foreign);
        check(ask, &[host, ("sec-fetch-site", "same-site")], foreign);
        check(
            ("DELETE", "/api/v1/documents/x"),
            &[host, ("origin", "null")],
            foreign,
        );
        check(
            ("GET", "/api/v1/fsck"),
            &[host, ("sec-fetch-site", "cross-site")],
            foreign,
        );
        check(
            ("POST", "/"),
            &[host, ("origin", "http://evil.example")],
            foreign,
        );
        // A link to the page.
        check(
            ("GET", "/"),
            &[host, ("sec-fetch-site", "cross-site")],
            None,
        );
    }

    #[test]
    fn a_token_lets_the_server_have_any_name_but_one() {
        #[track_caller]
        fn check(headers: &[(&'static str, &str)], expect: Option<Code>) {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, value.parse().unwrap());
            }
            let got = Guard::new(4277, true).check(&Method::POST, "/api/v1/ask", &map);
            assert_eq!(got.err().map(|error| error.code), expect, "{headers:?}");
        }
        let host = ("host", "box.example:8080");
        let foreign = Some(Code::ForeignOrigin);
        check(&[host], None);
        check(&[host, ("origin", "http://box.example:8080")], None);
        check(&[host, ("origin", "https://Box.Example:8080")], None);
        check(&[host, ("origin", "http://box.example")], foreign);
        check(&[host, ("origin", "http://127.0.0.1:4277")], foreign);
        check(&[host, ("origin", "null")], foreign);
        check(&[host, ("sec-fetch-site", "cross-site")], foreign);
        check(&[], Some(Code::ForeignHost));
        check(&[host, ("host", "other")], Some(Code::ForeignHost));
    }

    proptest! {
        #[test]
        fn no_other_name_is_ever_this_server(name in "[a-z0-9.:@\\[\\]-]{0,30}") {
            let host = format!("{name}:4277");
            prop_assert_eq!(Guard::new(4277, false).is_own(&host), NAMES.contains(&name.as_str()));
        }
    }
}
