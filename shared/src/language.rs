//! Which language a text is in.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A language by its ISO 639-1 code: `en`, `tr`, `zh`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Language([u8; 2]);

/// A text that names no language.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a language: give its ISO 639-1 code, such as en, tr or zh")]
pub struct LanguageError(String);

impl Language {
    /// The code.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Its English name, such as `Turkish`.
    pub fn name(&self) -> &'static str {
        isolang::Language::from_639_1(self.as_str()).map_or("unknown", |known| known.to_name())
    }

    /// The language of `text`, when it is long enough to tell: a sentence in a script of many
    /// languages, a word in one of few.
    pub fn of(text: &str) -> Option<Self> {
        let found = whatlang::detect(text)?;
        if !found.is_reliable() {
            return None;
        }
        // ISO 639-3 tells Mandarin from Chinese; documents are written in Chinese.
        let code = match found.lang() {
            whatlang::Lang::Cmn => "zh",
            other => isolang::Language::from_639_3(other.code())?.to_639_1()?,
        };
        code.parse().ok()
    }
}

impl FromStr for Language {
    type Err = LanguageError;

    fn from_str(text: &str) -> Result<Self, LanguageError> {
        let error = || LanguageError(text.to_owned());
        let code = text.as_bytes().try_into().map_err(|_length| error())?;
        isolang::Language::from_639_1(text)
            .map(|_known| Self(code))
            .ok_or_else(error)
    }
}

impl TryFrom<String> for Language {
    type Error = LanguageError;

    fn try_from(text: String) -> Result<Self, LanguageError> {
        text.parse()
    }
}

impl From<Language> for String {
    fn from(language: Language) -> String {
        language.as_str().to_owned()
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_from_text() {
        #[track_caller]
        fn check(text: &str, expect: Option<&str>) {
            let found = Language::of(text);
            assert_eq!(found.as_ref().map(Language::as_str), expect, "{text}");
        }
        check(
            "The agreement may be ended by either party with three months' notice.",
            Some("en"),
        );
        check(
            "Sözleşme, taraflardan her biri tarafından üç ay önceden bildirilerek feshedilebilir. \
             Bildirim yazılı olarak yapılır ve karşı tarafa ulaştığı gün geçerli olur.",
            Some("tr"),
        );
        check("本协议可由任何一方提前三个月书面通知终止。", Some("zh"));
        check("この契約は三か月前の通知により終了できます。", Some("ja"));
        check("E-4711", None);
        check("", None);
    }

    #[test]
    fn a_code_is_checked() {
        assert_eq!("tr".parse::<Language>().unwrap().name(), "Turkish");
        for wrong in ["", "e", "eng", "xx", "EN", "日本"] {
            assert!(wrong.parse::<Language>().is_err(), "{wrong}");
        }
    }
}
