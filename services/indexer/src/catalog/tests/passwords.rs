//! Passwords of locked documents, sealed.

use shared::contract::{Admit, SealedPassword};

use super::*;

fn locked(path: &str, text: &str, password: &str) -> Admit {
    Admit {
        password: Some(SealedPassword(password.to_owned())),
        ..admit(path, text, false)
    }
}

impl Fixture {
    /// Admits with a password; the outcome.
    fn offer(&self, path: &str, text: &str, password: &str) -> Outcome {
        let request = locked(path, text, password);
        self.catalog.admit(&request, 1).unwrap().outcome
    }

    /// The passwords of what is handed out now, by name.
    fn handed_out(&self) -> Vec<(String, Option<String>)> {
        let messages = self.hand_out().into_iter();
        messages
            .map(|message| (message.name, message.password.map(|sealed| sealed.0)))
            .collect()
    }
}

fn with(name: &str, password: Option<&str>) -> Vec<(String, Option<String>)> {
    vec![(name.to_owned(), password.map(str::to_owned))]
}

#[test]
fn a_password_goes_out_with_its_document_each_time() {
    let it = Fixture::new();
    it.add("/open", B);
    assert_eq!(it.handed_out(), with("open", None));
    assert_eq!(it.offer("/locked", A, "s1"), Outcome::New);
    let (it, _) = it.reopen(pipeline());
    let work = it.hand_out().remove(0);
    assert_eq!(work.password, Some(SealedPassword("s1".to_owned())));
    it.commit(&work, A);
    it.finish();
    let id = work.work.document_id;
    it.catalog.retry(&Retry::Document(id), 1).unwrap();
    assert_eq!(it.handed_out(), with("locked", Some("s1")));
    it.sound();
}

#[test]
fn a_locked_document_is_opened_by_adding_it_again_with_its_password() {
    let it = Fixture::new();
    let id = it.add("/a", A);
    assert_eq!(it.handed_out(), with("a", None));
    it.catalog.fail(&letter(&id, None), 1).unwrap();
    assert_eq!(it.offer("/a", A, "wrong"), Outcome::Changed);
    assert_eq!(it.handed_out(), with("a", Some("wrong")));
    it.catalog.fail(&letter(&id, None), 1).unwrap();
    // Tried again without a word, it keeps what it has.
    assert_eq!(
        it.catalog.retry(&Retry::AllFailed, 1).unwrap(),
        std::slice::from_ref(&id)
    );
    assert_eq!(
        it.offer("/a", A, "right"),
        Outcome::Unchanged,
        "it waits for its turn"
    );
    let work = it.hand_out().remove(0);
    assert_eq!(work.password, Some(SealedPassword("right".to_owned())));
    it.commit(&work, A);
    it.finish();
    assert_eq!(it.state(&id), DocumentState::Ready);
    // Ready, it keeps what has opened it.
    assert_eq!(it.offer("/a", A, "other"), Outcome::Unchanged);
    it.catalog.admit(&admit("/a", A, true), 1).unwrap();
    assert_eq!(it.handed_out(), with("a", Some("right")));
    // Other bytes are another lock.
    it.catalog.admit(&admit("/a", B, false), 1).unwrap();
    assert_eq!(it.handed_out(), with("a", None));
    it.sound();
}

#[test]
fn a_password_for_what_is_being_read_without_it_begins_anew() {
    let it = Fixture::new();
    it.add("/a", A);
    let without = it.hand_out().remove(0);
    assert_eq!(it.offer("/a", A, "s1"), Outcome::Changed);
    assert!(
        it.catalog.next_queued(1).unwrap()[0].reparse,
        "nothing of it is taken over"
    );
    let late = letter(&without.work.document_id, Some(1));
    assert!(
        !it.catalog.fail(&late, 1).unwrap(),
        "what failed without it is past"
    );
    assert_eq!(it.handed_out(), with("a", Some("s1")));
    it.sound();
}

#[test]
fn a_password_opens_the_locked_parts_of_a_partial_document() {
    let it = Fixture::new();
    let id = it.ready("/a.zip", "open\n\u{c}!locked\n");
    assert_eq!(it.state(&id), DocumentState::Partial);
    assert_eq!(
        it.offer("/a.zip", "open\n\u{c}!locked\n", "s1"),
        Outcome::Changed
    );
    assert!(
        it.catalog.next_queued(1).unwrap()[0].reparse,
        "its pages are read anew"
    );
    assert_eq!(it.shown("/a.zip"), "open\n");
    assert_eq!(it.handed_out(), with("a.zip", Some("s1")));
    it.sound();
}

#[test]
fn the_same_locked_bytes_share_their_version_and_what_opens_them() {
    let it = Fixture::new();
    it.offer("/one", A, "s1");
    let two = it.add("/two", A);
    let work = it.hand_out().remove(0);
    it.commit(&work, A);
    it.finish();
    assert_eq!(it.state(&two), DocumentState::Ready);
    it.catalog.retry(&Retry::Document(two.clone()), 1).unwrap();
    assert_eq!(it.handed_out(), with("two", Some("s1")));
    // Its own comes first.
    it.catalog.fail(&letter(&two, None), 1).unwrap();
    it.catalog.retry(&Retry::Document(two), 1).unwrap();
    assert_eq!(it.offer("/two", A, "s2"), Outcome::Unchanged);
    assert_eq!(it.handed_out(), with("two", Some("s2")));
    it.sound();
}

#[test]
fn a_deleted_document_s_password_is_in_no_file() {
    let it = Fixture::new();
    let sealed = "c2VhbGVkLXNlY3JldC1tYXJrZXI";
    it.offer("/a", A, sealed);
    let work = it.hand_out().remove(0);
    it.commit(&work, A);
    let is_there = |it: &Fixture| {
        std::fs::read_dir(it.folder.path()).unwrap().any(|entry| {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            bytes
                .windows(sealed.len())
                .any(|part| part == sealed.as_bytes())
        })
    };
    assert!(is_there(&it));
    it.catalog.delete(&work.work.document_id, 1).unwrap();
    assert!(it.catalog.truncate_log().unwrap());
    assert!(!is_there(&it));
}
