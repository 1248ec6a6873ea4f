//! Connecting, with deadlines and only to where the settings allow.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use async_nats::jetstream;
use async_nats::{ConnectOptions, Event};
use futures::{Stream, StreamExt as _};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tracing::{info, warn};

use super::BusError;
use crate::settings::Network;

/// How long connecting may take, the server's own start included.
const CONNECT_WITHIN: Duration = Duration::from_secs(30);
/// How long one JetStream request may take.
const REQUEST_WITHIN: Duration = Duration::from_secs(5);

/// Where the bus is. Section `bus`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BusSettings {
    /// `nats://host:port`.
    pub url: String,
    /// The token the server asks for; empty when it asks for none.
    pub token: String,
    /// The file that holds the token when `token` is empty; none when empty as well. It may be
    /// made while a service waits for the bus.
    pub token_file: PathBuf,
    /// Seconds a message may stay unacknowledged without a heartbeat before it is handed out
    /// again.
    pub ack_wait_secs: u64,
    /// Deliveries of one message before it becomes a dead letter.
    pub max_deliveries: u64,
}

impl BusSettings {
    /// The token as set, or as it stands in the token file; empty when none is asked for.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn current_token(&self) -> io::Result<String> {
        if !self.token.is_empty() || self.token_file.as_os_str().is_empty() {
            return Ok(self.token.clone());
        }
        let text = std::fs::read_to_string(&self.token_file)?;
        Ok(text.trim().to_owned())
    }
}

impl Default for BusSettings {
    fn default() -> Self {
        Self {
            url: "nats://127.0.0.1:4222".to_owned(),
            token: String::new(),
            token_file: PathBuf::new(),
            ack_wait_secs: 15,
            max_deliveries: 8,
        }
    }
}

/// A connection to the bus. Cheap to clone.
#[derive(Clone)]
pub struct Bus {
    pub(super) client: async_nats::Client,
    pub(super) jetstream: jetstream::Context,
    pub(super) settings: BusSettings,
}

impl Bus {
    /// Connects as `name`, and again by itself whenever the connection is lost.
    ///
    /// # Errors
    /// An address the settings do not allow, or no connection within 30 seconds.
    pub async fn connect(
        settings: &BusSettings,
        network: &Network,
        name: &str,
    ) -> Result<Self, BusError> {
        let host = host_of(&settings.url)?;
        if !network.permits(&host) {
            return Err(BusError::NotAllowed { host });
        }
        let client = Self::dial(settings, name).await?;
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(REQUEST_WITHIN);
        Ok(Self {
            client,
            jetstream,
            settings: settings.clone(),
        })
    }

    async fn dial(settings: &BusSettings, name: &str) -> Result<async_nats::Client, BusError> {
        let started = tokio::time::Instant::now();
        loop {
            let failure = match Self::try_dial(settings, name).await {
                Ok(client) => return Ok(client),
                Err(failure) => failure,
            };
            if started.elapsed() >= CONNECT_WITHIN {
                return Err(failure);
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    async fn try_dial(settings: &BusSettings, name: &str) -> Result<async_nats::Client, BusError> {
        let token = settings
            .current_token()
            .map_err(|source| BusError::TokenFile {
                path: settings.token_file.clone(),
                source,
            })?;
        let mut options = ConnectOptions::new()
            .name(format!("ibid-{name}"))
            .connection_timeout(Duration::from_secs(3))
            .request_timeout(Some(Duration::from_secs(10)))
            .ping_interval(Duration::from_secs(10))
            .max_reconnects(None)
            .reconnect_delay_callback(|attempt| {
                let step = u64::try_from(attempt.min(10)).unwrap_or(10);
                Duration::from_millis(100 * step)
            })
            .event_callback(|event| async move {
                match event {
                    Event::Connected => info!("connected to the bus"),
                    Event::Disconnected => warn!("lost the bus, connecting again"),
                    Event::SlowConsumer(_) => warn!("the bus dropped messages: too slow here"),
                    _ => {}
                }
            });
        if !token.is_empty() {
            options = options.token(token);
        }
        options
            .connect(settings.url.as_str())
            .await
            .map_err(|error| BusError::Connect {
                url: settings.url.clone(),
                within: CONNECT_WITHIN,
                source: error.into(),
            })
    }

    /// Events of type `T` published under `filter` from now on. A message that does not decode is
    /// logged and left out.
    ///
    /// # Errors
    /// When the bus refuses the subscription.
    pub async fn subscribe<T: DeserializeOwned>(
        &self,
        filter: &str,
    ) -> Result<impl Stream<Item = T> + Send + use<T>, BusError> {
        let subscriber = self
            .client
            .subscribe(filter.to_owned())
            .await
            .map_err(|error| BusError::Subscribe {
                subject: filter.to_owned(),
                source: error.into(),
            })?;
        Ok(subscriber.filter_map(|message| async move {
            serde_json::from_slice(&message.payload)
                .inspect_err(|error| warn!(subject = %message.subject, %error, "cannot decode"))
                .ok()
        }))
    }

    /// Sends what is buffered, within a deadline; the last thing a service does.
    pub async fn flush(&self) {
        if tokio::time::timeout(Duration::from_secs(2), self.client.flush())
            .await
            .is_err()
        {
            warn!("could not flush the bus within two seconds");
        }
    }
}

/// The host part of `nats://host:port`.
fn host_of(url: &str) -> Result<String, BusError> {
    let error = || BusError::Url {
        url: url.to_owned(),
    };
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    let (host, port) = rest.rsplit_once(':').ok_or_else(error)?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() || port.trim_end_matches('/').parse::<u16>().is_err() {
        return Err(error());
    }
    Ok(host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_bus_elsewhere_is_refused_before_any_connection() {
        let settings = BusSettings {
            url: "nats://192.0.2.1:4222".to_owned(),
            ..BusSettings::default()
        };
        let error = Bus::connect(&settings, &Network::default(), "test")
            .await
            .err()
            .unwrap();
        assert!(error.to_string().contains("network.allow"), "{error}");
    }

    #[test]
    fn the_token_stands_in_the_setting_or_in_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bus.token");
        let token = |token: &str, token_file: PathBuf| {
            let settings = BusSettings {
                token: token.to_owned(),
                token_file,
                ..BusSettings::default()
            };
            settings.current_token().ok()
        };
        assert_eq!(token("", PathBuf::new()).as_deref(), Some(""));
        assert_eq!(token("", file.clone()), None);
        std::fs::write(&file, "abc\n").unwrap();
        assert_eq!(token("", file.clone()).as_deref(), Some("abc"));
        assert_eq!(token("set", file).as_deref(), Some("set"));
    }

    #[test]
    fn hosts_are_found_in_addresses() {
        assert_eq!(host_of("nats://127.0.0.1:4222").unwrap(), "127.0.0.1");
        assert_eq!(host_of("nats://[::1]:4222").unwrap(), "::1");
        assert_eq!(host_of("nats://token@nats:4222").unwrap(), "nats");
        assert!(host_of("nats://nowhere").is_err());
    }
}
