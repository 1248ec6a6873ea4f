//! What was measured, for people and for programs.

use std::io;

use serde::Serialize;

use crate::evaluation::latency::Latency;
use crate::output::{self, thousands};

/// All of it.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// Chunks searched.
    pub(super) chunks: u64,
    /// Passages wanted.
    pub(super) k: u32,
    /// The keyword engine.
    pub(super) keyword_engine: String,
    /// The vector engine, and how it searched.
    pub(super) vector_engine: String,
    /// One after the other.
    pub(super) phases: Vec<Phase>,
    /// Chunks that could be found newly in the last phase.
    pub(super) chunks_taken_in: u64,
}

/// The same questions under one condition.
#[derive(Debug, Serialize)]
pub(super) struct Phase {
    name: &'static str,
    target_p95_ms: f64,
    is_met: bool,
    latency: Latency,
}

impl Phase {
    pub(super) fn new(name: &'static str, latency: Latency, target_p95_ms: f64) -> Self {
        Self {
            name,
            target_p95_ms,
            is_met: latency.p95_ms <= target_p95_ms,
            latency,
        }
    }
}

impl Report {
    /// Tells it to people.
    ///
    /// # Errors
    /// When standard output is closed.
    pub(super) fn tell(&self) -> io::Result<()> {
        output::line(format!(
            "{} chunks, {} passages each, one question at a time; {}, {}",
            thousands(self.chunks),
            self.k,
            self.keyword_engine,
            self.vector_engine
        ))?;
        output::line("")?;
        output::table(&self.totals())?;
        output::line("")?;
        output::table(&self.steps())?;
        output::line("")?;
        output::line(format!(
            "{} chunks were taken in during the last phase. The keyword engine works beside \
             embedding and vector engine; `http` is what is neither.",
            thousands(self.chunks_taken_in)
        ))
    }

    fn totals(&self) -> Vec<Vec<String>> {
        let header = [
            "",
            "questions",
            "p50 ms",
            "p95 ms",
            "slowest",
            "p95 wanted",
            "",
        ];
        let mut rows = vec![header.map(str::to_owned).to_vec()];
        rows.extend(self.phases.iter().map(|phase| {
            let latency = &phase.latency;
            vec![
                phase.name.to_owned(),
                thousands(latency.questions as u64),
                one(latency.p50_ms),
                one(latency.p95_ms),
                one(latency.max_ms),
                format!("{:.0}", phase.target_p95_ms),
                if phase.is_met { "met" } else { "missed" }.to_owned(),
            ]
        }));
        rows
    }

    /// Median and 95th percentile of each step.
    fn steps(&self) -> Vec<Vec<String>> {
        let steps = self
            .phases
            .first()
            .map_or(&[][..], |phase| &phase.latency.steps);
        let mut header = vec!["p50 / p95 ms".to_owned()];
        header.extend(steps.iter().map(|step| step.name.clone()));
        let mut rows = vec![header];
        rows.extend(self.phases.iter().map(|phase| {
            let mut row = vec![phase.name.to_owned()];
            let steps = phase.latency.steps.iter();
            row.extend(steps.map(|step| format!("{} / {}", one(step.p50_ms), one(step.p95_ms))));
            row
        }));
        rows
    }
}

fn one(ms: f64) -> String {
    format!("{ms:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::latency::Sample;
    use shared::contract::Timings;

    #[test]
    fn a_phase_tells_whether_it_is_as_fast_as_wanted_and_where_the_time_goes() {
        let sample = Sample {
            wall_ms: 70.0,
            timings: Timings {
                embed_ms: 9.0,
                total_ms: 60.0,
                ..Timings::default()
            },
        };
        let latency = Latency::of(&[sample]);
        let report = Report {
            chunks: 100_000,
            k: 10,
            keyword_engine: "tantivy".to_owned(),
            vector_engine: "exact".to_owned(),
            phases: vec![
                Phase::new("at rest", latency.clone(), 60.0),
                Phase::new("busy", latency, 180.0),
            ],
            chunks_taken_in: 5,
        };
        let totals = report.totals();
        assert_eq!(totals[1][3..], ["70.0", "70.0", "60", "missed"]);
        assert_eq!(totals[2][6], "met");
        let steps = report.steps();
        assert_eq!(steps[0][2], "embed");
        assert_eq!(steps[1][2], "9.0 / 9.0");
        assert_eq!(steps[1].last().unwrap(), "10.0 / 10.0");
    }
}
