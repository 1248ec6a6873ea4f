//! Prometheus' text format: the families of several processes put together.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use shared::contract::ProcessMetrics;
use shared::metrics::Description;
use tracing::debug;

/// A reading in the making, family by family.
#[derive(Debug, Default)]
pub(super) struct Page {
    families: BTreeMap<String, Family>,
}

#[derive(Debug, Default)]
struct Family {
    help: String,
    kind: String,
    samples: String,
}

impl Page {
    /// Adds all samples of a process, with the labels that tell it from others.
    pub(super) fn add(&mut self, process: &ProcessMetrics) {
        let instance = format!("{}:{}", process.host, process.pid);
        let own = format!(
            "service=\"{}\",instance=\"{}\"",
            escaped(&process.service),
            escaped(&instance)
        );
        let mut current = String::new();
        let mut help = String::new();
        for line in process.text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                rest.clone_into(&mut help);
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                current = self.begin(rest, &help).unwrap_or_default();
            } else if let Some(family) = self.families.get_mut(&current)
                && let Some(sample) = labelled(line, &current, &own)
            {
                family.samples.push_str(&sample);
            }
        }
    }

    /// Begins the family of a `# TYPE` line; `None` when it is known as another type: one reading
    /// cannot hold what two versions of a service call by one name.
    fn begin(&mut self, line: &str, help: &str) -> Option<String> {
        let (name, kind) = line.split_once(' ').unwrap_or((line, "untyped"));
        let family = self.families.entry(name.to_owned()).or_default();
        if family.kind.is_empty() {
            kind.clone_into(&mut family.kind);
            // The line before may be of another family, which had no type.
            let own = help.split_once(' ').filter(|(of, _)| *of == name);
            let (_, help) = own.unwrap_or_default();
            help.clone_into(&mut family.help);
        }
        if family.kind != kind {
            debug!(metric = name, kind, "a metric of another type is left out");
            return None;
        }
        Some(name.to_owned())
    }

    /// Adds samples of what no process counts: values with their labels' values.
    pub(super) fn add_values(&mut self, family: &Description, values: &[(&[&str], u64)]) {
        let to = self.families.entry(family.name.to_owned()).or_default();
        family.kind.clone_into(&mut to.kind);
        family.help.clone_into(&mut to.help);
        for (labels, value) in values {
            let labels: Vec<String> = family
                .labels
                .iter()
                .zip(*labels)
                .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
                .collect();
            let labels = if labels.is_empty() {
                String::new()
            } else {
                format!("{{{}}}", labels.join(","))
            };
            // Writing to a string does not fail.
            let _infallible = writeln!(to.samples, "{}{labels} {value}", family.name);
        }
    }

    /// The whole page, families by name.
    pub(super) fn render(self) -> String {
        let mut text = String::new();
        for (name, family) in self.families {
            if family.samples.is_empty() {
                continue;
            }
            let (help, kind, samples) = (&family.help, &family.kind, &family.samples);
            // Writing to a string does not fail.
            let _infallible = write!(
                text,
                "# HELP {name} {help}\n# TYPE {name} {kind}\n{samples}"
            );
        }
        text
    }
}

/// A sample of `family` with the labels `own` added; `None` for a line that is none.
fn labelled(line: &str, family: &str, own: &str) -> Option<String> {
    let (name, rest) = line.split_at_checked(line.find(['{', ' '])?)?;
    let suffix = name.strip_prefix(family)?;
    if !matches!(suffix, "" | "_bucket" | "_sum" | "_count") {
        return None;
    }
    Some(match rest.strip_prefix('{') {
        None => format!("{name}{{{own}}}{rest}\n"),
        Some(labels) if labels.starts_with('}') => format!("{name}{{{own}{labels}\n"),
        Some(labels) => format!("{name}{{{own},{labels}\n"),
    })
}

/// A label's value as it may stand between quotation marks.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(service: &str, pid: u32, text: &str) -> ProcessMetrics {
        ProcessMetrics {
            service: service.to_owned(),
            pid,
            host: "here".to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn families_are_put_together_and_samples_tell_their_process() {
        let mut page = Page::default();
        page.add(&process(
            "parser",
            7,
            "# HELP work_seconds Work, in seconds.\n# TYPE work_seconds histogram\n\
             work_seconds_bucket{stage=\"parse\",le=\"+Inf\"} 3\n\
             work_seconds_sum{stage=\"parse\"} 0.5\nwork_seconds_count{stage=\"parse\"} 3\n\
             # HELP up Is it?\n# TYPE up gauge\nup 1\n",
        ));
        page.add(&process("query", 8, "# TYPE up gauge\nup{} 0\n"));
        page.add_values(
            &Description {
                name: "documents",
                kind: "gauge",
                labels: &["state"],
                help: "Documents.",
            },
            &[(&["ready"], 4), (&["a \"b\""], 0)],
        );
        assert_eq!(
            page.render(),
            "# HELP documents Documents.\n# TYPE documents gauge\n\
             documents{state=\"ready\"} 4\ndocuments{state=\"a \\\"b\\\"\"} 0\n\
             # HELP up Is it?\n# TYPE up gauge\n\
             up{service=\"parser\",instance=\"here:7\"} 1\n\
             up{service=\"query\",instance=\"here:8\"} 0\n\
             # HELP work_seconds Work, in seconds.\n# TYPE work_seconds histogram\n\
             work_seconds_bucket{service=\"parser\",instance=\"here:7\",stage=\"parse\",le=\"+Inf\"} 3\n\
             work_seconds_sum{service=\"parser\",instance=\"here:7\",stage=\"parse\"} 0.5\n\
             work_seconds_count{service=\"parser\",instance=\"here:7\",stage=\"parse\"} 3\n"
        );
    }

    #[test]
    fn what_is_no_sample_of_its_family_is_left_out() {
        #[track_caller]
        fn check(text: &str, expect: &str) {
            let mut page = Page::default();
            page.add(&process("x", 1, "# TYPE up gauge\nup 1\n"));
            page.add(&process("y", 2, text));
            let rendered = page.render();
            let more: Vec<&str> = rendered
                .lines()
                .filter(|line| line.contains("\"y\""))
                .collect();
            assert_eq!(more.join("\n"), expect);
        }
        check("up 2\n", "");
        check("# TYPE up counter\nup 2\n", "");
        check("# TYPE up gauge\ndown 2\nupper 3\nup\n\n", "");
        check(
            "# TYPE up gauge\nup 2\n",
            "up{service=\"y\",instance=\"here:2\"} 2",
        );
    }
}
