//! One child's keeper: starts it, replaces it, and decides what a child's end means.

use std::fs::File;
use std::sync::Arc;

use tracing::{debug, warn};

use super::Plan;
use super::process::{Ended, Parsed, Process};
use crate::error::{Limit, PoolError};
use crate::extract::SecondReader;
use crate::wire::Task;

pub(super) struct Keeper {
    plan: Arc<Plan>,
    process: Option<Process>,
}

impl Keeper {
    pub(super) fn new(plan: Arc<Plan>) -> Self {
        Self {
            plan,
            process: None,
        }
    }

    /// Reads one document. After a crash it is tried once more, in a fresh child and without
    /// PDFium, the one reader that is not memory-safe: neither an earlier document's damage nor
    /// PDFium's own faults are held against the document.
    pub(super) fn extract(&mut self, task: &Task, file: &File) -> Result<Parsed, PoolError> {
        let first = match self.attempt(task, file, &self.plan.second_reader.clone())? {
            Ok(parsed) => return Ok(parsed),
            Err(ended) => ended,
        };
        if !matches!(first, Ended::Crashed { .. } | Ended::Killed) {
            return Err(self.explain(first));
        }
        debug!(ended = %first, "a child ended, trying once more in a fresh one");
        let second_reader = match &first {
            Ended::Crashed { .. } => SecondReader::Absent("it failed on this document".to_owned()),
            _ => self.plan.second_reader.clone(),
        };
        let result = self.attempt(task, file, &second_reader)?;
        // That child lacks PDFium: not for the next document.
        if second_reader != self.plan.second_reader {
            self.process = None;
        }
        result.map_err(|ended| self.explain(ended))
    }

    /// The outer error is about starting a child, the inner one about how it ended.
    fn attempt(
        &mut self,
        task: &Task,
        file: &File,
        second_reader: &SecondReader,
    ) -> Result<Result<Parsed, Ended>, PoolError> {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => Process::start(&self.plan, second_reader)?,
        };
        match process.extract(task, file, &self.plan) {
            Ok(result) => {
                if result.is_ok() && process.files() < self.plan.limits.files_per_child {
                    self.process = Some(process);
                }
                Ok(Ok(result?))
            }
            Err(ended) => Ok(Err(ended)),
        }
    }

    fn explain(&self, ended: Ended) -> PoolError {
        let limits = &self.plan.limits;
        warn!(%ended, "a child ended before its document was read");
        match ended {
            Ended::Clock => PoolError::OverLimit(Limit::Clock(limits.wall_clock)),
            Ended::Cpu => PoolError::OverLimit(Limit::Cpu(limits.cpu_secs)),
            Ended::Memory => PoolError::OverLimit(Limit::Memory(limits.memory_bytes)),
            Ended::Output => PoolError::OverLimit(Limit::Output(limits.output_bytes)),
            Ended::Stack => PoolError::TooDeep,
            Ended::Crashed { signal } => PoolError::Crashed { signal },
            Ended::Killed => PoolError::Killed,
        }
    }
}
