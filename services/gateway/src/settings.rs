//! Settings of the gateway. Section `gateway`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::StartError;
use crate::secret::Secret;
use crate::token::Token;

/// Where the token stands when a person has set it.
pub(crate) const SETTING: &str = "`gateway.token`";

/// Where the gateway listens and what it allows.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Where it listens; an address that other machines can reach needs a token.
    pub address: IpAddr,
    /// The port; 0 takes any free one, told in `run/gateway.port` of the data folder.
    pub port: u16,
    /// What every request must carry, at least 16 characters. Empty for none on a loopback
    /// address, and elsewhere for the one in `run/gateway.token` of the data folder.
    pub token: Secret,
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
    /// Seconds a language model has for its first token when it is tried; it may have to be
    /// loaded.
    pub try_secs: u64,
    /// Seconds a streamed answer may pause without a sign of life.
    pub answer_pause_secs: u64,
    /// Seconds that requests in hand have to finish once the drain has begun.
    pub drain_secs: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 4277,
            token: Secret::default(),
            max_upload_mib: 512,
            max_requests: 64,
            max_uploads: 16,
            upload_pause_secs: 30,
            call_secs: 10,
            slow_call_secs: 120,
            try_secs: 180,
            answer_pause_secs: 10,
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
    /// For a model's first token.
    pub try_call: Duration,
    /// Between two events of an answer.
    pub answer_pause: Duration,
    /// Between two pieces of an upload.
    pub upload_pause: Duration,
}

impl Deadlines {
    /// For a whole request that asks once: its body, and the call.
    pub fn ordinary(&self) -> Duration {
        self.call.saturating_mul(2)
    }

    /// For a whole request that asks for what may take long.
    pub fn patient(&self) -> Duration {
        self.call.saturating_add(self.slow_call.max(self.try_call))
    }
}

impl Settings {
    /// Where to listen.
    pub fn listen_on(&self) -> SocketAddr {
        SocketAddr::new(self.address, self.port)
    }

    /// Whether they can be meant, without touching anything.
    ///
    /// # Errors
    /// A token that could be guessed, or a limit that lets nothing in.
    pub fn check(&self) -> Result<(), StartError> {
        if !self.token.is_empty() {
            Token::check(self.token.reveal(), SETTING)?;
        }
        if self.max_upload_mib == 0 {
            return Err(StartError::NoUploads);
        }
        Ok(())
    }

    /// The times to wait; none is under a second.
    pub fn deadlines(&self) -> Deadlines {
        let secs = |n: u64| Duration::from_secs(n.max(1));
        Deadlines {
            call: secs(self.call_secs),
            slow_call: secs(self.slow_call_secs),
            try_call: secs(self.try_secs),
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

    #[test]
    fn what_cannot_be_meant_is_refused() {
        #[track_caller]
        fn check(change: impl FnOnce(&mut Settings), expect: Option<&str>) {
            let mut settings = Settings::default();
            change(&mut settings);
            let told = settings.check().err().map(|error| error.to_string());
            match (&told, expect) {
                (None, None) => {}
                (Some(told), Some(part)) => assert!(told.contains(part), "{told}"),
                _ => panic!("{told:?}, not {expect:?}"),
            }
        }
        check(|_| {}, None);
        check(|all| all.token = "0123456789abcdef".to_owned().into(), None);
        check(
            |all| all.token = "short".to_owned().into(),
            Some("`gateway.token` could be guessed"),
        );
        check(|all| all.max_upload_mib = 0, Some("use 1 or more"));
    }

    #[test]
    fn endless_times_do_not_overflow() {
        let settings = Settings {
            call_secs: u64::MAX,
            slow_call_secs: u64::MAX,
            ..Settings::default()
        };
        let deadlines = settings.deadlines();
        assert!(deadlines.ordinary() >= deadlines.call);
        assert!(deadlines.patient() >= deadlines.slow_call);
    }
}
