//! The values that say what model a file has.

use super::{
    GgufFault,
    meta::{Meta, TOKENS, Value, ValueKind},
};
use std::ops::RangeInclusive;

/// The architectures of the catalogue.
const ARCHITECTURES: [&[u8]; 2] = [b"llama", b"qwen2"];

/// The kinds of tokenizers of the catalogue.
const TOKENIZERS: [&[u8]; 2] = [b"gpt2", b"llama"];

/// Numbers of a model, and what they can be: the bounds are far beyond the catalogue's, and far
/// below where a product of them leaves 63 bits.
const NUMBERS: [(&str, RangeInclusive<u32>); 5] = [
    ("block_count", 1..=512),
    ("context_length", 1..=1 << 24),
    ("embedding_length", 1..=1 << 17),
    ("feed_forward_length", 1..=1 << 20),
    ("attention.head_count", 1..=1_024),
];

/// Further values of a model. Any other would lead into code of the engine that no model of the
/// catalogue uses.
const OTHERS: [&str; 5] =
    ["attention.head_count_kv", "rope.dimension_count", SMALLEST, BASE, "vocab_size"];

const SMALLEST: &str = "attention.layer_norm_rms_epsilon";
const BASE: &str = "rope.freq_base";

/// Checks them.
pub(super) fn check(meta: &Meta) -> Result<(), GgufFault> {
    let architecture = text(meta, "general.architecture")?;
    let architecture = ARCHITECTURES.iter().find(|known| **known == architecture);
    let architecture = architecture.ok_or(GgufFault::Architecture)?;
    let architecture = str::from_utf8(architecture).map_err(|_| GgufFault::Architecture)?;
    let key = |name: &str| format!("{architecture}.{name}");
    let is_known =
        |name: &str| NUMBERS.iter().any(|(known, _)| *known == name) || OTHERS.contains(&name);
    let mut names =
        meta.iter().filter_map(|(key, _)| key.strip_prefix(architecture)?.strip_prefix('.'));
    if !names.all(is_known) {
        return Err(GgufFault::Architecture);
    }
    // With more than one part, the engine would look for the others by their names, unchecked.
    if !matches!(meta.get("split.count"), None | Some(Value::U16(0 | 1))) {
        return Err(GgufFault::Parts);
    }
    for (name, possible) in NUMBERS {
        if !possible.contains(&number(meta, &key(name))?) {
            return Err(GgufFault::Impossible);
        }
    }
    let heads = number(meta, &key("attention.head_count"))?;
    let width = number(meta, &key("embedding_length"))?;
    let shared = match meta.get(&key("attention.head_count_kv")) {
        None => heads,
        Some(_) => number(meta, &key("attention.head_count_kv"))?,
    };
    // They are divided by one another.
    let is_even = shared > 0 && heads.is_multiple_of(shared) && width.is_multiple_of(heads);
    if !is_even {
        return Err(GgufFault::Impossible);
    }
    if meta.get(&key("rope.dimension_count")).is_some() {
        let turned = number(meta, &key("rope.dimension_count"))?;
        if !(1..=width / heads).contains(&turned) || turned % 2 == 1 {
            return Err(GgufFault::Impossible);
        }
    }
    for name in [SMALLEST, BASE] {
        match meta.get(&key(name)) {
            None => {}
            Some(Value::F32(value)) if value.is_finite() && *value >= 0.0 => {}
            Some(_) => return Err(GgufFault::Impossible),
        }
    }
    vocabulary(meta, &key("vocab_size"))
}

/// Tokens, and everything that there is one of for each.
fn vocabulary(meta: &Meta, size: &str) -> Result<(), GgufFault> {
    if !TOKENIZERS.contains(&text(meta, "tokenizer.ggml.model")?) {
        return Err(GgufFault::Architecture);
    }
    let count = match meta.get(TOKENS) {
        Some(Value::Array { of: ValueKind::Text, count }) if *count > 0 => *count,
        Some(_) | None => return Err(GgufFault::Vocabulary),
    };
    for (key, kind) in
        [("tokenizer.ggml.token_type", ValueKind::I32), ("tokenizer.ggml.scores", ValueKind::F32)]
    {
        match meta.get(key) {
            None => {}
            Some(Value::Array { of, count: others }) if *of == kind && *others == count => {}
            Some(_) => return Err(GgufFault::Vocabulary),
        }
    }
    match meta.get("tokenizer.ggml.merges") {
        None | Some(Value::Array { of: ValueKind::Text, .. }) => {}
        Some(_) => return Err(GgufFault::Vocabulary),
    }
    if meta.get(size).is_some() && u64::from(number(meta, size)?) != count {
        return Err(GgufFault::Vocabulary);
    }
    let mut ids = meta
        .iter()
        .filter(|(key, _)| key.starts_with("tokenizer.ggml.") && key.ends_with("_token_id"));
    let is_token = |value: &Value| match value {
        Value::U32(id) => u64::from(*id) < count,
        Value::U8
        | Value::I8
        | Value::U16(_)
        | Value::I16
        | Value::I32(_)
        | Value::F32(_)
        | Value::Bool
        | Value::Text(_)
        | Value::U64
        | Value::I64
        | Value::F64
        | Value::Array { .. } => false,
    };
    if ids.all(|(_, value)| is_token(value)) { Ok(()) } else { Err(GgufFault::Vocabulary) }
}

fn text<'a>(meta: &'a Meta, key: &str) -> Result<&'a [u8], GgufFault> {
    match meta.get(key) {
        Some(Value::Text(text)) => Ok(text),
        Some(_) | None => Err(GgufFault::Missing),
    }
}

fn number(meta: &Meta, key: &str) -> Result<u32, GgufFault> {
    match meta.get(key) {
        Some(Value::U32(number)) => Ok(*number),
        Some(_) | None => Err(GgufFault::Missing),
    }
}
