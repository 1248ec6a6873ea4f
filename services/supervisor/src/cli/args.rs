//! The arguments of each command.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use clap_complete::Shell;
use shared::contract::{CollectionName, Date, DocumentState, FusionMethod, GeneratorId};
use shared::format::Format;
use shared::language::Language;
use shared::settings::SECTIONS;

use crate::evaluation::split::Half;

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
    /// What opens locked files.
    #[command(flatten)]
    pub password: PasswordArgs,
}

/// What opens locked files.
#[derive(Debug, Default, Args)]
pub struct PasswordArgs {
    /// Ask for the password of locked files; scripts set `IBID_PASSWORD` instead
    #[arg(long, conflicts_with = "password_file")]
    pub password: bool,
    /// Take the password from the first line of this file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
}

/// Where a question looks.
#[derive(Debug, Clone, Default, Args)]
pub struct ScopeArgs {
    /// Passages wanted, 1 to 100 [default: the setting `query.passages`, 5]
    #[arg(short, long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub k: Option<u32>,
    /// Only this collection; may be given several times
    #[arg(long, value_name = "NAME")]
    pub collection: Vec<CollectionName>,
    /// Only this document, by path, name or id; may be given several times
    #[arg(long, value_name = "DOCUMENT")]
    pub document: Vec<String>,
    /// Only documents whose path begins so; of an existing file or folder, its whole path is taken
    #[arg(long, value_name = "PATH")]
    pub path_prefix: Option<String>,
    /// Only this type, such as pdf, docx or markdown; may be given several times
    #[arg(long = "type", value_name = "TYPE", value_parser = parse_format)]
    pub format: Vec<Format>,
    /// Only documents dated this day or later, such as 2026-11-30 (UTC)
    #[arg(long, value_name = "DAY")]
    pub from: Option<Date>,
    /// Only documents dated this day or earlier
    #[arg(long, value_name = "DAY")]
    pub to: Option<Date>,
    /// Only documents in this language, by its ISO 639-1 code such as en; may be given several
    /// times
    #[arg(long, value_name = "CODE")]
    pub language: Vec<Language>,
    /// How to rank.
    #[command(flatten)]
    pub ranking: RankingArgs,
}

/// How passages are ranked.
#[derive(Debug, Clone, Default, Args)]
pub struct RankingArgs {
    /// 0 for keywords only, 1 for meaning only [default: the setting `query.semantic_weight`, or by
    /// what each engine can see of the question]
    #[arg(long, value_name = "0..1", value_parser = parse_share)]
    pub semantic_weight: Option<f32>,
    /// How keyword and vector results become one list: by rank (rrf) or by score (average)
    /// [default: the setting `query.fusion`]
    #[arg(long, value_name = "METHOD", value_parser = parse_fusion)]
    pub fusion: Option<FusionMethod>,
    /// Have a cross-encoder order the best passages again [default: the setting `query.rerank`]
    #[arg(long, overrides_with = "no_rerank")]
    pub rerank: bool,
    /// Leave the order as it was fused
    #[arg(long, overrides_with = "rerank")]
    pub no_rerank: bool,
    /// 0 for relevance alone, 1 for one passage of each document before a second of any
    #[arg(long, value_name = "0..1", value_parser = parse_share)]
    pub diversity: Option<f32>,
}

impl RankingArgs {
    /// Whether to rerank, if it was said.
    pub fn rerank(&self) -> Option<bool> {
        (self.rerank || self.no_rerank).then_some(self.rerank)
    }
}

/// `ibid search`.
#[derive(Debug, Args)]
pub struct SearchArgs {
    /// What to look for; several words are joined
    #[arg(required = true)]
    pub question: Vec<String>,
    /// Where to look.
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Say of everything that was found where it ranks, and why it is shown or not
    #[arg(long)]
    pub explain: bool,
    /// Say also why nothing of this document, by path, name or id, is shown; may be given several
    /// times
    #[arg(long, value_name = "DOCUMENT")]
    pub explain_document: Vec<String>,
}

/// `ibid ask`.
#[derive(Debug, Args)]
pub struct AskArgs {
    /// The question; several words are joined
    #[arg(required = true)]
    pub question: Vec<String>,
    /// Where to look.
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Who answers, as `ibid models` lists it; `extractive` for quotations only
    #[arg(long)]
    pub model: Option<GeneratorId>,
}

/// `ibid chat`.
#[derive(Debug, Args)]
pub struct ChatArgs {
    /// Where to look.
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Who answers, as `ibid models` lists it; `extractive` for quotations only
    #[arg(long)]
    pub model: Option<GeneratorId>,
}

/// `ibid list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only this collection
    #[arg(long)]
    pub collection: Option<CollectionName>,
    /// Only this state: queued, parsing, chunking, embedding, indexing, ready, partial, failed
    #[arg(long, value_parser = parse_state)]
    pub state: Option<DocumentState>,
}

/// `ibid rm`.
#[derive(Debug, Args)]
pub struct RmArgs {
    /// Path, name or id of each document, or folders; none for the whole collection
    #[arg(required_unless_present = "collection")]
    pub documents: Vec<String>,
    /// Only look in this collection
    #[arg(long)]
    pub collection: Option<CollectionName>,
    /// Do not ask before a folder or a collection is removed
    #[arg(long)]
    pub yes: bool,
}

/// `ibid show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Path, name or id of a document
    pub document: String,
    /// The text of this page: its number, counted from 1, or the label printed on it, such as `iv`
    #[arg(long, value_name = "PAGE")]
    pub page: Option<String>,
    /// Where the two readings of this page of a PDF disagree
    #[arg(long, requires = "page")]
    pub diff: bool,
    /// Only pages that could not be read
    #[arg(long, conflicts_with = "page")]
    pub missing: bool,
    /// What opens a locked file, for `--diff`.
    #[command(flatten)]
    pub password: PasswordArgs,
}

/// `ibid retry`.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct RetryArgs {
    /// Path, name or id of a document
    pub document: Option<String>,
    /// All documents that failed
    #[arg(long, alias = "all")]
    pub failed: bool,
    /// All documents that an earlier version of the program made
    #[arg(long)]
    pub outdated: bool,
}

/// `ibid eval`.
#[derive(Debug, Subcommand)]
pub enum EvalCommand {
    /// Ask sets of judged questions, in folders as BEIR has them
    Retrieval(EvalRetrievalArgs),
}

/// `ibid eval retrieval`.
#[derive(Debug, Args)]
pub struct EvalRetrievalArgs {
    /// Folders, each with `corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv`
    #[arg(required = true)]
    pub folders: Vec<PathBuf>,
    /// Also with the best passages ordered again by a cross-encoder
    #[arg(long)]
    pub rerank: bool,
    /// Look for the best fixed weight on one half of the questions, and report the other half
    #[arg(long, conflicts_with = "half")]
    pub tune: bool,
    /// Which questions
    #[arg(long, value_enum, default_value_t = Half::All)]
    pub half: Half,
    /// Questions per configuration that are asked again one by one to take the time; 0 for none
    #[arg(long, value_name = "NUMBER", default_value_t = 200)]
    pub timed: u32,
    /// Write everything, question by question, into this file as JSON
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Compare with what `--save` wrote before; may be given several times
    #[arg(long, value_name = "FILE")]
    pub compare: Vec<PathBuf>,
    /// Where sets are kept once they are taken in [default: `evaluation` in `IBID_ASSETS`]
    #[arg(long, value_name = "FOLDER")]
    pub cache: Option<PathBuf>,
}

/// `ibid bench`.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Read files as the parser does; print pages/s, MB/s and memory per format
    Parse(BenchParseArgs),
    /// Search generated chunks; print how long questions take, step by step
    Search(BenchSearchArgs),
}

/// `ibid bench search`.
#[derive(Debug, Args)]
pub struct BenchSearchArgs {
    /// Chunks to search in
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000,
          value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    pub chunks: u32,
    /// Questions to ask, all different
    #[arg(long, value_name = "NUMBER", default_value_t = 1_000,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub questions: u32,
    /// Passages wanted, 1 to 100
    #[arg(short, long, value_name = "NUMBER", default_value_t = 10,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    pub k: u32,
    /// Where the chunks are kept for the next time [default: `bench` in `IBID_ASSETS`]
    #[arg(long, value_name = "FOLDER")]
    pub cache: Option<PathBuf>,
}

/// `ibid bench parse`.
#[derive(Debug, Args)]
pub struct BenchParseArgs {
    /// Files and folders; hidden files in folders are left out
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
}

/// `ibid doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Have each usable language model make one token; needs a running Ibid
    #[arg(long)]
    pub generate: bool,
}

/// `ibid config`.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// Only this section
    #[arg(value_parser = PossibleValuesParser::new(SECTIONS))]
    pub section: Option<String>,
}

/// A part that `ibid setup` fetches only when it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Extra {
    /// A small language model, for answers without Ollama
    Generator,
}

impl Extra {
    /// Its name in the lock of parts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Generator => "generator",
        }
    }
}

/// `ibid setup`.
#[derive(Debug, Default, Args)]
pub struct SetupArgs {
    /// Also fetch this
    #[arg(long, value_name = "PART")]
    pub with: Vec<Extra>,
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

/// `ibid completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// `ibid service`.
#[derive(Debug, Args)]
pub struct ServiceArgs {
    /// End with this process, which started us
    #[arg(long)]
    pub parent: Option<u32>,
    /// parser, chunker, embedder, indexer, query or gateway; nats for the bus of containers
    pub name: String,
    /// For the service
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

/// `ibid probe`.
#[derive(Debug, Args)]
pub struct ProbeArgs {
    /// The service, or `nats`
    pub name: String,
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

fn parse_state(text: &str) -> Result<DocumentState, String> {
    serde_json::from_value(serde_json::Value::String(text.to_lowercase())).map_err(|_unknown| {
        "use queued, parsing, chunking, embedding, indexing, ready, partial or failed".to_owned()
    })
}

fn parse_format(text: &str) -> Result<Format, String> {
    let wanted = text.to_lowercase();
    wanted.parse().map_err(|_unknown| {
        let names = Format::ALL.map(Format::name);
        format!("use one of: {}", names.join(", "))
    })
}

fn parse_fusion(text: &str) -> Result<FusionMethod, String> {
    serde_json::from_value(serde_json::Value::String(text.to_lowercase()))
        .map_err(|_unknown| "use rrf or average".to_owned())
}

fn parse_share(text: &str) -> Result<f32, String> {
    text.parse::<f32>()
        .ok()
        .filter(|weight| (0.0..=1.0).contains(weight))
        .ok_or_else(|| "use a number from 0 to 1".to_owned())
}
