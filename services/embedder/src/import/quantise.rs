//! Matrices of `f32` as `i8` with one scale per column.

/// Seven bits and sign. ONNX Runtime multiplies `u8` activations by `i8` weights with an
/// instruction that, on processors without VNNI, adds two products in 16 bits: with eight bits
/// they could overflow there (2 · 255 · 127 > 32,767), with seven they cannot
/// (2 · 255 · 63 = 32,130).
const LARGEST: f32 = 63.0;

/// `values[row][column] ≈ codes[row][column] · scales[column]`.
pub(super) struct Quantised {
    pub(super) codes: Vec<i8>,
    pub(super) scales: Vec<f32>,
}

/// Quantises a matrix of `columns` columns, given row by row.
pub(super) fn quantise(values: &[f32], columns: usize) -> Quantised {
    let mut scales = vec![0.0_f32; columns];
    for row in values.chunks_exact(columns) {
        for (scale, value) in scales.iter_mut().zip(row) {
            *scale = scale.max(value.abs());
        }
    }
    for scale in &mut scales {
        // A column of zeros has the code 0 under any scale but 0.
        *scale = if *scale > 0.0 { *scale / LARGEST } else { 1.0 };
    }
    let code = |(value, scale): (&f32, &f32)| {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "rounded and clamped to i8's range"
        )]
        let code = (value / scale).round().clamp(-LARGEST, LARGEST) as i8;
        code
    };
    let codes = values
        .chunks_exact(columns)
        .flat_map(|row| row.iter().zip(&scales).map(code))
        .collect();
    Quantised { codes, scales }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_value_is_within_half_a_step(
            columns in 1_usize..5,
            values in prop::collection::vec(-10.0_f32..10.0, 1..60),
        ) {
            let whole = values.len() / columns * columns;
            let quantised = quantise(&values[..whole], columns);
            for (index, value) in values[..whole].iter().enumerate() {
                let scale = quantised.scales[index % columns];
                let back = f32::from(quantised.codes[index]) * scale;
                prop_assert!((back - value).abs() <= scale * 0.5001, "{value} became {back}");
            }
        }
    }

    #[test]
    fn a_column_of_zeros_stays_zero() {
        let quantised = quantise(&[0.0, 0.5, 0.0, -2.0], 2);
        assert_eq!(quantised.codes, [0, 16, 0, -63]);
        assert!(quantised.scales.iter().all(|scale| *scale > 0.0));
    }
}
