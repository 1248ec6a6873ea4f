//! `ibid chat`: questions and answers in the terminal, one after another.

mod input;
mod order;
mod session;

use super::{answer, gateway, models, scope};
use crate::cli::ChatArgs;
use crate::client::Gateway;
use crate::error::{CommandResult, Complaint};
use crate::output::{self, count, name, style};
use crate::screen;

use input::{Input, Line};
use order::Order;
use session::Session;

/// Talks until there is nothing left to say. Fails only when nothing could be asked at all, or
/// when the input is no terminal and a question of it was not answered.
pub(super) async fn run(args: ChatArgs, json: bool) -> CommandResult {
    let gateway = gateway()?;
    let question = scope::question(&gateway, &args.scope).await?;
    let mut chat = Chat {
        session: Session::new(question, args.model),
        gateway,
        json,
        failed: false,
    };
    let mut input = Input::open();
    let is_terminal = input.is_terminal();
    if is_terminal && !json {
        output::line(
            style()
                .dim()
                .apply_to("Ask; `/help` lists commands, Ctrl-C stops an answer, Ctrl-D leaves."),
        )?;
    }
    loop {
        match input.next().await? {
            Line::Text(line) => {
                if !chat.take(&line).await? {
                    break;
                }
            }
            Line::Interrupted => chat.say("Ctrl-D or `/quit` leaves")?,
            Line::End => break,
        }
    }
    let failed = chat.failed && !is_terminal;
    Ok(super::success_if(!failed))
}

/// The conversation and whom it is held with.
struct Chat {
    gateway: Gateway,
    session: Session,
    json: bool,
    /// Whether something that was asked did not work out.
    failed: bool,
}

impl Chat {
    /// Does what a line says; returns whether to go on. What goes wrong is told, and only a
    /// closed output ends the conversation.
    async fn take(&mut self, line: &str) -> Result<bool, Complaint> {
        let done = match Order::parse(line) {
            Ok(Order::Nothing) => return Ok(true),
            Ok(Order::Quit) => return Ok(false),
            Ok(Order::Ask(question)) => self.ask(&question).await,
            Ok(order) => self.carry_out(order).await,
            Err(complaint) => Err(complaint),
        };
        match done {
            Ok(()) => Ok(true),
            Err(Complaint::OutputClosed) => Err(Complaint::OutputClosed),
            Err(complaint) => {
                self.failed = true;
                screen::complain(&complaint, self.json);
                Ok(true)
            }
        }
    }

    async fn ask(&mut self, text: &str) -> Result<(), Complaint> {
        let question = self.session.question(text);
        let whole = tokio::select! {
            whole = answer::show(&self.gateway, &question, self.json) => whole?,
            // Dropping the stream ends the work on the answer.
            _ = tokio::signal::ctrl_c() => {
                self.failed = true;
                if !self.json {
                    output::line("")?;
                }
                return self.say("stopped; the question is as if it had not been asked");
            }
        };
        self.session.keep(text, whole.text, whole.sources);
        if !self.json {
            output::line("")?;
        }
        Ok(())
    }

    async fn carry_out(&mut self, order: Order) -> Result<(), Complaint> {
        match order {
            Order::Ask(_) | Order::Nothing | Order::Quit => Ok(()),
            Order::Help => self.say(order::HELP),
            Order::Clear => {
                self.session.clear();
                self.say("the conversation begins anew")
            }
            Order::Sources => self.sources(),
            Order::Models => {
                let list = self.gateway.models().await?;
                if self.json {
                    output::json_line(&list)?;
                } else {
                    models::tell(&list)?;
                }
                Ok(())
            }
            Order::Model(None) => {
                self.session.choose(None);
                self.say("the default model answers from now on")
            }
            Order::Model(Some(wanted)) => {
                let id = models::choose(&self.gateway.models().await?, &wanted)?;
                self.say(&format!("`{}` answers from now on", name(&id.to_string())))?;
                self.session.choose(Some(id));
                Ok(())
            }
            Order::Collection(None) => {
                self.session.look_in(None);
                self.say("all collections are searched from now on")
            }
            Order::Collection(Some(collection)) => {
                let documents = scope::documents_of(&self.gateway, &collection).await?;
                let documents = count(documents, "document");
                self.say(&format!(
                    "collection `{collection}` with {documents} is searched from now on"
                ))?;
                self.session.look_in(Some(collection));
                Ok(())
            }
        }
    }

    /// All passages of the last answer, cited or not.
    fn sources(&self) -> Result<(), Complaint> {
        let sources = self.session.sources();
        if self.json {
            return Ok(output::json_line(
                &serde_json::json!({ "sources": sources }),
            )?);
        }
        if sources.is_empty() {
            return self.say("no answer has sources yet");
        }
        for source in sources {
            answer::tell(source, true)?;
        }
        Ok(())
    }

    /// A word to the person; programs that read JSON need none.
    fn say(&self, text: &str) -> Result<(), Complaint> {
        if self.json {
            return Ok(());
        }
        Ok(output::line(style().dim().apply_to(text))?)
    }
}
