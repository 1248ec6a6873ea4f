//! Documents and readers that mean harm: every one ends in a clear state, and the pool goes on.
//!
//! The hostile reader runs in a child of its own: this test program started again with only
//! [`hostile_child`], which serves like the real child but does what its document tells it.

mod documents;

use std::fs;
use std::time::Duration;

use landlock::{Access as _, AccessFs, CompatLevel, Compatible as _, RulesetAttr as _};
use parser::child::{Reader, serve};
use parser::error::{Limit, PoolError};
use parser::extract::{ExtractError, ExtractedPage, Extraction, Ocr, SecondReader};
use parser::pool::Plan;
use parser::wire::Task;
use shared::contract::{Locator, PageRecord, ReadMethod};
use shared::format::Format;

use crate::support::{extract, pdf, plan, pool};

struct Hostile(SecondReader);

impl Reader for Hostile {
    fn read(&self, _task: &Task, bytes: &[u8], _ocr: &dyn Ocr) -> Result<Extraction, ExtractError> {
        let text = match bytes {
            b"spin" => loop {
                std::hint::spin_loop();
            },
            b"sleep" => {
                // For the test to see that the document is in hand.
                rustix::thread::set_name(c"asleep").unwrap();
                loop {
                    std::thread::park();
                }
            }
            b"memory" => "m".repeat(8 << 30),
            b"stack" => descend(0).to_string(),
            b"panic" => panic!("the document says: secret"),
            b"abort" => std::process::abort(),
            // Only an earlier crash takes the second reader away.
            b"abort with PDFium" if matches!(self.0, SecondReader::Library(_)) => {
                std::process::abort()
            }
            b"output" => "o".repeat(4 << 20),
            b"network" => outcome(std::net::TcpStream::connect("127.0.0.1:9")),
            b"program" => outcome(std::process::Command::new("/bin/true").status()),
            b"write" => outcome(fs::write("hostile-child-wrote-this", "written")),
            // A file of the user's: this program lies where documents may.
            b"read" => outcome(std::env::current_exe().and_then(fs::read)),
            b"pid" => std::process::id().to_string(),
            other => String::from_utf8_lossy(other).into_owned(),
        };
        Ok(Extraction {
            pages: vec![page(text)],
            ..Extraction::default()
        })
    }
}

fn outcome<T>(result: std::io::Result<T>) -> String {
    match result {
        Ok(_) => "done".to_owned(),
        Err(error) => format!("{:?}", error.kind()),
    }
}

#[expect(unconditional_recursion, reason = "its end is what is tested")]
fn descend(depth: u64) -> u64 {
    std::hint::black_box([depth; 64]);
    std::hint::black_box(descend(depth + 1)) + 1
}

fn page(markdown: String) -> ExtractedPage {
    ExtractedPage {
        record: PageRecord {
            number: 1,
            locator: Locator::Block { number: 1 },
            method: ReadMethod::Native,
            characters: 0,
            doubts: Vec::new(),
            error: None,
        },
        markdown,
    }
}

/// No test by itself: the hostile child's program, when its standard input is the socket of a
/// pool.
#[test]
fn hostile_child() {
    let stdin = fs::read_link("/proc/self/fd/0");
    let is_socket = stdin.is_ok_and(|kind| kind.to_string_lossy().starts_with("socket:"));
    if is_socket && std::env::args().any(|argument| argument == "--nocapture") {
        serve(|setup| Box::new(Hostile(setup.second_reader.clone())));
    }
}

fn hostile_plan() -> Plan {
    let mut plan = plan();
    plan.program = std::env::current_exe().unwrap();
    plan.arguments = [
        "hostile::hostile_child",
        "--exact",
        "--nocapture",
        "--test-threads=1",
    ]
    .map(str::to_owned)
    .to_vec();
    plan
}

/// Does `act` in a hostile child, and then shows that the pool still reads.
async fn act_within(plan: Plan, act: &[u8]) -> Result<String, PoolError> {
    let pool = pool(plan);
    let result = extract(&pool, Format::Text, "a", act).await;
    let after = extract(&pool, Format::Text, "b", b"fine").await.unwrap();
    assert_eq!(after.pages[0].markdown, "fine");
    result.map(|mut extraction| extraction.pages.remove(0).markdown)
}

#[tokio::test]
async fn each_limit_is_named() {
    let mut plan = hostile_plan();
    plan.limits.wall_clock = Duration::from_secs(2);
    plan.limits.memory_bytes = 512 << 20;
    plan.limits.output_bytes = 1 << 20;
    let result = act_within(plan.clone(), b"sleep").await;
    assert!(
        matches!(result, Err(PoolError::OverLimit(Limit::Clock(_)))),
        "{result:?}"
    );
    let result = act_within(plan.clone(), b"memory").await;
    assert!(
        matches!(result, Err(PoolError::OverLimit(Limit::Memory(_)))),
        "{result:?}"
    );
    let result = act_within(plan.clone(), b"output").await;
    assert!(
        matches!(result, Err(PoolError::OverLimit(Limit::Output(_)))),
        "{result:?}"
    );
    plan.limits.wall_clock = Duration::from_mins(1);
    plan.limits.cpu_secs = 1;
    let result = act_within(plan, b"spin").await;
    assert!(
        matches!(result, Err(PoolError::OverLimit(Limit::Cpu(1)))),
        "{result:?}"
    );
}

#[tokio::test]
async fn crashes_and_panics_end_with_the_document_not_with_the_pool() {
    let result = act_within(hostile_plan(), b"abort").await;
    assert!(
        matches!(result, Err(PoolError::Crashed { signal: Some(6) })),
        "{result:?}"
    );
    let result = act_within(hostile_plan(), b"stack").await;
    assert!(matches!(result, Err(PoolError::TooDeep)), "{result:?}");
    let error = act_within(hostile_plan(), b"panic").await.unwrap_err();
    assert!(
        matches!(error, PoolError::Extract(ExtractError::Damaged { .. })),
        "{error:?}"
    );
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[tokio::test]
async fn a_crash_of_pdfium_is_not_held_against_the_document() {
    let mut plan = hostile_plan();
    plan.second_reader = SecondReader::Library("/nowhere".into());
    let text = act_within(plan, b"abort with PDFium").await.unwrap();
    assert_eq!(text, "abort with PDFium");
}

#[tokio::test]
async fn a_child_has_no_network_no_programs_and_no_files() {
    for act in ["network", "program", "write"] {
        let outcome = act_within(hostile_plan(), act.as_bytes()).await.unwrap();
        assert_eq!(outcome, "PermissionDenied", "{act}");
    }
    assert!(!fs::exists("hostile-child-wrote-this").unwrap());
}

#[tokio::test]
async fn a_child_reads_no_file_but_its_document() {
    let known = landlock::Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(landlock::ABI::V1))
        .and_then(landlock::Ruleset::create);
    if known.is_err() {
        println!("skipped: the kernel has no Landlock");
        return;
    }
    let outcome = act_within(hostile_plan(), b"read").await.unwrap();
    assert_eq!(outcome, "PermissionDenied");
}

async fn child_of(pool: &parser::pool::Pool) -> u32 {
    let extraction = extract(pool, Format::Text, "a", b"pid").await.unwrap();
    extraction.pages[0].markdown.parse().unwrap()
}

#[tokio::test]
async fn a_child_is_kept_and_replaced_after_its_files() {
    let mut plan = hostile_plan();
    plan.limits.files_per_child = 2;
    let pool = pool(plan);
    let first = child_of(&pool).await;
    assert_eq!(child_of(&pool).await, first);
    assert_ne!(child_of(&pool).await, first);
}

fn is_running(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

async fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let wait = async {
        while !condition() {
            tokio::task::yield_now().await;
        }
    };
    assert!(
        tokio::time::timeout(Duration::from_secs(20), wait)
            .await
            .is_ok(),
        "never: {what}"
    );
}

#[tokio::test]
async fn a_killed_child_is_replaced_and_the_document_read() {
    let pool = pool(hostile_plan());
    let child = child_of(&pool).await;
    kill(child);
    assert_ne!(child_of(&pool).await, child);
}

#[tokio::test]
async fn a_child_killed_at_each_try_is_for_a_retry() {
    let mut plan = hostile_plan();
    // A word that tells this test's children from the others'; the test harness ignores it.
    plan.arguments.push("--skip=killed-at-each-try".to_owned());
    let pool = pool(plan);
    let reading = tokio::spawn(async move { extract(&pool, Format::Text, "a", b"sleep").await });
    let mut killed = None;
    for _ in 0..2 {
        let mut asleep = None;
        wait_for("a child has the document in hand", || {
            asleep = asleep_child("killed-at-each-try").filter(|child| Some(*child) != killed);
            asleep.is_some()
        })
        .await;
        kill(asleep.unwrap());
        killed = asleep;
    }
    let result = reading.await.unwrap();
    assert!(matches!(result, Err(PoolError::Killed)), "{result:?}");
}

fn kill(process: u32) {
    let process = rustix::process::Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
}

/// The running child whose command line has `word` and which sleeps over its document.
fn asleep_child(word: &str) -> Option<u32> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        entry
            .unwrap()
            .file_name()
            .to_string_lossy()
            .parse::<u32>()
            .ok()
    });
    let sleeps = |process: &u32| {
        let command = fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let tasks = fs::read_dir(format!("/proc/{process}/task"))
            .into_iter()
            .flatten()
            .flatten();
        let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
        command.contains(word) && names.into_iter().any(|name| name.trim() == "asleep")
    };
    processes.into_iter().find(sleeps)
}

#[tokio::test]
async fn children_end_with_their_pool() {
    let pool = pool(hostile_plan());
    let child = child_of(&pool).await;
    assert!(is_running(child));
    drop(pool);
    wait_for("the child has ended", || !is_running(child)).await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_for_a_retry() {
    let mut plan = plan();
    plan.program = "/nowhere/ibid-parser".into();
    let result = extract(&pool(plan), Format::Text, "a", b"text").await;
    assert!(matches!(result, Err(PoolError::Start(_))), "{result:?}");
}

#[tokio::test]
async fn damaged_pdfs_are_refused_or_read_in_part() {
    let whole = pdf(
        "t",
        0,
        &[crate::support::Page {
            lines: vec![(12.0, "Some words here")],
            picture: false,
        }],
    );
    let pool = pool(plan());
    for cut in [0, 8, 100, whole.len() / 2, whole.len() - 20] {
        let bytes = whole.get(..cut).unwrap();
        match extract(&pool, Format::Pdf, "cut.pdf", bytes).await {
            Ok(extraction) => assert_eq!(extraction.pages.len(), 1, "cut at {cut}"),
            Err(PoolError::Extract(ExtractError::Damaged { .. })) => {}
            Err(error) => panic!("cut at {cut}: {error}"),
        }
    }
}
