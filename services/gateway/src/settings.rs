//! Settings of the gateway. Section `gateway`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::StartError;

/// Where the gateway listens and what it allows.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// A loopback address.
    pub address: IpAddr,
    /// The port; 0 takes any free one, told in `run/gateway.port` of the data folder.
    pub port: u16,
    /// Largest file that is taken in, in MiB.
    pub max_upload_mib: u64,
    /// Requests in hand at once; more are refused as busy.
    pub max_requests: usize,
    /// Uploads among them.
    pub max_uploads: usize,
    /// Seconds an upload may pause.
    pub upload_pause_secs: u64,
    /// Seconds the other services have to answer.
    pub call_secs: u64,
    /// Seconds they have for what reads or purges whole stores.
    pub slow_call_secs: u64,
    /// Seconds a streamed answer may pause.
    pub answer_pause_secs: u64,
    /// Seconds that requests in hand have to finish once the drain has begun.
    pub drain_secs: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 4277,
            max_upload_mib: 512,
            max_requests: 64,
            max_uploads: 16,
            upload_pause_secs: 30,
            call_secs: 10,
            slow_call_secs: 120,
            answer_pause_secs: 15,
            drain_secs: 10,
        }
    }
}

/// The times the gateway waits, from the settings.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    /// For an ordinary call.
    pub call: Duration,
    /// For a call that reads or purges whole stores.
    pub slow_call: Duration,
    /// Between two events of an answer.
    pub answer_pause: Duration,
    /// Between two pieces of an upload.
    pub upload_pause: Duration,
}

impl Settings {
    /// Where to listen.
    ///
    /// # Errors
    /// An address that is not loopback: there is no login, so whoever reaches the port reads
    /// every document.
    pub fn listen_on(&self) -> Result<SocketAddr, StartError> {
        if self.address.is_loopback() {
            Ok(SocketAddr::new(self.address, self.port))
        } else {
            Err(StartError::NotLoopback {
                address: self.address,
            })
        }
    }

    /// The times to wait; none is under a second.
    pub fn deadlines(&self) -> Deadlines {
        let secs = |n: u64| Duration::from_secs(n.max(1));
        Deadlines {
            call: secs(self.call_secs),
            slow_call: secs(self.slow_call_secs),
            answer_pause: secs(self.answer_pause_secs),
            upload_pause: secs(self.upload_pause_secs),
        }
    }

    /// Bytes of the largest file that is taken in.
    pub fn max_upload_bytes(&self) -> u64 {
        self.max_upload_mib.saturating_mul(1024 * 1024)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expect: bool) {
        let settings = Settings {
            address: address.parse().unwrap(),
            ..Settings::default()
        };
        assert_eq!(settings.listen_on().is_ok(), expect, "{address}");
    }

    #[test]
    fn only_loopback_is_listened_on() {
        check("127.0.0.1", true);
        check("127.3.2.1", true);
        check("::1", true);
        check("0.0.0.0", false);
        check("::", false);
        check("192.168.1.4", false);
    }

    #[test]
    fn the_refusal_carries_the_remedy() {
        let settings = Settings {
            address: "0.0.0.0".parse().unwrap(),
            ..Settings::default()
        };
        let text = settings.listen_on().unwrap_err().to_string();
        assert!(
            text.contains("0.0.0.0") && text.contains("gateway.address"),
            "{text}"
        );
    }
}
