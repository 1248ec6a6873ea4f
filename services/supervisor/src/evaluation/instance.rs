//! An Ibid of its own, on a folder of its own: nothing of the user's is read or changed but the
//! settings.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use shared::settings;

use crate::client::Gateway;
use crate::error::Complaint;
use crate::screen::Screen;
use crate::supervise::{Stop, Up, UpError, UpOptions, fleet};

/// What the services log while they are measured.
const LOG_FILTER: &str = "warn";

/// A running Ibid that belongs to one command.
pub struct Instance {
    up: Up,
}

impl Instance {
    /// Starts one on the folder `data`, on free ports of loopback, with the user's settings, and
    /// waits until all services take work. When that fails, everything is down again.
    ///
    /// # Errors
    /// When another one has the folder, or a service does not come up.
    pub async fn start(data: &Path, screen: &Screen, stop: &Stop) -> Result<Self, Complaint> {
        let fleet: fleet::Settings = settings::load("supervisor").map_err(UpError::from)?;
        let options = UpOptions {
            data: data.to_owned(),
            nats_server: settings::assets_dir()
                .join("nats-server")
                .join("nats-server"),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            fleet,
            log_filter: LOG_FILTER.to_owned(),
            raw_logs: false,
            environment: environment(data),
        };
        let up = Up::start(options, screen, stop).await.map_err(told)?;
        let missing = tokio::select! {
            missing = up.all_ready() => missing,
            () = stop.drain.cancelled() => {
                up.drain().await;
                return Err(told(UpError::Stopped));
            }
        };
        if missing.is_empty() {
            return Ok(Self { up });
        }
        up.drain().await;
        let missing = missing.join(", ");
        Err(Complaint::new(
            format!("these services did not get ready: {missing}"),
            "see the lines above, and try `ibid doctor`",
        ))
    }

    /// Its gateway.
    pub fn gateway(&self) -> &Gateway {
        &self.up.gateway
    }

    /// Does `work` with it, and ends it in any case: after the work, or when `stop` says so.
    ///
    /// # Errors
    /// Those of `work`, and when it was stopped.
    pub async fn with<T>(
        self,
        stop: &Stop,
        work: impl AsyncFnOnce(&Gateway) -> Result<T, Complaint>,
    ) -> Result<T, Complaint> {
        let done = tokio::select! {
            done = work(&self.up.gateway) => done,
            () = stop.drain.cancelled() => Err(stopped()),
        };
        self.up.drain().await;
        done
    }
}

/// What whoever ended the command is told.
pub fn stopped() -> Complaint {
    Complaint::new(
        "stopped",
        "start it again: what was taken in is kept and not done twice",
    )
}

fn told(error: UpError) -> Complaint {
    match error {
        UpError::Running { .. } => Complaint::new(
            "another `ibid` measures on the same folder",
            "wait for its end",
        ),
        UpError::Stopped => stopped(),
        error => error.into(),
    }
}

/// The services find their folder and the user's settings; whatever the user's own gateway asks
/// for, this one is reached from this machine alone.
fn environment(data: &Path) -> Vec<(String, OsString)> {
    let pairs: [(&str, OsString); 4] = [
        ("IBID_DATA", data.into()),
        ("IBID_CONFIG", settings::config_file().into()),
        (
            "IBID_GATEWAY__ADDRESS",
            Ipv4Addr::LOCALHOST.to_string().into(),
        ),
        ("IBID_GATEWAY__TOKEN", OsString::new()),
    ];
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_a_folder_of_its_own_and_the_settings_of_the_user() {
        let found = environment(Path::new("/scratch"));
        let value = |name: &str| found.iter().find(|(n, _)| n == name).unwrap().1.clone();
        assert_eq!(value("IBID_DATA"), "/scratch");
        assert_eq!(value("IBID_CONFIG"), settings::config_file().as_os_str());
        assert_ne!(settings::config_file(), Path::new("/scratch/ibid.toml"));
    }
}
