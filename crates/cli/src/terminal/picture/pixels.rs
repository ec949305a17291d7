//! The pixels of a hostile picture, decoded within bounds.
//!
//! Whatever shines through is white, as on paper. Damaged pictures have no pixels.

use png::{ColorType, Transformations};
use std::io::Cursor;
use zune_jpeg::{
    JpegDecoder,
    zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions},
};

/// Pixels of the largest picture, and of its longest side.
const MOST: u64 = 16 << 20;
const LONGEST: u32 = 16_384;

/// Bytes that a decoder may take beside the pixels.
const MEMORY: usize = 64 << 20;

/// Scans of a progressive JPEG. Encoders write about ten, and each costs as much as the picture.
const MOST_SCANS: usize = 32;

/// A picture without transparency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pixels {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Row by row.
    pub(super) rgb: Vec<[u8; 3]>,
}

impl Pixels {
    pub(super) fn of_png(bytes: &[u8]) -> Option<Self> {
        let mut decoder =
            png::Decoder::new_with_limits(Cursor::new(bytes), png::Limits { bytes: MEMORY });
        decoder
            .set_transformations(Transformations::normalize_to_color8() | Transformations::ALPHA);
        // They would only be unpacked.
        decoder.set_ignore_text_chunk(true);
        decoder.set_ignore_iccp_chunk(true);
        let mut reader = decoder.read_info().ok()?;
        let (width, height) = reader.info().size();
        if !is_fit(width, height) {
            return None;
        }
        let mut samples = vec![0; reader.output_buffer_size()?];
        let frame = reader.next_frame(&mut samples).ok()?;
        let rgb: Vec<_> = match frame.color_type {
            ColorType::GrayscaleAlpha => {
                samples.chunks_exact(2).map(|one| over_white([one[0]; 3], one[1])).collect()
            }
            ColorType::Rgba => samples
                .chunks_exact(4)
                .map(|one| over_white([one[0], one[1], one[2]], one[3]))
                .collect(),
            // The transformations leave no others.
            ColorType::Grayscale | ColorType::Rgb | ColorType::Indexed => return None,
        };
        Self::new(width, height, rgb)
    }

    pub(super) fn of_jpeg(bytes: &[u8]) -> Option<Self> {
        let longest = usize::try_from(LONGEST).ok()?;
        let options = DecoderOptions::default()
            .set_max_width(longest)
            .set_max_height(longest)
            .jpeg_set_max_scans(MOST_SCANS)
            .jpeg_set_out_colorspace(ColorSpace::RGB);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
        decoder.decode_headers().ok()?;
        let (width, height) = decoder.dimensions()?;
        let (width, height) = (u32::try_from(width).ok()?, u32::try_from(height).ok()?);
        if !is_fit(width, height) {
            return None;
        }
        let samples = decoder.decode().ok()?;
        let rgb = samples.chunks_exact(3).map(|one| [one[0], one[1], one[2]]).collect();
        Self::new(width, height, rgb)
    }

    fn new(width: u32, height: u32, mut rgb: Vec<[u8; 3]>) -> Option<Self> {
        let count = usize::try_from(u64::from(width) * u64::from(height)).ok()?;
        if rgb.len() < count {
            return None;
        }
        rgb.truncate(count);
        Some(Self { width, height, rgb })
    }

    /// One row.
    pub(super) fn row(&self, y: u32) -> &[[u8; 3]] {
        let (width, y) = (self.width as usize, y as usize);
        &self.rgb[y * width..(y + 1) * width]
    }

    /// The same picture with fewer pixels: each is the mean of those that it stands for.
    pub(super) fn scaled(self, width: u32, height: u32) -> Self {
        if (width, height) == (self.width, self.height) {
            return self;
        }
        let rgb = (0..height)
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .map(|(x, y)| self.mean(part(x, width, self.width), part(y, height, self.height)))
            .collect();
        Self { width, height, rgb }
    }

    fn mean(&self, columns: std::ops::Range<u32>, rows: std::ops::Range<u32>) -> [u8; 3] {
        let (mut sums, mut count) = ([0_u64; 3], 0_u64);
        for y in rows {
            for pixel in &self.row(y)[columns.start as usize..columns.end as usize] {
                for (sum, sample) in sums.iter_mut().zip(pixel) {
                    *sum += u64::from(*sample);
                }
                count += 1;
            }
        }
        let count = count.max(1);
        sums.map(|sum| u8::try_from((sum + count / 2) / count).unwrap_or(u8::MAX))
    }

    /// As a PNG of our own.
    pub(super) fn to_png(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().ok()?;
        writer.write_image_data(self.rgb.as_flattened()).ok()?;
        writer.finish().ok()?;
        Some(bytes)
    }
}

/// Which of `from` pixels the pixel at `at` of `to` stands for: at least one.
fn part(at: u32, to: u32, from: u32) -> std::ops::Range<u32> {
    let edge = |at: u32| {
        let edge = u64::from(at) * u64::from(from) / u64::from(to.max(1));
        u32::try_from(edge).unwrap_or(from).min(from)
    };
    let start = edge(at).min(from.saturating_sub(1));
    start..edge(at + 1).max(start + 1).min(from)
}

fn is_fit(width: u32, height: u32) -> bool {
    let count = u64::from(width) * u64::from(height);
    width > 0 && height > 0 && width <= LONGEST && height <= LONGEST && count <= MOST
}

fn over_white(colour: [u8; 3], alpha: u8) -> [u8; 3] {
    let (alpha, rest) = (u32::from(alpha), 255 - u32::from(alpha));
    colour.map(|one| u8::try_from((u32::from(one) * alpha + 255 * rest + 127) / 255).unwrap_or(255))
}

#[cfg(test)]
mod hostile;

#[cfg(test)]
mod tests {
    use super::{hostile::checksum, *};
    use proptest::prelude::*;

    fn checkered(width: u32, height: u32) -> Pixels {
        let colour = |at: u32| if at.is_multiple_of(2) { [250, 10, 60] } else { [0, 128, 255] };
        let rgb = (0..height).flat_map(|y| (0..width).map(move |x| colour(x + y))).collect();
        Pixels { width, height, rgb }
    }

    #[test]
    fn a_png_comes_back_as_it_was() {
        let pixels = checkered(7, 5);
        assert_eq!(Pixels::of_png(&pixels.to_png().unwrap()).unwrap(), pixels);
    }

    #[test]
    fn transparency_is_white() {
        assert_eq!(over_white([9, 9, 9], 0), [255; 3]);
        assert_eq!(over_white([9, 9, 9], 255), [9; 3]);
        assert_eq!(over_white([0, 255, 100], 128), [127, 255, 177]);
    }

    #[test]
    fn fewer_pixels_are_means() {
        let small = checkered(8, 8).scaled(2, 2);
        assert_eq!(small.rgb, [[125, 69, 158]; 4]);
        assert_eq!(checkered(3, 3).scaled(3, 3), checkered(3, 3));
    }

    #[test]
    fn a_picture_that_claims_to_be_enormous_is_none() {
        let mut png = checkered(4, 4).to_png().unwrap();
        // Its own checksum is made right, so that the size alone is what is wrong.
        for (width, height) in [(60_000_u32, 60_000_u32), (16_384, 16_384), (u32::MAX, 1), (0, 5)] {
            png[16..20].copy_from_slice(&width.to_be_bytes());
            png[20..24].copy_from_slice(&height.to_be_bytes());
            let sum = checksum(&png[12..29]);
            png[29..33].copy_from_slice(&sum.to_be_bytes());
            assert_eq!(Pixels::of_png(&png), None, "{width}×{height}");
        }
    }

    #[test]
    fn a_picture_that_ends_early_is_none() {
        let png = checkered(40, 40).to_png().unwrap();
        for length in [0, 8, 20, 40, png.len() / 2] {
            assert_eq!(Pixels::of_png(&png[..length]), None, "{length}");
        }
        assert_eq!(Pixels::of_jpeg(&png), None);
    }

    const HEADS: [&[u8]; 4] = [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"\xff\xd8\xff\xc0"];

    proptest! {
        #[test]
        fn any_bytes_may_come(
            mut bytes in prop::collection::vec(any::<u8>(), 0..300),
            head in prop::sample::select(&HEADS[..]),
        ) {
            bytes.splice(0..0, head.iter().copied());
            if let Some(pixels) = Pixels::of_png(&bytes).or_else(|| Pixels::of_jpeg(&bytes)) {
                prop_assert_eq!(pixels.rgb.len() as u64, u64::from(pixels.width) * u64::from(pixels.height));
            }
        }

        #[test]
        fn a_changed_png_is_a_picture_or_none(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let mut png = checkered(20, 10).to_png().unwrap();
            let at = at.index(png.len());
            png[at] = byte;
            Pixels::of_png(&png);
        }

        #[test]
        fn every_pixel_has_its_part(to in 1..50_u32, from in 1..200_u32) {
            prop_assume!(to <= from);
            let mut next = 0;
            for at in 0..to {
                let part = part(at, to, from);
                prop_assert_eq!(part.start, next);
                prop_assert!(part.end > part.start);
                next = part.end;
            }
            prop_assert_eq!(next, from);
        }
    }
}
