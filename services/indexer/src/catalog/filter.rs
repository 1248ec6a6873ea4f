//! From a filter to the chunks it permits, and why one permits none.

use jiff::civil;
use rusqlite::types::Value;
use rusqlite::{Transaction, params_from_iter};
use shared::contract::{Date, Filter};

use super::Catalog;
use crate::chunk_set::AllowedChunks;
use crate::error::CatalogError;

/// A filter as conditions on a source `s` and the version `v` that it shows. Only what restricts
/// is in the statement, so that SQLite can go by the index that fits.
pub(super) struct Restriction {
    conditions: String,
    values: Vec<Value>,
}

impl Restriction {
    pub(super) fn of(filter: &Filter) -> Result<Self, CatalogError> {
        let mut all = Self {
            conditions: "TRUE".to_owned(),
            values: Vec::new(),
        };
        all.one_of("s.collection", &filter.collections)?;
        all.one_of("s.id", &filter.documents)?;
        if let Some(prefix) = &filter.path_prefix {
            all.begins(prefix);
        }
        all.one_of("v.format", &filter.formats)?;
        if let Some(from) = &filter.from {
            all.add("s.modified_ms >= ?", begin_of(from).into());
        }
        if let Some(to) = &filter.to {
            all.add("s.modified_ms < ?", end_of(to).into());
        }
        all.one_of("v.language", &filter.languages)?;
        Ok(all)
    }

    /// To stand after `WHERE`, first: its parameters are the statement's first.
    pub(super) fn conditions(&self) -> &str {
        &self.conditions
    }

    /// The values of its parameters.
    pub(super) fn values(&self) -> &[Value] {
        &self.values
    }

    fn add(&mut self, condition: &str, value: Value) {
        self.conditions.push_str(" AND ");
        self.conditions.push_str(condition);
        self.values.push(value);
    }

    fn one_of<T: serde::Serialize>(
        &mut self,
        column: &str,
        values: &[T],
    ) -> Result<(), CatalogError> {
        if !values.is_empty() {
            let list = serde_json::to_string(values)?;
            let condition = format!("{column} IN (SELECT value FROM json_each(?))");
            self.add(&condition, list.into());
        }
        Ok(())
    }

    /// A range and no `LIKE`: its wildcards may stand in paths, and it takes A for a. UTF-8 sorts
    /// by bytes as by characters, and no path has the last character there is.
    fn begins(&mut self, prefix: &str) {
        self.add("s.path >= ?", prefix.to_owned().into());
        self.add("s.path < ?", format!("{prefix}{}", char::MAX).into());
    }
}

impl Catalog {
    /// The chunks that `filter` permits.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn allowed(&self, filter: &Filter) -> Result<AllowedChunks, CatalogError> {
        let restriction = Restriction::of(filter)?;
        self.read(|tx| {
            let ranges = tx
                .prepare_cached(&format!(
                    "SELECT v.first_key, v.chunks
                     FROM sources AS s JOIN versions AS v ON v.id = s.visible_version
                     WHERE {}",
                    restriction.conditions()
                ))?
                .query_map(params_from_iter(restriction.values()), |row| {
                    Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
                })?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(ranges
                .into_iter()
                .flat_map(|(first, count)| first..first + count)
                .collect())
        })
    }

    /// What to tell people about a filter that permits nothing: the condition that no document
    /// meets, if there is one.
    ///
    /// # Errors
    /// When the catalog cannot be read.
    pub fn why_nothing(&self, filter: &Filter) -> Result<String, CatalogError> {
        self.read(|tx| {
            let anything: bool = tx
                .prepare_cached("SELECT EXISTS(SELECT 1 FROM sources WHERE visible_version > 0)")?
                .query_row([], |row| row.get(0))?;
            if !anything {
                return Ok(
                    "no document is searchable yet; `ibid status` shows what is being \
                           read"
                        .to_owned(),
                );
            }
            if let (Some(from), Some(to)) = (&filter.from, &filter.to)
                && begin_of(from) >= end_of(to)
            {
                return Ok(format!(
                    "no document matches the filter: `from` ({from}) is later than `to` ({to}); \
                     give the earlier day to `from`"
                ));
            }
            for (condition, told, remedy) in singly(filter) {
                if !matches(tx, &condition)? {
                    return Ok(format!(
                        "no document matches the filter: none is {told}; {remedy}"
                    ));
                }
            }
            Ok(
                "no document matches the filter: none meets all of its conditions; leave one out"
                    .to_owned(),
            )
        })
    }
}

/// Whether some document is searchable under `filter`.
fn matches(tx: &Transaction<'_>, filter: &Filter) -> Result<bool, CatalogError> {
    let restriction = Restriction::of(filter)?;
    Ok(tx
        .prepare_cached(&format!(
            "SELECT EXISTS(SELECT 1 FROM sources AS s JOIN versions AS v ON v.id = s.visible_version
                           WHERE {})",
            restriction.conditions()
        ))?
        .query_row(params_from_iter(restriction.values()), |row| row.get(0))?)
}

/// Each condition of `filter` on its own, what it asks for, and what to do when nothing meets it.
fn singly(filter: &Filter) -> Vec<(Filter, String, &'static str)> {
    fn listed<T: ToString>(values: &[T]) -> String {
        let names: Vec<String> = values
            .iter()
            .map(|one| format!("`{}`", one.to_string()))
            .collect();
        names.join(" or ")
    }
    let nothing = Filter::default;
    let mut all = Vec::new();
    let Filter {
        collections,
        documents,
        path_prefix,
        formats,
        from,
        to,
        languages,
    } = filter.clone();
    if !collections.is_empty() {
        let told = format!("in collection {}", listed(&collections));
        let alone = Filter {
            collections,
            ..nothing()
        };
        all.push((alone, told, "`ibid status` shows the collections"));
    }
    if !documents.is_empty() {
        let alone = Filter {
            documents,
            ..nothing()
        };
        let told = "among those it names".to_owned();
        all.push((
            alone,
            told,
            "`ibid list` shows the documents that can be asked",
        ));
    }
    if let Some(prefix) = path_prefix {
        let told = format!("at a path that begins with `{prefix}`");
        let alone = Filter {
            path_prefix: Some(prefix),
            ..nothing()
        };
        all.push((
            alone,
            told,
            "`ibid list` shows the paths; upper and lower case differ",
        ));
    }
    if !formats.is_empty() {
        let names: Vec<_> = formats.iter().map(|format| format.name()).collect();
        let told = format!("of type {}", listed(&names));
        let alone = Filter {
            formats,
            ..nothing()
        };
        all.push((alone, told, "leave the type out, or choose another"));
    }
    if let Some(day) = from {
        let told = format!("dated {day} or later");
        let alone = Filter {
            from: Some(day),
            ..nothing()
        };
        all.push((alone, told, "choose an earlier day"));
    }
    if let Some(day) = to {
        let told = format!("dated {day} or earlier");
        let alone = Filter {
            to: Some(day),
            ..nothing()
        };
        all.push((alone, told, "choose a later day"));
    }
    if !languages.is_empty() {
        let told = format!("in language {}", listed(&languages));
        let alone = Filter {
            languages,
            ..nothing()
        };
        all.push((
            alone,
            told,
            "leave the language out: that of short texts cannot be told",
        ));
    }
    all
}

/// Milliseconds since 1970 when `day` begins, UTC.
fn begin_of(day: &Date) -> i64 {
    midnight(day, 0)
}

/// Milliseconds since 1970 when `day` has ended, UTC.
fn end_of(day: &Date) -> i64 {
    midnight(day, 1)
}

/// Midnight `days` after `day`. The last day there is has no end; nothing is dated later.
fn midnight(day: &Date, days: i64) -> i64 {
    day.as_str()
        .parse::<civil::Date>()
        .and_then(|day| day.checked_add(jiff::Span::new().days(days)))
        .and_then(|day| day.to_zoned(jiff::tz::TimeZone::UTC))
        .map_or(i64::MAX, |zoned| zoned.timestamp().as_millisecond())
}
