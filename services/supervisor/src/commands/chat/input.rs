//! The lines of a conversation: from a terminal with editing and a history, else as they come.
//! A thread of its own waits for them, so that everything else goes on.

use std::io::{self, BufRead, IsTerminal, Read as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Context, Editor, Helper};
use shared::settings::data_dir;
use tokio::sync::mpsc as channel;

use super::order::COMMANDS;
use crate::error::Complaint;
use crate::files::private_folder;

/// Quotations begin with `>`.
const PROMPT: &str = "? ";
/// Bytes of a line that is not typed; more than the gateway takes of a question.
const LONGEST: u64 = 256 << 10;
/// Lines kept for the arrow keys.
const HISTORY: usize = 1000;

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(String),
    /// Ctrl-C before the line was ended.
    Interrupted,
    /// Ctrl-D, or the end of the input.
    End,
}

type Read = io::Result<Line>;

/// Where lines come from.
pub(super) struct Input {
    /// Each message asks for one line: a terminal is ours only while it is waited for.
    wanted: mpsc::Sender<()>,
    lines: channel::UnboundedReceiver<Read>,
    is_terminal: bool,
}

impl Input {
    /// Standard input.
    pub(super) fn open() -> Self {
        let is_terminal = io::stdin().is_terminal();
        let (wanted, asked) = mpsc::channel();
        let (give, lines) = channel::unbounded_channel();
        // It ends with the process: a read of a terminal cannot be called off.
        std::thread::spawn(move || {
            let give = |line| give.send(line).is_ok();
            if is_terminal {
                typed(&asked, give);
            } else {
                piped(&asked, io::stdin().lock(), give);
            }
        });
        Self {
            wanted,
            lines,
            is_terminal,
        }
    }

    /// Whether a person types.
    pub(super) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// The next line.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub(super) async fn next(&mut self) -> Result<Line, Complaint> {
        if self.wanted.send(()).is_err() {
            return Ok(Line::End);
        }
        let line = if self.is_terminal {
            self.lines.recv().await
        } else {
            tokio::select! {
                line = self.lines.recv() => line,
                _ = tokio::signal::ctrl_c() => None,
            }
        };
        line.unwrap_or(Ok(Line::End)).map_err(|error| {
            Complaint::new(
                format!("cannot read the input: {error}"),
                "check where it comes from",
            )
        })
    }
}

fn piped(asked: &mpsc::Receiver<()>, mut input: impl BufRead, give: impl Fn(Read) -> bool) {
    while asked.recv().is_ok() {
        let line = line_of(&mut input);
        if !give(line) {
            return;
        }
    }
}

/// The next line, which is not waited for without end.
fn line_of(input: &mut impl BufRead) -> Read {
    let mut bytes = Vec::new();
    let read = input.take(LONGEST + 1).read_until(b'\n', &mut bytes)?;
    if read as u64 > LONGEST {
        let why = format!("a line has more than {} KiB", LONGEST >> 10);
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    Ok(match read {
        0 => Line::End,
        _ => Line::Text(String::from_utf8_lossy(&bytes).into_owned()),
    })
}

fn typed(asked: &mpsc::Receiver<()>, give: impl Fn(Read) -> bool) {
    let mut editor = match editor() {
        Ok(editor) => editor,
        Err(error) => {
            give(Err(io::Error::other(error)));
            return;
        }
    };
    // A history that cannot be kept is no reason not to talk.
    let history = history_file().ok();
    if let Some(path) = &history {
        editor.load_history(path).ok();
    }
    while asked.recv().is_ok() {
        let line = match editor.readline(PROMPT) {
            Ok(line) => {
                if let Some(path) = &history {
                    editor.append_history(path).ok();
                }
                Ok(Line::Text(line))
            }
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => Ok(Line::End),
            Err(error) => Err(io::Error::other(error)),
        };
        if !give(line) {
            return;
        }
    }
}

fn editor() -> rustyline::Result<Editor<Commands, FileHistory>> {
    let config = Config::builder()
        .max_history_size(HISTORY)?
        .auto_add_history(true)
        // A line that begins with a blank is not kept.
        .history_ignore_space(true)
        .build();
    let mut editor = Editor::with_config(config)?;
    editor.set_helper(Some(Commands));
    Ok(editor)
}

/// In the data folder, which is closed to others; the file is made so that only its owner reads
/// it.
fn history_file() -> io::Result<PathBuf> {
    let data = data_dir();
    private_folder(&data)?;
    Ok(history_in(&data))
}

fn history_in(data: &Path) -> PathBuf {
    data.join("chat-history")
}

/// Completes commands with the tab key.
struct Commands;

impl Completer for Commands {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        _at: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok((0, completions(line)))
    }
}

fn completions(line: &str) -> Vec<String> {
    if !line.starts_with('/') {
        return Vec::new();
    }
    let fitting = COMMANDS.iter().filter(|command| command.starts_with(line));
    fitting.map(|command| (*command).to_owned()).collect()
}

impl Hinter for Commands {
    type Hint = String;
}

impl Highlighter for Commands {}

impl Validator for Commands {}

impl Helper for Commands {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Mutex;

    #[test]
    fn piped_lines_come_one_by_one_and_end() {
        let (want, asked) = mpsc::channel();
        (0..4).for_each(|_| want.send(()).unwrap());
        drop(want);
        let got = Mutex::new(Vec::new());
        piped(&asked, &b"why?\n\n\xff last"[..], |line| {
            got.lock().unwrap().push(line.unwrap());
            true
        });
        let text = |text: &str| Line::Text(text.to_owned());
        assert_eq!(
            got.into_inner().unwrap(),
            [text("why?\n"), text("\n"), text("\u{fffd} last"), Line::End]
        );
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let error = line_of(&mut io::BufReader::new(io::repeat(b'x'))).unwrap_err();
        assert!(error.to_string().contains("256 KiB"), "{error}");
    }

    #[test]
    fn the_history_is_for_its_owner_alone_and_does_without_lines_that_begin_with_a_blank() {
        let data = tempfile::tempdir().unwrap();
        let path = history_in(data.path());
        let mut editor = editor().unwrap();
        for line in ["what is the notice period?", " a secret question"] {
            editor.add_history_entry(line).unwrap();
        }
        editor.append_history(&path).unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.contains("notice period") && !text.contains("secret"),
            "{text}"
        );
    }

    #[test]
    fn commands_are_completed_and_questions_are_not() {
        assert_eq!(completions("/mo"), ["/models", "/model"]);
        assert_eq!(completions("/"), COMMANDS);
        assert!(completions("mo").is_empty());
    }
}
