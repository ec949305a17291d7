//! Files that lie, each beside the same file without the lie.

use super::{
    sample::{Sample, array, fraction, kind, number, text, word, words},
    *,
};
use GgufFault as Fault;
use proptest::prelude::*;
use std::{
    os::unix::{fs::symlink, net::UnixListener},
    path::{Path, PathBuf},
};

fn seen(sample: &Sample) -> Result<(), GgufFault> {
    let bytes = sample.bytes();
    check(&*bytes, bytes.len() as u64)
}

fn sample() -> Sample {
    Sample::default()
}

#[test]
fn a_file_that_is_right_is_read_in_each_of_its_forms() {
    assert_eq!(seen(&sample()), Ok(()));
    assert_eq!(seen(&Sample { version: 2, ..sample() }), Ok(()));
    // The last tensor may be followed by the room up to the next place, or end the file.
    assert_eq!(seen(&Sample { more: -16, ..sample() }), Ok(()));
    let qwen = sample().keys.into_iter().map(|(key, value)| {
        let key = String::from_utf8(key).unwrap().replace("llama.", "qwen2.");
        (key.into_bytes(), value)
    });
    let qwen = Sample { keys: qwen.collect(), ..sample() };
    assert_eq!(seen(&qwen.with("general.architecture", word("qwen2"))), Ok(()));
    let least = ["general.alignment", "llama.vocab_size", "tokenizer.ggml.token_type"];
    let least = least.into_iter().fold(sample(), Sample::without);
    assert_eq!(seen(&least.without("llama.attention.head_count_kv")), Ok(()));
    let empty = words(&["", "b", ""]);
    assert_eq!(seen(&sample().with("tokenizer.ggml.tokens", empty)), Ok(()));
}

/// Weights of the catalogue, which `scripts/test` fetches.
#[test]
fn weights_of_the_catalogue_are_read() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-tools/models");
    let path = here.join("SmolLM2-135M-Instruct.Q4_1.gguf");
    if !path.exists() {
        eprintln!("not tried: {} is not here; `scripts/test` fetches it", path.display());
        return;
    }
    assert_eq!(open(&path).map(drop), Ok(()));
    // The same with one tensor longer than the file, and cut in the middle.
    let mut head = Vec::new();
    fs_err::File::open(&path).unwrap().take(4 << 20).read_to_end(&mut head).unwrap();
    let whole = fs_err::metadata(&path).unwrap().len();
    assert_eq!(check(&*head, whole), Ok(()));
    assert_eq!(check(&*head, whole - 100_000), Err(Fault::CutShort));
    assert_eq!(check(&*head, whole + 1_000), Err(Fault::Place));
    let short = check(&head[..1 << 20], whole).unwrap_err();
    assert_eq!(short.problem(), "is damaged: it is shorter than it says");
}

#[test]
fn no_count_and_no_length_is_believed() {
    let huge = [u64::MAX, i64::MAX.cast_unsigned(), 1 << 63, 1 << 40];
    for count in huge {
        let many = Sample { tensor_count: Some(count), ..sample() };
        assert_eq!(seen(&many), Err(Fault::TooMuch), "{count} tensors");
        let many = Sample { key_count: Some(count), ..sample() };
        assert_eq!(seen(&many), Err(Fault::TooMuch), "{count} keys");
        for (of, fault) in [(0, Fault::CutShort), (8, Fault::CutShort), (12, Fault::CutShort)] {
            let long = sample().with("x.y", array(of, count, b""));
            assert_eq!(seen(&long), Err(fault), "an array of {count}");
        }
        let mut long = sample();
        long.keys[0].1 = [&8_u32.to_le_bytes()[..], &count.to_le_bytes(), b"llama"].concat();
        assert_eq!(seen(&long), Err(Fault::CutShort), "a text of {count} bytes");
        for place in 0..2 {
            let wide = sample().tensor(0, |tensor| tensor.shape[place] = count);
            assert_eq!(seen(&wide), Err(Fault::Tensor), "{count} numbers");
        }
        let far = sample().tensor(1, |tensor| tensor.place = count);
        assert_eq!(seen(&far), Err(Fault::Place), "a place at {count}");
    }
    // Few more than there are: what follows is taken for them.
    for count in [4, 5, 100] {
        assert!(seen(&Sample { tensor_count: Some(count), ..sample() }).is_err(), "{count}");
    }
    for count in [0, 1, 17, 19, 1_000] {
        assert!(seen(&Sample { key_count: Some(count), ..sample() }).is_err(), "{count}");
    }
    // Products that leave 64 bits, or come back to a small number by it.
    for shape in [vec![1 << 31, 1 << 31, 1 << 31], vec![1 << 31, 1 << 31, 4], vec![1 << 31; 4]] {
        let wide = sample().tensor(0, |tensor| (tensor.shape, tensor.kind) = (shape.clone(), 0));
        assert_eq!(seen(&wide), Err(Fault::Tensor), "{shape:?}");
    }
}

#[test]
fn keys_and_values_are_those_of_the_format() {
    for (sample, fault) in [
        (Sample { version: 1, ..sample() }, Fault::Version),
        (Sample { version: 4, ..sample() }, Fault::Version),
        (Sample { version: 3 << 24, ..sample() }, Fault::Version),
        (sample().with("x.y", 13_u32.to_le_bytes().into()), Fault::Entry),
        (sample().with("x.y", u32::MAX.to_le_bytes().into()), Fault::Entry),
        // An array of arrays, and truth values that are neither.
        (sample().with("x.y", array(9, 1, &array(0, 1, b"1"))), Fault::Entry),
        (sample().with("x.y", [&7_u32.to_le_bytes()[..], &[2]].concat()), Fault::Entry),
        (sample().with("x.y", array(7, 2, &[1, 255])), Fault::Entry),
        (sample().with("", number(1)), Fault::Entry),
        (sample().with("a\0b", number(1)), Fault::Entry),
        (sample().with("a\u{202e}b", number(1)), Fault::Entry),
        (sample().with("x.y", array(8, 1, &text(&[b'x'; 5_000]))), Fault::TooMuch),
        (sample().with("tokenizer.chat_template", word(&"x".repeat(200_000))), Fault::TooMuch),
        (sample().with("general.alignment", number(0)), Fault::Impossible),
        (sample().with("general.alignment", number(1)), Fault::Impossible),
        (sample().with("general.alignment", number(48)), Fault::Impossible),
        (sample().with("general.alignment", number(1 << 31)), Fault::Impossible),
        (sample().with("general.alignment", fraction(32.0)), Fault::Entry),
    ] {
        assert_eq!(seen(&sample), Err(fault), "{:?}", sample.keys.last());
    }
    let mut twice = sample();
    twice.keys.push(twice.keys[0].clone());
    assert_eq!(seen(&twice), Err(Fault::Twice));
    // The controls: what is not known here is passed over if it is one of the format.
    for value in [array(7, 2, &[1, 0]), array(8, 1, &text(&[b'x'; 4_000])), array(0, 0, b"")] {
        assert_eq!(seen(&sample().with("x.y", value)), Ok(()));
    }
}

#[test]
fn a_model_is_of_a_known_kind_and_its_numbers_divide() {
    for (key, value, fault) in [
        ("general.architecture", word("clip"), Fault::Architecture),
        ("general.architecture", word("LLAMA"), Fault::Architecture),
        ("general.architecture", word("qwen2"), Fault::Missing),
        ("general.architecture", number(1), Fault::Missing),
        ("tokenizer.ggml.model", word("t5"), Fault::Architecture),
        ("llama.block_count", number(0), Fault::Impossible),
        ("llama.block_count", number(513), Fault::Impossible),
        ("llama.block_count", fraction(2.0), Fault::Missing),
        ("llama.context_length", number(0), Fault::Impossible),
        ("llama.context_length", number(u32::MAX), Fault::Impossible),
        ("llama.embedding_length", number(0), Fault::Impossible),
        ("llama.embedding_length", number(65), Fault::Impossible),
        ("llama.embedding_length", number(u32::MAX), Fault::Impossible),
        ("llama.feed_forward_length", array(4, 1, &[1, 0, 0, 0]), Fault::Missing),
        ("llama.attention.head_count", number(0), Fault::Impossible),
        ("llama.attention.head_count", number(3), Fault::Impossible),
        ("llama.attention.head_count_kv", number(0), Fault::Impossible),
        ("llama.attention.head_count_kv", number(3), Fault::Impossible),
        ("llama.attention.head_count_kv", number(8), Fault::Impossible),
        ("llama.rope.dimension_count", number(0), Fault::Impossible),
        ("llama.rope.dimension_count", number(7), Fault::Impossible),
        ("llama.rope.dimension_count", number(18), Fault::Impossible),
        ("llama.attention.layer_norm_rms_epsilon", fraction(f32::NAN), Fault::Impossible),
        ("llama.rope.freq_base", fraction(f32::INFINITY), Fault::Impossible),
        ("llama.rope.freq_base", fraction(-1.0), Fault::Impossible),
        // Code of the engine that no model of the catalogue leads into.
        ("llama.expert_count", number(0), Fault::Architecture),
        ("llama.rope.scaling.type", word("yarn"), Fault::Architecture),
        ("llama.attention.key_length", number(1 << 30), Fault::Architecture),
        // The engine opens the other parts by their names.
        ("split.count", kind(2, &[2, 0]), Fault::Parts),
        ("split.count", kind(2, &[255, 255]), Fault::Parts),
        ("split.count", number(1), Fault::Parts),
    ] {
        let wrong = sample().with(key, value.clone());
        assert_eq!(seen(&wrong), Err(fault), "{key} {value:?}");
    }
    for right in [kind(2, &[1, 0]), kind(2, &[0, 0])] {
        assert_eq!(seen(&sample().with("split.count", right)), Ok(()));
    }
    assert_eq!(seen(&sample().with("qwen2.expert_count", number(1))), Ok(()), "of no model here");
    for key in ["general.architecture", "llama.block_count", "tokenizer.ggml.model"] {
        assert_eq!(seen(&sample().without(key)), Err(Fault::Missing), "{key}");
    }
}

#[test]
fn what_there_is_for_each_token_is_there_for_each() {
    let types = |count: u64| array(5, count, &vec![1; 4 * usize::try_from(count).unwrap()]);
    for (key, value) in [
        // The engine ends the program where two tokens are the same.
        ("tokenizer.ggml.tokens", words(&["a", "b", "a"])),
        ("tokenizer.ggml.tokens", words(&["a", "[EMPTY_2]", ""])),
        ("tokenizer.ggml.tokens", words(&["a", "b\0", "c"])),
        ("tokenizer.ggml.tokens", words(&["a", "b"])),
        ("tokenizer.ggml.tokens", words(&[])),
        ("tokenizer.ggml.tokens", array(0, 3, b"abc")),
        ("tokenizer.ggml.tokens", word("abc")),
        ("tokenizer.ggml.token_type", types(2)),
        ("tokenizer.ggml.token_type", types(4)),
        ("tokenizer.ggml.token_type", types(0)),
        ("tokenizer.ggml.token_type", array(0, 3, b"abc")),
        ("tokenizer.ggml.scores", array(6, 2, &[0; 8])),
        ("tokenizer.ggml.scores", array(5, 3, &[0; 12])),
        ("tokenizer.ggml.merges", array(0, 3, b"abc")),
        ("tokenizer.ggml.eos_token_id", number(3)),
        ("tokenizer.ggml.eos_token_id", number(u32::MAX)),
        ("tokenizer.ggml.fim_pre_token_id", number(3)),
        ("tokenizer.ggml.bos_token_id", word("0")),
        ("llama.vocab_size", number(4)),
    ] {
        let wrong = sample().with(key, value.clone());
        assert_eq!(seen(&wrong), Err(Fault::Vocabulary), "{key} {value:?}");
    }
    assert_eq!(seen(&sample().without("tokenizer.ggml.tokens")), Err(Fault::Vocabulary));
    let scored = sample().with("tokenizer.ggml.scores", array(6, 3, &[0; 12]));
    assert_eq!(seen(&scored.with("tokenizer.ggml.fim_pre_token_id", number(0))), Ok(()));
}

#[test]
fn tensors_lie_one_behind_another_and_end_with_the_file() {
    for (place, fault) in [(0, 32), (1, 0), (1, 192), (1, 256), (2, 224), (2, 0), (2, 288)] {
        let moved = sample().tensor(place, |tensor| tensor.place = fault);
        assert_eq!(seen(&moved), Err(Fault::Place), "{place} at {fault}");
    }
    for (sample, fault) in [
        (sample().tensor(0, |tensor| tensor.name = Vec::new()), Fault::Tensor),
        (sample().tensor(0, |tensor| tensor.name = vec![b'x'; 64]), Fault::TooMuch),
        (sample().tensor(0, |tensor| tensor.name = b"a\0b".to_vec()), Fault::Tensor),
        (sample().tensor(0, |tensor| tensor.name = b"output_norm.weight".to_vec()), Fault::Twice),
        (sample().tensor(0, |tensor| tensor.shape = vec![]), Fault::Tensor),
        (sample().tensor(0, |tensor| tensor.shape = vec![32; 5]), Fault::Tensor),
        (sample().tensor(0, |tensor| tensor.shape = vec![0, 3]), Fault::Tensor),
        // Rows that are no multiple of what the type packs together.
        (sample().tensor(0, |tensor| tensor.shape = vec![63, 3]), Fault::Tensor),
        (sample().tensor(2, |tensor| tensor.shape = vec![128, 2]), Fault::Tensor),
        (sample().tensor(0, |tensor| tensor.kind = 4), Fault::Tensor),
        (sample().tensor(0, |tensor| tensor.kind = 41), Fault::Tensor),
        (sample().tensor(0, |tensor| tensor.kind = u32::MAX), Fault::Tensor),
        (Sample { more: -17, ..sample() }, Fault::CutShort),
        (Sample { more: -416, ..sample() }, Fault::CutShort),
        (Sample { more: 1, ..sample() }, Fault::Place),
        (Sample { more: 1 << 20, ..sample() }, Fault::Place),
        (Sample { tensors: vec![], ..sample() }, Fault::Missing),
    ] {
        assert_eq!(seen(&sample), Err(fault), "{:?} {}", sample.tensors, sample.more);
    }
    // The control: the longest name that the engine has room for.
    assert_eq!(seen(&sample().tensor(0, |tensor| tensor.name = vec![b'x'; 63])), Ok(()));
}

#[test]
fn only_a_regular_file_is_opened_and_nothing_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| -> PathBuf { folder.path().join(name) };
    fs_err::write(at("right"), sample().bytes()).unwrap();
    symlink(at("right"), at("link")).unwrap();
    assert!(open(&at("right")).is_ok() && open(&at("link")).is_ok());
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("pipe"),
        fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    symlink(at("loop"), at("loop")).unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    for (path, fault) in [
        (at("pipe"), Fault::NoFile),
        (at(""), Fault::NoFile),
        ("/dev/zero".into(), Fault::NoFile),
        ("/dev/null".into(), Fault::NoFile),
        (at("loop"), Fault::Unreadable),
        (at("socket"), Fault::Unreadable),
        (at("missing"), Fault::Unreadable),
    ] {
        assert_eq!(open(&path).map(drop), Err(fault), "{}", path.display());
    }
    for (content, fault) in [
        (&b""[..], Fault::NotGguf),
        (b"GGU", Fault::NotGguf),
        (b"FUGG\x03\0\0\0", Fault::NotGguf),
        (b"GGUF", Fault::CutShort),
        (b"GGUF\x03\0\0\0", Fault::CutShort),
    ] {
        fs_err::write(at("short"), content).unwrap();
        assert_eq!(open(&at("short")).map(drop), Err(fault), "{content:?}");
    }
    // The engine reads the file that was checked, whatever has its name by then.
    let checked = open(&at("right")).unwrap();
    fs_err::write(at("other"), b"GGUF and then anything").unwrap();
    fs_err::rename(at("other"), at("right")).unwrap();
    let mut read = Vec::new();
    let again = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&checked));
    fs_err::File::open(again).unwrap().read_to_end(&mut read).unwrap();
    assert_eq!(read, sample().bytes());
}

#[test]
fn a_file_that_becomes_shorter_while_it_is_read_is_cut_short() {
    let bytes = sample().bytes();
    for cut in [10, 40, 200, sample().head().len() - 1] {
        assert_eq!(check(&bytes[..cut], bytes.len() as u64), Err(Fault::CutShort), "{cut}");
    }
}

#[test]
fn a_head_without_end_is_given_up() {
    // Keys that are allowed one by one, and too many bytes of them together.
    let most = array(8, 20_000, &vec![text(&[b'x'; 4_000]); 20_000].concat());
    let long = sample().with("x.y", most);
    assert_eq!(seen(&long), Err(Fault::TooMuch));
}

proptest! {
    #[test]
    fn any_bytes_are_refused(bytes in any::<Vec<u8>>(), length in any::<u64>()) {
        prop_assert!(check(&*bytes, bytes.len() as u64).is_err());
        let headed = [&b"GGUF\x03\0\0\0"[..], &bytes].concat();
        prop_assert!(check(&*headed, headed.len() as u64).is_err());
        prop_assert!(check(&*headed, length).is_err());
    }

    #[test]
    fn a_file_that_is_cut_anywhere_is_refused(cut in 17..10_000_usize) {
        let bytes = sample().bytes();
        let cut = bytes.len().saturating_sub(cut);
        prop_assert!(check(&bytes[..cut], cut as u64).is_err());
    }

    #[test]
    fn any_change_leaves_a_file_within_its_bounds(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = sample().bytes();
        let head = sample().head().len();
        for (place, byte) in changes {
            bytes[place.index(head)] = byte;
        }
        // Whatever it means now, and nothing panics: the tensors end where the file does.
        let fits = |length: usize| check(&*bytes, length as u64).is_ok();
        prop_assert!(!fits(bytes.len()) || !fits(bytes.len() + 4_096));
    }
}
