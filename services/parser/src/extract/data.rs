//! Data without a layout of its own, such as JSON, as text that a reader and a language model can
//! follow: short values as `key: value`, like records as tables, large parts as sections.

mod outline;
mod pages;
mod table;

pub(super) use self::outline::write;
pub(super) use self::pages::Pages;

/// Levels of values within values that are kept apart. Files that people read stay below 20; the
/// writers recurse.
pub(super) const MOST_NESTED: usize = 64;

/// A value as JSON and XML have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// Text, or a number or literal as written.
    Scalar(String),
    /// Values in order.
    List(Vec<Value>),
    /// Named values in order; a name may stand more than once.
    Record(Vec<(String, Value)>),
}

impl Value {
    /// The member called `name`.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        let Self::Record(members) = self else {
            return None;
        };
        let found = members.iter().find(|(key, _)| key == name)?;
        Some(&found.1)
    }

    /// The text of a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a list.
    pub(super) fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// Whether there is no text in it at all.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Scalar(text) => text.trim().is_empty(),
            Self::List(items) => items.iter().all(Self::is_empty),
            Self::Record(members) => members.iter().all(|(_, value)| value.is_empty()),
        }
    }

    /// Bytes of its text, names included, counted no further than `most`.
    fn weight(&self, most: usize) -> usize {
        let mut sum = 0;
        let parts: &mut dyn Iterator<Item = (usize, &Self)> = match self {
            Self::Scalar(text) => return text.len(),
            Self::List(items) => &mut items.iter().map(|item| (2, item)),
            Self::Record(members) => &mut members.iter().map(|(key, value)| (key.len() + 2, value)),
        };
        for (name, value) in parts {
            if sum > most {
                break;
            }
            sum += name + value.weight(most - sum);
        }
        sum
    }
}
