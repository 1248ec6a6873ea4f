//! Damaged files through the parser service: `cargo run --release -p ibid-tests --bin
//! measure-mutants -- FOLDER [FILES] [SEED]`, 10,000 files when nothing is said. Writes the list of
//! files and how each ended to `target/mutants-SEED.tsv`. With `--only NUMBER` it writes that file
//! to `target/` instead.

#![expect(clippy::print_stdout, reason = "it prints what it has measured")]

use std::path::PathBuf;

use anyhow::{Context, Result};
use ibid_tests::mutants::{self, Run};
use ibid_tests::mutation::Originals;
use ibid_tests::workspace;

const FILES: u32 = 10_000;
const SEED: u64 = 4;

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let only = match arguments.iter().position(|argument| argument == "--only") {
        Some(at) => arguments.drain(at..).nth(1),
        None => None,
    };
    let mut arguments = arguments.into_iter();
    let folder = arguments.next().context("which folder of files?")?;
    let folder = PathBuf::from(folder);
    let files = arguments.next().map_or(Ok(FILES), |files| files.parse())?;
    let seed = arguments.next().map_or(Ok(SEED), |seed| seed.parse())?;
    let target = workspace::root().join("target");
    std::fs::create_dir_all(&target)?;
    if let Some(number) = only {
        let mutation = Originals::read(&folder)?.mutate(seed, number.parse()?);
        let path = target.join(format!("{number}-{}", mutation.name));
        std::fs::write(&path, mutation.bytes)?;
        println!("{}: {}", mutation.damage, path.display());
        return Ok(());
    }
    let started = std::time::Instant::now();
    let outcome = mutants::run(&folder, Run { seed, files }).await?;
    let list = target.join(format!("mutants-{seed}.tsv"));
    std::fs::write(&list, &outcome.list)?;
    println!(
        "{files} files of seed {seed} in {:.0} s; list in {}",
        started.elapsed().as_secs_f64(),
        list.display()
    );
    print!("{}", outcome.summary());
    Ok(())
}
