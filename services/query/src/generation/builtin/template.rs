//! Chats as the text that a model was trained on: the file's own template, run by `minijinja`.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, Value, context};
use minijinja_contrib::pycompat::unknown_method_callback;

use super::file::FileError;
use crate::generation::{Message, Role};

/// For files without a template: `ChatML`, which most such models know.
const CHATML: &str = "{% for message in messages %}<|im_start|>{{ message.role }}\n\
     {{ message.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant{{ '\n' }}";

const NAME: &str = "chat";

/// A compiled template.
pub(super) struct ChatTemplate {
    environment: Environment<'static>,
    begin: String,
    end: String,
}

impl ChatTemplate {
    /// Compiles `source`, or `ChatML` without one. `begin` and `end` are the texts of the tokens
    /// that begin and end a text.
    pub(super) fn new(source: Option<&str>, begin: &str, end: &str) -> Result<Self, FileError> {
        let mut environment = Environment::new();
        let failed = |error: Error| FileError::Template(error.to_string());
        // As the `transformers` library sets it up for its chat templates.
        let syntax = SyntaxConfig::builder()
            .trim_blocks(true)
            .lstrip_blocks(true)
            .build();
        environment.set_syntax(syntax.map_err(failed)?);
        environment.set_unknown_method_callback(unknown_method_callback);
        environment.add_function("raise_exception", raise_exception);
        environment
            .add_template_owned(NAME, source.unwrap_or(CHATML).to_owned())
            .map_err(failed)?;
        Ok(Self {
            environment,
            begin: begin.to_owned(),
            end: end.to_owned(),
        })
    }

    /// The text of the whole chat, up to where the model's answer begins.
    pub(super) fn render(&self, messages: &[Message]) -> Result<String, FileError> {
        let first = match self.try_render(messages) {
            Ok(text) => return Ok(text),
            Err(error) => error,
        };
        // Some templates know no system role; then the rules begin the first question.
        let folded = fold_system(messages);
        let folded = folded.map(|messages| self.try_render(&messages));
        match folded {
            Some(Ok(text)) => Ok(text),
            Some(Err(_)) | None => Err(FileError::Template(first.to_string())),
        }
    }

    fn try_render(&self, messages: &[Message]) -> Result<String, Error> {
        let messages: Vec<Value> = messages
            .iter()
            .map(|message| {
                context! { role => message.role.name(), content => message.content.as_str() }
            })
            .collect();
        // `strftime_now` stays undefined: with today's date in it, an answer would not repeat.
        self.environment.get_template(NAME)?.render(context! {
            messages,
            add_generation_prompt => true,
            enable_thinking => false,
            bos_token => self.begin.as_str(),
            eos_token => self.end.as_str(),
        })
    }
}

fn fold_system(messages: &[Message]) -> Option<Vec<Message>> {
    let (rules, rest) = messages.split_first()?;
    let (question, rest) = rest.split_first()?;
    if rules.role != Role::System || question.role != Role::User {
        return None;
    }
    let first = Message {
        role: Role::User,
        content: format!("{}\n\n{}", rules.content, question.content),
    };
    Some([first].into_iter().chain(rest.iter().cloned()).collect())
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "as minijinja's functions take it"
)]
fn raise_exception(message: String) -> Result<Value, Error> {
    let message: String = message.chars().take(200).collect();
    Err(Error::new(ErrorKind::InvalidOperation, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat() -> Vec<Message> {
        let message = |role, content: &str| Message {
            role,
            content: content.to_owned(),
        };
        vec![
            message(Role::System, "Be short."),
            message(Role::User, "One?"),
            message(Role::Assistant, " 1 "),
            message(Role::User, "Two?"),
        ]
    }

    #[track_caller]
    fn check(source: Option<&str>, expect: &str) {
        let template = ChatTemplate::new(source, "<s>", "</s>").unwrap();
        assert_eq!(template.render(&chat()).unwrap(), expect);
    }

    #[test]
    fn chatml_is_what_stands_in_for_a_template() {
        check(
            None,
            "<|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user\nOne?<|im_end|>\n\
             <|im_start|>assistant\n 1 <|im_end|>\n<|im_start|>user\nTwo?<|im_end|>\n\
             <|im_start|>assistant\n",
        );
    }

    #[test]
    fn headers_methods_and_trimmed_blocks() {
        check(
            Some(
                "{{- bos_token }}\n{%- for message in messages %}\n    \
                 {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' \
                 + message['content'].strip() + '<|eot_id|>' }}\n{%- endfor %}\n\
                 {%- if add_generation_prompt %}\n    \
                 {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}\n{%- endif %}\n",
            ),
            "<s><|start_header_id|>system<|end_header_id|>\n\nBe short.<|eot_id|>\
             <|start_header_id|>user<|end_header_id|>\n\nOne?<|eot_id|>\
             <|start_header_id|>assistant<|end_header_id|>\n\n1<|eot_id|>\
             <|start_header_id|>user<|end_header_id|>\n\nTwo?<|eot_id|>\
             <|start_header_id|>assistant<|end_header_id|>\n\n",
        );
    }

    #[test]
    fn a_template_without_a_system_role_gets_the_rules_with_the_first_question() {
        check(
            Some(
                "{{ bos_token }}{% if messages[0]['role'] == 'system' %}\
                 {{ raise_exception('System role not supported') }}{% endif %}\
                 {% for message in messages %}{% set role = 'model' if message['role'] == \
                 'assistant' else message['role'] %}{{ '<start_of_turn>' + role + '\n' + \
                 message['content'] | trim + '<end_of_turn>\n' }}{% endfor %}\
                 {% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}",
            ),
            "<s><start_of_turn>user\nBe short.\n\nOne?<end_of_turn>\n<start_of_turn>model\n1\
             <end_of_turn>\n<start_of_turn>user\nTwo?<end_of_turn>\n<start_of_turn>model\n",
        );
    }

    #[test]
    fn what_fails_is_told() {
        let error = ChatTemplate::new(Some("{% if %}"), "", "").err().unwrap();
        assert!(error.to_string().contains("chat template"), "{error}");
        let template = ChatTemplate::new(Some("{{ raise_exception('no') }}"), "", "").unwrap();
        let error = template.render(&chat()).unwrap_err().to_string();
        assert!(error.contains("no"), "{error}");
    }
}
