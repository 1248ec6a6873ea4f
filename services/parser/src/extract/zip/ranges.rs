//! Which bytes of an archive belong to which file: archives that unpack to millions of times their
//! size let many files share the same bytes.

use std::collections::BTreeMap;

/// Ranges that are taken, from start to end.
#[derive(Debug, Default)]
pub(super) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Takes `start..end`, unless a part of it is taken already.
    pub(super) fn claim(&mut self, start: u64, end: u64) -> bool {
        let before = self.0.range(..=start).next_back();
        let after = self.0.range(start..).next();
        let is_free = before.is_none_or(|(_, taken)| *taken <= start)
            && after.is_none_or(|(taken, _)| *taken >= end);
        if is_free {
            self.0.insert(start, end);
        }
        is_free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_is_taken_twice() {
        let mut ranges = Ranges::default();
        assert!(ranges.claim(10, 20));
        assert!(ranges.claim(20, 30));
        assert!(ranges.claim(0, 10));
        assert!(!ranges.claim(10, 20));
        assert!(!ranges.claim(15, 16));
        assert!(!ranges.claim(25, 40));
        assert!(ranges.claim(40, 50));
        assert!(!ranges.claim(30, 60));
    }
}
