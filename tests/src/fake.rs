//! Model servers for tests: an Ollama and an OpenAI-compatible server on loopback, within the
//! test's own process, faithful to what their projects document, and to be told what to do.
//!
//! ```no_run
//! # fn main() -> anyhow::Result<()> {
//! use ibid_tests::fake::{Ending, FakeOllama, Text};
//! let ollama = FakeOllama::start()?;
//! ollama.script(|script| {
//!     script.speech.text = Text::Fixed("Refunds take 30 days [1].".to_owned());
//!     script.speech.ending = Ending::CutAfter(3);
//! });
//! // … ask `ollama.url()` …
//! assert_eq!(ollama.bodies("/api/chat").len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! A script may be changed at any time; a request obeys the script of its arrival. Each server has
//! a thread of its own and ends, with all its connections, when it is dropped.

mod ollama;
mod openai;
mod server;
mod speech;
mod vectors;

pub use ollama::{FakeModel, FakeOllama, OllamaScript, Told};
pub use openai::{FakeOpenAi, OpenAiScript};
pub use server::{Asked, Refusal};
pub use speech::{Ending, Speech, Text, tokens};
pub use vectors::vector;
