//! A snapshot's vectors, mapped into memory instead of copied: they are shared clean pages that the
//! system may drop, and there is one copy of them.
#![expect(
    unsafe_code,
    reason = "mapping a file is unsafe: see `Mapped::open` for why it holds here"
)]

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

// The file is read as it lies.
const _: () = assert!(
    cfg!(target_endian = "little"),
    "snapshots are little-endian"
);

/// A file of `f32`, read-only.
#[derive(Debug)]
pub(super) struct Mapped {
    /// Absent for an empty file, which cannot be mapped.
    map: Option<Mmap>,
}

impl Mapped {
    /// Maps `path`.
    ///
    /// # Errors
    /// When it cannot be opened or mapped, or its length is not a multiple of 4.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Self { map: None });
        }
        // SAFETY: the mapping must not change under us. A snapshot is written under another name,
        // renamed once it is complete and never opened for writing again; removing it leaves the
        // mapped pages in place.
        let map = unsafe { Mmap::map(&file)? };
        if bytemuck::try_cast_slice::<u8, f32>(&map).is_err() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it does not hold whole f32",
            ));
        }
        Ok(Self { map: Some(map) })
    }

    /// The numbers in it.
    pub(super) fn floats(&self) -> &[f32] {
        // Checked when opened: page-aligned and a multiple of 4 long.
        self.map
            .as_ref()
            .and_then(|map| bytemuck::try_cast_slice(map).ok())
            .unwrap_or_default()
    }
}
