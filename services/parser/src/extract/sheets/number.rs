//! Numbers as a sheet shows them: dates, times, percentages and money by the cell's number format
//! (ECMA-376 part 1, 18.8.30 and 18.8.31), everything else without floating-point noise.
//! Thousands are not set apart, so that a number is found as it is typed.

mod code;

use calamine::{ExcelDateTime, ExcelDateTimeType};

/// Days from 1900 to 10000, where Excel's calendar ends.
const MOST_DAYS: f64 = 2_958_466.0;
const SECONDS_A_DAY: f64 = 86_400.0;
/// Decimals of a value that are kept even if the format shows fewer.
const SHORT: usize = 4;
/// Zeros that a format adds behind a value; more say nothing.
const MOST_ZEROS: usize = 4;

/// How a cell shows its number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum NumberFormat {
    /// As it is.
    #[default]
    General,
    /// A hundred times its value, with `%`.
    Percent {
        /// Shown at least.
        decimals: usize,
    },
    /// Days since the epoch.
    Date {
        /// Whether the day is shown.
        day: bool,
        /// Whether the time of day is shown.
        time: bool,
    },
    /// Days that have passed.
    Duration,
    /// A number with text around it.
    Number {
        /// Shown at least.
        decimals: usize,
        /// Digits before the point, shown at least.
        digits: usize,
        /// Text before it, such as a currency.
        before: String,
        /// Text behind it, such as a unit.
        after: String,
    },
}

impl NumberFormat {
    /// The format written as `code`, such as `0.00%`.
    pub(super) fn of(code: &str) -> Self {
        code::parse(code)
    }

    /// A format that has a number and no code of its own in the file.
    pub(super) fn builtin(id: u32) -> Self {
        let number = |decimals| Self::Number {
            decimals,
            digits: 1,
            before: String::new(),
            after: String::new(),
        };
        match id {
            // Among them money in the user's own currency, which the file does not name.
            1 | 3 | 5 | 6 | 37 | 38 | 41 | 42 => number(0),
            2 | 4 | 7 | 8 | 39 | 40 | 43 | 44 => number(2),
            9 => Self::Percent { decimals: 0 },
            10 => Self::Percent { decimals: 2 },
            14..=17 | 27..=31 | 36 | 50..=54 | 57 | 58 => Self::Date {
                day: true,
                time: false,
            },
            18..=21 | 32..=35 | 45 | 47 | 55 | 56 => Self::Date {
                day: false,
                time: true,
            },
            22 => Self::Date {
                day: true,
                time: true,
            },
            46 => Self::Duration,
            _ => Self::General,
        }
    }

    /// Whether it shows points in time or lengths of time.
    pub(super) fn is_time(&self) -> bool {
        matches!(self, Self::Date { .. } | Self::Duration)
    }

    /// `value` as a cell of this format shows it; `is_1904` says which epoch days count from.
    pub(super) fn show(&self, value: f64, is_1904: bool) -> String {
        match self {
            Self::General => general(value),
            Self::Percent { decimals } => rounded(value * 100.0, *decimals) + "%",
            Self::Date { day, time } => {
                date(value, is_1904, *day, *time).unwrap_or_else(|| general(value))
            }
            Self::Duration => duration(value),
            Self::Number {
                decimals,
                digits,
                before,
                after,
            } => {
                let number = rounded(value, *decimals);
                let (sign, number) = number
                    .strip_prefix('-')
                    .map_or(("", number.as_str()), |number| ("-", number));
                let whole = number.split('.').next().unwrap_or(number).len();
                let zeros = "0".repeat(digits.saturating_sub(whole));
                format!("{sign}{before}{zeros}{number}{after}")
            }
        }
    }
}

/// `value` with the 15 digits that a spreadsheet keeps: 0.1 + 0.2 is 0.3.
pub(super) fn general(value: f64) -> String {
    if !value.is_finite() {
        return String::new();
    }
    // Most numbers are whole, and these have no noise. Minus zero is zero.
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{}", value + 0.0);
    }
    let kept: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    let size = kept.abs();
    if size != 0.0 && !(1e-9..1e18).contains(&size) {
        return format!("{kept:E}");
    }
    format!("{kept}")
}

/// `value` with at least `decimals`. What the format would cut off is kept while it is short, for
/// it may be what a question asks for; a long tail is cut, but never to under four digits.
fn rounded(value: f64, decimals: usize) -> String {
    let exact = general(value);
    if exact.contains(['E', 'e']) || exact.is_empty() {
        return exact;
    }
    let has = exact.split_once('.').map_or(0, |(_, tail)| tail.len());
    if has < decimals {
        let zeros = decimals.min(MOST_ZEROS).saturating_sub(has);
        let point = if has == 0 && zeros > 0 { "." } else { "" };
        return exact + point + &"0".repeat(zeros);
    }
    if has <= SHORT.max(decimals) {
        return exact;
    }
    let leading = format!("{:e}", value.abs());
    let exponent: i32 = leading
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    let needed = usize::try_from(3 - exponent).unwrap_or(0);
    let keep = decimals.max(2).max(needed);
    let mut text = format!("{value:.keep$}");
    let least = decimals.min(keep);
    while text
        .split_once('.')
        .is_some_and(|(_, tail)| tail.len() > least)
        && text.ends_with('0')
    {
        text.pop();
    }
    if text.ends_with('.') {
        text.pop();
    }
    text
}

/// `value` days after the epoch as ISO 8601 has it; `None` outside of Excel's calendar.
fn date(value: f64, is_1904: bool, day: bool, time: bool) -> Option<String> {
    if !(0.0..MOST_DAYS).contains(&value) {
        return None;
    }
    // To the second, and a hair more against the loss of the division.
    let value = ((value * SECONDS_A_DAY).round() + 1e-3) / SECONDS_A_DAY;
    let moment = ExcelDateTime::new(value, ExcelDateTimeType::DateTime, is_1904);
    let (year, month, date, hour, minute, second, _) = moment.to_ymd_hms_milli();
    let clock = if second > 0 {
        format!("{hour:02}:{minute:02}:{second:02}")
    } else {
        format!("{hour:02}:{minute:02}")
    };
    let whole_day = hour == 0 && minute == 0 && second == 0;
    Some(match (day || value >= 1.0, time && !(day && whole_day)) {
        (true, true) => format!("{year:04}-{month:02}-{date:02} {clock}"),
        (true, false) if day || !time => format!("{year:04}-{month:02}-{date:02}"),
        _ => clock,
    })
}

/// `value` days as hours, minutes and seconds.
fn duration(value: f64) -> String {
    let seconds = (value.abs() * SECONDS_A_DAY).round();
    if !value.is_finite() || seconds > 1e12 {
        return general(value);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked above: not negative and under 1e12"
    )]
    let seconds = seconds as u64;
    let sign = if value < 0.0 && seconds > 0 { "-" } else { "" };
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{sign}{hours}:{minutes:02}:{:02}", seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_the_sheet_shows_them() {
        #[track_caller]
        fn check(code: &str, value: f64, expect: &str) {
            assert_eq!(NumberFormat::of(code).show(value, false), expect, "{code}");
        }
        check("General", 0.1 + 0.2, "0.3");
        check("General", 7904.0, "7904");
        check("General", -0.0, "0");
        check("General", 1e-12, "1E-12");
        check("General", 4_111_111_111_111_111.0, "4111111111111110");
        check("General", 100.0 / 3.0, "33.3333333333333");
        check("0%", 0.125, "12.5%");
        check("0%", 0.07, "7%");
        check("0.00%", 0.5, "50.00%");
        check("0.0%", 1.0 / 3.0, "33.33%");
        check("0.0%", 0.000_012_345_678, "0.001235%");
        check("#,##0", 7904.37, "7904.37");
        check("#,##0.00", 1234.5, "1234.50");
        check("0.00", 100.0 / 3.0, "33.33");
        check("0", 0.003_471_234, "0.003471");
        check("00000", 501.0, "00501");
        check("0.00E+00", 12345.678, "12345.678");
        check("\"$\"#,##0.00_);[Red](\"$\"#,##0.00)", -5.5, "-$5.50");
        check("#,##0.00 [$€-407]", 1234.5, "1234.50 €");
        check("[$£-809]#,##0", 12.0, "£12");
        check("_(* #,##0_);_(* (#,##0);_(* \"-\"_);_(@_)", 5.0, "5");
        check("0.0\" kg\"", 2.5, "2.5 kg");
        check("@", 3.0, "3");
    }

    #[test]
    fn moments_are_iso_8601() {
        #[track_caller]
        fn check(code: &str, value: f64, expect: &str) {
            assert_eq!(NumberFormat::of(code).show(value, false), expect, "{code}");
        }
        check("dd/mm/yyyy", 44197.0, "2021-01-01");
        check("d-mmm-yy", 44197.5625, "2021-01-01");
        check("m/d/yy h:mm", 44197.5625, "2021-01-01 13:30");
        check("yyyy-mm-dd hh:mm:ss", 44197.0, "2021-01-01");
        check("h:mm AM/PM", 0.5625, "13:30");
        check("h:mm:ss", 0.562_511_574, "13:30:01");
        check("h:mm", 44197.5625, "2021-01-01 13:30");
        check("[h]:mm:ss", 1.0625, "25:30:00");
        check("[mm]:ss", -0.25, "-6:00:00");
        check("mmm-yy", 59.0, "1900-02-28");
        check(
            "[$-404]e\"\\xfc\"m\"\\xfc\"d\"\\xfc\"",
            44197.0,
            "2021-01-01",
        );
        check("yyyy", -3.0, "-3");
        check("yyyy", 4e9, "4000000000");
        let date = NumberFormat::builtin(14);
        assert_eq!(date.show(42735.0, true), "2021-01-01");
        assert_eq!(NumberFormat::builtin(58), date);
    }
}
