//! What is set, for people: every value with where it comes from, and no secret.

use std::fmt;
use std::path::PathBuf;

use figment::value::{Num, Value};
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use super::merge::Merged;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "name", rename_all = "lowercase")]
pub enum Origin {
    /// It is the default.
    Default,
    /// From the settings file.
    File(PathBuf),
    /// From a variable of the environment.
    Variable(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("the defaults"),
            Self::File(path) => write!(f, "`{}`", path.display()),
            Self::Variable(name) => write!(f, "the variable `{name}`"),
        }
    }
}

/// A value that may be shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// As it is.
    Plain(Json),
    /// A secret: only whether there is one.
    Secret {
        /// Whether it is not empty.
        is_set: bool,
    },
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(value) => write!(f, "{value}"),
            Self::Secret { is_set: true } => f.write_str("(set)"),
            Self::Secret { is_set: false } => f.write_str("(not set)"),
        }
    }
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Plain(value) => value.serialize(serializer),
            Self::Secret { .. } => serializer.collect_str(self),
        }
    }
}

/// One setting as it is in force.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SettingView {
    /// Its section.
    pub section: String,
    /// Its key within the section.
    pub key: String,
    /// Its value.
    pub value: Shown,
    /// Where the value comes from.
    pub origin: Origin,
}

/// All settings of a section, in the order of their keys.
pub(super) fn views(merged: &Merged) -> Vec<SettingView> {
    let view = |(key, value): (&String, &Value)| SettingView {
        section: merged.section.clone(),
        key: key.clone(),
        value: shown(key, value),
        origin: merged.origin(key),
    };
    merged.values.iter().map(view).collect()
}

/// Whether the value of `key` is nobody's business.
pub(super) fn is_secret(key: &str) -> bool {
    ["token", "key", "password", "secret"]
        .iter()
        .any(|word| key == *word || key.ends_with(&format!("_{word}")))
}

fn shown(key: &str, value: &Value) -> Shown {
    if is_secret(key) {
        let is_set = value.as_str().is_none_or(|text| !text.is_empty());
        return Shown::Secret { is_set };
    }
    Shown::Plain(json(value))
}

fn json(value: &Value) -> Json {
    match value {
        Value::String(_, text) => Json::from(without_login(text)),
        Value::Array(_, items) => items.iter().map(json).collect(),
        // As it was written: 0.2, and not the double next to the float.
        Value::Num(_, Num::F32(number)) => number
            .to_string()
            .parse::<f64>()
            .map_or(Json::Null, Json::from),
        other => serde_json::to_value(other).unwrap_or_default(),
    }
}

/// An address without the name and password it may carry.
fn without_login(text: &str) -> String {
    let parts = text.split_once("://").and_then(|(scheme, rest)| {
        let end = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end)?;
        let (_login, host) = authority.rsplit_once('@')?;
        Some(format!("{scheme}://…@{host}{path}"))
    });
    parts.unwrap_or_else(|| text.to_owned())
}
