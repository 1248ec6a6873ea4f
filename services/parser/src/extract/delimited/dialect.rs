//! How the cells of a file are set apart.

use csv::StringRecord;

/// Looked for in this order when several fit equally well: commas are last because they also
/// stand in numbers and sentences.
const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];
/// So much of a file shows its separator.
const SAMPLE_BYTES: usize = 64 * 1024;
const SAMPLE_ROWS: usize = 200;
/// A difference in agreement, in percent, that is no reason to prefer one separator.
const CLOSE: usize = 5;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    /// What stands between two cells.
    pub(super) delimiter: u8,
    /// Whether quotation marks hold cells together.
    pub(super) quoting: bool,
    /// Bytes before the first row.
    pub(super) skip: usize,
}

impl Dialect {
    /// The dialect of `text`; the extension of `name` decides where nothing else does.
    pub(super) fn of(name: &str, text: &str) -> Self {
        if let Some(dialect) = Self::told(text) {
            return dialect;
        }
        let is_tabbed = name.rsplit_once('.').is_some_and(|(_, extension)| {
            matches!(extension.to_lowercase().as_str(), "tsv" | "tab")
        });
        let fallback = if is_tabbed { b'\t' } else { b',' };
        let sample = sample(text);
        let agreement = DELIMITERS.map(|delimiter| (agreement(sample, delimiter), delimiter));
        let best = agreement
            .iter()
            .map(|(percent, _)| *percent)
            .max()
            .unwrap_or(0);
        let close = |(percent, _): &&(usize, u8)| *percent > 0 && *percent + CLOSE >= best;
        let delimiter = agreement
            .iter()
            .find(close)
            .map_or(fallback, |(_, found)| *found);
        Self {
            delimiter,
            quoting: true,
            skip: 0,
        }
    }

    /// A first line `sep=;`, as spreadsheets write and read it.
    fn told(text: &str) -> Option<Self> {
        let line = text.split_inclusive('\n').next()?;
        let told = line.trim_end().strip_prefix("sep=")?;
        let [delimiter] = *told.as_bytes() else {
            return None;
        };
        Some(Self {
            delimiter,
            quoting: true,
            skip: line.len(),
        })
    }

    /// Rows before the first one that is read.
    pub(super) fn rows_skipped(self) -> u32 {
        u32::from(self.skip > 0)
    }
}

/// The beginning of `text`, up to a line's end if there is one.
fn sample(text: &str) -> &str {
    let cut = text.floor_char_boundary(SAMPLE_BYTES);
    let (head, rest) = text.split_at_checked(cut).unwrap_or((text, ""));
    match head.rfind('\n') {
        Some(end) if !rest.is_empty() => head.get(..=end).unwrap_or(head),
        _ => head,
    }
}

/// How many rows in a hundred have the most common number of cells, if that is more than one.
fn agreement(sample: &str, delimiter: u8) -> usize {
    let dialect = Dialect {
        delimiter,
        quoting: true,
        skip: 0,
    };
    let mut reader = dialect.reader().from_reader(sample.as_bytes());
    let mut record = StringRecord::new();
    let mut counts = std::collections::BTreeMap::<usize, usize>::new();
    let mut rows = 0;
    while rows < SAMPLE_ROWS && reader.read_record(&mut record).unwrap_or(false) {
        *counts.entry(record.len()).or_default() += 1;
        rows += 1;
    }
    let common = counts.iter().max_by_key(|(_, rows)| **rows);
    match common {
        Some((cells, agreeing)) if *cells > 1 => agreeing * 100 / rows,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_found() {
        #[track_caller]
        fn check(name: &str, text: &str, expect: u8) {
            let found = Dialect::of(name, text).delimiter;
            assert_eq!(char::from(found), char::from(expect), "{text:?}");
        }
        check("a.csv", "a,b\n1,2\n", b',');
        check("a.csv", "a;b\n1,5;2,5\n", b';');
        check("a.csv", "1,5;2,5\n3,5;4,5\n", b';');
        check("a.csv", "a\tb\n1\t2, 3\n", b'\t');
        check("a.csv", "a|b\n1|2\n", b'|');
        check("a.tsv", "a,b\n1,2\n", b',');
        check("a.tsv", "one\ntwo\n", b'\t');
        check("a.csv", "one\ntwo\n", b',');
        check("a.csv", "", b',');
        // Some rows have a cell too many.
        check("a.csv", "a,b\n1,2\n1,2,3\n4,5\n", b',');
        // A separator within quotation marks is none.
        check("a.csv", "a,b\n\"x;y\",\"p;q\"\n\"x;y\",\"p;q\"\n", b',');
        check("a.csv", "sep=|\na,b|c,d\n", b'|');
    }

    #[test]
    fn a_told_separator_is_no_row() {
        let dialect = Dialect::of("a.csv", "sep=;\na;b\n");
        assert_eq!((dialect.skip, dialect.rows_skipped()), (6, 1));
        assert_eq!(Dialect::of("a.csv", "sep=;;\na,b\n").skip, 0);
    }
}
