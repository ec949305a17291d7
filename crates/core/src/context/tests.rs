//! Conversations that are too long, and what becomes of them.

use super::*;
use crate::{Excerpt, Image, Printed, ToolCall};
use proptest::prelude::*;

/// A token for each byte, so that sums can be done in the head.
fn window_of(window: u64) -> ContextWindow {
    ContextWindow::new(Some(window), Some(0), Counter::new(|text| Some(text.len() as u64)))
}

fn system(length: usize) -> Message {
    Message::System { text: "s".repeat(length) }
}

fn assistant(text: &str) -> Message {
    Message::Assistant { text: Untrusted::new(text), calls: vec![] }
}

/// A run that printed so many characters.
fn printed(run: &str, length: usize) -> Message {
    let mut excerpt = Excerpt::default();
    excerpt.push(&"x".repeat(length));
    let mut text = String::new();
    let printed = Some(excerpt.add_to(&mut text, run));
    text.push_str("\n[status 0]\n");
    Message::Result { call: None, text: Untrusted::new(text), images: vec![], printed }
}

fn text(message: &Message) -> &str {
    match message {
        Message::System { text } | Message::User { text, .. } => text,
        Message::Assistant { text, .. }
        | Message::Earlier { text }
        | Message::Result { text, .. } => text.raw(),
    }
}

#[test]
fn what_fits_is_sent_as_it_is() {
    let mut messages = vec![system(10), Message::user("hi"), assistant("ho"), printed("p1", 5_000)];
    let before = messages.clone();
    assert_eq!(fit(&mut messages, 1, &mut window_of(6_000)), Fit::Send { shortened: 0 });
    let mut unknown = ContextWindow::new(None, None, Counter::default());
    assert_eq!(fit(&mut messages, 1, &mut unknown), Fit::Send { shortened: 0 });
    assert_eq!(messages, before);
}

#[test]
fn old_outputs_are_shortened_first_and_the_newest_last() {
    let mut messages = vec![
        system(10),
        Message::user("one"),
        assistant("a"),
        printed("p1", 5_000),
        assistant("b"),
        printed("p2", 5_000),
        assistant("c"),
        printed("p3", 3_000),
    ];
    assert_eq!(fit(&mut messages, 1, &mut window_of(13_000)), Fit::Send { shortened: 1 });
    assert!(text(&messages[3]).contains("[… 3800 characters omitted, 601 to 4400; to see"));
    assert!(text(&messages[3]).contains("`p1 601-4400` in the language `output`"));
    assert!(text(&messages[3]).ends_with("\n[status 0]\n"));
    assert!(!text(&messages[5]).contains("omitted") && !text(&messages[7]).contains("omitted"));
}

#[test]
fn a_newest_output_that_is_too_large_by_itself_is_shortened_too() {
    let mut messages = vec![system(10), Message::user("one"), assistant("a"), printed("p1", 8_000)];
    assert_eq!(fit(&mut messages, 1, &mut window_of(4_000)), Fit::Send { shortened: 1 });
    assert!(window_of(4_000).tokens(&messages) < 3_900);
    assert!(text(&messages[3]).contains("omitted"));
}

#[test]
fn what_a_model_looked_at_can_be_looked_at_again() {
    let look = crate::look::parse("p1 4001-8000", None).unwrap();
    let (text, printed) = (Untrusted::new("y".repeat(4_000)), Some(Printed::Look(look)));
    let look = Message::Result { call: None, text, images: vec![], printed };
    let mut messages = vec![system(10), assistant("a"), look, assistant("b"), Message::user("go")];
    assert_eq!(fit(&mut messages, 1, &mut window_of(4_000)), Fit::Send { shortened: 1 });
    assert!(self::text(&messages[2]).contains("run `p1 4001-8000` in the language `output`"));
}

#[test]
fn old_pictures_become_words_and_count_as_pictures() {
    let mut red = Image::decode(crate::image::RED).unwrap();
    (red.width, red.height) = (1_000, 1_000);
    let images = vec![red];
    let mut messages = vec![
        system(10),
        Message::User { text: "look".into(), images: images.clone() },
        assistant("a"),
        Message::User { text: "and this".into(), images },
    ];
    assert_eq!(window_of(9_000).weight(&messages[1]), 4 + 4 + 1_333);
    assert_eq!(fit(&mut messages, 1, &mut window_of(2_000)), Fit::Send { shortened: 1 });
    assert_eq!(text(&messages[1]), "look\n[a picture: image/png, 1000 × 1000 pixels]");
    assert!(matches!(&messages[3], Message::User { images, .. } if images.len() == 1));
}

#[test]
fn there_are_never_more_pictures_than_providers_take() {
    let red = Image::decode(crate::image::RED).unwrap();
    let shown = |_| Message::User { text: "look".into(), images: vec![red.clone()] };
    let mut messages = vec![system(10)];
    messages.extend((0..PICTURES).map(shown));
    messages.push(assistant("a"));
    let mut unknown = ContextWindow::new(None, None, Counter::default());
    assert_eq!(hide_pictures(&mut messages, 1, &mut unknown), 0);
    messages.insert(1, shown(0));
    assert_eq!(hide_pictures(&mut messages, 1, &mut unknown), 9);
    let left: Vec<_> = messages.iter().map(|message| message.images().len()).collect();
    assert_eq!(left[1..10], [0; 9]);
    assert_eq!(left[10..18], [1; 8]);
}

#[test]
fn what_cannot_be_shortened_is_summed_up_from_the_oldest_on() {
    let long = "w".repeat(1_500);
    let mut messages = vec![system(100)];
    for turn in 0..6 {
        messages.push(Message::user(format!("ask {turn} {long}")));
        messages.push(assistant(&format!("say {turn}")));
    }
    messages.push(Message::user("and now?"));
    let found = fit(&mut messages, 1, &mut window_of(8_000));
    // Three quarters of 7,750 are 5,812: the last three turns and a summary fit into that.
    assert_eq!(found, Fit::Summarise { shortened: 0, until: 7 });
    let request = request(&messages, 1, 7);
    assert_eq!(request.len(), 1 + 6 + 1);
    assert!(text(request.last().unwrap()).contains("summary"));

    replace(&mut messages, 1, 7, Untrusted::new("They asked thrice."));
    assert_eq!(messages.len(), 1 + 1 + 6 + 1);
    assert!(
        matches!(&messages[1], Message::Earlier { text } if text.raw() == "They asked thrice.")
    );
    assert!(text(&messages[2]).starts_with("ask 3"));
    assert_eq!(fit(&mut messages, 1, &mut window_of(8_000)), Fit::Send { shortened: 0 });
}

#[test]
fn what_was_asked_last_stays_word_for_word() {
    let arguments = Untrusted::new("c".repeat(2_000));
    let call = |id: &str| Message::Assistant {
        text: Untrusted::default(),
        calls: vec![ToolCall {
            id: id.into(),
            name: "execute".into(),
            arguments: arguments.clone(),
        }],
    };
    let done = |id: &str| Message::result(Some(id.into()), Untrusted::new("done"));
    let mut messages = vec![
        system(10),
        Message::user("the task"),
        call("a"),
        done("a"),
        call("b"),
        done("b"),
        call("c"),
        done("c"),
    ];
    let found = fit(&mut messages, 1, &mut window_of(5_000));
    assert_eq!(found, Fit::Summarise { shortened: 0, until: 6 });
    replace(&mut messages, 1, 6, left_out(5));
    let roles: Vec<_> = messages.iter().map(text).map(|text| &text[..text.len().min(17)]).collect();
    assert_eq!(roles, ["ssssssssss", "[5 older messages", "the task", "", "done"]);
}

#[test]
fn where_nothing_can_be_done_it_is_sent_all_the_same() {
    let mut messages = vec![system(10), Message::user("w".repeat(9_000))];
    assert_eq!(fit(&mut messages, 1, &mut window_of(5_000)), Fit::Send { shortened: 0 });
}

#[test]
fn the_providers_figure_counts_and_teaches_the_estimate() {
    let mut window = ContextWindow::new(Some(100_000), None, Counter::default());
    let mut messages = vec![system(3_500), Message::user("u".repeat(3_500))];
    assert_eq!(window.tokens(&messages), 2 * (1_000 + 4));
    window.heard(&messages, 4_016);
    assert_eq!(window.tokens(&messages), 4_016);
    messages.push(assistant(&"a".repeat(3_500)));
    assert_eq!(window.tokens(&messages), 4_016 + 2_000 + 4);
    window.forget();
    assert_eq!(window.tokens(&messages), 3 * (2_000 + 4));
    // A figure that cannot be is none, and what was learned is doubted with it.
    for figure in [0, 10] {
        window.heard(&messages, figure);
        assert_eq!(window.tokens(&messages), 3 * (1_000 + 4));
    }
}

#[test]
fn a_provider_that_says_too_long_is_sent_less() {
    let mut window =
        ContextWindow::new(None, Some(500), Counter::new(|text| Some(text.len() as u64)));
    let mut messages = vec![system(10), assistant("a"), printed("p1", 7_000), assistant("b")];
    assert_eq!(window.room(), None);
    let before = window.tokens(&messages);
    window.too_long(&messages);
    let room = window.room().unwrap();
    assert!(room <= before / 10 * 7 && room + 50 >= before / 10 * 7, "{room} of {before}");
    assert_eq!(fit(&mut messages, 1, &mut window), Fit::Send { shortened: 1 });
    assert!(window.tokens(&messages) <= room);
}

proptest! {
    #[test]
    fn the_opening_and_the_last_prompt_are_never_touched(
        lengths in prop::collection::vec((0..4_usize, 0..9_000_usize), 1..20),
        window in 500..20_000_u64,
    ) {
        let mut messages = vec![system(50), assistant("example")];
        for (kind, length) in lengths {
            messages.push(match kind {
                0 => Message::user("u".repeat(length)),
                1 => assistant(&"a".repeat(length)),
                2 => printed("p1", length),
                _ => Message::result(None, Untrusted::new("r".repeat(length))),
            });
        }
        let last = messages.iter().rfind(|one| matches!(one, Message::User { .. })).cloned();
        let opening = messages[..2].to_vec();
        let mut window = window_of(window);
        if let Fit::Summarise { until, .. } = fit(&mut messages, 2, &mut window) {
            let before = window.tokens(&messages);
            replace(&mut messages, 2, until, Untrusted::new("short"));
            window.forget();
            prop_assert!(window.tokens(&messages) < before);
        }
        prop_assert_eq!(&messages[..2], &opening[..]);
        let now = messages.iter().rfind(|one| matches!(one, Message::User { .. }));
        prop_assert_eq!(now, last.as_ref());
    }
}
