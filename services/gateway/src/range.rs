//! Which bytes of a file are asked for (RFC 9110, section 14).

/// What a `Range` header asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Everything. Also when the header asks for several ranges or is not understood: a server
    /// may then send the whole file.
    Whole,
    /// A part.
    Part {
        /// Its first byte.
        first: u64,
        /// Its last byte, not less than the first.
        last: u64,
    },
    /// Bytes the file does not have.
    Nothing,
}

impl Wanted {
    /// What `header` asks for of a file of `length` bytes.
    pub fn of(header: Option<&str>, length: u64) -> Self {
        header
            .and_then(|header| Self::parse(header, length))
            .unwrap_or(Self::Whole)
    }

    fn parse(header: &str, length: u64) -> Option<Self> {
        let (first, last) = header.strip_prefix("bytes=")?.trim().split_once('-')?;
        let end = length.checked_sub(1);
        if first.is_empty() {
            let wanted = number(last)?;
            return Some(match end {
                Some(end) if wanted > 0 => Self::Part {
                    first: length.saturating_sub(wanted),
                    last: end,
                },
                _ => Self::Nothing,
            });
        }
        let first = number(first)?;
        let last = if last.is_empty() {
            u64::MAX
        } else {
            number(last)?
        };
        if last < first {
            return None;
        }
        Some(match end {
            Some(end) if first <= end => Self::Part {
                first,
                last: last.min(end),
            },
            _ => Self::Nothing,
        })
    }
}

/// Digits and nothing else; the parser of numbers would take a `+`.
fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(header: &str, length: u64, expect: Wanted) {
        assert_eq!(Wanted::of(Some(header), length), expect, "{header}");
    }

    #[test]
    fn one_range_is_understood() {
        let part = |first, last| Wanted::Part { first, last };
        assert_eq!(Wanted::of(None, 10), Wanted::Whole);
        check("bytes=0-3", 10, part(0, 3));
        check("bytes=3-", 10, part(3, 9));
        check("bytes=3-99", 10, part(3, 9));
        check("bytes=9-9", 10, part(9, 9));
        check("bytes=-4", 10, part(6, 9));
        check("bytes=-99", 10, part(0, 9));
        check("bytes=0-99999999999999999999999", 10, part(0, 9));
        check("bytes=10-", 10, Wanted::Nothing);
        check("bytes=-0", 10, Wanted::Nothing);
        check("bytes=0-", 0, Wanted::Nothing);
        check("bytes=-1", 0, Wanted::Nothing);
        for odd in [
            "",
            "bytes",
            "bytes=",
            "bytes=-",
            "bytes=3-1",
            "bytes=a-b",
            "bytes=+1-2",
            "rows=0-1",
            "bytes=0-1,3-4",
        ] {
            check(odd, 10, Wanted::Whole);
        }
    }
}
