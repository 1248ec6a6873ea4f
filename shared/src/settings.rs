//! Settings: defaults ← `ibid.toml` ← `IBID_{SECTION}__{KEY}`.
//!
//! The file lies in the data folder unless `IBID_CONFIG` names another. Each section belongs to
//! one service or to all (`bus`, `network`, `telemetry`, `model`); an unknown section or key is
//! refused with the nearest known one.

use std::path::{Path, PathBuf};

use figment::Figment;
use figment::providers::{Format as _, Serialized, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Metadata, Profile, Provider};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::contract::ModelId;

/// The sections a file may have.
pub const SECTIONS: [&str; 11] = [
    "bus",
    "network",
    "telemetry",
    "model",
    "parser",
    "chunker",
    "embedder",
    "indexer",
    "query",
    "gateway",
    "supervisor",
];

/// Why the settings do not hold.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A file that is no TOML.
    #[error("`{path}` is not valid TOML: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// Where and why.
        reason: String,
    },
    /// A section or key that means nothing.
    #[error("`{name}` from {origin} is not a setting{}", hint(.nearest.as_deref()))]
    Unknown {
        /// As given.
        name: String,
        /// The file or variable.
        origin: String,
        /// The nearest known name.
        nearest: Option<String>,
    },
    /// A value of the wrong kind.
    #[error("section `{section}`: {reason}")]
    Value {
        /// The section.
        section: String,
        /// What is wrong, with the key.
        reason: String,
    },
}

fn hint(name: Option<&str>) -> String {
    name.map(|name| format!("; did you mean `{name}`?"))
        .unwrap_or_default()
}

/// Addresses outside this machine that may be reached. Section `network`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Network {
    /// Host names or addresses; loopback needs no entry.
    pub allow: Vec<String>,
}

impl Network {
    /// Whether `host` may be connected to.
    pub fn permits(&self, host: &str) -> bool {
        let loopback = host.eq_ignore_ascii_case("localhost")
            || host
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback());
        loopback
            || self
                .allow
                .iter()
                .any(|allowed| allowed.eq_ignore_ascii_case(host))
    }
}

/// How exactly the model computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32-bit floats.
    Fp32,
    /// Dynamic 8-bit integers: faster, and a vector then depends a little on its neighbours in
    /// the batch.
    Int8,
}

/// The embedding model, which chunker, embedder and indexer must agree on. Section `model`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// A folder under `models/` of the assets, as `ibid model import` makes it.
    pub name: String,
    /// `fp32` or `int8`.
    pub precision: Precision,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            name: "all-MiniLM-L6-v2".to_owned(),
            precision: Precision::Fp32,
        }
    }
}

impl Model {
    /// The id its vectors carry: name and precision.
    ///
    /// # Errors
    /// When the name has characters an id may not have.
    pub fn id(&self) -> Result<ModelId, SettingsError> {
        let precision = match self.precision {
            Precision::Fp32 => "fp32",
            Precision::Int8 => "int8",
        };
        format!("{}-{precision}", self.name)
            .parse()
            .map_err(|error| SettingsError::Value {
                section: "model".to_owned(),
                reason: format!("{error}"),
            })
    }

    /// Its folder: `model.json`, `tokenizer.json` and the ONNX files.
    pub fn folder(&self) -> PathBuf {
        assets_dir().join("models").join(&self.name)
    }
}

/// The data folder: `IBID_DATA`, else `~/.local/share/ibid`.
pub fn data_dir() -> PathBuf {
    folder("IBID_DATA", ".local/share/ibid")
}

/// The folder of runtime parts and models: `IBID_ASSETS`, else `~/.cache/ibid`.
pub fn assets_dir() -> PathBuf {
    folder("IBID_ASSETS", ".cache/ibid")
}

/// The settings file: `IBID_CONFIG`, else `ibid.toml` in the data folder.
pub fn config_file() -> PathBuf {
    variable("IBID_CONFIG").map_or_else(|| data_dir().join("ibid.toml"), PathBuf::from)
}

/// An environment variable that is set and not empty.
#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the environment"
)]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn folder(name: &str, below_home: &str) -> PathBuf {
    let path = variable(name).map_or_else(
        || PathBuf::from(variable("HOME").unwrap_or_else(|| ".".to_owned())).join(below_home),
        PathBuf::from,
    );
    std::path::absolute(&path).unwrap_or(path)
}

/// One section, merged and checked.
///
/// # Errors
/// [`SettingsError`] names the key, where it comes from, and the nearest known one.
pub fn load<T>(section: &str) -> Result<T, SettingsError>
where
    T: DeserializeOwned + Serialize + Default,
{
    merge(section, &config_file(), &environment())
}

/// The `IBID_*__*` variables.
fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("IBID_") && name.contains("__"))
        .collect()
}

fn merge<T>(section: &str, file: &Path, env: &[(String, String)]) -> Result<T, SettingsError>
where
    T: DeserializeOwned + Serialize + Default,
{
    let known = keys_of(&T::default(), section)?;
    let from_file = section_of(file, section)?;
    if let Some(values) = &from_file {
        for key in values.keys() {
            check_key(key, &known, || format!("`{}`", file.display()))?;
        }
    }
    let prefix = format!("IBID_{}__", section.to_uppercase());
    let mut from_env = Dict::new();
    for (name, value) in env {
        check_section(name)?;
        if let Some(key) = name.strip_prefix(&prefix) {
            let key = key.to_lowercase();
            check_key(&key, &known, || format!("the variable `{name}`"))?;
            // Parsing text as a value falls back to the text itself.
            let value = value
                .parse()
                .unwrap_or_else(|never: std::convert::Infallible| match never {});
            from_env.insert(key, value);
        }
    }
    let mut figment = Figment::from(Serialized::defaults(T::default()));
    if let Some(values) = from_file {
        figment = figment.merge(Section(values));
    }
    figment
        .merge(Section(from_env))
        .extract()
        .map_err(|error| SettingsError::Value {
            section: section.to_owned(),
            reason: error.to_string(),
        })
}

/// Values of one section, as a provider for the merge.
struct Section(Dict);

impl Provider for Section {
    fn metadata(&self) -> Metadata {
        Metadata::named("ibid settings")
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Profile::Default.collect(self.0.clone()))
    }
}

fn keys_of<T: Serialize>(value: &T, section: &str) -> Result<Vec<String>, SettingsError> {
    match Value::serialize(value) {
        Ok(Value::Dict(_, dict)) => Ok(dict.into_keys().collect()),
        Ok(_) => Ok(Vec::new()),
        Err(error) => Err(SettingsError::Value {
            section: section.to_owned(),
            reason: error.to_string(),
        }),
    }
}

fn section_of(file: &Path, section: &str) -> Result<Option<Dict>, SettingsError> {
    if !file.is_file() {
        return Ok(None);
    }
    let bad = |reason: String| SettingsError::File {
        path: file.to_owned(),
        reason,
    };
    let data = Toml::file(file)
        .data()
        .map_err(|error| bad(error.to_string()))?;
    let mut all = data.into_values().next().unwrap_or_default();
    for name in all.keys() {
        if !SECTIONS.contains(&name.as_str()) {
            return Err(SettingsError::Unknown {
                name: format!("[{name}]"),
                origin: format!("`{}`", file.display()),
                nearest: closest(name, SECTIONS.iter().copied()).map(|known| format!("[{known}]")),
            });
        }
    }
    match all.remove(section) {
        None => Ok(None),
        Some(Value::Dict(_, dict)) => Ok(Some(dict)),
        Some(_) => Err(bad(format!("`{section}` must be a section: `[{section}]`"))),
    }
}

/// `IBID_{SECTION}__{KEY}` must name a section.
fn check_section(variable: &str) -> Result<(), SettingsError> {
    let section = variable
        .strip_prefix("IBID_")
        .and_then(|rest| rest.split_once("__"))
        .map(|(section, _)| section.to_lowercase())
        .unwrap_or_default();
    if SECTIONS.contains(&section.as_str()) {
        return Ok(());
    }
    Err(SettingsError::Unknown {
        name: section.clone(),
        origin: format!("the variable `{variable}`"),
        nearest: closest(&section, SECTIONS.iter().copied()).map(str::to_owned),
    })
}

fn check_key(
    key: &str,
    known: &[String],
    origin: impl Fn() -> String,
) -> Result<(), SettingsError> {
    if known.iter().any(|name| name == key) {
        return Ok(());
    }
    Err(SettingsError::Unknown {
        name: key.to_owned(),
        origin: origin(),
        nearest: closest(key, known.iter().map(String::as_str)).map(str::to_owned),
    })
}

fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(similarity, _)| *similarity > 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Example {
        in_flight: usize,
        name: String,
        flags: Vec<String>,
    }

    impl Default for Example {
        fn default() -> Self {
            Self {
                in_flight: 4,
                name: "a".to_owned(),
                flags: Vec::new(),
            }
        }
    }

    #[track_caller]
    fn check(file: &str, env: &[(&str, &str)], expect: Result<Example, &str>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ibid.toml");
        std::fs::write(&path, file).unwrap();
        let env: Vec<_> = env
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect();
        match (merge::<Example>("parser", &path, &env), expect) {
            (Ok(got), Ok(want)) => assert_eq!(got, want),
            (Err(error), Err(part)) => {
                assert!(error.to_string().contains(part), "`{error}` lacks `{part}`");
            }
            (got, want) => panic!("got {got:?}, want {want:?}"),
        }
    }

    #[test]
    fn defaults_then_file_then_environment() {
        check("", &[], Ok(Example::default()));
        let from_file = Example {
            in_flight: 9,
            ..Example::default()
        };
        check(
            "[parser]\nin_flight = 9\n[query]\nk = 1\n",
            &[],
            Ok(from_file),
        );
        let from_env = Example {
            in_flight: 2,
            flags: vec!["x".into()],
            ..Example::default()
        };
        check(
            "[parser]\nin_flight = 9",
            &[
                ("IBID_PARSER__IN_FLIGHT", "2"),
                ("IBID_PARSER__FLAGS", "[x]"),
            ],
            Ok(from_env),
        );
    }

    #[test]
    fn what_is_not_known_is_refused_with_the_nearest_name() {
        check(
            "[parser]\nin_fligth = 9",
            &[],
            Err("did you mean `in_flight`?"),
        );
        check(
            "[parsr]\nin_flight = 9",
            &[],
            Err("did you mean `[parser]`?"),
        );
        check(
            "",
            &[("IBID_PARSER__NAEM", "x")],
            Err("did you mean `name`?"),
        );
        check(
            "",
            &[("IBID_PARSR__NAME", "x")],
            Err("did you mean `parser`?"),
        );
        check("[parser]\nin_flight = \"many\"", &[], Err("in_flight"));
        check("[parser\n", &[], Err("not valid TOML"));
    }

    #[test]
    fn only_loopback_is_reached_without_permission() {
        let network = Network {
            allow: vec!["nats".to_owned()],
        };
        for (host, expect) in [
            ("127.0.0.1", true),
            ("127.8.8.8", true),
            ("::1", true),
            ("localhost", true),
            ("nats", true),
            ("10.0.0.1", false),
            ("localhost.example.org", false),
            ("", false),
        ] {
            assert_eq!(network.permits(host), expect, "{host}");
        }
    }
}
