//! Pictures as sixels: bands of six rows of pixels, one colour after the other.
//!
//! Has at most 256 colours. Where a picture has more, similar ones share one.

use super::pixels::Pixels;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

/// Colours that every terminal with sixels has room for.
const MOST: usize = 256;

/// The picture as one sequence.
pub(super) fn sequence(pixels: &Pixels) -> String {
    let (palette, indexes) = indexed(pixels);
    let (width, height) = (pixels.width as usize, pixels.height as usize);
    // Whatever is not painted stays as it is, and pixels are square.
    let mut out = format!("\u{1b}P0;1;0q\"1;1;{width};{height}");
    let percent = |sample: u8| (u32::from(sample) * 100 + 127) / 255;
    for (number, colour) in palette.iter().enumerate() {
        let [red, green, blue] = colour.map(percent);
        // Writing to a string cannot fail.
        _ = write!(out, "#{number};2;{red};{green};{blue}");
    }
    for band in indexes.chunks(6 * width) {
        let used: BTreeSet<u8> = band.iter().copied().collect();
        for colour in used {
            _ = write!(out, "#{colour}");
            add_band(&mut out, band, width, colour);
            out.push('$');
        }
        out.push('-');
    }
    out.push_str("\u{1b}\\");
    out
}

/// Adds the pixels of one colour in a band, the same ones in a row together.
fn add_band(out: &mut String, band: &[u8], width: usize, colour: u8) {
    let (mut last, mut count) = ('?', 0);
    for x in 0..width {
        let rows = band.iter().skip(x).step_by(width).enumerate();
        let bits = rows.fold(0, |bits, (row, &one)| bits | (u8::from(one == colour) << row));
        let sixel = char::from(b'?' + bits);
        if sixel != last {
            add_run(out, last, count);
            (last, count) = (sixel, 0);
        }
        count += 1;
    }
    // Nothing is painted behind the last pixel.
    if last != '?' {
        add_run(out, last, count);
    }
}

fn add_run(out: &mut String, sixel: char, count: usize) {
    if count > 3 {
        // Writing to a string cannot fail.
        _ = write!(out, "!{count}{sixel}");
    } else {
        out.extend(std::iter::repeat_n(sixel, count));
    }
}

/// At most so many colours, and for each pixel the number of its own.
fn indexed(pixels: &Pixels) -> (Vec<[u8; 3]>, Vec<u8>) {
    let exact: BTreeSet<_> = pixels.rgb.iter().copied().take(MOST * 64).collect();
    let is_exact = exact.len() <= MOST && pixels.rgb.iter().all(|one| exact.contains(one));
    let key = |colour: [u8; 3]| if is_exact { colour } else { colour.map(|one| one >> 3) };
    let mut groups = BTreeMap::<[u8; 3], Group>::new();
    for &colour in &pixels.rgb {
        groups.entry(key(colour)).or_default().add(colour);
    }
    let measured = |groups: Vec<_>| (spread(&groups), groups);
    let mut boxes = vec![measured(groups.into_iter().collect())];
    while boxes.len() < MOST {
        // The one whose colours differ most, by their number.
        let widest = boxes.iter().enumerate().max_by_key(|(_, ((much, _), _))| *much);
        let Some((at, _)) = widest.filter(|(_, (_, one))| one.len() > 1) else { break };
        let ((_, channel), mut one) = boxes.swap_remove(at);
        one.sort_by_key(|(key, _)| key[channel]);
        let rest = one.split_off(half(&one));
        boxes.extend([measured(one), measured(rest)]);
    }
    let mut palette = Vec::new();
    let mut numbers = BTreeMap::new();
    for (_, one) in boxes {
        let number = u8::try_from(palette.len()).unwrap_or(u8::MAX);
        let mut all = Group::default();
        for (key, group) in one {
            numbers.insert(key, number);
            all.join(&group);
        }
        palette.push(all.mean());
    }
    let indexes = pixels.rgb.iter().map(|&one| numbers[&key(one)]).collect();
    (palette, indexes)
}

/// Pixels that share a colour.
#[derive(Clone, Debug, Default)]
struct Group {
    sums: [u64; 3],
    count: u64,
}

impl Group {
    fn add(&mut self, colour: [u8; 3]) {
        self.join(&Self { sums: colour.map(u64::from), count: 1 });
    }

    fn join(&mut self, other: &Self) {
        for (sum, more) in self.sums.iter_mut().zip(other.sums) {
            *sum += more;
        }
        self.count += other.count;
    }

    fn mean(&self) -> [u8; 3] {
        let count = self.count.max(1);
        self.sums.map(|sum| u8::try_from((sum + count / 2) / count).unwrap_or(u8::MAX))
    }
}

/// How much it matters to split these colours, and by which channel: their widest one, times their
/// pixels.
fn spread(groups: &[([u8; 3], Group)]) -> (u64, usize) {
    let pixels: u64 = groups.iter().map(|(_, group)| group.count).sum();
    let width = |channel: usize| {
        let values = || groups.iter().map(|(key, _)| key[channel]);
        u64::from(values().max().unwrap_or(0) - values().min().unwrap_or(0))
    };
    let channel = (0..3).max_by_key(|&channel| width(channel)).unwrap_or(0);
    (width(channel) * pixels, channel)
}

/// Where half of the pixels are before and half behind; something is on both sides.
fn half(groups: &[([u8; 3], Group)]) -> usize {
    let all: u64 = groups.iter().map(|(_, group)| group.count).sum();
    let mut before = 0;
    let at = groups.iter().take_while(|(_, group)| {
        before += group.count;
        before * 2 <= all
    });
    at.count().clamp(1, groups.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_small_picture_is_a_short_sequence() {
        let (red, blue) = ([255, 0, 0], [0, 0, 255]);
        let pixels = Pixels { width: 5, height: 2, rgb: [[red; 5], [blue; 5]].concat() };
        assert_eq!(
            sequence(&pixels),
            "\u{1b}P0;1;0q\"1;1;5;2#0;2;100;0;0#1;2;0;0;100#0!5@$#1!5A$-\u{1b}\\"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn colours_stay_near(rgb in prop::collection::vec(any::<[u8; 3]>(), 1..900)) {
            let pixels = Pixels { width: u32::try_from(rgb.len()).unwrap(), height: 1, rgb };
            let (palette, indexes) = indexed(&pixels);
            prop_assert!(palette.len() <= MOST);
            let distinct: BTreeSet<_> = pixels.rgb.iter().collect();
            for (shown, colour) in indexes.iter().map(|&at| palette[usize::from(at)]).zip(&pixels.rgb) {
                let far = shown.iter().zip(colour).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
                prop_assert!(far == 0 || distinct.len() > MOST && far < 128, "{:?} {:?}", shown, colour);
            }
        }
    }
}
