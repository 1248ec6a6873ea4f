//! The texts of `--help` that stand beside the arguments, and the commands in the order in which
//! people need them.

use clap::CommandFactory as _;

use super::Cli;

/// The visible commands by what they are for.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Begin", &["up", "add"]),
    ("Ask", &["ask", "chat", "search"]),
    ("Documents", &["list", "show", "rm", "retry"]),
    (
        "How it is",
        &["status", "models", "link", "doctor", "fsck", "config"],
    ),
    (
        "This machine",
        &["setup", "model", "eval", "bench", "completions"],
    ),
];

const AFTER: &str = "\
Examples:
  ibid up ~/Documents          start, take a folder in, and open the page it prints
  ibid ask \"what is the notice period?\"
  ibid chat                    one question after another
  ibid status                  services, documents, memory

`ibid help COMMAND` says more, with examples. Nothing leaves this machine. Data lie in IBID_DATA
(~/.local/share/ibid), settings in its ibid.toml, fetched parts in IBID_ASSETS (~/.cache/ibid).
IBID_URL and IBID_TOKEN name an Ibid that runs elsewhere, as in a container.
Exit codes: 0 done, 1 failed, 64 wrong usage.";

pub(super) const UP: &str = "\
Examples:
  ibid up ~/Documents
  IBID_PORT=8080 ibid up       another port; 0 takes any free one";
pub(super) const ADD: &str = "\
Examples:
  ibid add ~/papers/*.pdf --collection papers
  ibid add ~/Documents --no-wait
  ibid add --password contract.pdf     asks for it
  pass show bank | ibid add --password-file - ~/statements";
pub(super) const ASK: &str = "\
Examples:
  ibid ask \"what is the notice period?\"
  ibid ask --collection contracts --model ollama/llama3.2 \"who may terminate?\"
  ibid ask --path-prefix ~/contracts --type pdf --from 2026-01-01 \"what is the notice period?\"";
pub(super) const CHAT: &str = "\
Examples:
  ibid chat
  ibid chat --document handbook.pdf < questions.txt";
pub(super) const SEARCH: &str = "\
Examples:
  ibid search termination notice
  ibid search --semantic-weight 0 E42          exact words only
  ibid search --language de --diversity 1 Frist
  ibid search --fusion rrf --rerank termination notice";
pub(super) const LIST: &str = "\
Examples:
  ibid list
  ibid list --state failed     what could not be read, and why";
pub(super) const SHOW: &str = "\
Examples:
  ibid show handbook.pdf                 every page, and how it was read
  ibid show handbook.pdf --missing
  ibid show handbook.pdf --page iv | less
  ibid show handbook.pdf --page 4 --diff";
pub(super) const BENCH: &str = "\
Examples:
  ibid bench parse ~/Documents
  ibid bench parse ~/Documents --json
  ibid bench search                      100,000 generated chunks, 1,000 questions";
pub(super) const EVAL: &str = "\
Examples:
  ibid eval retrieval beir/scifact beir/nfcorpus --save before.json
  IBID_MODEL__NAME=bge-small-en-v1.5 ibid eval retrieval beir/scifact --compare before.json
  ibid eval retrieval beir/* --tune";
pub(super) const RM: &str = "\
Examples:
  ibid rm handbook.pdf
  ibid rm ~/old-papers         all documents under a folder
  ibid rm --collection drafts --yes";
pub(super) const RETRY: &str = "\
Examples:
  ibid retry handbook.pdf
  ibid retry --failed
  ibid retry --outdated        after an update of the program";
pub(super) const STATUS: &str = "\
Examples:
  ibid status
  ibid status --json";
pub(super) const MODELS: &str = "\
Examples:
  ibid models
  ibid ask --model ollama/llama3.2 \"…\"         one of the list";
pub(super) const LINK: &str = "\
Example:
  ibid link";
pub(super) const DOCTOR: &str = "\
Examples:
  ibid doctor
  ibid doctor --generate       one real token from each model";
pub(super) const FSCK: &str = "\
Example:
  ibid fsck";
pub(super) const CONFIG: &str = "\
Examples:
  ibid config
  ibid config generation       only one section";
pub(super) const SETUP: &str = "\
Examples:
  ibid setup
  ibid setup --with generator  also a small language model, for answers without Ollama";
pub(super) const MODEL: &str = "\
Example:
  ibid model import ~/bge-small-en-v1.5";
pub(super) const COMPLETIONS: &str = "\
Examples:
  ibid completions bash > ~/.local/share/bash-completion/completions/ibid
  ibid completions fish > ~/.config/fish/completions/ibid.fish";

/// The definition of the whole command line.
pub fn command() -> clap::Command {
    let for_diff = |arg: clap::Arg| arg.requires("diff");
    let command = Cli::command().mut_subcommand("show", |show| {
        // Only a page that is read again needs to be opened again.
        show.mut_arg("password", for_diff)
            .mut_arg("password_file", for_diff)
    });
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\nOptions:\n{{options}}\
         {{after-help}}",
        groups(&command)
    );
    command.help_template(template).after_help(AFTER)
}

/// As [`command`], without what only Ibid itself calls.
pub fn visible() -> clap::Command {
    let all = command();
    let shown = all.get_subcommands().filter(|one| !one.is_hide_set());
    clap::Command::new("ibid")
        .version(env!("CARGO_PKG_VERSION"))
        .args(all.get_arguments().cloned())
        .subcommands(shown.cloned())
}

fn groups(command: &clap::Command) -> String {
    let about = |name: &str| {
        let found = command.find_subcommand(name);
        let about = found.and_then(clap::Command::get_about);
        about.map(ToString::to_string).unwrap_or_default()
    };
    let line = |name: &&str| format!("  {name:<12} {}\n", about(name));
    let group = |(heading, names): &(&str, &[&str])| {
        format!(
            "\n{heading}:\n{}",
            names.iter().map(line).collect::<String>()
        )
    };
    GROUPS.iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn help_names_every_command_once_and_each_teaches_itself() {
        let command = command();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        grouped.sort_unstable();
        let mut visible: Vec<&str> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set() && command.get_name() != "help")
            .map(clap::Command::get_name)
            .collect();
        visible.sort_unstable();
        assert_eq!(grouped, visible);
        for name in visible {
            let command = command.find_subcommand(name).unwrap();
            let long = command.get_long_about().unwrap_or_default().to_string();
            let examples = command.get_after_help().unwrap_or_default().to_string();
            assert!(
                long.lines().count() > 1 || long.len() > 80,
                "{name}: {long}"
            );
            assert!(examples.contains(&format!("ibid {name}")), "{name}");
        }
    }

    #[test]
    fn the_top_help_reads_from_begin_to_end() {
        let text = command().render_help().to_string();
        let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}:\n{text}"));
        assert!(place("Usage: ibid") < place("Begin:"));
        assert!(place("Begin:") < place("\n  up  "));
        assert!(place("\n  ask ") < place("Documents:"));
        assert!(place("--json") < place("Examples:"));
        assert!(!text.contains("guard") && !text.contains("extract-child"));
    }
}
