//! Pictures that are made to be more than they seem, each beside one that is right.

use super::*;
use std::time::{Duration, Instant};

/// A chunk of a PNG, with its checksum.
fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let named = [&kind[..], data].concat();
    let length = u32::try_from(data.len()).unwrap();
    [&length.to_be_bytes()[..], &named, &checksum(&named).to_be_bytes()].concat()
}

/// The checksum of a PNG's chunk.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for &byte in bytes {
        sum ^= u32::from(byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
        }
    }
    !sum
}

/// What these chunks are between the signature and the end.
fn png(chunks: &[Vec<u8>]) -> Vec<u8> {
    [b"\x89PNG\r\n\x1a\n".to_vec(), chunks.concat(), chunk(b"IEND", b"")].concat()
}

fn head(width: u32, height: u32, depth: u8, colour: u8, interlaced: u8) -> Vec<u8> {
    let data =
        [&width.to_be_bytes()[..], &height.to_be_bytes(), &[depth, colour, 0, 0, interlaced]];
    chunk(b"IHDR", &data.concat())
}

/// Bytes as a stream of zlib, which are not made smaller.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let (mut a, mut b) = (1_u32, 0_u32);
    for &byte in bytes {
        a = (a + u32::from(byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    let mut out = vec![0x78, 0x01];
    let parts = bytes.chunks(0xffff);
    let last = parts.len().saturating_sub(1);
    for (place, part) in parts.enumerate() {
        let length = u16::try_from(part.len()).unwrap();
        out.push(u8::from(place == last));
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend(part);
    }
    out.extend(((b << 16) | a).to_be_bytes());
    out
}

/// A stream of zlib that becomes so many megabytes of nothing: taken out of a picture.
fn bomb(megabytes: u32) -> Vec<u8> {
    let (width, height) = (4_095, megabytes << 8);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(ColorType::Grayscale);
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(&vec![0; (width * height) as usize]).unwrap();
    writer.finish().unwrap();
    chunks(&bytes)
        .into_iter()
        .filter(|(kind, _)| kind == b"IDAT")
        .flat_map(|(_, data)| data)
        .collect()
}

/// The chunks of a PNG.
fn chunks(png: &[u8]) -> Vec<([u8; 4], Vec<u8>)> {
    let (mut rest, mut found) = (&png[8..], Vec::new());
    while let Some((length, more)) = rest.split_first_chunk::<4>() {
        let (kind, more) = more.split_first_chunk::<4>().unwrap();
        let (data, more) = more.split_at(u32::from_be_bytes(*length) as usize);
        found.push((*kind, data.to_vec()));
        rest = &more[4..];
    }
    found
}

/// Two rows of two grey pixels.
const GREY: [u8; 6] = [0, 10, 200, 0, 90, 255];

fn grey(more: &[Vec<u8>]) -> Vec<u8> {
    let data = chunk(b"IDAT", &stored(&GREY));
    png(&[&[head(2, 2, 8, 0, 0)], more, &[data]].concat())
}

#[track_caller]
fn in_time<T>(seconds: u64, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let done = work();
    assert!(began.elapsed() < Duration::from_secs(seconds), "{:?}", began.elapsed());
    done
}

#[test]
fn nothing_but_pixels_survives() {
    let secret = b"Title\0\x1b[2J\x1b_Ga=d\x1b\\ CANARY";
    let profile = [&b"CANARY\0\0"[..], &stored(b"CANARY")].concat();
    let plain = Pixels::of_png(&grey(&[])).unwrap();
    assert_eq!(plain.rgb, [[10; 3], [200; 3], [90; 3], [255; 3]]);
    for more in [
        chunk(b"tEXt", secret),
        chunk(b"zTXt", &[&b"T\0\0"[..], &stored(b"CANARY")].concat()),
        chunk(b"iTXt", b"T\0\0\0\0\0CANARY"),
        chunk(b"eXIf", b"MM\0*CANARY"),
        chunk(b"iCCP", &profile),
        chunk(b"tIME", &[7, 0xea, 1, 2, 3, 4, 5]),
        chunk(b"vpAg", b"CANARY"),
    ] {
        let pixels = Pixels::of_png(&grey(std::slice::from_ref(&more))).unwrap();
        assert_eq!(pixels, plain, "{more:?}");
        let again = pixels.to_png().unwrap();
        let kinds: Vec<_> = chunks(&again).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [*b"IHDR", *b"IDAT", *b"IEND"]);
        assert!(!again.windows(6).any(|part| part == b"CANARY"));
    }
    // Behind the end too.
    let behind = [grey(&[]), secret.to_vec()].concat();
    assert_eq!(Pixels::of_png(&behind), Some(plain));
}

#[test]
fn bombs_of_a_few_kilobytes_take_little() {
    let bomb = bomb(60);
    assert!(bomb.len() < 200_000, "{}", bomb.len());
    for (name, more) in [
        ("profile", chunk(b"iCCP", &[&b"x\0\0"[..], &bomb].concat())),
        ("text", chunk(b"zTXt", &[&b"x\0\0"[..], &bomb].concat())),
        ("international text", chunk(b"iTXt", &[&b"x\0\x01\0\0\0"[..], &bomb].concat())),
    ] {
        let many: Vec<_> = std::iter::repeat_n(more, 50).collect();
        let pixels = in_time(5, || Pixels::of_png(&grey(&many)));
        assert!(pixels.is_none_or(|pixels| pixels.rgb.len() == 4), "{name}");
    }
    // More rows than it says that it has, in one chunk and in thousands.
    let long = png(&[head(2, 2, 8, 0, 0), chunk(b"IDAT", &bomb)]);
    let pixels = in_time(5, || Pixels::of_png(&long));
    assert!(pixels.is_none_or(|pixels| pixels.rgb.len() == 4));
    let empty: Vec<_> = std::iter::repeat_n(chunk(b"IDAT", b""), 100_000).collect();
    in_time(5, || assert_eq!(Pixels::of_png(&grey(&empty)), Pixels::of_png(&grey(&[]))));
    let other: Vec<_> = std::iter::repeat_n(chunk(b"abCd", b"x"), 100_000).collect();
    in_time(5, || assert!(Pixels::of_png(&grey(&other)).is_some()));
}

#[test]
fn animations_are_their_first_picture_and_no_more() {
    let control = |frames: u32| chunk(b"acTL", &[frames.to_be_bytes(), [0; 4]].concat());
    let frame = |number: u32, width: u32, height: u32, x: u32| {
        let sizes = [number, width, height, x, 0].map(u32::to_be_bytes).concat();
        chunk(b"fcTL", &[&sizes[..], &[0, 1, 0, 1, 0, 0]].concat())
    };
    let data = |number: u32| chunk(b"fdAT", &[&number.to_be_bytes()[..], &stored(&GREY)].concat());
    let still = Pixels::of_png(&grey(&[])).unwrap();
    let first = grey(&[control(2), frame(0, 2, 2, 0)]);
    assert_eq!(Pixels::of_png(&first), Some(still.clone()));
    // Frames without end behind it, which nobody asks for.
    let crowd = (0..50_000).flat_map(|one| [frame(2 * one + 1, 2, 2, 0), data(2 * one + 2)]);
    let mut flood = [&b"\x89PNG\r\n\x1a\n"[..], &head(2, 2, 8, 0, 0), &control(u32::MAX)].concat();
    flood.extend(frame(0, 2, 2, 0));
    flood.extend(chunk(b"IDAT", &stored(&GREY)));
    flood.extend(crowd.flatten());
    assert_eq!(in_time(5, || Pixels::of_png(&flood)), Some(still));
    // A first frame of another size or place is none, or as large as the picture.
    for (width, height, x) in
        [(1, 1, 0), (2, 1, 0), (9, 9, 0), (2, 2, 1), (0, 0, 0), (2, 2, u32::MAX)]
    {
        let odd = grey(&[control(1), frame(0, width, height, x)]);
        let pixels = Pixels::of_png(&odd);
        assert!(pixels.is_none_or(|pixels| pixels.rgb.len() == 4), "{width} {height} {x}");
    }
}

#[test]
fn palettes_and_depths_that_do_not_fit_are_none_or_within_bounds() {
    let with = |depth: u8, colour: u8, interlaced: u8, more: &[Vec<u8>], data: &[u8]| {
        let data = chunk(b"IDAT", &stored(data));
        Pixels::of_png(&png(&[&[head(5, 3, depth, colour, interlaced)], more, &[data]].concat()))
    };
    let rows = |bytes: usize, fill: u8| [&[0][..], &vec![fill; bytes]].concat().repeat(3);
    let palette = chunk(b"PLTE", &[9, 9, 9, 200, 0, 0]);
    // The controls.
    assert_eq!(
        with(8, 3, 0, std::slice::from_ref(&palette), &rows(5, 1)).unwrap().rgb,
        [[200, 0, 0]; 15]
    );
    assert_eq!(with(16, 2, 0, &[], &rows(30, 255)).unwrap().rgb, [[255; 3]; 15]);
    assert_eq!(with(1, 0, 0, &[], &rows(1, 255)).unwrap().rgb, [[255; 3]; 15]);
    for depth in [0, 1, 2, 3, 4, 8, 16, 32, 255] {
        for colour in [0, 1, 2, 3, 4, 5, 6, 7, 255] {
            for interlaced in [0, 1, 2] {
                for more in [
                    vec![],
                    vec![palette.clone()],
                    vec![chunk(b"PLTE", b"")],
                    vec![chunk(b"PLTE", &[1, 2])],
                    vec![chunk(b"PLTE", &vec![7; 3 * 257])],
                    vec![palette.clone(), palette.clone()],
                    vec![palette.clone(), chunk(b"tRNS", &[0; 300])],
                    vec![palette.clone(), chunk(b"tRNS", b"")],
                ] {
                    for data in [rows(5, 255), rows(60, 254), vec![5; 200], vec![]] {
                        let pixels = with(depth, colour, interlaced, &more, &data);
                        assert!(pixels.is_none_or(|pixels| pixels.rgb.len() == 15));
                    }
                }
            }
        }
    }
}

/// Bits of a stream of JPEG, the highest first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    free: u32,
}

impl Bits {
    fn put(&mut self, value: u32, count: u32) {
        for place in (0..count).rev() {
            if self.free == 0 {
                if self.bytes.last() == Some(&0xff) {
                    self.bytes.push(0);
                }
                self.bytes.push(0);
                self.free = 8;
            }
            self.free -= 1;
            *self.bytes.last_mut().unwrap() |=
                u8::try_from(value >> place & 1).unwrap() << self.free;
        }
    }
}

fn segment(marker: u8, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len() + 2).unwrap();
    [&[0xff, marker][..], &length.to_be_bytes(), data].concat()
}

/// A grey progressive JPEG, whose later scans say in a few bytes that nothing changes.
fn progressive(side: u16, scans: usize) -> Vec<u8> {
    let table = |kind: u8, symbols: &[u8]| {
        // One code of one bit, and perhaps one of two.
        let mut lengths = [0; 16];
        (lengths[0], lengths[1]) = (1, u8::from(symbols.len() > 1));
        segment(0xc4, &[&[kind][..], &lengths, symbols].concat())
    };
    let blocks = (u32::from(side).div_ceil(8)).pow(2);
    let [high, low] = side.to_be_bytes();
    let mut out = b"\xff\xd8".to_vec();
    out.extend(segment(0xdb, &[&[0][..], &[1; 64]].concat()));
    out.extend(segment(0xc2, &[8, high, low, high, low, 1, 1, 0x11, 0]));
    // The first scan: every block is as its neighbour.
    out.extend(table(0, &[0]));
    out.extend(segment(0xda, &[1, 1, 0, 0, 0, 0]));
    let mut bits = Bits::default();
    (0..blocks).for_each(|_| bits.put(0, 1));
    out.extend(bits.bytes);
    out.extend(table(0x10, &[0xe0, 0x00]));
    for _ in 0..scans {
        out.extend(segment(0xda, &[1, 1, 0, 1, 63, 0]));
        let (mut bits, mut left) = (Bits::default(), blocks);
        while left > 0 {
            let run = left.min(0x7fff);
            if run >= 1 << 14 {
                bits.put(0, 1);
                bits.put(run - (1 << 14), 14);
                left -= run;
            } else {
                bits.put(0b10, 2);
                left -= 1;
            }
        }
        while bits.free > 0 {
            bits.put(1, 1);
        }
        out.extend(bits.bytes);
    }
    out.extend(b"\xff\xd9");
    out
}

#[test]
fn a_jpeg_of_endless_scans_is_none() {
    // The control, which encoders write: ten scans or so.
    let plain = Pixels::of_jpeg(&progressive(64, 10)).unwrap();
    assert_eq!((plain.width, plain.height, plain.rgb.len()), (64, 64, 4_096));
    assert!(in_time(60, || Pixels::of_jpeg(&progressive(4_096, 10))).is_some());
    assert_eq!(Pixels::of_jpeg(&progressive(64, 40)), None);
    let bytes = progressive(4_096, 20_000);
    assert!(bytes.len() < 4 << 20, "{}", bytes.len());
    in_time(60, || assert_eq!(Pixels::of_jpeg(&bytes), None));
}

#[test]
fn a_jpeg_that_lies_about_its_size_is_none_or_within_bounds() {
    let right = progressive(64, 1);
    let place = right.windows(2).position(|part| part == b"\xff\xc2").unwrap() + 5;
    for (height, width) in
        [(0, 64), (64, 0), (0, 0), (65_535, 65_535), (65_535, 1), (16_384, 16_384), (16_385, 8)]
    {
        let mut wrong = right.clone();
        let (height, width) = (u16::to_be_bytes(height), u16::to_be_bytes(width));
        wrong[place..place + 4].copy_from_slice(&[height, width].concat());
        assert_eq!(in_time(5, || Pixels::of_jpeg(&wrong)), None, "{height:?} {width:?}");
    }
    // Smaller, and a little larger: whatever there is of it.
    for side in [1_u16, 8, 63, 65, 512] {
        let mut wrong = right.clone();
        wrong[place..place + 4].copy_from_slice(&[side.to_be_bytes(); 2].concat());
        let pixels = in_time(5, || Pixels::of_jpeg(&wrong));
        let count = usize::from(side).pow(2);
        assert!(pixels.is_none_or(|pixels| pixels.rgb.len() == count), "{side}");
    }
    // Other processes, precisions, counts of components and samplings.
    let frame = right.windows(2).position(|part| part == b"\xff\xc2").unwrap();
    for marker in 0xc0..=0xcf_u8 {
        let mut wrong = right.clone();
        wrong[frame + 1] = marker;
        in_time(5, || Pixels::of_jpeg(&wrong));
    }
    for (place, values) in [
        (4, [0, 1, 12, 16, 255]),
        (9, [0, 2, 3, 4, 255]),
        (11, [0, 0x14, 0x41, 0x44, 0xff]),
        (12, [1, 3, 4, 7, 255]),
    ] {
        for value in values {
            let mut wrong = right.clone();
            wrong[frame + place] = value;
            let pixels = in_time(5, || Pixels::of_jpeg(&wrong));
            assert!(pixels.is_none_or(|pixels| pixels.rgb.len() == 4_096), "{place} {value}");
        }
    }
    // Cut anywhere, and without any of its tables.
    for length in (0..right.len()).step_by(7) {
        in_time(5, || Pixels::of_jpeg(&right[..length]));
    }
    for table in [b"\xff\xdb", b"\xff\xc4", b"\xff\xda"] {
        let mut wrong = right.clone();
        let place = wrong.windows(2).position(|part| part == table).unwrap();
        wrong[place + 1] = 0xfe;
        in_time(5, || Pixels::of_jpeg(&wrong));
    }
}

#[test]
fn comments_and_profiles_of_a_jpeg_do_not_survive() {
    let right = progressive(16, 2);
    let plain = Pixels::of_jpeg(&right).unwrap();
    let profile = [&b"ICC_PROFILE\0\x01\x01CANARY"[..], &[0; 100]].concat();
    for more in [
        segment(0xfe, b"CANARY\x1b[2J"),
        segment(0xe1, b"Exif\0\0MM\0*\0\0\0\x08\0\x01CANARY"),
        segment(0xe1, b"Exif\0\0II*\0\xff\xff\xff\xff\xff\xffCANARY"),
        segment(0xe2, &profile),
        segment(0xe2, b"ICC_PROFILE\0\xff\x00CANARY"),
        segment(0xee, b"Adobe\0\x64\0\0\0\0\x01CANARY"),
    ] {
        let told = [&right[..2], &more, &right[2..]].concat();
        let Some(pixels) = Pixels::of_jpeg(&told) else { continue };
        assert_eq!((pixels.width, pixels.height), (plain.width, plain.height));
        let again = pixels.to_png().unwrap();
        assert!(!again.windows(6).any(|part| part == b"CANARY"));
    }
}
