//! The walk through the API in `docs/api.md`, as a reader would type it.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use ibid_tests::harness::Harness;
use ibid_tests::workspace;
use tokio::process::Command;

const LIMIT: Duration = Duration::from_mins(3);
/// Stands between the outputs of two steps.
const BORDER: &str = "-- end of step --";
/// What a step's output must have in it.
const EXPECT: &str = "# → contains ";

/// Commands of the page, up to and with what is said of their output.
#[derive(Debug, Default, PartialEq, Eq)]
struct Step {
    /// The line it begins on, from 1.
    line: usize,
    script: String,
    expect: Vec<String>,
}

/// The steps of the `sh` blocks of a Markdown page.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_open = false;
    for (number, line) in page.lines().enumerate() {
        if is_open && line == "```" {
            is_open = false;
        } else if line == "```sh" {
            is_open = true;
            steps.push(Step::from_line(number + 2));
        } else if let (true, Some(step)) = (is_open, steps.last_mut()) {
            if let Some(text) = line.strip_prefix(EXPECT) {
                step.expect.push(text.to_owned());
            } else if step.expect.is_empty() {
                step.add(line);
            } else {
                let mut next = Step::from_line(number + 1);
                next.add(line);
                steps.push(next);
            }
        }
    }
    steps
}

impl Step {
    fn from_line(line: usize) -> Self {
        Self {
            line,
            ..Self::default()
        }
    }

    fn add(&mut self, line: &str) {
        self.script.push_str(line);
        self.script.push('\n');
    }

    /// What `output` should have and does not.
    fn missing(&self, output: &str) -> Option<String> {
        let text = self.expect.iter().find(|text| !output.contains(*text))?;
        let output = output.trim();
        Some(format!("line {}: `{text}` is not in:\n{output}", self.line))
    }
}

fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder: PathBuf| folder.join(program))
        .any(|program| program.is_file())
}

/// Runs all steps in one shell and gives the output of each.
async fn run(steps: &[Step], address: &str) -> Result<Vec<String>> {
    let folder = tempfile::tempdir()?;
    let border = format!("echo\necho '{BORDER}'\n");
    let script: String = steps
        .iter()
        .flat_map(|step| [step.script.as_str(), &border])
        .collect();
    let shell = Command::new("bash")
        .args(["-eu", "-c", &script])
        .env("IBID", address)
        .env("no_proxy", "*")
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(LIMIT, shell)
        .await
        .context("the walk takes too long")??;
    let text = String::from_utf8_lossy(&output.stdout);
    let outputs: Vec<String> = text.split(BORDER).map(str::to_owned).collect();
    if !output.status.success() {
        let at = outputs.len().saturating_sub(1);
        bail!(
            "the step on line {} of docs/api.md ended with {}:\n{}\n{}",
            steps.get(at).map_or(0, |step| step.line),
            output.status,
            outputs.last().map_or("", |output| output.trim()),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(outputs)
}

#[tokio::test]
async fn the_walk_through_the_api_goes_as_written() -> Result<()> {
    if !has("curl") || !has("bash") {
        println!("skipped: curl or bash is not on this machine");
        return Ok(());
    }
    let page = std::fs::read_to_string(workspace::root().join("docs/api.md"))?;
    let steps = steps(&page);
    let expected: usize = steps.iter().map(|step| step.expect.len()).sum();
    ensure!(
        steps.len() > 20 && expected > 40,
        "only {} steps with {expected} expectations",
        steps.len()
    );
    let harness = Harness::start(&[]).await?;
    let address = harness.client().url().as_str().trim_end_matches('/');
    let outputs = run(&steps, address)
        .await
        .with_context(|| harness.log_tail())?;
    let wrong: Vec<String> = steps
        .iter()
        .zip(&outputs)
        .filter_map(|(step, output)| step.missing(output))
        .collect();
    ensure!(wrong.is_empty(), "docs/api.md:\n{}", wrong.join("\n\n"));
    Ok(())
}

#[test]
fn steps_and_their_expectations_are_read() {
    let page = "a\n```sh\nls \\\n  -l\n# → contains \"x\": \"y\"\n# → contains z\nid\n```\n\
                ```text\nno\n```\n";
    let step = |line, script: &str, expect: &[&str]| Step {
        line,
        script: script.to_owned(),
        expect: expect.iter().map(|&text| text.to_owned()).collect(),
    };
    let expect = [
        step(3, "ls \\\n  -l\n", &["\"x\": \"y\"", "z"]),
        step(7, "id\n", &[]),
    ];
    assert_eq!(steps(page), expect);
    let first = &expect[0];
    assert_eq!(first.missing("z and \"x\": \"y\""), None);
    assert!(
        first
            .missing("z")
            .is_some_and(|text| text.contains("line 3"))
    );
}
