//! `ibid up`.

use std::path::PathBuf;
use std::process::ExitCode;

use shared::settings;
use shared::telemetry::TelemetrySettings;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{model, service, setup};
use crate::cli::UpArgs;
use crate::error::{CommandResult, Complaint};
use crate::intake::{self, Report, Request};
use crate::output;
use crate::screen::{Screen, style};
use crate::supervise::{Stop, Up, UpError, UpOptions, fleet};

/// Starts everything, takes the paths in, and waits for the request to end.
pub(super) async fn run(args: UpArgs, json: bool) -> CommandResult {
    let signals = Signals::listen()?;
    if let Some(path) = args.paths.iter().find(|path| !path.exists()) {
        return Err(Complaint::new(
            format!("`{}` is not there", path.display()),
            "check the path",
        ));
    }
    // Before anything is fetched, and before a service would end over it again and again.
    service::check_settings().map_err(UpError::from)?;
    let parts = setup::ensure().await?;
    model::check(
        &settings::load("model").map_err(UpError::from)?,
        &parts.assets,
    )?;
    let options = options(parts.assets.join("nats-server").join("nats-server"))?;
    let screen = Screen::stderr();
    screen.line("starting …");
    let stop = signals.stop(&screen);
    let started = Up::start(options, &screen, &stop).await;
    let up = match started {
        Ok(up) => up,
        Err(error) => {
            screen.finish();
            return Err(error.into());
        }
    };
    if json {
        output::json_line(&serde_json::json!({ "url": up.endpoint.url, "pid": up.endpoint.pid }))?;
    }
    let serving = serve(&up, args, &screen);
    let failed = tokio::select! {
        () = stop.drain.cancelled() => None,
        name = up.unusable() => Some(UpError::Unusable { name }),
        never = serving => match never {},
    };
    let gave_up = up.drain().await;
    if gave_up.is_empty() {
        screen.line("drained");
    } else {
        screen.warn(format!(
            "gave up on {}: {}",
            gave_up.len(),
            gave_up.join(", ")
        ));
    }
    screen.finish();
    match failed {
        Some(error) => Err(error.into()),
        None if gave_up.is_empty() => Ok(ExitCode::SUCCESS),
        None => Ok(ExitCode::FAILURE),
    }
}

fn options(nats_server: PathBuf) -> Result<UpOptions, Complaint> {
    let gateway: gateway::Settings = settings::load("gateway").map_err(UpError::from)?;
    let fleet: fleet::Settings = settings::load("supervisor").map_err(UpError::from)?;
    let telemetry: TelemetrySettings = settings::load("telemetry").map_err(UpError::from)?;
    Ok(UpOptions {
        data: settings::data_dir(),
        nats_server,
        address: gateway.address,
        port: port(settings::variable("IBID_PORT").as_deref(), gateway.port)?,
        fleet,
        log_filter: telemetry.filter,
        raw_logs: telemetry.json,
        environment: Vec::new(),
    })
}

/// `IBID_PORT`, else the setting.
fn port(variable: Option<&str>, setting: u16) -> Result<u16, Complaint> {
    variable.map_or(Ok(setting), |text| {
        text.parse().map_err(|_error| {
            let what = format!("IBID_PORT is `{text}`, which is no port");
            Complaint::new(what, "set it to a number from 0 to 65535")
        })
    })
}

/// Tells where the page is, takes the paths in, and then stays until it is dropped.
async fn serve(up: &Up, args: UpArgs, screen: &Screen) -> std::convert::Infallible {
    let missing = up.all_ready().await;
    if !missing.is_empty() {
        let names = missing.join(", ");
        screen.warn(format!(
            "not ready yet: {names}; `ibid status` shows when they are"
        ));
    }
    let url = style().bold().apply_to(format!("{}/", up.endpoint.url));
    screen.line(format!("Ibid is at {url} (Ctrl-C ends it)"));
    if up.gateway.asks_for_token() {
        screen.line("it asks for a token; `ibid link` prints the address with it");
    }
    if !args.paths.is_empty() {
        let request = Request {
            collection: args.collection,
            force: false,
            wait: true,
            password: None,
        };
        match take_in(up, args.paths, request, screen).await {
            Ok(report) => {
                let told = report.tell(|line| {
                    screen.line(line);
                    Ok(())
                });
                debug_assert!(told.is_ok(), "the screen takes every line");
            }
            Err(error) => screen.warn(error),
        }
    }
    std::future::pending().await
}

async fn take_in(
    up: &Up,
    paths: Vec<PathBuf>,
    request: Request,
    screen: &Screen,
) -> Result<Report, Complaint> {
    let found = intake::find(paths).await?;
    intake::run(&up.gateway, request, found, screen).await
}

/// Ctrl-C, a request to end, and a terminal that was closed.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    pub(super) fn listen() -> Result<Self, Complaint> {
        let listen = |kind| {
            signal(kind).map_err(|error| {
                Complaint::new(format!("cannot listen for signals: {error}"), "try again")
            })
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    /// What the first of them drains, and the second ends.
    pub(super) fn stop(mut self, screen: &Screen) -> Stop {
        let stop = Stop::default();
        let (handing_on, told) = (stop.clone(), screen.clone());
        tokio::spawn(async move {
            self.next().await;
            told.line("draining; once more to give up at once");
            handing_on.drain.cancel();
            self.next().await;
            handing_on.kill.cancel();
        });
        stop
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

impl From<UpError> for Complaint {
    fn from(error: UpError) -> Self {
        let remedy = error.remedy();
        Self::new(error, remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_goes_before_the_setting() {
        assert_eq!(port(None, 4277).unwrap(), 4277);
        assert_eq!(port(Some("0"), 4277).unwrap(), 0);
        for bad in ["x", "-1", "65536"] {
            let error = port(Some(bad), 4277).unwrap_err().to_string();
            assert!(
                error.contains(bad) && error.contains("IBID_PORT"),
                "{error}"
            );
        }
    }
}
