//! The keys of a file and their values.

use super::{GgufFault, bytes::Bytes};
use std::{
    collections::{BTreeMap, HashSet},
    io::Read,
};

/// Keys of a file. Known ones have about forty.
const MOST_KEYS: u64 = 1_024;

/// Bytes of a key, by the format itself.
const LONGEST_KEY: usize = 65_535;

/// Bytes of a text that isn't a token: templates of conversations are the longest.
const LONGEST_TEXT: usize = 128 << 10;

/// Bytes of a token, or of a rule that joins two.
const LONGEST_TOKEN: usize = 4_096;

/// Values of an array. Vocabularies have up to a quarter of a million tokens.
const MOST_VALUES: u64 = 1 << 20;

/// Where tensors begin, where a file doesn't say.
const USUAL_ALIGNMENT: u32 = 32;

/// The largest of all, that of a page.
const LARGEST_ALIGNMENT: u32 = 4_096;

/// The key of the tokens.
pub(super) const TOKENS: &str = "tokenizer.ggml.tokens";

/// A value, with its type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    U8,
    I8,
    U16(u16),
    I16,
    U32(u32),
    I32(i32),
    F32(f32),
    Bool,
    Text(Vec<u8>),
    U64,
    I64,
    F64,
    Array { of: ValueKind, count: u64 },
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    F32,
    Bool,
    Text,
    Array,
    U64,
    I64,
    F64,
}

impl ValueKind {
    /// The one of a number in a file.
    fn of_number(number: u32) -> Result<Self, GgufFault> {
        Ok(match number {
            0 => Self::U8,
            1 => Self::I8,
            2 => Self::U16,
            3 => Self::I16,
            4 => Self::U32,
            5 => Self::I32,
            6 => Self::F32,
            7 => Self::Bool,
            8 => Self::Text,
            9 => Self::Array,
            10 => Self::U64,
            11 => Self::I64,
            12 => Self::F64,
            _ => return Err(GgufFault::Entry),
        })
    }

    /// The bytes of each, unless they differ.
    const fn bytes(self) -> Option<u64> {
        match self {
            Self::U8 | Self::I8 | Self::Bool => Some(1),
            Self::U16 | Self::I16 => Some(2),
            Self::U32 | Self::I32 | Self::F32 => Some(4),
            Self::U64 | Self::I64 | Self::F64 => Some(8),
            Self::Text | Self::Array => None,
        }
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Meta(BTreeMap<String, Value>);

impl Meta {
    /// Reads them.
    pub(super) fn read<R: Read>(bytes: &mut Bytes<R>, keys: u64) -> Result<Self, GgufFault> {
        if keys > MOST_KEYS {
            return Err(GgufFault::TooMuch);
        }
        let mut all = BTreeMap::new();
        for _ in 0..keys {
            let key = key(&bytes.text(LONGEST_KEY)?)?;
            let value = value(bytes, &key)?;
            if all.insert(key, value).is_some() {
                return Err(GgufFault::Twice);
            }
        }
        Ok(Self(all))
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// All of them, with their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The number of which the places of tensors are multiples.
    pub(super) fn alignment(&self) -> Result<u64, GgufFault> {
        let alignment = match self.get("general.alignment") {
            None => USUAL_ALIGNMENT,
            Some(Value::U32(alignment)) => *alignment,
            Some(_) => return Err(GgufFault::Entry),
        };
        let is_possible = (8..=LARGEST_ALIGNMENT).contains(&alignment);
        if is_possible && alignment.is_power_of_two() {
            Ok(alignment.into())
        } else {
            Err(GgufFault::Impossible)
        }
    }
}

/// A key: words with dots between them.
fn key(bytes: &[u8]) -> Result<String, GgufFault> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    if bytes.is_empty() || !bytes.iter().all(is_plain) {
        return Err(GgufFault::Entry);
    }
    String::from_utf8(bytes.to_vec()).map_err(|_| GgufFault::Entry)
}

fn value<R: Read>(bytes: &mut Bytes<R>, key: &str) -> Result<Value, GgufFault> {
    let kind = ValueKind::of_number(bytes.u32()?)?;
    Ok(match kind {
        ValueKind::U16 => Value::U16(u16::from_le_bytes(bytes.array()?)),
        ValueKind::U32 => Value::U32(bytes.u32()?),
        ValueKind::I32 => Value::I32(i32::from_le_bytes(bytes.array()?)),
        ValueKind::F32 => Value::F32(f32::from_le_bytes(bytes.array()?)),
        ValueKind::Text => Value::Text(bytes.text(LONGEST_TEXT)?),
        ValueKind::Array => array(bytes, key)?,
        ValueKind::Bool => {
            // Any other byte is a truth value that the engine's compiler doesn't expect.
            let [byte] = bytes.array()?;
            if byte > 1 {
                return Err(GgufFault::Entry);
            }
            Value::Bool
        }
        ValueKind::U8 => bytes.pass(1).map(|()| Value::U8)?,
        ValueKind::I8 => bytes.pass(1).map(|()| Value::I8)?,
        ValueKind::I16 => bytes.pass(2).map(|()| Value::I16)?,
        ValueKind::U64 => bytes.pass(8).map(|()| Value::U64)?,
        ValueKind::I64 => bytes.pass(8).map(|()| Value::I64)?,
        ValueKind::F64 => bytes.pass(8).map(|()| Value::F64)?,
    })
}

fn array<R: Read>(bytes: &mut Bytes<R>, key: &str) -> Result<Value, GgufFault> {
    let of = ValueKind::of_number(bytes.u32()?)?;
    let count = bytes.u64()?;
    // The shortest text is the number of its bytes.
    let least = count.checked_mul(of.bytes().unwrap_or(8)).ok_or(GgufFault::CutShort)?;
    if least > bytes.length() - bytes.done() {
        return Err(GgufFault::CutShort);
    }
    if count > MOST_VALUES {
        return Err(GgufFault::TooMuch);
    }
    match of {
        // The format knows arrays of arrays; no model has one, and the engine reads none.
        ValueKind::Array => return Err(GgufFault::Entry),
        ValueKind::Text if key == TOKENS => tokens(bytes, count)?,
        ValueKind::Text => (0..count).try_for_each(|_| bytes.text(LONGEST_TOKEN).map(drop))?,
        ValueKind::Bool => (0..count).try_for_each(|_| match bytes.array()? {
            [0 | 1] => Ok(()),
            [_] => Err(GgufFault::Entry),
        })?,
        ValueKind::U8
        | ValueKind::I8
        | ValueKind::U16
        | ValueKind::I16
        | ValueKind::U32
        | ValueKind::I32
        | ValueKind::F32
        | ValueKind::U64
        | ValueKind::I64
        | ValueKind::F64 => bytes.pass(least)?,
    }
    Ok(Value::Array { of, count })
}

/// Tokens, of which no two are the same: the engine ends the program where two are. An empty one
/// gets a name from it, which none may have already.
fn tokens<R: Read>(bytes: &mut Bytes<R>, count: u64) -> Result<(), GgufFault> {
    let mut known = HashSet::new();
    for place in 0..count {
        let mut token = bytes.text(LONGEST_TOKEN)?;
        if token.contains(&0) {
            return Err(GgufFault::Vocabulary);
        }
        if token.is_empty() {
            token = format!("[EMPTY_{place}]").into_bytes();
        }
        if !known.insert(token) {
            return Err(GgufFault::Vocabulary);
        }
    }
    Ok(())
}
