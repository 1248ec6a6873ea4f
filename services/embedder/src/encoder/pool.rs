//! From one vector per token to one vector per text.

use crate::model::Pooling;

/// Pools a batch's hidden states, `f32[batch, sequence, dimension]` row by row, by each text's
/// number of tokens, and brings every vector to unit length. Padding is not looked at.
pub(super) fn pool(
    states: &[f32],
    lengths: &[usize],
    dimension: usize,
    pooling: Pooling,
) -> Vec<Vec<f32>> {
    let per_text = states.len() / lengths.len().max(1);
    states
        .chunks_exact(per_text.max(1))
        .zip(lengths)
        .map(|(text, length)| {
            let tokens = text.chunks_exact(dimension);
            let used = match pooling {
                Pooling::Mean => *length,
                Pooling::Cls => 1,
            };
            // The mean and the sum differ in length only, which is 1 in the end.
            let mut sum = vec![0.0; dimension];
            for token in tokens.take(used) {
                for (total, value) in sum.iter_mut().zip(token) {
                    *total += value;
                }
            }
            to_unit_length(&mut sum);
            sum
        })
        .collect()
}

/// Divides by the Euclidean norm; a zero vector stays as it is.
pub(crate) fn to_unit_length(vector: &mut [f32]) {
    let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if norm > 0.0 {
        for value in vector {
            *value /= norm;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_left_out_and_vectors_have_unit_length() {
        #[track_caller]
        fn check(pooling: Pooling, expect: [[f32; 2]; 2]) {
            // Two texts of two and one tokens; the last token of the second is padding.
            let states = [1.0, 2.0, 5.0, 6.0, 0.0, -2.0, 99.0, 99.0];
            assert_eq!(pool(&states, &[2, 1], 2, pooling), expect);
        }
        check(Pooling::Mean, [[0.6, 0.8], [0.0, -1.0]]);
        check(
            Pooling::Cls,
            [[1.0 / 5.0_f32.sqrt(), 2.0 / 5.0_f32.sqrt()], [0.0, -1.0]],
        );
    }

    #[test]
    fn nothing_gives_nothing_and_zero_stays_zero() {
        assert!(pool(&[], &[], 2, Pooling::Mean).is_empty());
        assert_eq!(pool(&[0.0, 0.0], &[1], 2, Pooling::Mean), [[0.0, 0.0]]);
    }
}
