//! Evaluations made before, beside this one.

use std::path::{Path, PathBuf};

use super::outcome::{Evaluation, FORM, Outcome, SetOutcome, pairs};
use super::table::{grid, p, signed, three};
use crate::error::Complaint;
use crate::evaluation::statistics::compare;

/// An evaluation from a file.
pub(super) struct Earlier {
    name: String,
    evaluation: Evaluation,
}

impl Earlier {
    /// Reads what `ibid eval retrieval --save` has written.
    ///
    /// # Errors
    /// When a file is not there or is none.
    pub(super) fn read_all(files: &[PathBuf]) -> Result<Vec<Self>, Complaint> {
        files.iter().map(|file| Self::read(file)).collect()
    }

    fn read(file: &Path) -> Result<Self, Complaint> {
        let trouble = |why: String| {
            let file = file.display();
            Complaint::new(
                format!("`{file}` is no evaluation: {why}"),
                "name a file that `ibid eval retrieval --save` has written",
            )
        };
        let bytes = std::fs::read(file).map_err(|error| trouble(error.to_string()))?;
        let form = serde_json::from_slice::<serde_json::Value>(&bytes)
            .map_err(|error| trouble(error.to_string()))?;
        let form = form.get("form").and_then(serde_json::Value::as_u64);
        if form != Some(u64::from(FORM)) {
            return Err(trouble(format!("it is not of form {FORM}")));
        }
        Ok(Self {
            name: file.display().to_string(),
            evaluation: serde_json::from_slice(&bytes)
                .map_err(|error| trouble(error.to_string()))?,
        })
    }

    /// What has changed since, question by question.
    pub(super) fn markdown(&self, now: &Evaluation) -> String {
        let mut rows = Vec::new();
        let mut other_documents = Vec::new();
        for set in &now.sets {
            let Some(before) = self.evaluation.sets.iter().find(|b| b.name == set.name) else {
                continue;
            };
            if before.hash != set.hash {
                other_documents.push(set.name.as_str());
            }
            rows.extend(changes(before, set));
        }
        let how = &self.evaluation.how;
        let title = format!(
            "Since `{}` ({}, model {}, parser {}, chunker {}):",
            self.name, self.evaluation.made_at, how.model, how.parser, how.chunker
        );
        if rows.is_empty() {
            return format!("{title}\n\nNo set and configuration is in both.");
        }
        let header = [
            "nDCG@10",
            "configuration",
            "questions",
            "before",
            "now",
            "difference",
            "p",
        ];
        let mut text = format!("{title}\n\n{}", grid(&header, 2, &rows));
        if !other_documents.is_empty() {
            let names = other_documents.join(", ");
            text = format!("{text}\n\nThe documents are not the same: {names}.");
        }
        text
    }
}

fn changes(before: &SetOutcome, now: &SetOutcome) -> Vec<Vec<String>> {
    let row = |outcome: &Outcome| {
        let earlier = before.configuration(&outcome.configuration.name)?;
        let pairs = pairs(outcome, earlier);
        let difference = compare(&pairs);
        let count = (pairs.len() as f64).max(1.0);
        let mean = |value: fn(&(f64, f64)) -> f64| pairs.iter().map(value).sum::<f64>() / count;
        Some(vec![
            now.name.clone(),
            outcome.configuration.name.clone(),
            pairs.len().to_string(),
            three(mean(|pair| pair.1)),
            three(mean(|pair| pair.0)),
            signed(difference.mean),
            p(difference.p),
        ])
    };
    now.configurations.iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::configuration::{DEFAULT, KEYWORD};
    use super::super::outcome::tests::{evaluation, outcome, set};
    use super::*;

    #[test]
    fn a_change_is_told_with_how_sure_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("before.json");
        let before = evaluation(vec![set("s", vec![outcome(DEFAULT, &[0.5; 20])])]);
        std::fs::write(&file, serde_json::to_vec(&before).unwrap()).unwrap();
        let earlier = Earlier::read_all(&[file]).unwrap();

        let better = vec![outcome(DEFAULT, &[0.6; 20]), outcome(KEYWORD, &[0.1; 20])];
        let mut now = evaluation(vec![set("s", better), set("t", Vec::new())]);
        let text = earlier[0].markdown(&now);
        let row = "| s | default | 20 | 0.500 | 0.600 | +0.100 | < 0.001 |";
        assert!(text.contains(row), "{text}");
        assert!(
            !text.contains(KEYWORD) && !text.contains("not the same"),
            "{text}"
        );
        "other".clone_into(&mut now.sets[0].hash);
        assert!(earlier[0].markdown(&now).contains("not the same: s"));
        now.sets.clear();
        assert!(earlier[0].markdown(&now).contains("No set"));
    }

    #[test]
    fn what_is_no_evaluation_is_told_with_its_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.json");
        for text in ["", "{}", "{\"form\":99}", "[1]", "{\"form\":1}"] {
            std::fs::write(&file, text).unwrap();
            let error = Earlier::read_all(std::slice::from_ref(&file))
                .err()
                .unwrap();
            assert!(error.to_string().contains("--save"), "{text}: {error}");
        }
    }
}
