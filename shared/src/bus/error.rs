//! What can go wrong on the bus.

use std::path::PathBuf;
use std::time::Duration;

type Source = Box<dyn std::error::Error + Send + Sync>;

/// An error of the bus itself; what a peer answered is an [`crate::contract::ErrorBody`].
#[derive(Debug, thiserror::Error)]
pub enum BusError {
    /// No connection within the time allowed.
    #[error("no connection to the bus at `{url}` within {within:?}; is nats-server running?")]
    Connect {
        /// The address.
        url: String,
        /// The time allowed.
        within: Duration,
        /// Why.
        #[source]
        source: Source,
    },
    /// The token cannot be read.
    #[error(
        "cannot read the bus's token from `{}`; start the bus first, and check `bus.token_file`",
        .path.display()
    )]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// An address that the settings do not allow.
    #[error(
        "the bus at `{host}` is not on this machine; add the host to `network.allow` to permit it"
    )]
    NotAllowed {
        /// The host.
        host: String,
    },
    /// An address that is none.
    #[error("`{url}` is not an address of a bus; use `nats://host:port`")]
    Url {
        /// What was given.
        url: String,
    },
    /// A stream or consumer could not be made.
    #[error("could not prepare `{name}`")]
    Stream {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: Source,
    },
    /// A message was not taken.
    #[error("could not publish to `{subject}`")]
    Publish {
        /// Its subject.
        subject: String,
        /// Why.
        #[source]
        source: Source,
    },
    /// A subscription was refused.
    #[error("could not subscribe to `{subject}`")]
    Subscribe {
        /// Its subject.
        subject: String,
        /// Why.
        #[source]
        source: Source,
    },
    /// A message that does not fit its type.
    #[error("could not encode a message for `{subject}`")]
    Encode {
        /// Its subject.
        subject: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
}
