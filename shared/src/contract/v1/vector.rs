//! Vectors on the wire: base64 of little-endian f32.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An embedding. In JSON a base64 text of its little-endian `f32` values: 2 KiB for 384
/// dimensions, where a list of numbers would take four times that.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
#[schemars(with = "String")]
pub struct Vector(pub Vec<f32>);

impl Vector {
    /// The values as little-endian bytes, four per dimension.
    pub fn to_le_bytes(&self) -> Vec<u8> {
        self.0
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    }

    /// The vector in `bytes`; `None` unless their number is a multiple of four.
    pub fn from_le_bytes(bytes: &[u8]) -> Option<Self> {
        let (values, rest) = bytes.as_chunks::<4>();
        rest.is_empty().then(|| {
            Self(
                values
                    .iter()
                    .map(|value| f32::from_le_bytes(*value))
                    .collect(),
            )
        })
    }
}

impl Serialize for Vector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(self.to_le_bytes()))
    }
}

impl<'de> Deserialize<'de> for Vector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(de::Error::custom)?;
        Self::from_le_bytes(&bytes)
            .ok_or_else(|| de::Error::custom("a vector is base64 of little-endian f32 values"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_survives_the_wire_bit_by_bit() {
        let vector = Vector(vec![0.0, -0.0, 1.0, f32::MIN_POSITIVE, -123.456]);
        let text = serde_json::to_string(&vector).unwrap();
        let back: Vector = serde_json::from_str(&text).unwrap();
        assert_eq!(back.to_le_bytes(), vector.to_le_bytes());
        assert!(
            serde_json::from_str::<Vector>("\"AAAA\"").is_err(),
            "three bytes are no vector"
        );
    }
}
