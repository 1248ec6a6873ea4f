//! What a conversation remembers.

use shared::contract::{CollectionName, GeneratorId, Question, Source, Turn};

/// Turns that are sent; more than any setting would use of them.
const TURNS: usize = 12;
/// Bytes of them: the gateway takes questions of up to 64 KiB, and a question may have 8.
const TURN_BYTES: usize = 40 * 1024;

/// Turns, sources of the last answer, and where and whom to ask.
pub(super) struct Session {
    question: Question,
    turns: Vec<Turn>,
    sources: Vec<Source>,
}

impl Session {
    /// Asks as `question` says, but for its text.
    pub(super) fn new(question: Question, generator: Option<GeneratorId>) -> Self {
        Self {
            question: Question {
                generator,
                ..question
            },
            turns: Vec::new(),
            sources: Vec::new(),
        }
    }

    /// `text` as a question with all that was said before.
    pub(super) fn question(&self, text: &str) -> Question {
        Question {
            text: text.to_owned(),
            history: self.history(),
            ..self.question.clone()
        }
    }

    /// The last turns that fit, oldest first.
    fn history(&self) -> Vec<Turn> {
        let mut bytes = 0;
        let last = self.turns.iter().rev().take(TURNS).take_while(|turn| {
            // Escaped, a line break or a quotation mark takes twice the room.
            let escapes = |text: &str| text.matches(['\n', '"', '\\', '\t']).count();
            bytes += turn.question.len() + turn.answer.len();
            bytes += escapes(&turn.question) + escapes(&turn.answer);
            bytes <= TURN_BYTES
        });
        let mut history: Vec<Turn> = last.cloned().collect();
        history.reverse();
        history
    }

    /// Remembers a question and its whole answer.
    pub(super) fn keep(&mut self, question: &str, answer: String, sources: Vec<Source>) {
        self.sources = sources;
        self.turns.push(Turn {
            question: question.to_owned(),
            answer,
        });
        if self.turns.len() > TURNS {
            self.turns.remove(0);
        }
    }

    /// Forgets what was said.
    pub(super) fn clear(&mut self) {
        self.turns.clear();
        self.sources.clear();
    }

    /// Who answers from now on.
    pub(super) fn choose(&mut self, generator: Option<GeneratorId>) {
        self.question.generator = generator;
    }

    /// Where to look from now on; documents that were named before no longer count.
    pub(super) fn look_in(&mut self, collection: Option<CollectionName>) {
        self.question.filter.collections = collection.into_iter().collect();
        self.question.filter.documents.clear();
    }

    /// What the last answer could rest on.
    pub(super) fn sources(&self) -> &[Source] {
        &self.sources
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(session: &Session) -> Vec<String> {
        let history = session.question("next").history;
        history.into_iter().map(|turn| turn.question).collect()
    }

    #[test]
    fn earlier_turns_go_along_oldest_first_until_they_are_cleared() {
        let mut session = Session::new(Question::default(), None);
        assert!(told(&session).is_empty());
        for n in 0..TURNS + 3 {
            session.keep(&n.to_string(), "yes".to_owned(), Vec::new());
        }
        let expect: Vec<String> = (3..TURNS + 3).map(|n| n.to_string()).collect();
        assert_eq!(told(&session), expect);
        session.clear();
        assert!(told(&session).is_empty());
    }

    #[test]
    fn turns_that_a_request_cannot_carry_are_left_behind() {
        let mut session = Session::new(Question::default(), None);
        session.keep("first", "x".to_owned(), Vec::new());
        session.keep("long", "\n".repeat(30 * 1024), Vec::new());
        session.keep("last", "y".repeat(30 * 1024), Vec::new());
        assert_eq!(told(&session), ["last"]);
        let body = serde_json::to_vec(&session.question("next")).unwrap();
        assert!(body.len() < 56 * 1024);
    }

    #[test]
    fn a_choice_holds_for_all_questions_after_it() {
        let mut session = Session::new(Question::default(), "extractive".parse().ok());
        session.look_in("papers".parse().ok());
        let question = session.question("why");
        assert_eq!(question.generator.unwrap().to_string(), "extractive");
        assert_eq!(question.filter.collections.len(), 1);
        session.choose(None);
        session.look_in(None);
        let question = session.question("why");
        assert!(question.generator.is_none() && question.filter.is_empty());
    }
}
