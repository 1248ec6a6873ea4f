//! Settings: defaults ← `ibid.toml` ← `IBID_{SECTION}__{KEY}`.
//!
//! The file lies in the data folder unless `IBID_CONFIG` names another. Each section belongs to
//! one service or to all (`bus`, `network`, `telemetry`, `model`); an unknown section or key is
//! refused with the nearest known one.

mod merge;
mod model;
mod origin;

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use model::{Model, ModelProvider, Precision};
pub use origin::{Origin, SettingView, Shown};

/// The sections a file may have.
pub const SECTIONS: [&str; 12] = [
    "bus",
    "network",
    "telemetry",
    "model",
    "parser",
    "chunker",
    "embedder",
    "indexer",
    "query",
    "generation",
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
    #[error("`{key}` from {origin} is wrong: {reason}")]
    Wrong {
        /// Section and key, as `gateway.port`.
        key: String,
        /// Where the value comes from.
        origin: Origin,
        /// What is wrong.
        reason: String,
    },
    /// Values that do not go together, or mean nothing.
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
    merge::merge::<T>(section, &config_file(), &environment())?.extract()
}

/// One section as it is in force, each value with its origin and without secrets.
///
/// # Errors
/// As [`load`].
pub fn explain<T>(section: &str) -> Result<Vec<SettingView>, SettingsError>
where
    T: DeserializeOwned + Serialize + Default,
{
    let merged = merge::merge::<T>(section, &config_file(), &environment())?;
    merged.extract::<T>()?;
    Ok(origin::views(&merged))
}

/// The `IBID_*__*` variables.
fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with("IBID_") && name.contains("__"))
        .collect()
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
        share: f32,
        token: String,
    }

    impl Default for Example {
        fn default() -> Self {
            Self {
                in_flight: 4,
                name: "a".to_owned(),
                flags: Vec::new(),
                share: 0.2,
                token: String::new(),
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
        let merged = merge::merge::<Example>("parser", &path, &env);
        match (
            merged.and_then(|merged| merged.extract::<Example>()),
            expect,
        ) {
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
        check("in_flight = 9", &[], Err("`[in_flight]` from"));
        check("[parser\n", &[], Err("not valid TOML"));
    }

    #[test]
    fn a_wrong_value_is_told_with_its_whole_key_and_where_it_stands() {
        check(
            "[parser]\nin_flight = \"many\"",
            &[],
            Err("ibid.toml` is wrong: invalid type: found string \"many\""),
        );
        check(
            "",
            &[("IBID_PARSER__IN_FLIGHT", "-1")],
            Err("`parser.in_flight` from the variable `IBID_PARSER__IN_FLIGHT` is wrong"),
        );
        check(
            "[parser]\ntoken = 8151",
            &[],
            Err("is wrong: it must be a string"),
        );
    }

    #[test]
    fn a_variable_is_read_as_the_kind_of_its_key() {
        let flags = |flags: &[&str]| Example {
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            ..Example::default()
        };
        for (text, expect) in [
            ("nats", &["nats"][..]),
            ("nats, 10.0.0.1 ,7", &["nats", "10.0.0.1", "7"]),
            ("[\"nats\",'b']", &["nats", "b"]),
            ("[]", &[]),
            ("", &[]),
        ] {
            check("", &[("IBID_PARSER__FLAGS", text)], Ok(flags(expect)));
        }
        // A name or token of digits, and one that looks like a list.
        for text in ["8151", "true", "[x]", ""] {
            let name = Example {
                name: text.to_owned(),
                ..Example::default()
            };
            check("", &[("IBID_PARSER__NAME", text)], Ok(name));
        }
        // As compose files pass on what is not set.
        check(
            "",
            &[("IBID_PARSER__IN_FLIGHT", "")],
            Ok(Example::default()),
        );
    }

    #[test]
    fn every_value_is_shown_with_its_origin_and_no_secret_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ibid.toml");
        std::fs::write(
            &path,
            "[parser]\ntoken = \"hush\"\nname = \"nats://me:hush@host/x\"\n",
        )
        .unwrap();
        let env = [("IBID_PARSER__FLAGS".to_owned(), "a,b".to_owned())];
        let merged = merge::merge::<Example>("parser", &path, &env).unwrap();
        let views = origin::views(&merged);
        let told: Vec<_> = views
            .iter()
            .map(|view| (view.key.as_str(), view.value.to_string(), &view.origin))
            .collect();
        let file = Origin::File(path);
        assert_eq!(
            told,
            [
                (
                    "flags",
                    "[\"a\",\"b\"]".to_owned(),
                    &Origin::Variable("IBID_PARSER__FLAGS".to_owned())
                ),
                ("in_flight", "4".to_owned(), &Origin::Default),
                ("name", "\"nats://…@host/x\"".to_owned(), &file),
                ("share", "0.2".to_owned(), &Origin::Default),
                ("token", "(set)".to_owned(), &file),
            ]
        );
        assert!(!serde_json::to_string(&views).unwrap().contains("hush"));
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
