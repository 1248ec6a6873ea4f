use std::path::Path;

use super::*;

fn shell(script: &str) -> ChildSpec {
    ChildSpec {
        name: "test".to_owned(),
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: Vec::new(),
        grace: Duration::from_secs(20),
        raw_logs: false,
    }
}

async fn until(what: &str, condition: impl Fn() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "waited for {what}"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn lines(path: &Path) -> usize {
    std::fs::read_to_string(path)
        .unwrap_or_default()
        .lines()
        .count()
}

#[tokio::test]
async fn a_child_that_ends_is_started_again_until_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("starts");
    let script = format!("echo x >> {}; kill -9 $$", path.display());
    let keeper = Keeper::start(shell(&script), Screen::stderr(), CancellationToken::new());
    until("three starts", || lines(&path) >= 3).await;
    keeper.stop();
    assert_eq!(keeper.ended().await, Ended::Drained);
    let starts = lines(&path);
    tokio::task::yield_now().await;
    assert_eq!(lines(&path), starts);
}

#[tokio::test]
async fn a_child_told_to_end_may_finish_and_one_that_does_not_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let (ready, done) = (folder.path().join("ready"), folder.path().join("done"));
    let script = format!(
        "trap 'echo x > {}; exit 0' TERM; echo x > {}; while :; do sleep 0.05; done",
        done.display(),
        ready.display()
    );
    let keeper = Keeper::start(shell(&script), Screen::stderr(), CancellationToken::new());
    until("the child", || lines(&ready) == 1).await;
    keeper.stop();
    assert_eq!(keeper.ended().await, Ended::Drained);
    assert_eq!(lines(&done), 1);

    // Deaf to SIGTERM: ended by the deadline, or at once by a second request.
    let deaf = format!(
        "trap '' TERM; echo x >> {}; while :; do sleep 0.05; done",
        ready.display()
    );
    let short = ChildSpec {
        grace: Duration::from_millis(100),
        ..shell(&deaf)
    };
    for (spec, second) in [(short, false), (shell(&deaf), true)] {
        let before = lines(&ready);
        let kill = CancellationToken::new();
        let keeper = Keeper::start(spec, Screen::stderr(), kill.clone());
        until("the deaf child", || lines(&ready) > before).await;
        keeper.stop();
        if second {
            kill.cancel();
        }
        assert_eq!(keeper.ended().await, Ended::GaveUp);
    }
}

#[tokio::test]
async fn wrong_settings_are_not_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("starts");
    let script = format!("echo x >> {}; exit 64", path.display());
    let keeper = Keeper::start(shell(&script), Screen::stderr(), CancellationToken::new());
    let mut state = keeper.state.clone();
    let seen = state.wait_for(|state| *state == ChildState::Unusable);
    tokio::time::timeout(Duration::from_secs(20), seen)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(lines(&path), 1);
    keeper.stop();
    assert_eq!(keeper.ended().await, Ended::Drained);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_and_can_be_stopped() {
    let spec = ChildSpec {
        program: "/no/such/program".into(),
        ..shell("")
    };
    let keeper = Keeper::start(spec, Screen::stderr(), CancellationToken::new());
    keeper.stop();
    assert_eq!(keeper.ended().await, Ended::Drained);
}
