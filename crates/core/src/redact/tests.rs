//! Secrets in text, whole and in pieces.

use super::*;
use crate::{Body, Capability, Deed, Findings, Message, Output, Risk, Stream, egress::Host};
use base64::{Engine, engine::general_purpose::STANDARD};
use proptest::prelude::*;

const VALUE: &str = "tok-Zq8/Wx3+Lm5 vB7'n";

fn redactor() -> Redactor {
    Redactor::of_shapes().knowing([("API_TOKEN", &Secret::new(VALUE.into()))])
}

/// Text in pieces of these lengths, as it comes out.
fn streamed(redactor: &Redactor, text: &str, lengths: &[usize]) -> String {
    let (mut stream, mut rest, mut clean) = (RedactedStream::default(), text, String::new());
    let mut lengths = lengths.iter().copied().cycle();
    while !rest.is_empty() {
        let mut at = lengths.next().unwrap_or(1).clamp(1, rest.len());
        while !rest.is_char_boundary(at) {
            at += 1;
        }
        let (piece, after) = rest.split_at(at);
        clean.push_str(&stream.feed(redactor, Scope::All, piece));
        rest = after;
    }
    clean + &stream.finish(redactor, Scope::All)
}

#[test]
fn a_known_value_gives_way_to_its_name() {
    let redactor = redactor();
    let clean = redactor.text("a tok-Zq8/Wx3+Lm5 vB7'n b", Scope::All);
    assert_eq!(clean, "a [secret:API_TOKEN] b");
    assert_eq!(redactor.text("nothing", Scope::All), "nothing");
    assert_eq!(format!("{redactor:?}"), "Redactor(1 values, shapes: true)");
}

#[test]
fn a_long_value_is_found_to_its_end() {
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut value = String::new();
    while value.len() < LONGEST - 80 {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        value.push_str(&STANDARD.encode(seed.to_le_bytes()));
        // Lines of the first half are as those of a certificate; the second is one long line.
        if value.len() < LONGEST / 2 && value.len() % 61 == 60 {
            value.push('\n');
        }
    }
    let redactor = Redactor::default().knowing([("LONG", &Secret::new(value.clone()))]);
    assert_eq!(redactor.left_out(), 0);
    let encoded = STANDARD.encode(&value);
    for text in [&value, &encoded, &crate::hash::hex(value.as_bytes())] {
        let text = format!("before {text} after");
        for clean in [
            redactor.text(&text, Scope::All).into_owned(),
            streamed(&redactor, &text, &[5_000, 7]),
            streamed(&redactor, &text, &[70_000]),
        ] {
            let rest = clean.replace("[secret:LONG]", "");
            // Between two pieces in base64 stand digits that belong to both.
            assert!(rest.starts_with("before ") && rest.len() < 40, "{rest}");
        }
    }
}

#[test]
fn pieces_are_the_value_and_none_is_short() {
    for length in [1, PIECE, PIECE + 1, 2 * PIECE + 5, LONGEST] {
        for value in ["é".repeat(length / 2), "0123456\n".repeat(length / 8), "x".repeat(length)] {
            let all: Vec<_> = pieces(&value).collect();
            assert_eq!(all.concat(), value);
            assert!(all.iter().all(|one| one.len() <= PIECE));
            assert!(all.len() < 2 || all.iter().all(|one| one.len() >= PIECE / 8), "{length}");
        }
    }
}

#[test]
fn values_beyond_the_bounds_are_counted() {
    let values: Vec<_> = (0..MOST + 3).map(|at| Secret::new(format!("value-{at:05}"))).collect();
    let redactor = Redactor::default().knowing(values.iter().map(|value| ("N", value)));
    assert_eq!(redactor.left_out(), 3);
    assert_eq!(redactor.text("value-01002", Scope::All), "value-01002");
    let learned = redactor.having_learned("typed", &Secret::new("value-01002".into()));
    assert_eq!(learned.text("value-01002", Scope::All), "[secret:typed]");
    let long = Secret::new("x".repeat(LONGEST + 1));
    assert_eq!(Redactor::default().knowing([("N", &long)]).left_out(), 1);
}

#[test]
fn short_values_and_empty_ones_are_not_looked_for() {
    let known = |value: &str| Redactor::default().knowing([("N", &Secret::new(value.into()))]);
    assert!(known("").is_empty() && known("1234567").is_empty() && !known("12345678").is_empty());
}

#[test]
fn encodings_are_found() {
    let redactor = redactor();
    let encoded = STANDARD.encode(format!("user:{VALUE}"));
    for text in [
        format!("Authorization: Basic {encoded}"),
        format!("/?q={}", "tok-Zq8%2FWx3%2BLm5%20vB7%27n"),
        crate::hash::hex(VALUE.as_bytes()),
        serde_json::to_string(&[VALUE]).unwrap(),
    ] {
        let clean = redactor.text(&text, Scope::All);
        assert!(clean.contains("[secret:API_TOKEN]"), "{text}: {clean}");
    }
}

#[test]
fn overlapping_values_leave_nothing() {
    let (one, two) = (Secret::new("abcdefghij".into()), Secret::new("ghijklmnop".into()));
    let redactor = Redactor::default().knowing([("ONE", &one), ("TWO", &two)]);
    assert_eq!(redactor.text("-abcdefghijklmnop-", Scope::All), "-[secret:ONE]-");
    let twice = Secret::new("abcdefghabcdefgh".into());
    let redactor = Redactor::default().knowing([("TWICE", &twice)]);
    assert_eq!(redactor.text("abcdefghabcdefghabcdefgh", Scope::All), "[secret:TWICE]");
}

/// A token of each kind, made by the shape's own rules, is found; its example is not.
#[test]
fn tokens_are_found_by_their_shape() {
    let letters = "k3J9sQ0zL1mN7pR2vT5xW8yB4cD6fG";
    for (token, name) in [
        (format!("ghp_{letters}aB1cD2"), "github-token"),
        ("AKIAQ3EGRZ7TXW5NPL2V".into(), "aws-access-key"),
        (format!("sk-ant-api03-{letters}{letters}"), "anthropic-key"),
        (format!("sk-proj-{letters}{letters}"), "openai-key"),
        (format!("AIza{letters}Aa-_1"), "google-api-key"),
        (format!("xoxb-123456789012-{letters}"), "slack-token"),
        (format!("glpat-{}", &letters[..20]), "gitlab-token"),
        (format!("npm_{letters}aB1cD2"), "npm-token"),
        (format!("sk_live_{}", &letters[..24]), "stripe-key"),
        (format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{letters}"), "json-web-token"),
        (format!("-----BEGIN PRIVATE KEY-----\n{letters}\n{letters}\n{letters}\n"), "private-key"),
    ] {
        let redactor = Redactor::of_shapes();
        let clean = redactor.text(&format!("x = \"{token}\"\n"), Scope::All).into_owned();
        assert_eq!(clean, format!("x = \"[secret:{name}]\"\n"));
        // Code keeps it: it may be an example that the code is about.
        assert_eq!(redactor.text(&token, Scope::Known), token);
        for pieces in [1, 2, 3, 5, 7, 64] {
            let clean = streamed(&redactor, &format!("x = \"{token}\"\n"), &[pieces]);
            assert!(!clean.contains(&token[7..15]), "{pieces}: {clean}");
        }
    }
}

/// A token by a shape's own numbers, as if a service had made it.
pub(super) fn token_of(shape: &shapes::Shape, start: &str) -> String {
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    for _ in 0..10_000 {
        let rest = shape.example(|| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        });
        let token = format!("{start}{rest}");
        let range = 0..start.len();
        if matches!(shape.ends(token.as_bytes(), &range, End::Final), (shapes::Ends::At(_), _)) {
            return token;
        }
    }
    panic!("{} fits nothing", shape.name)
}

/// Of every shape, by each of its beginnings: a token is taken out, in pieces too; one that is cut
/// and an example stay.
#[test]
fn every_shape_takes_its_tokens_and_leaves_examples() {
    let redactor = Redactor::of_shapes();
    for shape in shapes() {
        for start in &shape.starts {
            let token = token_of(shape, start);
            let (secret, text) = (&token[start.len()..], format!("see {token}\n"));
            let text = if shape.keeps { text.replace('\n', &shape.closing()) } else { text };
            for clean in
                [redactor.text(&text, Scope::All).into_owned(), streamed(&redactor, &text, &[7])]
            {
                assert!(!clean.contains(&secret[..8]), "{}: {text}: {clean}", shape.name);
                assert!(clean.contains("[secret:"), "{}: {text}: {clean}", shape.name);
                assert_eq!(
                    clean.contains(&format!("see {start}")),
                    shape.keeps,
                    "{}: {clean}",
                    shape.name
                );
            }
            let cut = &token[..start.len() + 5];
            assert_eq!(redactor.text(cut, Scope::All), cut, "{}", shape.name);
            let example = format!("see {start}{} ", "x".repeat(secret.len()));
            if shape.looks_random() {
                assert_eq!(redactor.text(&example, Scope::All), example, "{}", shape.name);
            }
        }
    }
}

#[test]
fn what_a_name_says_to_be_a_secret_is_one() {
    let redactor = Redactor::of_shapes();
    let value = "k3J9sQ0zL1mN7pR2vT5x";
    for (text, clean) in [
        (format!("password = \"{value}\""), "password = \"[secret:named-secret]\""),
        (format!("{{'api_key': '{value}'}}"), "{'api_key': '[secret:named-secret]'}"),
        (format!("DATADOG_API_KEY={value}\n"), "DATADOG_API_KEY=[secret:named-variable]\n"),
        (
            format!("postgres://ann:{value}@db.example/x"),
            "postgres://[secret:password-in-address]@db.example/x",
        ),
    ] {
        assert_eq!(redactor.text(&text, Scope::All), clean);
        assert_eq!(redactor.text(&text, Scope::Known), text);
    }
    // A known value and a known service keep their names.
    let token = "ghp_k3J9sQ0zL1mN7pR2vT5xW8yB4cD6fGaB1cD2";
    let clean = redactor.text(&format!("api_key=\"{token}\""), Scope::All).into_owned();
    assert_eq!(clean, "api_key=\"[secret:github-token]\"");
    for ordinary in [
        "password = os.environ['DATABASE_PASSWORD_2024']",
        "password = \"correct-horse-battery-staple\"",
        "api_key = \"your-api-key-goes-here-1234\"",
        "sort_key='customer_id_2023_q1', token='2024-01-01'",
        "API_KEY=$DATADOG_API_KEY_FROM_VAULT_2",
        "auth_token=\"\"; access_key = 'short1'",
        "postgres://user:password@localhost:5432/app",
        "MY_TOKEN=placeholder-MY_TOKEN-k3J9sQ0zL1mN7pR2vT5x",
        "next_token = \"page-2-of-the-results-of-2024\"",
    ] {
        assert_eq!(redactor.text(ordinary, Scope::All), ordinary);
    }
}

/// Everyday code, as output of `cat` would show it.
#[test]
fn everyday_code_is_left_as_it_is() {
    #[derive(serde::Deserialize)]
    struct File {
        cell: Vec<Cell>,
    }
    #[derive(serde::Deserialize)]
    struct Cell {
        code: String,
    }
    let redactor = Redactor::of_shapes();
    for (name, text) in [
        ("python", include_str!("../../../analyze/corpus/everyday-python.toml")),
        ("others", include_str!("../../../analyze/corpus/everyday-others.toml")),
        ("held out", include_str!("../../../analyze/corpus/held-out-everyday.toml")),
    ] {
        let File { cell } = toml::from_str(text).unwrap();
        assert!(!cell.is_empty());
        for Cell { code } in cell {
            assert_eq!(redactor.text(&code, Scope::All), code, "{name}");
        }
    }
}

#[test]
fn examples_and_longer_words_are_not_tokens() {
    let redactor = Redactor::of_shapes();
    for text in [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "a task-runner and a disk-cache, risk-free",
        "sk-learn, ask-me, sk-",
        "the key-value store; secret_name",
        "-----BEGIN PRIVATE KEY----- begins one",
        "MAKIAQ3EGRZ7TXW5NPL2V",
    ] {
        assert_eq!(redactor.text(text, Scope::All), text);
        assert_eq!(streamed(&redactor, text, &[3]), text);
    }
}

#[test]
fn ordinary_text_is_not_delayed() {
    let mut stream = RedactedStream::default();
    let redactor = redactor();
    for prompt in ["Your name: ", "continue? [y/n]", "é", "…\n", "tok", ": "] {
        assert_eq!(stream.feed(&redactor, Scope::All, prompt), prompt);
        assert!(stream.is_idle());
    }
    assert_eq!(stream.feed(&redactor, Scope::All, "tok-"), "");
    assert_eq!(stream.feed(&redactor, Scope::All, "en"), "tok-en");
}

#[test]
fn a_guess_that_is_partly_right_looks_like_any_other() {
    let redactor = redactor();
    for length in 0..VALUE.len() {
        let guess = format!("x {}", &VALUE[..length]);
        assert_eq!(streamed(&redactor, &guess, &[6]), guess);
        assert_eq!(redactor.text(&guess, Scope::All), guess);
    }
    assert_eq!(redactor.text(VALUE, Scope::All), "[secret:API_TOKEN]");
}

#[test]
fn output_is_redacted_across_pieces_and_streams_are_apart() {
    let redactor = redactor();
    let mut output = RedactedOutput::default();
    let mut feed = |stream, text: &str| {
        let ready = output.feed(&redactor, Output::text("p1", stream, text));
        ready.into_iter().map(|one| one.text.raw().to_owned()).collect::<String>()
    };
    assert_eq!(feed(Stream::Stdout, "a tok-Zq8"), "a ");
    assert_eq!(feed(Stream::Stderr, "/Wx3+Lm5 vB7'n"), "/Wx3+Lm5 vB7'n");
    assert_eq!(feed(Stream::Stdout, "/Wx3+Lm5 vB7'n."), "[secret:API_TOKEN].");
    assert_eq!(feed(Stream::Result, VALUE), "[secret:API_TOKEN]");
    assert_eq!(feed(Stream::Stdout, "tok-Zq8/Wx"), "");
    let rest: Vec<_> = output.finish(&redactor);
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0].text.raw(), "tok-Zq8/Wx");
}

#[test]
fn exact_bytes_are_dropped_with_a_secret_and_kept_without() {
    let redactor = redactor();
    let mut output = RedactedOutput::default();
    let mut with = Output::text("p1", Stream::Stdout, format!("{VALUE}\u{fffd}\n"));
    with.bytes = Some(STANDARD.encode(format!("{VALUE}\u{fffd}\n")));
    assert_eq!(output.feed(&redactor, with)[0].bytes, None);
    let mut without = Output::text("p1", Stream::Stdout, "plain\u{fffd}\n");
    without.bytes = Some("cGxhaW7/Cg==".into());
    assert!(output.feed(&redactor, without)[0].bytes.is_some());
}

#[test]
fn records_are_redacted_in_every_field() {
    let redactor = redactor();
    let clean = redactor.body(Body::Prompt { text: format!("use {VALUE}\n") });
    assert_eq!(clean, Body::Prompt { text: "use [secret:API_TOKEN]\n".into() });
    let messages = vec![Message::user(format!("line\n{VALUE}"))];
    let clean = redactor.body(Body::Conversation { after: 0, messages });
    let messages = vec![Message::user("line\n[secret:API_TOKEN]")];
    assert_eq!(clean, Body::Conversation { after: 0, messages });
    // A host cannot be called that, so the name is another one.
    let host: Host = "abcdefgh12.example.org".parse().unwrap();
    let redactor = Redactor::default().knowing([("N", &Secret::new("abcdefgh12".into()))]);
    let wanted = crate::HostWanted { proposal: "p1".into(), host, port: 443, listed: false };
    let clean = serde_json::to_string(&redactor.body(Body::HostWanted(wanted))).unwrap();
    assert!(clean.contains("\"redacted.example.org\""), "{clean}");
}

#[test]
fn findings_are_redacted_in_every_text() {
    let text = || Untrusted::new(format!("of {VALUE}"));
    let mut one = Capability::new(Deed::Reads, format!("{VALUE}.txt"), 1, Risk::Low);
    (one.reason, one.sources) = (text(), vec![text(), Untrusted::new("plain")]);
    let clean = redactor().findings(Findings::new(vec![one]));
    let words = clean.by_severity()[0].words();
    assert!(words.contains("[secret:API_TOKEN].txt") && words.ends_with("; plain"), "{words}");
    let kept = serde_json::to_string(&clean).unwrap();
    assert!(!kept.contains(&VALUE[4..12]), "{kept}");
}

#[test]
fn a_token_behind_a_line_end_is_found_in_a_record() {
    let token = "ghp_k3J9sQ0zL1mN7pR2vT5xW8yB4cD6fGaB1cD2";
    let clean = Redactor::of_shapes().body(Body::Prompt { text: format!("x\n{token}") });
    assert_eq!(clean, Body::Prompt { text: "x\n[secret:github-token]".into() });
}

#[test]
fn what_was_redacted_stays_as_it_is() {
    let redactor = redactor();
    let message = Message::user(format!("{VALUE} and {VALUE}"));
    let once = redactor.message(message);
    assert_eq!(redactor.message(once.clone()), once);
}

proptest! {
    /// No eight characters of a value remain, however the text is cut.
    #[test]
    fn pieces_give_nothing_away(
        value in "[a-zA-Z0-9+/=é _-]{8,40}",
        before in ".{0,20}",
        after in ".{0,20}",
        lengths in prop::collection::vec(1_usize..12, 1..20),
        encoding in 0..5,
    ) {
        prop_assume!(value.trim().len() >= LEAST);
        let redactor = Redactor::of_shapes().knowing([("N", &Secret::new(value.clone()))]);
        let trimmed = value.trim();
        let form = match encoding {
            0 => STANDARD.encode(trimmed),
            1 => crate::hash::hex(trimmed.as_bytes()),
            _ => trimmed.to_owned(),
        };
        // Also right behind the beginning of itself, and again and again.
        let put = match encoding {
            2 => form.repeat(3),
            3 => format!("{}{form}", form.chars().take(4).collect::<String>()),
            _ => form.clone(),
        };
        let clean = streamed(&redactor, &format!("{before}{put}{after}"), &lengths);
        let hidden: Vec<char> = form.chars().collect();
        let around = format!("{before} {after}");
        for window in hidden.windows(8) {
            let window: String = window.iter().collect();
            prop_assert!(!clean.contains(&window) || around.contains(&window), "{clean:?}");
        }
    }

    /// Text without a secret comes out as it went in.
    #[test]
    fn nothing_is_lost(text in any::<String>(), lengths in prop::collection::vec(1_usize..9, 1..9)) {
        prop_assert_eq!(streamed(&redactor(), &text, &lengths), text);
    }
}
