//! Rotary positions (Su et al. 2021).

/// Which numbers of a head are rotated together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pairing {
    /// The first with the second, the third with the fourth: llama files, whose weights were
    /// reordered for it.
    Neighbours,
    /// The first of the one half with the first of the other.
    Halves,
}

/// Cosines and sines per position, as far as they were needed.
#[derive(Debug, Clone)]
pub(super) struct Rope {
    pairing: Pairing,
    /// Angle per position, for each pair.
    steps: Vec<f32>,
    cosines: Vec<f32>,
    sines: Vec<f32>,
}

impl Rope {
    /// Rotates the first `rotated` numbers of a head. Positions are divided by `divisor`, and
    /// each pair's angle by its factor (as Llama 3.1 stretches its window), if there are some.
    pub(super) fn new(
        pairing: Pairing,
        rotated: usize,
        base: f32,
        divisor: f32,
        factors: &[f32],
    ) -> Self {
        let factors = factors.iter().copied().chain(std::iter::repeat(1.0));
        let steps = (0..rotated / 2)
            .zip(factors)
            .map(|(pair, factor)| {
                let exponent = (2 * pair) as f32 / rotated as f32;
                (base.powf(exponent) * factor * divisor).recip()
            })
            .collect();
        Self {
            pairing,
            steps,
            cosines: Vec::new(),
            sines: Vec::new(),
        }
    }

    /// Makes the tables reach to `positions`.
    pub(super) fn extend(&mut self, positions: usize) {
        if self.steps.is_empty() {
            return;
        }
        for position in self.cosines.len() / self.steps.len()..positions {
            for step in &self.steps {
                let (sine, cosine) = (position as f32 * step).sin_cos();
                self.cosines.push(cosine);
                self.sines.push(sine);
            }
        }
    }

    /// Rotates one head, which stands at `position`; the tables must reach there.
    pub(super) fn rotate(&self, position: usize, head: &mut [f32]) {
        let pairs = self.steps.len();
        let at = position * pairs;
        let cosines = self.cosines.get(at..at + pairs).unwrap_or_default();
        let sines = self.sines.get(at..at + pairs).unwrap_or_default();
        let angles = cosines.iter().zip(sines);
        match self.pairing {
            Pairing::Neighbours => {
                for (pair, (cosine, sine)) in head.chunks_exact_mut(2).zip(angles) {
                    if let [a, b] = pair {
                        (*a, *b) = (*a * cosine - *b * sine, *a * sine + *b * cosine);
                    }
                }
            }
            Pairing::Halves => {
                let (first, second) = head.split_at_mut(pairs.min(head.len()));
                for ((a, b), (cosine, sine)) in first.iter_mut().zip(second).zip(angles) {
                    (*a, *b) = (*a * cosine - *b * sine, *a * sine + *b * cosine);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_turn_by_their_angle() {
        #[track_caller]
        fn check(pairing: Pairing, expect: [f32; 5]) {
            let mut rope = Rope::new(pairing, 4, 100.0, 1.0, &[]);
            rope.extend(3);
            let mut head = [1.0, 0.0, 0.0, 1.0, 7.0];
            rope.rotate(2, &mut head);
            for (found, expect) in head.iter().zip(expect) {
                assert!((found - expect).abs() < 1e-6, "{head:?}");
            }
        }
        // Position 2 turns the first pair by 2, the second by 2 / 100^(2/4) = 0.2.
        let (s, c) = 2_f32.sin_cos();
        let (s2, c2) = 0.2_f32.sin_cos();
        check(Pairing::Neighbours, [c, s, -s2, c2, 7.0]);
        check(Pairing::Halves, [c, -s2, s, c2, 7.0]);
    }
}
