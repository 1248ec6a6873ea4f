//! Which gateway a command speaks to, and what it shows to be let in.

use std::path::{Path, PathBuf};

use reqwest::Url;
use shared::http::HttpServer;
use shared::settings::{self, Network, variable};

use super::Gateway;
use crate::error::Complaint;
use crate::supervise::endpoint::{Endpoint, run_folder};

/// Names a gateway that runs elsewhere, as in a container.
pub(super) const URL: &str = "IBID_URL";
/// What that gateway asks for.
const TOKEN: &str = "IBID_TOKEN";

/// The Ibid of this machine that a gateway belongs to.
#[derive(Debug, Clone)]
pub(super) struct Home {
    data: PathBuf,
    pid: u32,
}

/// What a gateway asks for; it shows in no log.
#[derive(Clone)]
pub(super) struct Token(pub(super) String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Gateway {
    /// A gateway of this machine, at an address that we have written down ourselves.
    ///
    /// # Errors
    /// An address that is none.
    pub fn at(url: &str) -> Result<Self, Complaint> {
        let host = url.parse().ok().and_then(|url: Url| {
            let host = url.host_str()?.trim_matches(['[', ']']);
            Some(host.to_owned())
        });
        let own = Network {
            allow: host.into_iter().collect(),
        };
        Ok(Self::over(HttpServer::new(URL, url, &own)?))
    }

    /// The gateway that `IBID_URL` names, else that of the Ibid that runs on the data folder.
    ///
    /// # Errors
    /// When none runs, or the named one may not be asked, or the token cannot be one.
    pub fn find(data: &Path) -> Result<Self, Complaint> {
        let found = if let Some(url) = variable(URL) {
            let network: Network = settings::load("network")?;
            Self::over(HttpServer::new(URL, &url, &network)?)
        } else {
            Self::of_this_machine(data)?
        };
        let token = token(data);
        if let Some(text) = &token
            && !text.chars().all(|c| c.is_ascii_graphic())
        {
            return Err(Complaint::new(
                "the token has a space, a line break or a letter that no token has",
                "set IBID_TOKEN to the token alone; `ibid link`, run where the gateway runs, \
                 shows it",
            ));
        }
        Ok(found.with_token(token))
    }

    pub(super) fn of_this_machine(data: &Path) -> Result<Self, Complaint> {
        let endpoint = Endpoint::find(data)
            .ok_or_else(|| Complaint::new("Ibid is not running", "start it with `ibid up`"))?;
        Ok(Self {
            home: Some(Home {
                data: data.to_owned(),
                pid: endpoint.pid,
            }),
            ..Self::at(&endpoint.url)?
        })
    }

    /// With what it asks for, if anything.
    #[must_use]
    pub fn with_token(self, token: Option<String>) -> Self {
        Self {
            token: token.map(Token),
            ..self
        }
    }

    /// Whether a token is sent.
    pub fn asks_for_token(&self) -> bool {
        self.token.is_some()
    }

    /// The process of `ibid up`, when it runs on this machine.
    pub fn pid(&self) -> Option<u32> {
        self.home.as_ref().map(|home| home.pid)
    }

    /// Whether the Ibid it belongs to is known to have ended; never for one elsewhere.
    pub fn has_ended(&self) -> bool {
        self.home
            .as_ref()
            .is_some_and(|home| Endpoint::find(&home.data).is_none())
    }

    /// Where a browser opens the page: with the token behind `#`, which is never sent.
    pub fn link(&self) -> String {
        let url = self.url();
        match &self.token {
            Some(Token(token)) => format!("{url}/#token={}", escaped(token)),
            None => format!("{url}/"),
        }
    }
}

/// What the gateway asks for: `IBID_TOKEN`, else the setting, else what the gateway has made itself
/// because others can reach it.
pub fn token(data: &Path) -> Option<String> {
    let set = || {
        // Wrong settings are the gateway's to tell; a command that needs none goes on.
        let settings: gateway::Settings = settings::load("gateway").ok()?;
        Some(settings.token.reveal().to_owned()).filter(|token| !token.is_empty())
    };
    let made = || {
        let text = std::fs::read_to_string(run_folder(data).join("gateway.token")).ok()?;
        Some(text.trim().to_owned()).filter(|token| !token.is_empty())
    };
    variable(TOKEN).or_else(set).or_else(made)
}

/// Percent-encoded but for unreserved characters (RFC 3986, section 2.3).
fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_carries_the_token_behind_the_hash_and_no_log_does() {
        let gateway = Gateway::at("http://127.0.0.1:4277").unwrap();
        assert_eq!(gateway.link(), "http://127.0.0.1:4277/");
        let gateway = gateway.with_token(Some("a b/ü".to_owned()));
        assert_eq!(
            gateway.link(),
            "http://127.0.0.1:4277/#token=a%20b%2F%C3%BC"
        );
        assert!(!format!("{gateway:?}").contains("a b"), "{gateway:?}");
        assert!(!gateway.has_ended(), "nobody knows");
    }

    #[test]
    fn an_own_address_needs_no_permission() {
        assert!(Gateway::at("http://192.168.1.4:4277").is_ok());
        assert!(Gateway::at("http://[::1]:4277").is_ok());
        assert!(Gateway::at("nonsense").is_err());
    }

    #[test]
    fn the_token_that_a_gateway_has_made_is_found() {
        let data = tempfile::tempdir().unwrap();
        let file = run_folder(data.path()).join("gateway.token");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "0a1b\n").unwrap();
        assert_eq!(token(data.path()).as_deref(), Some("0a1b"));
    }
}
