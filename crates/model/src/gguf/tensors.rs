//! The list of tensors: their shapes, types and places.

use super::{GgufFault, bytes::Bytes};
use std::{collections::HashSet, io::Read};

/// Tensors of a file. Known ones have a few hundred.
const MOST_TENSORS: u64 = 8_192;

/// Bytes of a name: the engine has room for one more.
const LONGEST_NAME: usize = 63;

/// Dimensions of a tensor.
const MOST_DIMENSIONS: u32 = 4;

/// Numbers of a tensor in one dimension.
const WIDEST: u64 = 1 << 31;

/// Reads the list and checks that the tensors lie one behind another up to the end of the file.
pub(super) fn check<R: Read>(
    bytes: &mut Bytes<R>,
    tensors: u64,
    alignment: u64,
) -> Result<(), GgufFault> {
    if tensors == 0 {
        return Err(GgufFault::Missing);
    }
    if tensors > MOST_TENSORS {
        return Err(GgufFault::TooMuch);
    }
    let (mut names, mut end, mut padded) = (HashSet::new(), 0_u64, 0_u64);
    for _ in 0..tensors {
        let name = bytes.text(LONGEST_NAME)?;
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
        if name.is_empty() || !name.iter().all(is_plain) {
            return Err(GgufFault::Tensor);
        }
        if !names.insert(name) {
            return Err(GgufFault::Twice);
        }
        let size = size(bytes)?;
        if bytes.u64()? != padded {
            return Err(GgufFault::Place);
        }
        end = padded.checked_add(size).ok_or(GgufFault::Tensor)?;
        padded = end.checked_next_multiple_of(alignment).ok_or(GgufFault::Tensor)?;
    }
    let begin = bytes.done().next_multiple_of(alignment);
    let at = |place: u64| begin.checked_add(place).ok_or(GgufFault::Place);
    // The room behind the last one may be there or not, and nothing else is.
    if bytes.length() < at(end)? {
        return Err(GgufFault::CutShort);
    }
    if bytes.length() > at(padded)? { Err(GgufFault::Place) } else { Ok(()) }
}

/// The bytes of a tensor, by its shape and type.
fn size<R: Read>(bytes: &mut Bytes<R>) -> Result<u64, GgufFault> {
    let dimensions = bytes.u32()?;
    if !(1..=MOST_DIMENSIONS).contains(&dimensions) {
        return Err(GgufFault::Tensor);
    }
    let (mut row, mut count) = (0, 1_u64);
    for place in 0..dimensions {
        let width = bytes.u64()?;
        if !(1..=WIDEST).contains(&width) {
            return Err(GgufFault::Tensor);
        }
        if place == 0 {
            row = width;
        }
        count = count.checked_mul(width).ok_or(GgufFault::Tensor)?;
    }
    let (block, each) = block(bytes.u32()?).ok_or(GgufFault::Tensor)?;
    if !row.is_multiple_of(block) {
        return Err(GgufFault::Tensor);
    }
    let size = (count / block).checked_mul(each).filter(|size| i64::try_from(*size).is_ok());
    size.ok_or(GgufFault::Tensor)
}

/// How many numbers a type packs together, and the bytes that they take. None for one that models
/// of the catalogue's kinds don't use.
const fn block(kind: u32) -> Option<(u64, u64)> {
    Some(match kind {
        // F32, F16, BF16
        0 => (1, 4),
        1 | 30 => (1, 2),
        // Q4_0, Q4_1, Q5_0, Q5_1, Q8_0
        2 => (32, 18),
        3 => (32, 20),
        6 => (32, 22),
        7 => (32, 24),
        8 => (32, 34),
        // Q2_K to Q6_K
        10 => (256, 84),
        11 => (256, 110),
        12 => (256, 144),
        13 => (256, 176),
        14 => (256, 210),
        _ => return None,
    })
}
