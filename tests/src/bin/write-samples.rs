//! Writes the PDF and Word files under `samples/`; `cargo xtask samples` calls it.

fn main() -> anyhow::Result<()> {
    ibid_tests::samples::write(&ibid_tests::samples::folder())
}
