//! The one way to an HTTP server: no proxy, no redirect, no host that the settings do not name.

use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder, Url};

use crate::contract::{ErrorBody, ErrorCode};
use crate::settings::Network;

/// A server on this machine answers within milliseconds.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);

/// Why a server may not be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// An address that is none.
    #[error("`{setting}` is `{url}`, which is no address; write it as `http://host:port`")]
    Url {
        /// The setting it stands in.
        setting: &'static str,
        /// As set.
        url: String,
    },
    /// An address elsewhere.
    #[error(
        "`{setting}` names `{host}`, which is not this machine; add `{host}` to `network.allow` \
         if documents may be sent there"
    )]
    NotAllowed {
        /// The setting it stands in.
        setting: &'static str,
        /// The host.
        host: String,
    },
    /// No client can be made.
    #[error("no HTTP client: {reason}; report this with the log")]
    Client {
        /// Why.
        reason: String,
    },
}

impl From<HttpError> for ErrorBody {
    fn from(error: HttpError) -> Self {
        let text = error.to_string();
        let (message, remedy) = text.split_once("; ").unwrap_or((&text, "see the settings"));
        Self::new(ErrorCode::BadRequest, message, remedy)
    }
}

/// A server that may be asked. Cheap to clone.
#[derive(Debug, Clone)]
pub struct HttpServer {
    base: Url,
    client: Client,
}

impl HttpServer {
    /// The server at `url`, which stands in `setting`. Nothing is sent yet. Requests have no
    /// deadline of their own but for connecting.
    ///
    /// # Errors
    /// An address that does not parse or is not allowed.
    pub fn new(setting: &'static str, url: &str, network: &Network) -> Result<Self, HttpError> {
        let wrong = || HttpError::Url {
            setting,
            url: url.to_owned(),
        };
        let base: Url = url.trim_end_matches('/').parse().map_err(|_not| wrong())?;
        if base.scheme() != "http" || !base.username().is_empty() || base.password().is_some() {
            return Err(wrong());
        }
        let host = base.host_str().ok_or_else(wrong)?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if !network.permits(host) {
            return Err(HttpError::NotAllowed {
                setting,
                host: host.to_owned(),
            });
        }
        let client = Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_WITHIN)
            .build()
            .map_err(|error| HttpError::Client {
                reason: error.to_string(),
            })?;
        Ok(Self { base, client })
    }

    /// A request for `path`, which begins with `/` and follows the path of the base address.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.at(path))
    }

    /// As [`HttpServer::request`], with `query` after the path.
    pub fn request_with(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, String)],
    ) -> RequestBuilder {
        let mut url = self.at(path);
        url.query_pairs_mut().extend_pairs(query);
        self.client.request(method, url)
    }

    fn at(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        url
    }

    /// Its address as set.
    pub fn url(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_named_servers_are_asked() {
        let network = Network {
            allow: vec!["ollama".to_owned()],
        };
        let server = |url| HttpServer::new("generation.url", url, &network);
        for url in [
            "http://127.0.0.1:11434",
            "http://localhost:1/v1/",
            "http://[::1]:80",
            "http://ollama:11434",
        ] {
            assert!(server(url).is_ok(), "{url}");
        }
        for (url, part) in [
            ("http://10.0.0.1:1", "add `10.0.0.1` to `network.allow`"),
            ("http://127.0.0.1.example.org", "network.allow"),
            ("http://user:secret@localhost:1", "no address"),
            ("https://localhost:1", "no address"),
            ("localhost:1", "no address"),
            ("", "no address"),
        ] {
            let error = server(url).unwrap_err().to_string();
            assert!(error.contains(part), "{url}: {error}");
        }
    }

    #[test]
    fn paths_follow_the_base() {
        let network = Network::default();
        let server = HttpServer::new("x", "http://localhost:1234/v1/", &network).unwrap();
        let request = server.request(Method::GET, "/models").build().unwrap();
        assert_eq!(request.url().as_str(), "http://localhost:1234/v1/models");
        assert_eq!(server.url(), "http://localhost:1234/v1");
        let query = [("after", "a b&c=ü".to_owned()), ("limit", "5".to_owned())];
        let request = server.request_with(Method::GET, "/models", &query);
        assert_eq!(
            request.build().unwrap().url().as_str(),
            "http://localhost:1234/v1/models?after=a+b%26c%3D%C3%BC&limit=5"
        );
    }
}
