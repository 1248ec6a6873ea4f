//! Judged sets in the layout of BEIR (Thakur et al., 2021): `corpus.jsonl`, `queries.jsonl` and
//! tab-separated judgements under `qrels/`.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::error::Complaint;

const REMEDY: &str =
    "name a folder with `corpus.jsonl`, `queries.jsonl` and `qrels/test.tsv`, as BEIR has them";

/// A document to be found.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Document {
    /// Its id in the judgements.
    #[serde(rename = "_id")]
    pub id: String,
    /// Its title; may be empty.
    #[serde(default)]
    pub title: String,
    /// Its text; may be empty.
    #[serde(default)]
    pub text: String,
}

impl Document {
    /// What is taken in: the title on a line of its own, then the text. Empty when neither has
    /// anything to read.
    pub fn contents(&self) -> String {
        let both = format!("{}\n{}", self.title.trim(), self.text.trim());
        both.trim().to_owned()
    }
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Query {
    /// Its id in the judgements.
    #[serde(rename = "_id")]
    pub id: String,
    /// As asked.
    pub text: String,
}

/// Grade per document id, above 0 only.
pub type Grades = HashMap<String, u32>;

/// A set of documents, questions and judgements.
#[derive(Debug, Clone)]
pub struct Set {
    /// The folder's name.
    pub name: String,
    /// SHA-256 (hex) of the documents' ids, titles and texts.
    pub hash: String,
    /// All documents, each id once.
    pub documents: Vec<Document>,
    /// The questions that have a relevant document, in the file's order.
    pub queries: Vec<Query>,
    /// Relevant documents per question.
    pub grades: HashMap<String, Grades>,
    /// Questions without any relevant document; they are left out.
    pub unjudged: usize,
    /// Relevant documents that the set does not hold. They count as not found.
    pub absent: usize,
}

impl Set {
    /// Reads the set in `folder`. Of several files of judgements, `test.tsv` is taken, else
    /// `dev.tsv`, else the first by name.
    ///
    /// # Errors
    /// A file is missing, a line does not decode, or no question has a relevant document.
    pub fn read(folder: &Path) -> Result<Self, Complaint> {
        let all: Vec<Document> = lines(&folder.join("corpus.jsonl"))?;
        let mut seen = HashSet::new();
        let documents: Vec<Document> = all
            .into_iter()
            .filter(|document| seen.insert(document.id.clone()))
            .collect();
        let grades = judgements(&judgement_file(folder)?)?;
        let mut queries: Vec<Query> = lines(&folder.join("queries.jsonl"))?;
        let asked = queries.len();
        queries.retain(|query| grades.contains_key(&query.id));
        if queries.is_empty() {
            let folder = folder.display();
            let what = format!("no question of `{folder}` has a relevant document");
            return Err(Complaint::new(what, REMEDY));
        }
        let relevant = queries.iter().filter_map(|query| grades.get(&query.id));
        let absent = relevant
            .flat_map(Grades::keys)
            .filter(|id| !seen.contains(*id))
            .count();
        Ok(Self {
            name: name(folder),
            hash: hash(&documents),
            unjudged: asked - queries.len(),
            documents,
            queries,
            grades,
            absent,
        })
    }
}

fn name(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Lengths part the fields, so that no two sets have the same bytes.
fn hash(documents: &[Document]) -> String {
    let mut hasher = Sha256::new();
    for document in documents {
        for field in [&document.id, &document.title, &document.text] {
            hasher.update((field.len() as u64).to_le_bytes());
            hasher.update(field.as_bytes());
        }
    }
    hex::encode(hasher.finalize())
}

fn unreadable(path: &Path, why: impl std::fmt::Display) -> Complaint {
    let path = path.display();
    Complaint::new(format!("cannot read `{path}`: {why}"), REMEDY)
}

fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Complaint> {
    let file = File::open(path).map_err(|error| unreadable(path, error))?;
    let mut all = Vec::new();
    for (line, number) in BufReader::new(file).lines().zip(1..) {
        let line = line.map_err(|error| unreadable(path, error))?;
        if line.trim().is_empty() {
            continue;
        }
        // The error of serde tells the column and no text.
        let value = serde_json::from_str(line.trim_start_matches('\u{feff}'))
            .map_err(|error| unreadable(path, format!("line {number}: {error}")))?;
        all.push(value);
    }
    Ok(all)
}

fn judgement_file(folder: &Path) -> Result<PathBuf, Complaint> {
    let qrels = folder.join("qrels");
    let entries = std::fs::read_dir(&qrels).map_err(|error| unreadable(&qrels, error))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "tsv"))
        .collect();
    files.sort();
    let named = |name: &str| files.iter().find(|path| path.ends_with(name));
    let found = named("test.tsv").or_else(|| named("dev.tsv"));
    let found = found.or_else(|| files.first());
    found
        .cloned()
        .ok_or_else(|| unreadable(&qrels, "no `.tsv` file is in it"))
}

/// Judgements as BEIR has them (question, document, grade) or as TREC has them (question, 0,
/// document, grade). A line whose grade is no number, as that of the header, is passed over; a
/// grade of 0 or less is the same as no judgement; of two grades the higher counts.
fn judgements(path: &Path) -> Result<HashMap<String, Grades>, Complaint> {
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, error))?;
    let mut grades: HashMap<String, Grades> = HashMap::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
        let ([query, document, grade] | [query, _, document, grade]) = fields.as_slice() else {
            continue;
        };
        let Some(grade) = grade.parse::<f64>().ok().filter(|grade| *grade > 0.0) else {
            continue;
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "above 0, and grades are small"
        )]
        let grade = grade.ceil().min(1000.0) as u32;
        let of_query = grades.entry((*query).to_owned()).or_default();
        let kept = of_query.entry((*document).to_owned()).or_default();
        *kept = grade.max(*kept);
    }
    Ok(grades)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    pub(crate) fn write(folder: &Path, corpus: &str, queries: &str, qrels: &[(&str, &str)]) {
        fs::create_dir_all(folder.join("qrels")).unwrap();
        fs::write(folder.join("corpus.jsonl"), corpus).unwrap();
        fs::write(folder.join("queries.jsonl"), queries).unwrap();
        for (name, text) in qrels {
            fs::write(folder.join("qrels").join(name), text).unwrap();
        }
    }

    const CORPUS: &str = concat!(
        "{\"_id\":\"a\",\"title\":\" T \",\"text\":\"one\",\"metadata\":{}}\n\n",
        "{\"_id\":\"b\",\"text\":\"two\"}\n{\"_id\":\"b\",\"text\":\"again\"}\n{\"_id\":\"c\"}\n",
    );
    const QUERIES: &str = "{\"_id\":\"1\",\"text\":\"x\"}\n{\"_id\":\"2\",\"text\":\"y\"}\n";

    #[test]
    fn judgements_of_every_kind_are_understood() {
        #[track_caller]
        fn check(qrels: &str, expect: &[(&str, &str, u32)], unjudged: usize, absent: usize) {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), CORPUS, QUERIES, &[("test.tsv", qrels)]);
            let set = Set::read(folder.path()).unwrap();
            let mut found: Vec<(&str, &str, u32)> = Vec::new();
            for (query, grades) in &set.grades {
                found.extend(grades.iter().map(|(id, grade)| (&**query, &**id, *grade)));
            }
            found.sort_unstable();
            assert_eq!(found, expect);
            assert_eq!((set.unjudged, set.absent), (unjudged, absent));
        }
        check(
            "query-id\tcorpus-id\tscore\n1\ta\t3\n2\tb\t1\n",
            &[("1", "a", 3), ("2", "b", 1)],
            0,
            0,
        );
        // No header, grades of 0 and below, one of TREC, one doubled, one not in the set.
        check(
            "1\ta\t0\n1\tb\t-1\n2\t0\tb\t2\n2\tb\t1\n2\tz\t1\r\nbroken\n",
            &[("2", "b", 2), ("2", "z", 1)],
            1,
            1,
        );
        check("1\ta\t0.5\n", &[("1", "a", 1)], 1, 0);
    }

    #[test]
    fn documents_are_title_and_text_and_each_id_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let qrels = [("train.tsv", "2\tb\t1\n"), ("dev.tsv", "1\ta\t1\n")];
        write(folder.path(), CORPUS, QUERIES, &qrels);
        let set = Set::read(folder.path()).unwrap();
        let contents: Vec<String> = set.documents.iter().map(Document::contents).collect();
        assert_eq!(contents, ["T\none", "two", ""]);
        assert_eq!(set.queries.len(), 1, "dev before train");

        let again = Set::read(folder.path()).unwrap();
        assert_eq!(set.hash, again.hash);
        let other = CORPUS.replace("one", "One");
        fs::write(folder.path().join("corpus.jsonl"), other).unwrap();
        assert_ne!(set.hash, Set::read(folder.path()).unwrap().hash);
    }

    #[test]
    fn what_is_no_set_is_told_with_the_layout() {
        let folder = tempfile::tempdir().unwrap();
        let told = |part: &str| {
            let text = Set::read(folder.path()).unwrap_err().to_string();
            assert!(text.contains(part) && text.contains("qrels"), "{text}");
        };
        told("corpus.jsonl");
        write(folder.path(), CORPUS, QUERIES, &[]);
        told("no `.tsv` file");
        write(folder.path(), CORPUS, QUERIES, &[("test.tsv", "1\ta\t0\n")]);
        told("no question");
        write(folder.path(), "{\"_id\":7}\n", QUERIES, &[]);
        told("line 1");
    }
}
