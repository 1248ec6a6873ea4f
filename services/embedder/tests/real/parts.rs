//! The parts that these tests run on.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use embedder::encoder::{OnnxEncoder, Runtime, SessionOptions};
use embedder::import::import_model;
use embedder::model::Model;
use shared::settings::{Precision, assets_dir};
use tempfile::TempDir;

/// A part that `ibid setup` fetches.
pub(crate) fn part(name: &str) -> PathBuf {
    let path = assets_dir().join(name);
    assert!(
        path.exists(),
        "`{}` is missing; run `cargo xtask test`, which fetches it, or `ibid setup`",
        path.display()
    );
    path
}

pub(crate) fn runtime() -> Runtime {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
        Runtime::load(&part("onnxruntime/libonnxruntime.so")).expect("ONNX Runtime loads")
    });
    RUNTIME.clone()
}

/// The real model's folder as published.
pub(crate) fn minilm_source() -> PathBuf {
    part("source/all-MiniLM-L6-v2")
}

/// The real model, imported by this test run.
pub(crate) fn minilm() -> &'static Path {
    static MODELS: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("all-MiniLM-L6-v2");
        import_model(&minilm_source(), &out).unwrap();
        (folder, out)
    });
    &MODELS.1
}

pub(crate) fn open(folder: &Path, precision: Precision) -> (Arc<Model>, OnnxEncoder) {
    let model = Arc::new(Model::open(folder, precision).unwrap());
    let options = SessionOptions { threads: 2 };
    let encoder = OnnxEncoder::open(&runtime(), Arc::clone(&model), options).unwrap();
    (model, encoder)
}

pub(crate) fn cosine(left: &[f32], right: &[f32]) -> f32 {
    assert_eq!(left.len(), right.len());
    left.iter()
        .zip(right)
        .map(|(left, right)| left * right)
        .sum()
}

/// Texts of 3 to some 150 tokens.
pub(crate) const TEXTS: [&str; 8] = [
    "A man is eating food.",
    "A man is eating a piece of bread.",
    "Refunds",
    "The invoice of 3 March 2024 (no. 4711/B) lists 12 valves, DN 50, at 84.20 € each.",
    "Ein Satz auf Deutsch, mit Umlauten: Größe, Übung, Äpfel.",
    "fn main() { println!(\"hello\"); }",
    "Heat transfer in a laminar boundary layer on a flat plate with suction was measured at \
     Mach 2.5; the recovery factor agreed with theory to within two per cent.",
    "Section: Handbook > Travel\nEmployees book their own travel. Rail is preferred to air for \
     journeys under five hours. Receipts are handed in within thirty days, together with the \
     approval of the line manager and, where the journey crossed a border, the exchange rate of \
     the day on which the sum was paid. Meals are reimbursed at the published daily rate, which \
     is reduced by twenty per cent for each meal that the host has provided. Hotels above the \
     limit of the city's category need approval beforehand; approval afterwards is given only \
     when no room within the limit was to be had, and the search must be shown.",
];
