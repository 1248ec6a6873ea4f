//! The pages of a TIFF, decoded one at a time.

use std::io::Cursor;

use image::metadata::Orientation;
use image::{DynamicImage, GrayImage};
use tiff::decoder::{Decoder, DecodingResult, Limits};
use tiff::tags::Tag;
use tiff::{ColorType, TiffError};

use super::grey;
use crate::extract::{ExtractError, Picture};

/// Bytes of one decoded page.
const MAX_PAGE_BYTES: usize = 400 << 20;
const MAX_VALUE_BYTES: usize = 8 << 20;

/// The pages in order; ends after the first that cannot be found.
pub(super) struct TiffPages<'a> {
    decoder: Decoder<Cursor<&'a [u8]>>,
    is_first: bool,
    is_over: bool,
}

impl<'a> TiffPages<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, ExtractError> {
        let mut limits = Limits::default();
        limits.decoding_buffer_size = MAX_PAGE_BYTES;
        limits.intermediate_buffer_size = MAX_PAGE_BYTES;
        limits.ifd_value_size = MAX_VALUE_BYTES;
        let decoder = Decoder::new(Cursor::new(bytes)).map_err(|error| refused(&error))?;
        Ok(Self {
            decoder: decoder.with_limits(limits),
            is_first: true,
            is_over: false,
        })
    }

    fn page(&mut self) -> Result<Picture, ExtractError> {
        let (width, height) = self.decoder.dimensions().map_err(|error| refused(&error))?;
        grey::check_size(width, height)?;
        let color = self.decoder.colortype().map_err(|error| refused(&error))?;
        let orientation = self.number(Tag::Orientation).unwrap_or(1);
        let dpi = self.dpi();
        let palette = match color {
            ColorType::Palette(_) => self.palette(),
            _ => Vec::new(),
        };
        let samples = Samples {
            width: usize::try_from(width).unwrap_or(usize::MAX),
            bits: color.bit_depth(),
            data: self.decoder.read_image().map_err(|error| refused(&error))?,
        };
        let pixels = shades(color, &samples, &palette)?;
        let image = GrayImage::from_raw(width, height, pixels).ok_or_else(unsupported)?;
        let mut image = DynamicImage::ImageLuma8(image);
        let turn = u8::try_from(orientation)
            .ok()
            .and_then(Orientation::from_exif);
        image.apply_orientation(turn.unwrap_or(Orientation::NoTransforms));
        grey::picture(image.into_luma8(), dpi)
    }

    fn number(&mut self, tag: Tag) -> Option<u32> {
        self.decoder.find_tag_unsigned(tag).ok().flatten()
    }

    /// 0 when the file does not say.
    fn dpi(&mut self) -> u32 {
        let per_unit = self.decoder.get_tag_f32(Tag::XResolution).unwrap_or(0.0);
        // 2: inch, 3: centimetre.
        let per_inch = match self.number(Tag::ResolutionUnit).unwrap_or(2) {
            3 => per_unit * 2.54,
            _ => per_unit,
        };
        (70..=1200)
            .find(|dpi| (per_inch - *dpi as f32).abs() <= 0.5)
            .unwrap_or(0)
    }

    /// The shade of each index.
    fn palette(&mut self) -> Vec<u8> {
        let map: Vec<u16> = self
            .decoder
            .get_tag_u16_vec(Tag::ColorMap)
            .unwrap_or_default();
        let count = map.len() / 3;
        let channel = |number: usize| map.iter().skip(number * count).take(count);
        let colors = channel(0).zip(channel(1)).zip(channel(2));
        colors
            .map(|((red, green), blue)| luma([high(*red), high(*green), high(*blue)]))
            .collect()
    }
}

impl Iterator for TiffPages<'_> {
    type Item = Result<Picture, ExtractError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        if !std::mem::take(&mut self.is_first) {
            if !self.decoder.more_images() {
                return None;
            }
            if let Err(error) = self.decoder.next_image() {
                self.is_over = true;
                return Some(Err(refused(&error)));
            }
        }
        Some(self.page())
    }
}

/// A page as it is decoded.
struct Samples {
    width: usize,
    bits: u8,
    data: DecodingResult,
}

impl Samples {
    /// Samples of one byte, `channels` for each pixel.
    fn bytes(&self, channels: usize) -> Option<Vec<u8>> {
        match &self.data {
            DecodingResult::U8(bytes) if self.bits == 8 => Some(bytes.clone()),
            DecodingResult::U8(bytes) if matches!(self.bits, 1 | 2 | 4) => {
                Some(self.unpacked(bytes, channels))
            }
            DecodingResult::U16(words) => Some(words.iter().copied().map(high).collect()),
            DecodingResult::F32(shares) => {
                let byte =
                    |share: &f32| u8::try_from(super::super::ocr::percent(*share) * 255 / 100);
                Some(
                    shares
                        .iter()
                        .map(|share| byte(share).unwrap_or(255))
                        .collect(),
                )
            }
            _ => None,
        }
    }

    /// Rows of whole bytes, with several samples to a byte; indices and shades alike.
    fn unpacked(&self, bytes: &[u8], channels: usize) -> Vec<u8> {
        let bits = usize::from(self.bits);
        let row_samples = self.width * channels;
        let row_bytes = (row_samples * bits).div_ceil(8).max(1);
        let mask = u8::MAX >> (8 - self.bits);
        let mut out = Vec::with_capacity(bytes.len() * 8 / bits);
        for row in bytes.chunks_exact(row_bytes) {
            let samples = row
                .iter()
                .flat_map(|byte| (1..=8 / bits).map(move |at| (byte >> (8 - at * bits)) & mask));
            out.extend(samples.take(row_samples));
        }
        out
    }
}

/// The pixels of a page as shades of grey.
fn shades(color: ColorType, samples: &Samples, palette: &[u8]) -> Result<Vec<u8>, ExtractError> {
    let channels = usize::from(color.num_samples());
    let bytes = samples.bytes(channels).ok_or_else(unsupported)?;
    let over_white = |shade: u8, alpha: u8| {
        let (shade, alpha) = (u16::from(shade), u16::from(alpha));
        u8::try_from((shade * alpha + 255 * (255 - alpha)) / 255).unwrap_or(u8::MAX)
    };
    let shade = |pixel: &[u8]| match (color, pixel) {
        (ColorType::Gray(bits @ (1 | 2 | 4)), [shade]) => {
            shade * (u8::MAX / (u8::MAX >> (8 - bits)))
        }
        (ColorType::Gray(_), [shade]) | (ColorType::YCbCr(_), [shade, ..]) => *shade,
        (ColorType::GrayA(_), [shade, alpha]) => over_white(*shade, *alpha),
        (ColorType::RGB(_), [red, green, blue]) => luma([*red, *green, *blue]),
        (ColorType::RGBA(_), [red, green, blue, alpha]) => {
            over_white(luma([*red, *green, *blue]), *alpha)
        }
        (ColorType::CMYK(_), [cyan, magenta, yellow, black]) => {
            let light = luma([255 - cyan, 255 - magenta, 255 - yellow]);
            over_white(0, 255 - light).min(255 - black)
        }
        (ColorType::Palette(_), [index]) => {
            palette.get(usize::from(*index)).copied().unwrap_or(255)
        }
        _ => 255,
    };
    match color {
        ColorType::Gray(_)
        | ColorType::GrayA(_)
        | ColorType::RGB(_)
        | ColorType::RGBA(_)
        | ColorType::CMYK(_)
        | ColorType::Palette(_)
        | ColorType::YCbCr(_) => Ok(bytes.chunks_exact(channels.max(1)).map(shade).collect()),
        _ => Err(unsupported()),
    }
}

/// ITU-R BT.601.
fn luma([red, green, blue]: [u8; 3]) -> u8 {
    let sum = 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue);
    u8::try_from(sum / 1000).unwrap_or(u8::MAX)
}

fn high(word: u16) -> u8 {
    let [high, _] = word.to_be_bytes();
    high
}

fn unsupported() -> ExtractError {
    ExtractError::Unsupported {
        what: "a TIFF of a rare kind".to_owned(),
    }
}

fn refused(error: &TiffError) -> ExtractError {
    match error {
        TiffError::LimitsExceeded => ExtractError::TooLarge {
            what: "the picture takes more than 400 MB".to_owned(),
        },
        TiffError::UnsupportedError(_) => unsupported(),
        _ => ExtractError::Damaged {
            what: "the picture cannot be decoded".to_owned(),
        },
    }
}
