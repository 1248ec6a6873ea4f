//! A word that is known and never shown.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{self, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What stands for it wherever it would be shown.
const SHOWN: &str = "(set)";

/// A secret of the settings or of a request; empty when there is none. It is neither printed nor
/// written out, and no error quotes it.
#[derive(Clone, Default, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub struct Secret(String);

impl Secret {
    /// The secret itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn shown(&self) -> &'static str {
        if self.is_empty() { "" } else { SHOWN }
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.shown())
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.shown())
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

/// Takes text only; the stock errors for anything else would quote it.
struct Reader;

impl Visitor<'_> for Reader {
    type Value = Secret;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text in quotation marks")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Secret, E> {
        Ok(Secret(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Secret, E> {
        Ok(Secret(text))
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Secret, E> {
        Err(E::invalid_type(Unexpected::Other("a yes or no"), &self))
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Secret, E> {
        Err(E::invalid_type(Unexpected::Other("a number"), &self))
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Secret, E> {
        Err(E::invalid_type(Unexpected::Other("a number"), &self))
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Secret, E> {
        Err(E::invalid_type(Unexpected::Other("a number"), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_read_and_never_shown() {
        let secret: Secret = serde_json::from_str("\"open sesame\"").unwrap();
        assert_eq!(secret.reveal(), "open sesame");
        assert_eq!(format!("{secret:?}"), "(set)");
        assert_eq!(serde_json::to_string(&secret).unwrap(), "\"(set)\"");
        assert_eq!(format!("{:?}", Secret::default()), "");
        for number in ["8812", "-8812", "8812.5"] {
            let error = serde_json::from_str::<Secret>(number).unwrap_err();
            assert!(!error.to_string().contains("8812"), "{error}");
        }
    }
}
