//! Who may use which crate: `deny.toml` says it once, for cargo-deny and for this check.

use anyhow::{Context, Result};
use toml::{Table, Value};

use crate::run::root;

/// Uses of a crate by a package of the workspace that is not among its wrappers.
///
/// # Errors
/// A manifest, or `deny.toml`, cannot be read.
pub(super) fn outside_their_wrappers() -> Result<Vec<String>> {
    let rules = rules(&read("deny.toml")?)?;
    let mut found = Vec::new();
    for manifest in manifests()? {
        found.extend(check(&rules, &read(&manifest)?)?);
    }
    Ok(found)
}

/// A crate and the packages that may use it.
struct Rule {
    name: String,
    wrappers: Vec<String>,
}

fn rules(deny: &Table) -> Result<Vec<Rule>> {
    let bans = deny
        .get("bans")
        .and_then(|bans| bans.get("deny"))
        .and_then(Value::as_array);
    let text = |entry: &Value, key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
    bans.context("`deny.toml` has no `[bans] deny`")?
        .iter()
        .map(|entry| {
            let wrappers = entry.get("wrappers").and_then(Value::as_array);
            let wrappers = wrappers.into_iter().flatten().filter_map(Value::as_str);
            Ok(Rule {
                name: text(entry, "crate").context("a ban without `crate`")?,
                wrappers: wrappers.map(str::to_owned).collect(),
            })
        })
        .collect()
}

fn check(rules: &[Rule], manifest: &Table) -> Result<Vec<String>> {
    let package = manifest
        .get("package")
        .and_then(|package| package.get("name"));
    let package = package
        .and_then(Value::as_str)
        .context("a manifest without a package name")?;
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let tables = kinds
        .iter()
        .filter_map(|kind| manifest.get(*kind))
        .filter_map(Value::as_table);
    let used: Vec<&str> = tables.flat_map(Table::keys).map(String::as_str).collect();
    let broken = rules.iter().filter(|rule| {
        used.contains(&rule.name.as_str()) && !rule.wrappers.iter().any(|name| name == package)
    });
    Ok(broken
        .map(|rule| {
            format!(
                "`{package}` uses `{}`, which is for {:?}",
                rule.name, rule.wrappers
            )
        })
        .collect())
}

fn manifests() -> Result<Vec<String>> {
    let mut found = vec!["shared".to_owned(), "tests".to_owned(), "xtask".to_owned()];
    for entry in std::fs::read_dir(root().join("services"))? {
        found.push(format!("services/{}", entry?.file_name().to_string_lossy()));
    }
    Ok(found
        .into_iter()
        .map(|folder| format!("{folder}/Cargo.toml"))
        .collect())
}

fn read(path: &str) -> Result<Table> {
    let text =
        std::fs::read_to_string(root().join(path)).with_context(|| format!("reading `{path}`"))?;
    text.parse()
        .with_context(|| format!("`{path}` is not valid TOML"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_outside_the_wrappers_is_found() {
        let deny = "[bans]\ndeny = [{ crate = \"ort\", wrappers = [\"ibid-embedder\"] }]";
        let rules = rules(&deny.parse().unwrap()).unwrap();
        let uses = |package: &str, table: &str| {
            let text = format!("[package]\nname = \"{package}\"\n[{table}]\nort.workspace = true");
            check(&rules, &text.parse().unwrap()).unwrap().len()
        };
        assert_eq!(uses("ibid-embedder", "dependencies"), 0);
        assert_eq!(uses("ibid-query", "dependencies"), 1);
        assert_eq!(uses("ibid-query", "dev-dependencies"), 1);
        assert_eq!(uses("ibid-query", "features"), 0);
    }
}
