//! One target for each reader of foreign bytes, for as long as `BOLERO_RANDOM_TEST_TIME_MS` says.
//!
//! Inputs are built of words that matter to the reader, mixed with arbitrary text, because random
//! bytes alone never get past the first check. A failure prints the seed that repeats it. Each
//! target also has a property: that nothing panics would be a weak promise.

use bolero::check;
use interpreter_core::{
    Capability, Continuity, Deed, Findings, Finish, LanguageInfo, Languages, Opinion, Origin,
    Patterns, Policy, Proposal, Reply, Risk, Rule, Rules, Untrusted, WireFormat,
    extract::{
        self,
        fences::{FencePiece, Fences},
    },
    untrusted,
};
use interpreter_host::{Claim, Decoder, Frame, Inward, Outward, encode};

/// Text of these words and of anything else. A number beyond the words is a character.
fn written(words: &[&str], numbers: &[u16]) -> String {
    let mut text = String::new();
    for &number in numbers {
        match words.get(usize::from(number) % (2 * words.len())) {
            Some(word) => text.push_str(word),
            None => text.push(char::from_u32(number.into()).unwrap_or('\u{fffd}')),
        }
    }
    text
}

/// The text in pieces of these lengths, over and over.
fn cut<'a>(text: &'a str, lengths: &[u8]) -> Vec<&'a str> {
    let (mut rest, mut pieces) = (text, Vec::new());
    for length in lengths.iter().chain([&0]).cycle() {
        if rest.is_empty() {
            return pieces;
        }
        let end = rest.char_indices().map(|(at, _)| at).nth(usize::from(*length) + 1);
        let (piece, more) = rest.split_at(end.unwrap_or(rest.len()));
        pieces.push(piece);
        rest = more;
    }
    pieces
}

fn languages() -> Languages {
    let info = |name: &str, alias: &str| LanguageInfo {
        name: name.into(),
        aliases: vec![alias.into()],
        endings: vec![],
        continuity: Continuity::Kept,
    };
    Languages::new(vec![info("python", "py"), info("shell", "bash"), info("javascript", "js")])
}

#[rustfmt::skip] // one word a line is no list to read
const REPLY: &[&str] = &[
    "```", "~~~", "````", "python", "bash", "\n", "\n\n", "    ", "- ", "1. ", "> ", "\t", "{",
    "}", "\"", "\"language\"", "\"code\"", ":", ",", "[", "]", "execute", "\\n", "print(1)", "json",
    "output", "p1", "\r\n", " ", "```python\n", "~~~bash\n", "\n```\n", "\n~~~\n", "x = 1\n",
    "{\"language\": \"python\", \"code\": \"print(1)\"}",
];

/// Code is never repaired: every proposal stands in the reply, and pieces change nothing.
#[test]
fn extraction() {
    check!().with_type::<(Vec<u16>, Vec<u8>, u8)>().for_each(|(numbers, lengths, finish)| {
        let text = written(REPLY, numbers);
        let whole = joined([text.as_str()]);
        assert_eq!(joined(cut(&text, lengths)), whole, "{text:?}");
        let all = [Finish::Stop, Finish::Length, Finish::Filtered, Finish::Interrupted];
        let finish = all[usize::from(*finish) % all.len()];
        let reply = Reply { text: Untrusted::new(text.clone()), finish, ..Reply::default() };
        let found = extract::proposals(&reply, &languages(), |_, _| None, 1);
        assert!(finish != Finish::Interrupted || found.proposals.is_empty(), "{text:?}");
        let blocks: Vec<_> = whole.iter().filter_map(code).collect();
        for proposal in &found.proposals {
            let code = proposal.code().raw();
            let is_block = blocks.iter().any(|block| *block == code);
            // A call that is written out as JSON has its code in a string.
            assert!(is_block || text.contains('"'), "{code:?} is not in {text:?}");
        }
    });
}

fn code(piece: &FencePiece) -> Option<&str> {
    match piece {
        FencePiece::Code(code) => Some(code),
        FencePiece::Text(_) | FencePiece::Open { .. } | FencePiece::Close(_) => None,
    }
}

/// What the pieces of a reply say, with those joined that continue each other.
fn joined<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Vec<FencePiece> {
    let mut fences = Fences::default();
    let mut said: Vec<_> = pieces.into_iter().flat_map(|piece| fences.feed(piece)).collect();
    said.extend(fences.finish());
    let mut joined: Vec<FencePiece> = Vec::new();
    for piece in said {
        match (joined.last_mut(), piece) {
            (Some(FencePiece::Text(text)), FencePiece::Text(more))
            | (Some(FencePiece::Code(text)), FencePiece::Code(more)) => text.push_str(&more),
            (_, piece) => joined.push(piece),
        }
    }
    joined
}

#[rustfmt::skip] // one word a line is no list to read
const EVENTS: &[&str] = &[
    "data: ", "event: ", "\n", "\n\n", "\r\n", ": comment", "[DONE]", "{", "}", "[", "]", ",", ":",
    "\"choices\"", "\"delta\"", "\"content\"", "\"text\"", "\"type\"", "\"index\"", "\"id\"",
    "\"tool_calls\"", "\"function\"", "\"arguments\"", "\"name\"", "\"finish_reason\"", "\"stop\"",
    "\"usage\"", "\"message\"", "\"done\"", "true", "null", "0", "1", "99999999999", "-1",
    "\"candidates\"", "\"parts\"", "\"content_block_delta\"", "\"text_delta\"", "\"error\"",
    "\"response.output_text.delta\"", "\"message_stop\"", "\"hello\"", "\"\\ud800\"",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n",
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n",
    "data: {\"type\":\"response.output_text.delta\",\"delta\":\"x\"}\n\n",
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}]}}]}\n\n",
    "{\"message\":{\"content\":\"x\"},\"done\":false}\n",
];

/// The same bytes in any pieces give the same reply, in every wire format.
#[test]
fn wire() {
    check!().with_type::<(Vec<u16>, Vec<u8>)>().for_each(|(numbers, lengths)| {
        let text = written(EVENTS, numbers);
        for format in WireFormat::ALL {
            let whole = interpreter_model::fuzzing::read(format, &[text.as_bytes()]);
            let parts = cut(&text, lengths);
            let parts: Vec<_> = parts.iter().map(|part| part.as_bytes()).collect();
            let cut = interpreter_model::fuzzing::read(format, &parts);
            assert_eq!(cut, whole, "{format:?} {text:?}");
        }
    });
}

/// Frames survive any pieces, and a frame that was read is written as it was.
#[test]
fn frames() {
    check!().with_type::<(Vec<Part>, Vec<u8>)>().for_each(|(parts, lengths)| {
        same::<Inward>(&stream(parts, INWARD), lengths);
        let outward = stream(parts, OUTWARD);
        same::<Outward>(&outward, lengths);
        // Whatever it is, it is a claim or an error.
        drop(Claim::parse(&outward));
    });
}

/// The kinds of frames in each direction.
const INWARD: &[u8] = &[1, 3, 4, 5, 6, 7, 20];
const OUTWARD: &[u8] = &[68, 69, 70, 71, 80, 81, 82];

/// Part of a stream: a frame with a right length, or anything.
#[derive(Clone, Debug, bolero::TypeGenerator)]
enum Part {
    Empty { kind: u8, kernel: u32 },
    Number { kind: u8, kernel: u32, number: u32 },
    Json { kind: u8, kernel: u32, words: Vec<u16> },
    Bytes(Vec<u8>),
}

fn stream(parts: &[Part], kinds: &[u8]) -> Vec<u8> {
    parts.iter().flat_map(|part| part.bytes(kinds)).collect()
}

impl Part {
    fn bytes(&self, kinds: &[u8]) -> Vec<u8> {
        let (kind, kernel, payload) = match self {
            Self::Bytes(bytes) => return bytes.clone(),
            Self::Empty { kind, kernel } => (*kind, kernel, vec![]),
            Self::Number { kind, kernel, number } => (*kind, kernel, number.to_le_bytes().to_vec()),
            Self::Json { kind, kernel, words } => {
                (*kind, kernel, written(JSON, words).into_bytes())
            }
        };
        // Now and then a kind that there is not.
        let kind = kinds.get(usize::from(kind) % (kinds.len() + 1)).copied().unwrap_or(kind);
        let length = u32::try_from(payload.len() + 5).expect("it is short");
        [&length.to_le_bytes()[..], &[kind], &kernel.to_le_bytes(), &payload].concat()
    }
}

#[rustfmt::skip] // one word a line is no list to read
const JSON: &[&str] = &[
    "{", "}", "[", "]", ",", ":", "\"program\"", "\"arguments\"", "\"environment\"", "\"folder\"",
    "\"work\"", "\"lower\"", "\"paths\"", "\"/usr/bin/python3\"", "\"a\"", "0", "1", "null",
    "{\"program\":\"/a\",\"arguments\":[],\"environment\":{},\"folder\":\"/\"}",
    "{\"work\":\"/a\",\"lower\":\"/b\",\"paths\":[\"c\"]}", "{\"message\":\"\"}",
    "{\"status\":0,\"signal\":null}", "{\"errors\":[\"a\"]}",
];

fn same<F: Frame + std::fmt::Debug + PartialEq>(stream: &[u8], lengths: &[u8]) {
    let whole = decoded::<F>(&[stream]);
    let mut rest = stream;
    let mut pieces = Vec::new();
    for length in lengths.iter().chain([&0]).cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, more) = rest.split_at((usize::from(*length) + 1).min(rest.len()));
        pieces.push(piece);
        rest = more;
    }
    assert_eq!(decoded::<F>(&pieces), whole);
    for frame in &whole.0 {
        let mut bytes = Vec::new();
        encode(frame, &mut bytes).expect("what was read can be written");
        assert_eq!(decoded::<F>(&[&bytes]).0.first(), Some(frame));
    }
}

/// The frames of a stream, and whether it broke.
fn decoded<F: Frame>(pieces: &[&[u8]]) -> (Vec<F>, bool) {
    let (mut decoder, mut frames) = (Decoder::default(), Vec::new());
    for piece in pieces {
        decoder.push(piece);
        while let Some(next) = decoder.next() {
            match next {
                Ok(frame) => frames.push(frame),
                Err(_) => return (frames, true),
            }
        }
    }
    (frames, false)
}

#[rustfmt::skip] // one word a line is no list to read
const LINES: &[&str] = &["*", "git ", "push", "\n", " ", "rm -rf /", "**", "a", "é", "?", "\t"];

/// A rule as numbers: its opinion, its language, its pattern, its finding.
type AnyRule = (u8, u8, Option<Vec<u16>>, u8);

fn rule((opinion, language, pattern, finding): &AnyRule) -> Rule {
    let opinions = [Opinion::Allow, Opinion::Ask, Opinion::Deny];
    let name = |number: u8, names: [&str; 2]| {
        names.get(usize::from(number) % 3).map(|name| Patterns::one(*name))
    };
    Rule {
        language: name(*language, ["python", "shell"]),
        line: pattern
            .as_ref()
            .and_then(|numbers| Patterns::new(vec![written(LINES, numbers)]).ok()),
        finding: name(*finding, ["deletes", "connects"]),
        ..Rule::of(opinions[usize::from(*opinion) % 3])
    }
}

/// A project's rules can only tighten, and a rule more never makes the verdict weaker.
#[test]
fn rules() {
    let all = check!().with_type::<(Vec<AnyRule>, Vec<AnyRule>, AnyRule, Vec<u16>, bool)>();
    all.for_each(|(user, project, more, code, deletes)| {
        let language = languages().find("python").expect("it is in the table");
        let code = Untrusted::new(written(LINES, code));
        let proposal = Proposal::new("p1".into(), Origin::Model, None, language, code);
        let capability = Capability::new(Deed::Deletes, "x", 1, Risk::High);
        let findings = Findings::new(deletes.then_some(capability).into_iter().collect());
        let rules = |all: &[AnyRule]| Rules(all.iter().map(rule).collect());
        let (user, project) = (rules(user), rules(project));
        let judged = |user: &Rules, project: &Rules| {
            let (user, project) = (user.clone(), project.clone());
            let policy = Policy { user, project, ..Policy::default() };
            policy.judge(&proposal, &findings, Risk::High).opinion
        };
        let alone = judged(&user, &Rules::default());
        let both = judged(&user, &project);
        assert!(both >= alone, "the project loosened {alone:?} to {both:?}");
        let longer = Rules(project.0.iter().cloned().chain([rule(more)]).collect());
        assert!(judged(&user, &longer) >= both, "one rule more of the project loosened it");
    });
}

#[rustfmt::skip] // one word a line is no list to read
const SCREEN: &[&str] = &[
    "\u{1b}", "\u{1b}[", "m", "31", ";", "\u{1b}]", "\u{7}", "\u{9b}", "\r", "\n", "\r\n", "\t",
    "❚ ", "❚", "\u{8}", "\u{200d}", "\u{fe0f}", "👩", "漢", "\u{301}", "\u{202e}", "\u{2028}",
    "\u{1b}[2J", "\u{1b}[1;1H", "\u{1b}[?1049h", "\u{1b}P", "\u{1b}\\", "\u{1b}_G", "\u{0}", "a",
];

/// Nothing that a terminal obeys gets through, and nothing that looks like a row of ours.
#[test]
fn drawing() {
    check!().with_type::<(Vec<u16>, u8)>().for_each(|(numbers, most)| {
        let text = Untrusted::new(written(SCREEN, numbers));
        let shown = text.for_terminal();
        let is_harmless = |c: char| c == '\n' || c == '\t' || !c.is_control();
        assert!(shown.chars().all(is_harmless), "{shown:?}");
        assert!(!shown.contains(untrusted::MARK), "{shown:?}");
        let line = text.for_terminal_line((*most).into());
        assert!(!line.contains(['\n', '\r']) && !line.contains(untrusted::MARK), "{line:?}");
        assert!(line.chars().count() <= usize::from(*most).max(1), "{line:?}");
    });
}

/// No change to a file of weights makes its reader panic, and none lets one through that has bytes
/// behind its tensors.
#[test]
fn weights() {
    use interpreter_model::fuzzing::{changed_weights, problem_of_weights};
    check!().with_type::<(Vec<(u16, u8)>, Option<u64>)>().for_each(|(changes, length)| {
        let (bytes, length) = changed_weights(changes, *length);
        let is_refused = |length| problem_of_weights(&bytes, length).is_some();
        assert!(is_refused(length) || is_refused(length.saturating_add(4_096)));
    });
}

/// The inputs get past the first checks: without that the targets above would prove nothing.
#[test]
fn inputs_get_through() {
    let mut state = 1_u64;
    let mut numbers = |count: usize| -> Vec<u16> {
        let mut next = || {
            // xorshift
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            u16::try_from(state >> 48).expect("16 bits are left")
        };
        (0..count).map(|_| next()).collect()
    };
    let (mut proposals, mut frames) = (0, 0);
    let mut replies = WireFormat::ALL.map(|_| 0);
    for _ in 0..20_000 {
        let text = Untrusted::new(written(REPLY, &numbers(24)));
        let reply = Reply { text, ..Reply::default() };
        proposals += extract::proposals(&reply, &languages(), |_, _| None, 1).proposals.len();
        let events = written(EVENTS, &numbers(12));
        for (count, format) in replies.iter_mut().zip(WireFormat::ALL) {
            *count += interpreter_model::fuzzing::read(format, &[events.as_bytes()]).0.len();
        }
        let kind = numbers(1)[0].to_le_bytes()[0];
        for part in [
            Part::Empty { kind, kernel: 1 },
            Part::Number { kind, kernel: 1, number: 2 },
            Part::Json { kind, kernel: 1, words: numbers(1) },
        ] {
            frames += decoded::<Inward>(&[&part.bytes(INWARD)]).0.len();
            frames += decoded::<Outward>(&[&part.bytes(OUTWARD)]).0.len();
        }
    }
    let (bytes, length) = interpreter_model::fuzzing::changed_weights(&[], None);
    assert_eq!(interpreter_model::fuzzing::problem_of_weights(&bytes, length), None);
    assert!(proposals > 100 && frames > 1000, "{proposals} proposals, {frames} frames");
    assert!(replies.iter().all(|count| *count > 100), "{replies:?}");
}
