//! Elements that hold data, as values.

use super::super::data::Value;
use super::tree::Element;

/// Attributes beside a text that are written in its line, in bytes.
const LINE_BYTES: usize = 200;

/// The value of an element.
pub(super) fn of(element: &Element) -> Value {
    let attributes = || {
        let scalar = |(key, value): &(String, String)| (key.clone(), Value::Scalar(value.clone()));
        element.attributes.iter().map(scalar)
    };
    if !element.has_elements() {
        let text = element.text().trim().to_owned();
        if element.attributes.is_empty() {
            return Value::Scalar(text);
        }
        if text.is_empty() {
            return Value::Record(attributes().collect());
        }
        let aside = aside(element);
        if aside.len() <= LINE_BYTES {
            return Value::Scalar(format!("{text} ({aside})"));
        }
        let text = ("text".to_owned(), Value::Scalar(text));
        return Value::Record(attributes().chain([text]).collect());
    }
    let mut members: Vec<(String, Value)> = attributes().collect();
    let mut last_is_element = false;
    for child in element.elements() {
        let value = of(child);
        match members.last_mut() {
            // Neighbours of one name are a list.
            Some((name, before)) if last_is_element && *name == child.name => {
                if let Value::List(items) = before {
                    items.push(value);
                } else {
                    let first = std::mem::replace(before, Value::List(Vec::new()));
                    *before = Value::List(vec![first, value]);
                }
            }
            _ => members.push((child.name.clone(), value)),
        }
        last_is_element = true;
    }
    Value::Record(members)
}

/// `name: value, …` of the attributes.
pub(super) fn aside(element: &Element) -> String {
    let pair = |(key, value): &(String, String)| format!("{key}: {value}");
    let pairs: Vec<_> = element.attributes.iter().map(pair).collect();
    pairs.join(", ")
}
