//! A small file that is right, and wrong ones of the same make: for tests and fuzzing.

/// A file in its parts, each of which can lie.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) version: u32,
    /// Another count of tensors than there are.
    pub(crate) tensor_count: Option<u64>,
    /// Another count of keys than there are.
    pub(crate) key_count: Option<u64>,
    /// Keys with the bytes of their values, types included.
    pub(crate) keys: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) tensors: Vec<SampleTensor>,
    pub(crate) alignment: usize,
    /// Bytes behind everything, or cut off.
    pub(crate) more: i64,
}

/// A tensor of it.
#[derive(Clone, Debug)]
pub(crate) struct SampleTensor {
    pub(crate) name: Vec<u8>,
    pub(crate) shape: Vec<u64>,
    pub(crate) kind: u32,
    pub(crate) place: u64,
}

pub(crate) fn text(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text].concat()
}

pub(crate) fn kind(number: u32, value: &[u8]) -> Vec<u8> {
    [&number.to_le_bytes()[..], value].concat()
}

pub(crate) fn number(value: u32) -> Vec<u8> {
    kind(4, &value.to_le_bytes())
}

pub(crate) fn fraction(value: f32) -> Vec<u8> {
    kind(6, &value.to_le_bytes())
}

pub(crate) fn word(value: &str) -> Vec<u8> {
    kind(8, &text(value.as_bytes()))
}

/// An array of a type, which says that it has so many values, with these bytes.
pub(crate) fn array(of: u32, count: u64, bytes: &[u8]) -> Vec<u8> {
    kind(9, &[&of.to_le_bytes()[..], &count.to_le_bytes(), bytes].concat())
}

pub(crate) fn words(words: &[&str]) -> Vec<u8> {
    let bytes: Vec<_> = words.iter().flat_map(|word| text(word.as_bytes())).collect();
    array(8, words.len() as u64, &bytes)
}

impl Default for Sample {
    fn default() -> Self {
        let types: Vec<_> = [1_i32, 1, 3].iter().flat_map(|kind| kind.to_le_bytes()).collect();
        let keys = [
            ("general.architecture", word("llama")),
            ("general.alignment", number(32)),
            ("llama.block_count", number(2)),
            ("llama.context_length", number(512)),
            ("llama.embedding_length", number(64)),
            ("llama.feed_forward_length", number(128)),
            ("llama.attention.head_count", number(4)),
            ("llama.attention.head_count_kv", number(2)),
            ("llama.rope.dimension_count", number(16)),
            ("llama.attention.layer_norm_rms_epsilon", fraction(1e-5)),
            ("llama.vocab_size", number(3)),
            ("tokenizer.ggml.model", word("gpt2")),
            ("tokenizer.ggml.tokens", words(&["a", "b", "</s>"])),
            ("tokenizer.ggml.token_type", array(5, 3, &types)),
            ("tokenizer.ggml.merges", words(&["a b"])),
            ("tokenizer.ggml.eos_token_id", number(2)),
            ("tokenizer.ggml.add_bos_token", kind(7, &[0])),
            ("tokenizer.chat_template", word("{{ messages }}")),
        ];
        let tensor = |name: &str, shape: &[u64], kind, place| SampleTensor {
            name: name.into(),
            shape: shape.to_vec(),
            kind,
            place,
        };
        Self {
            version: 3,
            tensor_count: None,
            key_count: None,
            keys: keys.map(|(key, value)| (key.as_bytes().to_vec(), value)).into(),
            tensors: vec![
                tensor("token_embd.weight", &[64, 3], 8, 0),
                tensor("output_norm.weight", &[3], 0, 224),
                tensor("blk.0.attn_q.weight", &[256, 1], 12, 256),
            ],
            alignment: 32,
            more: 0,
        }
    }
}

impl Sample {
    /// With another value for a key, or the key besides the others.
    pub(crate) fn with(mut self, key: &str, value: Vec<u8>) -> Self {
        match self.keys.iter_mut().find(|(known, _)| known == key.as_bytes()) {
            Some((_, old)) => *old = value,
            None => self.keys.push((key.into(), value)),
        }
        self
    }

    pub(crate) fn without(mut self, key: &str) -> Self {
        self.keys.retain(|(known, _)| known != key.as_bytes());
        self
    }

    pub(crate) fn tensor(mut self, place: usize, edit: impl FnOnce(&mut SampleTensor)) -> Self {
        edit(&mut self.tensors[place]);
        self
    }

    /// The bytes before the numbers of the tensors.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(self.version.to_le_bytes());
        bytes.extend(self.tensor_count.unwrap_or(self.tensors.len() as u64).to_le_bytes());
        bytes.extend(self.key_count.unwrap_or(self.keys.len() as u64).to_le_bytes());
        for (key, value) in &self.keys {
            bytes.extend(text(key));
            bytes.extend(value);
        }
        for SampleTensor { name, shape, kind, place } in &self.tensors {
            bytes.extend(text(name));
            bytes.extend(u32::try_from(shape.len()).unwrap_or(u32::MAX).to_le_bytes());
            bytes.extend(shape.iter().flat_map(|width| width.to_le_bytes()));
            bytes.extend(kind.to_le_bytes());
            bytes.extend(place.to_le_bytes());
        }
        bytes
    }

    /// The whole file: the tensors of the default have 416 bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head();
        bytes.resize(bytes.len().next_multiple_of(self.alignment), 0);
        let length = (bytes.len() + 416).saturating_add_signed(self.more as isize);
        bytes.resize(length, 0x5a);
        bytes
    }
}
