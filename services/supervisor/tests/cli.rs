//! The program as a person meets it before anything runs: no parts, no network.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests"
)]

#[path = "cli/documents.rs"]
mod documents;
#[path = "cli/fake_gateway.rs"]
mod fake_gateway;
#[path = "cli/talking.rs"]
mod talking;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// `ibid` with folders of its own, and nothing of this machine's settings.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ibid"));
    let set = std::env::vars_os().map(|(name, _)| name);
    for name in set.filter(|name| name.to_string_lossy().starts_with("IBID_")) {
        command.env_remove(name);
    }
    command
        .args(arguments)
        .env("IBID_DATA", folder.join("data"))
        .env("IBID_ASSETS", folder.join("assets"))
        .env("IBID_PORT", "0")
        .env("PATH", folder)
        .stdin(Stdio::null());
    command
}

fn ibid(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
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
        &["list"],
        &["search", "x"],
        &["ask", "x"],
        &["chat"],
        &["models"],
        &["link"],
        &["rm", "--collection", "papers", "--yes"],
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
fn with_json_an_error_is_one_object_on_standard_error() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, code, part) in [
        (["list", "--json"].as_slice(), 1, "Ibid is not running"),
        (&["--json", "ask", "x"], 1, "Ibid is not running"),
        (&["serach", "--json"], 64, "unrecognized subcommand"),
    ] {
        let output = ibid(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        let told: Value = serde_json::from_slice(&output.stderr).unwrap();
        let message = told["error"]["message"].as_str().unwrap();
        assert!(message.contains(part), "{told}");
        assert!(told["error"]["remedy"].is_string(), "{told}");
    }
}

#[test]
fn the_settings_are_shown_with_their_origin_and_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data/ibid.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let toml = "[gateway]\ntoken = \"hush-hush-hush-hush\"\n[query]\npassages = 7\n";
    std::fs::write(&file, toml).unwrap();
    let run = |arguments: &[&str]| {
        let output = command(folder.path(), arguments)
            .env("IBID_QUERY__SEMANTIC_WEIGHT", "0.2")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(!told.contains("hush"), "{told}");
        told
    };
    let told = run(&["config"]);
    let row = |key: &str| {
        let line = told.lines().find(|line| line.starts_with(key));
        let words = line
            .unwrap_or_else(|| panic!("{key}: {told}"))
            .split_whitespace();
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let file = file.to_string_lossy().into_owned();
    assert_eq!(
        row("query.passages"),
        ["query.passages", "7", file.as_str()]
    );
    assert_eq!(
        row("query.semantic_weight"),
        [
            "query.semantic_weight",
            "0.2",
            "IBID_QUERY__SEMANTIC_WEIGHT"
        ]
    );
    assert_eq!(
        row("gateway.token"),
        ["gateway.token", "(set)", file.as_str()]
    );
    assert_eq!(row("gateway.port"), ["gateway.port", "0", "IBID_PORT"]);
    assert_eq!(row("bus.token"), ["bus.token", "(not", "set)", "default"]);

    let told: Value = serde_json::from_str(&run(&["config", "query", "--json"])).unwrap();
    let settings = told["settings"].as_array().unwrap();
    assert!(settings.iter().all(|setting| setting["section"] == "query"));
    let weight = settings
        .iter()
        .find(|setting| setting["key"] == "semantic_weight")
        .unwrap();
    assert_eq!(weight["value"], 0.2);
    assert_eq!(weight["origin"]["kind"], "variable");
}

#[test]
fn a_wrong_setting_is_told_by_its_whole_key_beside_those_that_hold() {
    let folder = tempfile::tempdir().unwrap();
    let output = command(folder.path(), &["config"])
        .env("IBID_GATEWAY__PORT", "many")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("`gateway.port` from the variable `IBID_GATEWAY__PORT`"),
        "{told}"
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("query.passages"));
}

#[test]
fn settings_that_a_service_would_refuse_are_told_before_anything_is_fetched() {
    let folder = tempfile::tempdir().unwrap();
    for (name, value, part) in [
        ("IBID_GATEWAY__TOKEN", "short", "could be guessed"),
        (
            "IBID_GENERATION__OLLAMA_URL",
            "http://10.0.0.1:1",
            "network.allow",
        ),
        (
            "IBID_GENERATION__OPENAI_URL",
            "https://localhost/v1",
            "`http://host:port`",
        ),
        ("IBID_QUERY__PASSAGES", "0", "use 1 to 100"),
        ("IBID_GATEWAY__MAX_UPLOAD_MIB", "0", "use 1 or more"),
    ] {
        let output = command(folder.path(), &["up"])
            .env(name, value)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains(part) && !told.contains("pip"), "{told}");
    }
    assert!(!folder.path().join("assets").exists());
}

#[test]
fn every_shell_gets_a_script_that_names_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        check(&["completions", shell], 0, "semantic-weight");
        let script = ibid(folder.path(), &["completions", shell]).stdout;
        let script = String::from_utf8(script).unwrap();
        assert!(
            !script.contains("guard"),
            "{shell}: only Ibid itself calls it"
        );
    }
}

#[test]
fn help_teaches_each_command() {
    check(&["help", "ask"], 0, "ibid ask --collection contracts");
    check(&["rm", "--help"], 0, "all documents under a folder");
    check(&["--help"], 0, "This machine:");
}

#[test]
fn without_parts_and_python_the_remedies_are_named() {
    check(&["setup"], 1, "install Python 3 with pip");
    check(&["up"], 1, "install Python 3 with pip");
    check(&["up", "/no/such/path"], 1, "`/no/such/path` is not there");
    check(&["doctor"], 1, "FAIL NATS server");
    check(&["doctor", "--json"], 1, "\"ok\": false");
    check(&["doctor"], 1, "OK   Ollama: not running");
    check(
        &["doctor", "--generate"],
        1,
        "`--generate` needs a running Ibid",
    );
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
