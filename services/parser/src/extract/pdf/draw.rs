//! Pages drawn by PDFium, as they show on a screen: cropped and turned as the file says.

use pdfium_render::prelude::{
    PdfBitmapFormat, PdfColor, PdfDocument, PdfPage, PdfPageObjectCommon as _, PdfPageObjectType,
    PdfPageObjectsCommon as _, PdfRect, PdfRenderConfig,
};

use super::second;
use crate::extract::{Picture, SecondReader};

/// Pixels of a drawn page: A3 at 300 dpi has 17 million. Larger pages are drawn coarser. PDFium
/// has four bytes for each, and its copy here as many.
const MAX_PIXELS: f32 = 25e6;
/// Blue, green, red and one unused.
const BYTES_PER_PIXEL: usize = 4;
const POINTS_PER_INCH: f32 = 72.0;
/// Objects of a page that are looked through for pictures.
const MOST_OBJECTS: usize = 2000;

/// A document that PDFium draws.
pub struct Drawing<'a> {
    pub(super) document: PdfDocument<'a>,
}

impl<'a> Drawing<'a> {
    /// The PDF `bytes`; `None` without PDFium, or when PDFium cannot open it.
    pub fn open(second: &SecondReader, bytes: &'a [u8], password: Option<&'a str>) -> Option<Self> {
        let SecondReader::Library(path) = second else {
            return None;
        };
        let library = second::library(path).ok()?;
        // A C string ends at the first NUL.
        let password = password.filter(|password| !password.contains('\0'));
        let open = |password| library.load_pdf_from_byte_slice(bytes, password).ok();
        let document = open(None).or_else(|| open(Some(password?)))?;
        Some(Self { document })
    }

    /// Page `physical` from 1, at up to `dpi` pixels per inch, in shades of grey. `None` when
    /// PDFium cannot load it, or it has no size.
    pub fn draw(&self, physical: u32, dpi: u32) -> Option<Picture> {
        let page = self.page(physical)?;
        let (width, height) = (page.width().value, page.height().value);
        let scale = scale_for(width, height, dpi)?;
        let (width, height) = (pixels(width * scale), pixels(height * scale));
        // Not `Gray`: PDFium then ends the process at text that it draws as paths.
        let config = PdfRenderConfig::new()
            .set_fixed_size(width, height)
            .set_format(PdfBitmapFormat::BGRx)
            .use_grayscale_rendering(true)
            .set_clear_color(PdfColor::WHITE);
        let bitmap = page.render_with_config(&config).ok()?;
        let (width, height) = (u32::try_from(width).ok()?, u32::try_from(height).ok()?);
        let pixels = shades(&bitmap.as_raw_bytes(), width, height)?;
        Some(Picture {
            width,
            height,
            dpi: whole(scale * POINTS_PER_INCH),
            pixels,
        })
    }

    /// Where pictures stand on page `physical`: the rectangle around all of them as shares of the
    /// page as it is shown, from its top left corner. `None` when it has none.
    pub(super) fn pictures(&self, physical: u32) -> Option<Region> {
        let page = self.page(physical)?;
        let frame = super::highlight::Frame::of(&page)?;
        let objects = page.objects();
        let pictures = objects
            .iter()
            .take(MOST_OBJECTS)
            .filter(|object| object.object_type() == PdfPageObjectType::Image);
        let bounds = pictures.filter_map(|object| object.bounds().ok());
        let around = bounds
            .map(|quad| quad.to_rect())
            .reduce(|a, b| around(&a, &b))?;
        let shown = frame.shown(&around);
        Region {
            left: shown.left / frame.width,
            top: shown.top / frame.height,
            right: (shown.left + shown.width) / frame.width,
            bottom: (shown.top + shown.height) / frame.height,
        }
        .on_page()
    }

    pub(super) fn page(&self, physical: u32) -> Option<PdfPage<'_>> {
        let index = physical.checked_sub(1)?.try_into().ok()?;
        self.document.pages().get(index).ok()
    }
}

/// A part of a page or picture; 0 is its left or top, 1 its right or bottom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Region {
    left: f32,
    top: f32,
    right: f32,
    bottom: f32,
}

impl Region {
    fn on_page(self) -> Option<Self> {
        let cut = |share: f32| share.clamp(0.0, 1.0);
        let region = Self {
            left: cut(self.left),
            top: cut(self.top),
            right: cut(self.right),
            bottom: cut(self.bottom),
        };
        (region.share() > 0.0).then_some(region)
    }

    /// How much of the page it covers.
    pub(super) fn share(&self) -> f32 {
        ((self.right - self.left) * (self.bottom - self.top)).max(0.0)
    }

    /// That part of `picture`.
    pub(super) fn of(&self, picture: &Picture) -> Option<Picture> {
        let columns = cut(self.left, self.right, picture.width)?;
        let rows = cut(self.top, self.bottom, picture.height)?;
        let row_bytes = usize::try_from(picture.width).ok()?;
        let lines = picture.pixels.chunks_exact(row_bytes);
        let pixels = lines
            .skip(rows.start)
            .take(rows.len())
            .filter_map(|line| line.get(columns.clone()))
            .flatten()
            .copied()
            .collect();
        Some(Picture {
            width: u32::try_from(columns.len()).ok()?,
            height: u32::try_from(rows.len()).ok()?,
            dpi: picture.dpi,
            pixels,
        })
    }
}

/// The pixels from share `from` to share `to` of `length`; `None` when there are none.
fn cut(from: f32, to: f32, length: u32) -> Option<std::ops::Range<usize>> {
    let at = |share: f32| usize::try_from(whole(share * length as f32).min(length)).ok();
    let range = at(from)?..at(to)?;
    (!range.is_empty()).then_some(range)
}

fn around(a: &PdfRect, b: &PdfRect) -> PdfRect {
    PdfRect::new(
        a.bottom().min(b.bottom()),
        a.left().min(b.left()),
        a.top().max(b.top()),
        a.right().max(b.right()),
    )
}

/// Pixels per point that give `dpi`, or as much of it as the page's size allows.
fn scale_for(width: f32, height: f32, dpi: u32) -> Option<f32> {
    let is_size = |side: f32| side.is_finite() && side > 0.0;
    if !is_size(width) || !is_size(height) {
        return None;
    }
    let wanted = dpi.clamp(1, 1200) as f32 / POINTS_PER_INCH;
    let by_area = (MAX_PIXELS / (width * height)).sqrt();
    let by_side = Picture::MAX_SIDE as f32 / width.max(height);
    Some(wanted.min(by_area).min(by_side))
}

/// At least one.
fn pixels(length: f32) -> i32 {
    i32::try_from(whole(length).clamp(1, Picture::MAX_SIDE)).unwrap_or(1)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates, and pixels are counted below 2^24"
)]
fn whole(number: f32) -> u32 {
    number.round() as u32
}

/// One byte per pixel of a grey drawing; PDFium may pad its rows.
fn shades(bytes: &[u8], width: u32, height: u32) -> Option<Vec<u8>> {
    let count = Picture::pixels_of(width, height)?;
    let (width, height) = (usize::try_from(width).ok()?, usize::try_from(height).ok()?);
    let stride = bytes.len() / height;
    if stride < width * BYTES_PER_PIXEL {
        return None;
    }
    let mut pixels = Vec::with_capacity(count);
    for row in bytes.chunks_exact(stride) {
        // Grey: all colours are the same.
        pixels.extend(row.iter().step_by(BYTES_PER_PIXEL).take(width));
    }
    (pixels.len() == count).then_some(pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_drawn_as_fine_as_their_size_allows() {
        #[track_caller]
        fn check(width: f32, height: f32, dpi: u32, expect: Option<f32>) {
            let got = scale_for(width, height, dpi).map(|scale| scale * POINTS_PER_INCH);
            let close = match (got, expect) {
                (Some(got), Some(expect)) => (got - expect).abs() < 1.0,
                (got, expect) => got == expect,
            };
            assert!(close, "{got:?}");
        }
        check(595.0, 842.0, 300, Some(300.0));
        check(14_400.0, 14_400.0, 300, Some(25.0));
        check(100_000.0, 1.0, 300, Some(23.0));
        check(0.0, 842.0, 300, None);
        check(f32::NAN, 842.0, 300, None);
        check(f32::INFINITY, 1.0, 300, None);
    }

    #[test]
    fn a_region_is_cut_out() {
        let picture = Picture {
            width: 4,
            height: 3,
            dpi: 72,
            pixels: (0..12).collect(),
        };
        let region = |left, top, right, bottom| Region {
            left,
            top,
            right,
            bottom,
        };
        let part = region(0.25, 0.34, 0.75, 1.0).of(&picture).unwrap();
        assert_eq!((part.width, part.height), (2, 2));
        assert_eq!(part.pixels, [5, 6, 9, 10]);
        assert_eq!(
            region(0.0, 0.0, 1.0, 1.0).of(&picture),
            Some(picture.clone())
        );
        assert_eq!(region(0.5, 0.5, 0.5, 1.0).of(&picture), None);
        assert_eq!(region(-3.0, -3.0, -1.0, 9.0).on_page(), None);
        assert!((region(-1.0, 0.0, 0.5, 9.0).on_page().unwrap().share() - 0.5).abs() < 1e-6);
    }

    #[test]
    fn a_drawing_becomes_one_byte_per_pixel() {
        #[track_caller]
        fn check(bytes: &[u8], width: u32, height: u32, expect: Option<&[u8]>) {
            assert_eq!(shades(bytes, width, height).as_deref(), expect);
        }
        check(&[7, 7, 7, 0, 8, 8, 8, 0], 1, 2, Some(&[7, 8]));
        check(&[7, 7, 7, 0, 8, 8, 8, 0, 1, 1, 1, 1], 2, 1, Some(&[7, 8]));
        check(&[7, 7, 7], 1, 1, None);
        check(&[], 1, 1, None);
    }
}
