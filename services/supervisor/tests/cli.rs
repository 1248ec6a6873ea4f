//! The program as a person meets it before anything runs: no parts, no network.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn ibid(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ibid"))
        .args(arguments)
        .env("IBID_DATA", folder.join("data"))
        .env("IBID_ASSETS", folder.join("assets"))
        .env("IBID_PORT", "0")
        .env("PATH", folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[track_caller]
fn check(arguments: &[&str], code: i32, expect: &str) {
    let folder = tempfile::tempdir().unwrap();
    let output = ibid(folder.path(), arguments);
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    assert!(text.contains(expect), "{arguments:?}: {text}");
    assert!(!text.contains('\u{1b}'), "no colours in a pipe: {text}");
}

#[test]
fn wrong_usage_is_told_apart_from_failure() {
    check(&["--help"], 0, "ibid ask");
    check(&["--version"], 0, "ibid 0.");
    check(&[], 64, "Usage");
    check(&["serach", "x"], 64, "search");
    check(&["add"], 64, "PATHS");
    check(&["service", "nobody"], 1, "there is no service `nobody`");
}

#[test]
fn without_a_running_ibid_every_command_says_how_to_start_it() {
    for arguments in [
        ["status"].as_slice(),
        &["list", "--json"],
        &["search", "x"],
        &["ask", "x"],
        &["add", "."],
        &["rm", "x"],
        &["retry", "--all"],
        &["fsck"],
    ] {
        check(
            arguments,
            1,
            "error: Ibid is not running\nstart it with `ibid up`\n",
        );
    }
}

#[test]
fn without_parts_and_python_the_remedies_are_named() {
    check(&["setup"], 1, "install Python 3 with pip");
    check(&["up"], 1, "install Python 3 with pip");
    check(&["up", "/no/such/path"], 1, "`/no/such/path` is not there");
    check(&["doctor"], 1, "FAIL NATS server");
    check(&["doctor", "--json"], 1, "\"ok\": false");
    check(&["model", "import", "/no/such/folder"], 1, "check the path");
}

#[test]
fn a_guarded_program_keeps_its_arguments_and_ends_with_its_parent_only() {
    let folder = tempfile::tempdir().unwrap();
    let parent = std::process::id().to_string();
    let arguments = ["guard", "--parent", &parent, "--", "/bin/echo", "-c", "x"];
    let output = ibid(folder.path(), &arguments);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "-c x\n");

    // Not our parent: it would never be told of its end.
    let output = ibid(
        folder.path(),
        &["guard", "--parent", "1", "--", "/bin/echo", "x"],
    );
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("is gone"));
}
