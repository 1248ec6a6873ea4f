//! `ibid probe NAME`: the health check of a container. It asks the service of this container
//! whether it takes work; there is no other program in the image that could.

use std::process::ExitCode;
use std::time::Duration;

use shared::bus::{Bus, BusSettings};
use shared::service::own_host;
use shared::settings::{self, Network};

use crate::cli::ProbeArgs;
use crate::client::Gateway;
use crate::error::{CommandResult, Complaint};
use crate::output;

/// For reaching the bus, and again for the word of the service.
const WITHIN: Duration = Duration::from_secs(3);

/// Exit code 0 when the service of this container takes work.
pub(super) async fn run(args: ProbeArgs) -> CommandResult {
    let name = args.name.as_str();
    let well = match name {
        "gateway" => gateway().await?,
        "nats" => {
            bus().await?;
            true
        }
        _ => {
            let host = own_host();
            let found = bus()
                .await?
                .find_health(WITHIN, |health| {
                    health.service == name && health.host == host
                })
                .await;
            found.is_some_and(|health| health.ready)
        }
    };
    if well {
        output::line(format!("`{name}` takes work"))?;
        return Ok(ExitCode::SUCCESS);
    }
    Err(Complaint::new(
        format!("`{name}` does not take work here"),
        "see its log; a start may take a minute",
    ))
}

async fn gateway() -> Result<bool, Complaint> {
    let settings: gateway::Settings = settings::load("gateway").map_err(wrong_settings)?;
    let gateway = Gateway::at(&format!("http://127.0.0.1:{}", settings.port))?;
    Ok(gateway.is_alive().await)
}

async fn bus() -> Result<Bus, Complaint> {
    let network: Network = settings::load("network").map_err(wrong_settings)?;
    let bus: BusSettings = settings::load("bus").map_err(wrong_settings)?;
    let connected = tokio::time::timeout(WITHIN, Bus::connect(&bus, &network, "probe")).await;
    let none = || format!("no connection to the bus at `{}`", bus.url);
    let remedy = "check that the `nats` container runs";
    match connected {
        Ok(Ok(bus)) => Ok(bus),
        Ok(Err(error)) => Err(Complaint::new(format!("{}: {error}", none()), remedy)),
        Err(_elapsed) => Err(Complaint::new(none(), remedy)),
    }
}

fn wrong_settings(error: settings::SettingsError) -> Complaint {
    Complaint::new(
        error,
        "correct `ibid.toml` in the data folder, or the IBID_ variables",
    )
}
