//! Any picture as one in shades of grey, of a size that OCR likes.

use std::io::Cursor;

use image::imageops::{self, FilterType};
use image::metadata::Orientation;
use image::{DynamicImage, GrayImage, ImageDecoder as _, ImageError, ImageReader, Limits};

use crate::extract::{ExtractError, Picture};

/// Pixels of the largest picture that is decoded: today's largest cameras have 100 million.
pub(super) const MAX_DECODED: u64 = 120_000_000;
/// Bytes that a decoder may have at once.
const MAX_ALLOC: u64 = 512 << 20;
/// Pixels of the largest picture that OCR gets.
const MAX_READ: f64 = 36e6;
/// Pictures whose longer side is below this are taken from a screen: letters of ten pixels, of
/// which OCR wants twenty.
const SMALL: u32 = 1600;

/// The picture `bytes`, turned as its camera says, on white where it is transparent.
///
/// # Errors
/// When it cannot be decoded, or is too large.
pub(super) fn decode(bytes: &[u8]) -> Result<Picture, ExtractError> {
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(|_unreadable| damaged())?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_ALLOC);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|error| refused(&error))?;
    let (width, height) = decoder.dimensions();
    check_size(width, height)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let image = DynamicImage::from_decoder(decoder).map_err(|error| refused(&error))?;
    let mut image = DynamicImage::ImageLuma8(on_white(image));
    image.apply_orientation(orientation);
    picture(image.into_luma8(), 0)
}

/// Refuses pictures that would take too much memory.
pub(super) fn check_size(width: u32, height: u32) -> Result<(), ExtractError> {
    if u64::from(width) * u64::from(height) <= MAX_DECODED {
        return Ok(());
    }
    Err(ExtractError::TooLarge {
        what: "the picture has more than 120 million pixels".to_owned(),
    })
}

/// `image` as OCR takes it, scaled down where it is larger than that.
pub(super) fn picture(image: GrayImage, dpi: u32) -> Result<Picture, ExtractError> {
    let (width, height) = image.dimensions();
    let pixels = f64::from(width) * f64::from(height);
    let longest = f64::from(width.max(height));
    let scale = (MAX_READ / pixels)
        .sqrt()
        .min(f64::from(Picture::MAX_SIDE) / longest);
    let (image, dpi) = if scale < 1.0 {
        (resized(&image, scale), scaled(dpi, scale))
    } else {
        (image, dpi)
    };
    let (width, height) = image.dimensions();
    Picture::pixels_of(width, height).ok_or_else(damaged)?;
    Ok(Picture {
        width,
        height,
        dpi,
        pixels: image.into_raw(),
    })
}

/// `picture` twice or three times as large, when it is so small that its letters must be, too.
pub(super) fn enlarged(picture: Picture) -> Picture {
    let longest = picture.width.max(picture.height);
    if longest >= SMALL {
        return picture;
    }
    let times = if longest * 2 >= SMALL { 2.0 } else { 3.0 };
    let Picture {
        width,
        height,
        dpi,
        pixels,
    } = picture;
    let Some(image) = GrayImage::from_raw(width, height, pixels.clone()) else {
        return Picture {
            width,
            height,
            dpi,
            pixels,
        };
    };
    let image = resized(&image, times);
    Picture {
        width: image.width(),
        height: image.height(),
        dpi: scaled(dpi, times),
        pixels: image.into_raw(),
    }
}

fn resized(image: &GrayImage, scale: f64) -> GrayImage {
    let (width, height) = image.dimensions();
    let filter = if scale < 1.0 {
        FilterType::Triangle
    } else {
        FilterType::CatmullRom
    };
    imageops::resize(
        image,
        scaled(width, scale).max(1),
        scaled(height, scale).max(1),
        filter,
    )
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "lengths of pictures, at most three times as long"
)]
fn scaled(length: u32, scale: f64) -> u32 {
    (f64::from(length) * scale).round() as u32
}

/// Grey, with what is transparent laid over white.
pub(super) fn on_white(image: DynamicImage) -> GrayImage {
    if !image.color().has_alpha() {
        return image.into_luma8();
    }
    let image = image.into_luma_alpha8();
    let (width, height) = image.dimensions();
    let pixels = image.pixels().map(|pixel| {
        let [shade, alpha] = pixel.0.map(u16::from);
        let over = (shade * alpha + 255 * (255 - alpha)) / 255;
        u8::try_from(over).unwrap_or(u8::MAX)
    });
    let pixels: Vec<u8> = pixels.collect();
    GrayImage::from_raw(width, height, pixels).unwrap_or_default()
}

fn damaged() -> ExtractError {
    ExtractError::Damaged {
        what: "the picture cannot be decoded".to_owned(),
    }
}

fn refused(error: &ImageError) -> ExtractError {
    match error {
        ImageError::Limits(_) => ExtractError::TooLarge {
            what: "the picture takes more than 512 MB".to_owned(),
        },
        ImageError::Unsupported(_) => ExtractError::Unsupported {
            what: "a picture of a rare kind".to_owned(),
        },
        _ => damaged(),
    }
}

#[cfg(test)]
mod tests {
    use image::{ImageFormat, LumaA, RgbImage, Rgba};

    use super::*;

    fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn pictures_become_grey_on_white() {
        let mut image = image::RgbaImage::from_pixel(2, 1, Rgba([0, 0, 0, 0]));
        image.put_pixel(1, 0, Rgba([0, 0, 0, 255]));
        let png = encoded(&DynamicImage::ImageRgba8(image), ImageFormat::Png);
        let picture = decode(&png).unwrap();
        assert_eq!((picture.width, picture.height), (2, 1));
        assert_eq!(picture.pixels, [255, 0]);
        let half = image::GrayAlphaImage::from_pixel(1, 1, LumaA([0, 128]));
        let half = on_white(DynamicImage::ImageLumaA8(half));
        assert_eq!(half.into_raw(), [127]);
    }

    #[test]
    fn each_kind_is_decoded() {
        let image =
            DynamicImage::ImageRgb8(RgbImage::from_pixel(8, 4, image::Rgb([255, 255, 255])));
        for format in [
            ImageFormat::Png,
            ImageFormat::Jpeg,
            ImageFormat::Gif,
            ImageFormat::Bmp,
            ImageFormat::WebP,
        ] {
            let image = match format {
                ImageFormat::Gif => DynamicImage::ImageRgba8(image.to_rgba8()),
                _ => image.clone(),
            };
            let picture = decode(&encoded(&image, format)).unwrap();
            assert_eq!((picture.width, picture.height), (8, 4), "{format:?}");
            assert!(
                picture.pixels.iter().all(|shade| *shade > 250),
                "{format:?}"
            );
        }
    }

    #[test]
    fn damaged_and_huge_pictures_are_refused() {
        #[track_caller]
        fn check(bytes: &[u8], says: &str) {
            let error = decode(bytes).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        let image = DynamicImage::ImageLuma8(GrayImage::new(64, 64));
        let png = encoded(&image, ImageFormat::Png);
        check(&png[..png.len() / 2], "cannot be decoded");
        check(b"\x89PNG\r\n\x1a\n", "cannot be decoded");
        check(b"\xff\xd8\xff\xe0 nothing", "cannot be decoded");
        check(b"", "a rare kind");
        // A header that promises 60,000 × 60,000 pixels.
        let mut huge = png;
        huge[16..24].copy_from_slice(&[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60]);
        assert!(decode(&huge).is_err());
        assert!(check_size(60_000, 60_000).is_err());
    }

    #[test]
    fn sizes_are_what_ocr_likes() {
        let large = picture(GrayImage::new(12_000, 9_000), 600).unwrap();
        assert!(large.pixels.len() <= 36_000_000 && large.dpi < 400);
        let small = enlarged(picture(GrayImage::new(1000, 600), 96).unwrap());
        assert_eq!((small.width, small.height, small.dpi), (2000, 1200, 192));
        let page = enlarged(picture(GrayImage::new(2480, 3508), 300).unwrap());
        assert_eq!((page.width, page.height), (2480, 3508));
    }
}
