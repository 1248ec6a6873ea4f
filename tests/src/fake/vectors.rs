//! Vectors that depend on the text alone.

use serde_json::Value;

/// The unit vector of `text`: pseudo-random numbers from a hash of it, the same in every run.
pub fn vector(text: &str, dimension: usize) -> Vec<f32> {
    // FNV-1a, then SplitMix64: neither will ever change, unlike a library's generator.
    let mut state = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let raw: Vec<f32> = (0..dimension)
        .map(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^= mixed >> 31;
            // 16 bits, which every f32 holds.
            let number = (mixed >> 48) as u16;
            f32::from(number) / 32_768.0 - 1.0
        })
        .collect();
    let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
    raw.into_iter()
        .map(|x| if length > 0.0 { x / length } else { 0.0 })
        .collect()
}

/// The texts of an `input` field: a text, or a list of texts.
pub(super) fn inputs(input: &Value) -> Option<Vec<String>> {
    match input {
        Value::Null => Some(Vec::new()),
        Value::String(text) => Some(vec![text.clone()]),
        Value::Array(texts) => texts
            .iter()
            .map(|text| text.as_str().map(str::to_owned))
            .collect(),
        _other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_of_length_one_and_of_their_text() {
        let a = vector("refund policy", 384);
        assert_eq!(a.len(), 384);
        assert_eq!(a, vector("refund policy", 384));
        assert_ne!(a, vector("refund policy.", 384));
        let length: f32 = a.iter().map(|x| x * x).sum();
        // Sums of 384 rounded squares.
        assert!((length - 1.0).abs() < 1e-4, "{length}");
    }
}
