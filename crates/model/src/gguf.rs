//! Reads the head of a GGUF file before the engine does, and refuses what a file of a known model
//! never has.
//!
//! # Threat
//! A file that was made to break its reader. The engine is C++ in our own process: a count, a length
//! or an offset that lies there may write where it likes, and an assertion that fails ends the
//! program. Weights are only run if their SHA-256 is in the catalogue, but that result is remembered,
//! so a file can have changed since.
//!
//! # Mechanism
//! The file is opened once, as a regular file, and the engine reads that very file. Everything before
//! the numbers of the tensors is read here, within bounds:
//!
//! - No length or count reaches past the end of the file, and none is believed before it is compared
//!   with the bytes that are left. Memory is taken for texts of a few kilobytes only.
//! - Keys, tensors and tokens have each a name of their own. Values have the types that the engine
//!   reads them as, and arrays that belong together have the same length.
//! - Tensors are of types that the catalogue uses. They lie one behind another without a gap and end
//!   where the file ends.
//! - Only the architectures of the catalogue are let through: the engine has code for a hundred
//!   others, which no file can reach.
//!
//! # Limits
//! The numbers of the tensors aren't looked at, nor whether they make a useful model. A program that
//! may write to the file can change it while the engine reads it.
//!
//! Must stay free of `unsafe` and of the engine, so that it can be tested and fuzzed without it.

use bytes::Bytes;
use meta::Meta;
use std::io::Read;

pub(crate) use fault::GgufFault;
#[cfg(any(feature = "embedded", test))]
pub(crate) use open::open;

mod bytes;
mod fault;
mod meta;
mod model;
#[cfg(any(feature = "embedded", test))]
mod open;
#[cfg(any(feature = "fuzzing", test))]
pub(crate) mod sample;
mod tensors;

#[cfg(test)]
mod tests;

/// Numbers of the format that the engine reads: the two have the same layout.
const VERSIONS: std::ops::RangeInclusive<u32> = 2..=3;

/// Checks the head of a file of this many bytes.
pub(crate) fn check(from: impl Read, length: u64) -> Result<(), GgufFault> {
    let mut bytes = Bytes::new(from, length);
    if &bytes.array::<4>().map_err(|_| GgufFault::NotGguf)? != b"GGUF" {
        return Err(GgufFault::NotGguf);
    }
    if !VERSIONS.contains(&bytes.u32()?) {
        return Err(GgufFault::Version);
    }
    let (tensors, keys) = (bytes.u64()?, bytes.u64()?);
    let meta = Meta::read(&mut bytes, keys)?;
    model::check(&meta)?;
    tensors::check(&mut bytes, tensors, meta.alignment()?)
}
