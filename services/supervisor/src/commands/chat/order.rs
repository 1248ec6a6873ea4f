//! What a line of a conversation says: a question, or a command that begins with `/`.

use shared::contract::CollectionName;

use crate::error::Complaint;
use crate::output::name;

/// The commands, as they are completed.
pub(super) const COMMANDS: [&str; 7] = [
    "/help",
    "/models",
    "/model",
    "/sources",
    "/collection",
    "/clear",
    "/quit",
];

pub(super) const HELP: &str = "\
/models            which models there are
/model NAME        who answers from now on; without a name the default
/sources           all passages of the last answer, with their beginnings
/collection NAME   where to look from now on; without a name everywhere
/clear             forget the conversation
/quit              leave, as Ctrl-D does
Ctrl-C stops the answer that is running. Anything else is a question.";

/// What is to be done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// An empty line.
    Nothing,
    Ask(String),
    Help,
    Models,
    Model(Option<String>),
    Sources,
    Collection(Option<CollectionName>),
    Clear,
    Quit,
}

impl Order {
    /// What `line` says.
    ///
    /// # Errors
    /// A command that is none, or a name that cannot be one.
    pub(super) fn parse(line: &str) -> Result<Self, Complaint> {
        let line = line.trim();
        if line.is_empty() {
            return Ok(Self::Nothing);
        }
        if !line.starts_with('/') {
            return Ok(Self::Ask(line.to_owned()));
        }
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let argument = Some(rest.trim()).filter(|rest| !rest.is_empty());
        match (command, argument) {
            ("/help" | "/?", _) => Ok(Self::Help),
            ("/models", None) => Ok(Self::Models),
            ("/models" | "/model", argument) => Ok(Self::Model(argument.map(str::to_owned))),
            ("/sources", _) => Ok(Self::Sources),
            ("/collection", None) => Ok(Self::Collection(None)),
            ("/collection", Some(collection)) => match collection.parse() {
                Ok(collection) => Ok(Self::Collection(Some(collection))),
                Err(error) => Err(Complaint::new(error, "`ibid status` shows the collections")),
            },
            ("/clear", _) => Ok(Self::Clear),
            ("/quit" | "/exit" | "/q", _) => Ok(Self::Quit),
            _ => Err(Complaint::new(
                format!("`{}` is no command", name(command)),
                "`/help` lists them",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: Result<Order, &str>) {
        match (Order::parse(line), expect) {
            (Ok(got), Ok(expect)) => assert_eq!(got, expect, "{line}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
            (got, expect) => panic!("{got:?}, not {expect:?}"),
        }
    }

    #[test]
    fn a_line_is_a_question_unless_it_begins_with_a_slash() {
        check("  ", Ok(Order::Nothing));
        check(" why? ", Ok(Order::Ask("why?".to_owned())));
        check("and/or what?", Ok(Order::Ask("and/or what?".to_owned())));
        check("/help", Ok(Order::Help));
        check("/models", Ok(Order::Models));
        check("/model", Ok(Order::Model(None)));
        check(
            "/model  ollama/x:3b ",
            Ok(Order::Model(Some("ollama/x:3b".to_owned()))),
        );
        check("/sources", Ok(Order::Sources));
        check("/collection", Ok(Order::Collection(None)));
        check(
            "/collection a",
            Ok(Order::Collection(Some("a".parse().unwrap()))),
        );
        check("/collection A B", Err("is not a collection name"));
        check("/clear", Ok(Order::Clear));
        check("/quit", Ok(Order::Quit));
        check("/etc/passwd", Err("`/etc/passwd` is no command"));
    }

    #[test]
    fn help_and_completion_know_every_command() {
        for command in COMMANDS {
            assert!(Order::parse(command).is_ok(), "{command}");
            assert!(command == "/help" || HELP.contains(command), "{command}");
        }
    }
}
