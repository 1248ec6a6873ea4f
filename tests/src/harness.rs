//! The running product, owned by a test: started on free ports over a folder of its own, and
//! gone with all its processes when the test ends, however it ends.

mod client;
pub mod command;
mod fleet;
mod process;
mod up;
mod wait;

pub use client::{Client, ReadPage, Upload};
pub use fleet::{Fleet, FleetSize};
pub use process::{Process, kill, processes, wait_until_gone};
pub use up::{CliOutput, Harness};
pub use wait::wait_for;
