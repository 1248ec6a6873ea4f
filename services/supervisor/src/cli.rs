//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use shared::contract::CollectionName;

const EXAMPLES: &str = "\
Examples:
  ibid up ~/Documents          start, take a folder in, and open the page it prints
  ibid ask \"what is the notice period?\"
  ibid search --collection contracts termination
  ibid add --collection papers ~/papers/*.pdf
  ibid status                  services, documents, memory

Nothing leaves this machine. Data lie in IBID_DATA (~/.local/share/ibid), settings in its
ibid.toml, fetched parts in IBID_ASSETS (~/.cache/ibid).
Exit codes: 0 done, 1 failed, 64 wrong usage.";

/// Answers questions from your own documents, on your own machine, and says where each answer
/// stands.
#[derive(Debug, Parser)]
#[command(name = "ibid", version, about, after_help = EXAMPLES, arg_required_else_help = true)]
pub struct Cli {
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start Ibid; Ctrl-C ends it
    Up(UpArgs),
    /// Take files and folders in, and return when they can be searched
    Add(AddArgs),
    /// List documents
    List(ListArgs),
    /// Remove documents, with a receipt
    Rm(RmArgs),
    /// Find passages
    Search(QuestionArgs),
    /// Ask a question; the answer quotes and cites
    Ask(QuestionArgs),
    /// Show services, documents and memory
    Status,
    /// Try documents again that could not be read
    Retry(RetryArgs),
    /// Check that all stores agree
    Fsck,
    /// Check this machine: parts, port, disk, folders
    Doctor,
    /// Fetch the parts that Ibid runs on
    Setup,
    /// Embedding models
    #[command(subcommand)]
    Model(ModelCommand),
    /// Run one service in this process
    #[command(hide = true)]
    Service(ServiceArgs),
    /// Become a program that ends with its parent
    #[command(hide = true)]
    Guard(GuardArgs),
}

/// `ibid up`.
#[derive(Debug, Args)]
pub struct UpArgs {
    /// Files and folders to take in once it runs
    pub paths: Vec<PathBuf>,
    /// The collection they go into
    #[arg(long, default_value_t)]
    pub collection: CollectionName,
}

/// `ibid add`.
#[derive(Debug, Args)]
pub struct AddArgs {
    /// Files and folders; hidden files in folders are left out
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// The collection they go into
    #[arg(long, default_value_t)]
    pub collection: CollectionName,
    /// Do all work again, even for unchanged files
    #[arg(long)]
    pub force: bool,
    /// First remove all documents of the collection
    #[arg(long)]
    pub reset: bool,
    /// Do not ask before removing
    #[arg(long, requires = "reset")]
    pub yes: bool,
    /// Return once the files are handed over
    #[arg(long)]
    pub no_wait: bool,
}

/// `ibid list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only this collection
    #[arg(long)]
    pub collection: Option<CollectionName>,
    /// Only this state: queued, parsing, chunking, embedding, indexing, ready, partial, failed
    #[arg(long, value_parser = parse_state)]
    pub state: Option<shared::contract::DocumentState>,
}

/// `ibid rm`.
#[derive(Debug, Args)]
pub struct RmArgs {
    /// Path, name or id of each document
    #[arg(required = true)]
    pub documents: Vec<String>,
    /// Only look in this collection
    #[arg(long)]
    pub collection: Option<CollectionName>,
}

/// `ibid search` and `ibid ask`.
#[derive(Debug, Args)]
pub struct QuestionArgs {
    /// The question; several words are joined
    #[arg(required = true)]
    pub question: Vec<String>,
    /// Passages wanted
    #[arg(short, long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub k: u32,
    /// Only this collection; may be given several times
    #[arg(long)]
    pub collection: Vec<CollectionName>,
    /// 0 for keywords only, 1 for meaning only
    #[arg(long, value_parser = parse_weight)]
    pub semantic_weight: Option<f32>,
}

/// `ibid retry`.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct RetryArgs {
    /// Path, name or id of a document
    pub document: Option<String>,
    /// All documents that failed
    #[arg(long)]
    pub all: bool,
}

/// `ibid model`.
#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// Make a model of a sentence-transformers folder (BERT family)
    Import {
        /// The folder with `model.safetensors` or `onnx/model.onnx`
        folder: PathBuf,
        /// Its name from now on; the folder's name if not given
        #[arg(long)]
        name: Option<String>,
    },
}

/// `ibid service`.
#[derive(Debug, Args)]
pub struct ServiceArgs {
    /// End with this process, which started us
    #[arg(long)]
    pub parent: Option<u32>,
    /// parser, chunker, embedder, indexer, query or gateway
    pub name: String,
    /// For the service
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

/// `ibid guard`.
#[derive(Debug, Args)]
pub struct GuardArgs {
    /// End with this process, which started us
    #[arg(long)]
    pub parent: u32,
    /// The program
    #[arg(last = true, required = true)]
    pub program: Vec<OsString>,
}

fn parse_state(text: &str) -> Result<shared::contract::DocumentState, String> {
    serde_json::from_value(serde_json::Value::String(text.to_lowercase())).map_err(|_unknown| {
        "use queued, parsing, chunking, embedding, indexing, ready, partial or failed".to_owned()
    })
}

fn parse_weight(text: &str) -> Result<f32, String> {
    text.parse::<f32>()
        .ok()
        .filter(|weight| (0.0..=1.0).contains(weight))
        .ok_or_else(|| "use a number from 0 to 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::error::ErrorKind;

    fn parse(line: &str) -> Result<Cli, ErrorKind> {
        let words = std::iter::once("ibid").chain(line.split_whitespace());
        Cli::try_parse_from(words).map_err(|error| error.kind())
    }

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn good_lines_are_understood() {
        for line in [
            "up",
            "up a b",
            "up --collection papers x",
            "--json list",
            "list --json",
            "add x --force --no-wait --collection c",
            "add x --reset --yes",
            "rm x y",
            "search what is it",
            "ask -k 3 --semantic-weight 0.5 why",
            "status",
            "doctor",
            "fsck",
            "setup",
            "model import dir --name mini",
            "retry --all",
            "retry x",
            "list --state ready",
            "service parser extract-child",
            "service --parent 7 query",
            "guard --parent 7 -- nats-server -c x",
        ] {
            assert!(parse(line).is_ok(), "{line}: {:?}", parse(line));
        }
        let Command::Service(args) = parse("service parser extract-child --x").unwrap().command
        else {
            panic!("not a service");
        };
        assert_eq!(args.arguments, ["extract-child", "--x"]);
        let Command::Guard(args) = parse("guard --parent 7 -- n -c x").unwrap().command else {
            panic!("not a guard");
        };
        assert_eq!(args.program, ["n", "-c", "x"]);
    }

    #[test]
    fn bad_lines_are_refused() {
        for line in [
            "ad x",
            "add",
            "add x --yes",
            "add x --collection Bad!",
            "search",
            "search -k 0 x",
            "search -k 101 x",
            "ask --semantic-weight 2 x",
            "list --state done",
            "retry",
            "retry x --all",
            "rm",
            "model",
            "guard --parent 7",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
