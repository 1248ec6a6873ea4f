//! Records of the binary format: a type, a length, data ([MS-XLS] 2.1.4).

/// Record types, by their names in the specification.
pub(super) mod kind {
    pub(in super::super) const FORMULA: u16 = 0x0006;
    pub(in super::super) const EOF: u16 = 0x000a;
    pub(in super::super) const NOTE: u16 = 0x001c;
    pub(in super::super) const DATE_1904: u16 = 0x0022;
    pub(in super::super) const FILE_PASS: u16 = 0x002f;
    pub(in super::super) const CONTINUE: u16 = 0x003c;
    pub(in super::super) const CODE_PAGE: u16 = 0x0042;
    pub(in super::super) const OBJ: u16 = 0x005d;
    pub(in super::super) const COL_INFO: u16 = 0x007d;
    pub(in super::super) const BOUND_SHEET: u16 = 0x0085;
    pub(in super::super) const MUL_RK: u16 = 0x00bd;
    pub(in super::super) const R_STRING: u16 = 0x00d6;
    pub(in super::super) const XF: u16 = 0x00e0;
    pub(in super::super) const MERGE_CELLS: u16 = 0x00e5;
    pub(in super::super) const SST: u16 = 0x00fc;
    pub(in super::super) const LABEL_SST: u16 = 0x00fd;
    pub(in super::super) const TXO: u16 = 0x01b6;
    pub(in super::super) const NUMBER: u16 = 0x0203;
    pub(in super::super) const LABEL: u16 = 0x0204;
    pub(in super::super) const BOOL_ERR: u16 = 0x0205;
    pub(in super::super) const STRING: u16 = 0x0207;
    pub(in super::super) const ROW: u16 = 0x0208;
    pub(in super::super) const RK: u16 = 0x027e;
    pub(in super::super) const FORMAT: u16 = 0x041e;
    pub(in super::super) const BOF: u16 = 0x0809;
}

/// One record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) kind: u16,
    pub(super) data: &'a [u8],
}

impl Record<'_> {
    pub(super) fn u16(&self, at: usize) -> Option<u16> {
        let bytes = self.data.get(at..at + 2)?;
        bytes.try_into().map(u16::from_le_bytes).ok()
    }

    pub(super) fn u32(&self, at: usize) -> Option<u32> {
        let bytes = self.data.get(at..at + 4)?;
        bytes.try_into().map(u32::from_le_bytes).ok()
    }

    pub(super) fn f64(&self, at: usize) -> Option<f64> {
        let bytes = self.data.get(at..at + 8)?;
        bytes.try_into().map(f64::from_le_bytes).ok()
    }

    /// Row and column, which most records begin with.
    pub(super) fn place(&self) -> Option<(u32, u32)> {
        Some((self.u16(0)?.into(), self.u16(2)?.into()))
    }
}

/// The records of a stream from a place on.
#[derive(Clone)]
pub(super) struct Records<'a>(&'a [u8]);

impl<'a> Records<'a> {
    pub(super) fn from(stream: &'a [u8], at: usize) -> Self {
        Self(stream.get(at..).unwrap_or_default())
    }

    /// The data of the records that continue the last one.
    pub(super) fn continued(&mut self) -> Vec<&'a [u8]> {
        let mut parts = Vec::new();
        let mut ahead = self.clone();
        while let Some(record) = ahead.next().filter(|record| record.kind == kind::CONTINUE) {
            parts.push(record.data);
            *self = ahead.clone();
        }
        parts
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    /// The next record; `None` also where the stream breaks off.
    fn next(&mut self) -> Option<Record<'a>> {
        let (head, rest) = self.0.split_at_checked(4)?;
        let [a, b, c, d] = head.try_into().ok()?;
        let (data, rest) = rest.split_at_checked(u16::from_le_bytes([c, d]).into())?;
        self.0 = rest;
        Some(Record {
            kind: u16::from_le_bytes([a, b]),
            data,
        })
    }
}
