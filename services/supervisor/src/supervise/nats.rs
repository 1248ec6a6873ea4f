//! The bus that `ibid up` brings along: its configuration, its port, its readiness.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use shared::bus::BusSettings;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::child::ChildSpec;
use super::endpoint::run_folder;
use crate::files::write_durably;

/// Room for the streams (five of at most 2 GiB), named so that a small disk does not refuse
/// them at once: the catalog's feeder keeps far less in flight.
const STORE_BYTES: u64 = 12 << 30;
/// Its memory is a buffer in front of the catalog; collecting earlier costs little.
const MEMORY: (&str, &str) = ("GOMEMLIMIT", "128MiB");
/// The usual port of NATS, in a container of its own.
const SHARED_PORT: u16 = 4222;
/// JetStream reads its store at start.
const READY_WITHIN: Duration = Duration::from_mins(1);
const GRACE: Duration = Duration::from_secs(10);

/// A bus of our own: on loopback, for those who know the token of this start.
pub struct Nats {
    /// `nats://127.0.0.1:port`, the same for as long as we run, so that all find back after a
    /// restart of the server.
    pub url: String,
    /// Random, new at each start.
    pub token: String,
    port: u16,
    config: PathBuf,
}

impl Nats {
    /// Writes the configuration into `run`, for a store in `store`.
    ///
    /// # Errors
    /// When there is no free port, or a file cannot be written.
    pub fn prepare(run: &Path, store: &Path) -> io::Result<Self> {
        let port = free_port()?;
        let token = random_token()?;
        let config = configure(run, (Ipv4Addr::LOCALHOST, port).into(), &token, store)?;
        Ok(Self {
            url: format!("nats://127.0.0.1:{port}"),
            token,
            port,
            config,
        })
    }

    /// How to start it: through `ibid guard`, which ties it to us and becomes the server.
    pub fn spec(&self, ibid: &Path, server: &Path) -> ChildSpec {
        let parent = std::process::id().to_string();
        let arguments: [OsString; 7] = [
            "guard".into(),
            "--parent".into(),
            parent.into(),
            "--".into(),
            server.into(),
            "-c".into(),
            self.config.clone().into(),
        ];
        ChildSpec {
            name: "nats".to_owned(),
            program: ibid.to_owned(),
            arguments: arguments.into(),
            environment: vec![(MEMORY.0.to_owned(), MEMORY.1.into())],
            grace: GRACE,
            raw_logs: false,
        }
    }

    /// Waits until the server greets.
    ///
    /// # Errors
    /// When it does not within a minute.
    pub async fn ready(&self) -> io::Result<()> {
        let started = Instant::now();
        loop {
            if let Ok(true) = tokio::time::timeout(Duration::from_secs(2), self.greets()).await {
                return Ok(());
            }
            if started.elapsed() > READY_WITHIN {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    format!("no answer on port {} within {READY_WITHIN:?}", self.port),
                ));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn greets(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).await else {
            return false;
        };
        let mut greeting = [0; 5];
        stream.read_exact(&mut greeting).await.is_ok() && greeting == *b"INFO "
    }
}

/// Becomes the bus of several containers: it listens on all addresses of its own container, for
/// those who know the token. `token_file` is made when it is not there.
///
/// # Errors
/// When a file cannot be read or written, or the server does not start; else it does not return.
pub fn become_shared(server: &Path, data: &Path, settings: &BusSettings) -> io::Result<Infallible> {
    let token = match settings.current_token() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let token = random_token()?;
            write_durably(&settings.token_file, 0o600, |file| {
                file.write_all(token.as_bytes())
            })?;
            token
        }
        token => token?,
    };
    if token.is_empty() {
        return Err(io::Error::other("there is no token for the others"));
    }
    let listen = (Ipv4Addr::UNSPECIFIED, SHARED_PORT).into();
    let config = configure(&run_folder(data), listen, &token, &data.join("jetstream"))?;
    Err(Command::new(server)
        .arg("-c")
        .arg(config)
        .env(MEMORY.0, MEMORY.1)
        .exec())
}

/// Writes the server's configuration into `run`, and tells where.
fn configure(run: &Path, listen: SocketAddr, token: &str, store: &Path) -> io::Result<PathBuf> {
    let config = run.join("nats.conf");
    let text = configuration(listen, token, store);
    write_durably(&config, 0o600, |file| file.write_all(text.as_bytes()))?;
    Ok(config)
}

fn configuration(listen: SocketAddr, token: &str, store: &Path) -> String {
    let quote = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let store = quote(&store.display().to_string());
    let token = quote(token);
    format!(
        "listen: \"{listen}\"\n\
         server_name: \"ibid\"\n\
         authorization {{ token: \"{token}\" }}\n\
         jetstream {{\n\
         \x20 store_dir: \"{store}\"\n\
         \x20 max_memory_store: 0\n\
         \x20 max_file_store: {STORE_BYTES}\n\
         }}\n"
    )
}

/// A port that is free now. It is given back before the server takes it: whoever takes it in
/// between makes the start fail with a clear word, and the next start takes another.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
        .local_addr()?
        .port())
}

fn random_token() -> io::Result<String> {
    let mut bytes = [0; 24];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hex::encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_configuration_is_for_us_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("a \"quoted\" store");
        let one = Nats::prepare(folder.path(), &store).unwrap();
        let text = std::fs::read_to_string(folder.path().join("nats.conf")).unwrap();
        assert!(text.contains("listen: \"127.0.0.1:") && text.contains(&one.token));
        assert!(text.contains("a \\\"quoted\\\" store"));
        let mode = std::fs::metadata(folder.path().join("nats.conf"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let two = Nats::prepare(folder.path(), &store).unwrap();
        assert!(one.token.len() == 48 && one.token != two.token);
    }

    #[test]
    fn the_shared_bus_keeps_its_token_and_wants_one() {
        let data = tempfile::tempdir().unwrap();
        let settings = BusSettings {
            token_file: data.path().join("run/bus.token"),
            ..BusSettings::default()
        };
        let start = |settings: &BusSettings| {
            become_shared(Path::new("/no/such/server"), data.path(), settings).unwrap_err()
        };
        assert_eq!(start(&settings).kind(), io::ErrorKind::NotFound);
        let token = settings.current_token().unwrap();
        assert_eq!(token.len(), 48);
        let config = std::fs::read_to_string(data.path().join("run/nats.conf")).unwrap();
        assert!(config.contains("listen: \"0.0.0.0:4222\"") && config.contains(&token));
        start(&settings);
        assert_eq!(settings.current_token().unwrap(), token);
        let none = start(&BusSettings::default());
        assert!(none.to_string().contains("no token"), "{none}");
    }
}
