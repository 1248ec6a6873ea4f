//! Reading of format codes.

use super::NumberFormat;

/// Text around a number that is longer is no unit.
const MOST_AROUND: usize = 16;

/// What stands in the first section of a code, which is the one for positive numbers.
#[derive(Default)]
struct Section {
    before: String,
    after: String,
    digits: usize,
    decimals: usize,
    in_number: bool,
    in_decimals: bool,
    percent: bool,
    scientific: bool,
    day: bool,
    month: bool,
    time: bool,
    duration: bool,
    text: bool,
}

pub(super) fn parse(code: &str) -> NumberFormat {
    if code.trim().is_empty()
        || code
            .get(..7)
            .is_some_and(|c| c.eq_ignore_ascii_case("general"))
    {
        return NumberFormat::General;
    }
    let mut section = Section::default();
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        match c {
            ';' => break,
            '"' => section.literal(&chars.by_ref().take_while(|c| *c != '"').collect::<String>()),
            '\\' => section.literal(&chars.next().map(String::from).unwrap_or_default()),
            // The width of a character, and a character that fills the cell.
            '_' | '*' => {
                chars.next();
            }
            '[' => section.bracket(&chars.by_ref().take_while(|c| *c != ']').collect::<String>()),
            c => section.character(c),
        }
    }
    section.format()
}

impl Section {
    fn literal(&mut self, text: &str) {
        if self.in_number {
            self.after.push_str(text);
        } else {
            self.before.push_str(text);
        }
    }

    fn bracket(&mut self, inside: &str) {
        if let Some(currency) = inside.strip_prefix('$') {
            let sign = currency.split('-').next().unwrap_or_default();
            self.literal(sign);
        } else if !inside.is_empty() && inside.chars().all(|c| "hHmMsS".contains(c)) {
            self.duration = true;
        }
    }

    fn character(&mut self, c: char) {
        match c {
            '0' | '#' | '?' => {
                self.in_number = true;
                if c == '0' || c == '?' {
                    let count = if self.in_decimals {
                        &mut self.decimals
                    } else {
                        &mut self.digits
                    };
                    *count += 1;
                }
            }
            '.' if self.in_number => self.in_decimals = true,
            '%' => self.percent = true,
            'E' | 'e' if self.in_number => self.scientific = true,
            'y' | 'Y' | 'd' | 'D' | 'e' => self.day = true,
            'h' | 'H' | 's' | 'S' => self.time = true,
            'm' | 'M' => self.month = true,
            '@' => self.text = true,
            '/' if self.in_number => self.text = true,
            ' ' | '$' | '€' | '£' | '¥' | '₺' | '₽' | '₹' => self.literal(&c.to_string()),
            _ => {}
        }
    }

    fn format(self) -> NumberFormat {
        if self.duration {
            return NumberFormat::Duration;
        }
        if self.day || self.time || self.month {
            return NumberFormat::Date {
                day: self.day || !self.time,
                time: self.time,
            };
        }
        if self.percent {
            return NumberFormat::Percent {
                decimals: self.decimals,
            };
        }
        // Fractions and powers of ten show less than the value says.
        if self.text || self.scientific || !self.in_number {
            return NumberFormat::General;
        }
        NumberFormat::Number {
            decimals: self.decimals,
            digits: self.digits.min(MOST_AROUND),
            before: around(self.before.trim_start()),
            after: around(self.after.trim_end()),
        }
    }
}

/// `text` if it says something about the number.
fn around(text: &str) -> String {
    let says = text
        .chars()
        .any(|c| !matches!(c, ' ' | '(' | ')' | '-' | '+'));
    if says && text.chars().count() <= MOST_AROUND {
        text.to_owned()
    } else {
        String::new()
    }
}
