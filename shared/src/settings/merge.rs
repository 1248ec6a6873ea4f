//! Defaults, the file and the variables become one section, and each value keeps its origin.

use std::collections::BTreeMap;
use std::path::Path;

use figment::error::Kind;
use figment::providers::{Format as _, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::origin::{Origin, is_secret};
use super::{SECTIONS, SettingsError};

/// One section after the merge, not yet checked for the kinds of its values.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) section: String,
    pub(super) values: Dict,
    /// Of what is not a default.
    pub(super) origins: BTreeMap<String, Origin>,
}

/// Merges `section` from the defaults of `T`, `file` and `env`.
pub(super) fn merge<T: Serialize + Default>(
    section: &str,
    file: &Path,
    env: &[(String, String)],
) -> Result<Merged, SettingsError> {
    let mut merged = Merged {
        section: section.to_owned(),
        values: defaults::<T>(section)?,
        origins: BTreeMap::new(),
    };
    for (key, value) in section_of(file, section)?.unwrap_or_default() {
        merged.put(key, Origin::File(file.to_owned()), |_default| Some(value))?;
    }
    let prefix = format!("IBID_{}__", section.to_uppercase());
    for (name, text) in env {
        check_section(name)?;
        if let Some(key) = name.strip_prefix(&prefix) {
            let origin = Origin::Variable(name.clone());
            merged.put(key.to_lowercase(), origin, |default| {
                from_text(text, default)
            })?;
        }
    }
    Ok(merged)
}

impl Merged {
    /// Sets `key` to what `value` makes of the value so far; `None` leaves it as it is.
    fn put(
        &mut self,
        key: String,
        origin: Origin,
        value: impl FnOnce(&Value) -> Option<Value>,
    ) -> Result<(), SettingsError> {
        let Some(before) = self.values.get(&key) else {
            let known = self.values.keys().map(String::as_str);
            return Err(SettingsError::Unknown {
                nearest: closest(&key, known).map(str::to_owned),
                origin: origin.to_string(),
                name: key,
            });
        };
        if let Some(value) = value(before) {
            self.values.insert(key.clone(), value);
            self.origins.insert(key, origin);
        }
        Ok(())
    }

    /// Where the value of `key` comes from.
    pub(super) fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).cloned().unwrap_or(Origin::Default)
    }

    /// The section as its own type.
    pub(super) fn extract<T: DeserializeOwned>(&self) -> Result<T, SettingsError> {
        Figment::from(Section(self.values.clone()))
            .extract()
            .map_err(|error| self.explain(&error))
    }

    fn explain(&self, error: &figment::Error) -> SettingsError {
        let Some(key) = error.path.first() else {
            return SettingsError::Value {
                section: self.section.clone(),
                reason: error.kind.to_string(),
            };
        };
        let reason = match &error.kind {
            Kind::InvalidType(_, expected) | Kind::InvalidValue(_, expected) if is_secret(key) => {
                format!("it must be {expected}")
            }
            kind => kind.to_string(),
        };
        SettingsError::Wrong {
            key: format!("{}.{key}", self.section),
            origin: self.origin(key),
            reason,
        }
    }
}

/// Values of one section, as a provider for the extraction.
struct Section(Dict);

impl Provider for Section {
    fn metadata(&self) -> Metadata {
        Metadata::named("ibid settings")
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        Ok(Profile::Default.collect(self.0.clone()))
    }
}

fn defaults<T: Serialize + Default>(section: &str) -> Result<Dict, SettingsError> {
    match Value::serialize(T::default()) {
        Ok(Value::Dict(_, dict)) => Ok(dict),
        Ok(_) => Ok(Dict::new()),
        Err(error) => Err(SettingsError::Value {
            section: section.to_owned(),
            reason: error.to_string(),
        }),
    }
}

/// The value that the text of a variable stands for, given the value it replaces. A text stays as
/// it is, so that a token of digits is no number; a list is `a,b` or `[a, b]`. For anything else
/// an empty variable counts as not set.
fn from_text(text: &str, before: &Value) -> Option<Value> {
    match before {
        Value::String(..) => Some(Value::from(text)),
        Value::Array(_, items) => Some(Value::from(list(text, items.first()))),
        _ if text.trim().is_empty() => None,
        _ => Some(parsed(text.trim())),
    }
}

fn list(text: &str, like: Option<&Value>) -> Vec<Value> {
    let text = text.trim();
    let inner = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let items = inner.unwrap_or(text).split(',').map(unquoted);
    items
        .filter(|item| !item.is_empty())
        .map(|item| match like {
            None | Some(Value::String(..)) => Value::from(item),
            Some(_) => parsed(item),
        })
        .collect()
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let between = |quote| {
        text.strip_prefix(quote)
            .and_then(|text| text.strip_suffix(quote))
    };
    between('"').or_else(|| between('\'')).unwrap_or(text)
}

/// Parsing text as a value falls back to the text itself.
fn parsed(text: &str) -> Value {
    text.parse()
        .unwrap_or_else(|never: std::convert::Infallible| match never {})
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

fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(similarity, _)| *similarity > 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
