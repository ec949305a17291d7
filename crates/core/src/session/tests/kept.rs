//! A no and outside text are kept: a session that is resumed or forked, and one that goes back, asks
//! no less than the session was asked to, and forgets neither outside text nor a no.

use super::{
    replay::{World, answer, reply, whole},
    *,
};
use crate::{
    ApprovalMode, Capability, Coverage, Deed, Origin, Piped, Proposal, Redactor, Risk, RiskLimit,
    Span, session::event::Earlier,
};
use proptest::prelude::*;
use std::sync::LazyLock;

const DOES: [&[(&str, &str)]; 8] = [
    &[],
    &[("reads", "notes.txt")],
    &[("writes", "out.txt")],
    &[("starts", "ls")],
    &[("connects", "attacker.example")],
    &[("reads", "/home/ann/.ssh/id_rsa")],
    &[("unreadable", "")],
    &[("deletes", "a.csv")],
];

fn findings(choice: u8) -> Findings {
    let one = |(name, argument): &(&str, &str)| {
        let severity = if *name == "unreadable" { Risk::Unknown } else { Risk::Low };
        Capability::new(Deed::named(name).unwrap(), *argument, 1, severity)
    };
    Findings::new(DOES[usize::from(choice) % DOES.len()].iter().map(one).collect())
}

fn probe(code: &str, choice: u8) -> (Proposal, Findings) {
    let language = language::example().find("python").unwrap();
    let proposal = Proposal::new("p99".into(), Origin::Model, None, language, Untrusted::new(code));
    (proposal, findings(choice))
}

/// The value of a secret, and code that holds it in two ways.
const VALUE: &str = "swordfish-Ab12";
const LEAKS: [&str; 2] = ["print('swordfish-Ab12')", "key = 'c3dvcmRmaXNoLUFiMTI'"];

static KNOWING: LazyLock<Redactor> = LazyLock::new(|| {
    let value = crate::Secret::new(VALUE.into());
    Redactor::of_shapes().knowing([("TOKEN", &value)])
});

fn no(choice: u8) -> Coverage {
    match choice % 6 {
        0 => Coverage::no_to_finding("reads"),
        1 => Coverage::no_to_finding("starts"),
        2 => Coverage::no_to_line("print*"),
        3 => Coverage::no_to_line(LEAKS[0]),
        4 => Coverage::no_to_line("*c3dvcmRmaXNoLUFiMTI'"),
        _ => Coverage::no_to_language("shell", &language::example()),
    }
    .unwrap()
}

/// How a session stands: what it says to any code, and what it has taken in.
#[derive(Debug, PartialEq)]
struct Standing {
    opinions: Vec<Opinion>,
    denied: Vec<bool>,
    tainted: bool,
    unseen: bool,
    /// Whether a no names a secret that its record does not hold.
    secret: bool,
}

fn standing(state: &State) -> Standing {
    let codes = ["print(1)", "x = 2", LEAKS[0], LEAKS[1]];
    let probes: Vec<_> =
        codes.iter().flat_map(|code| (0..8).map(move |choice| probe(code, choice))).collect();
    let verdicts =
        probes.iter().map(|(proposal, found)| state.verdict_on(proposal, found, &state.taint));
    let (opinions, denied) = verdicts
        .map(|one| (one.opinion, one.rule.starts_with("your standing answer")))
        .map(|(opinion, by_answer)| (opinion, by_answer && opinion == Opinion::Deny))
        .unzip();
    let tainted = !state.taint.clone().take();
    let unseen = state.taint.may_hold();
    let secret = [no(3), no(4)].iter().any(|one| state.standing.says(one));
    Standing { opinions, denied, tainted, unseen, secret }
}

impl Standing {
    /// Whether nothing of another is forgotten.
    fn keeps(&self, other: &Self) -> bool {
        let opinions = self.opinions.iter().zip(&other.opinions);
        let mut denied = self.denied.iter().zip(&other.denied);
        // A no that cannot be read back in full denies more.
        (self.denied == other.denied || other.secret)
            && denied.all(|(now, then)| now >= then)
            && opinions.clone().all(|(now, then)| now >= then)
            && self.tainted >= other.tainted
            && self.unseen >= other.unseen
    }
}

fn world() -> World {
    let mut world = World::new(None, false, Approval::AsRulesSay);
    let mut setup = world.state.setup.clone();
    (setup.max_calls, setup.policy.mode, setup.policy.up_to) =
        (99, ApprovalMode::Auto, RiskLimit::Medium);
    world.state = State::new(setup);
    world
}

/// Answers whatever is open until the turn is over. Code does this, and prints something or not.
fn settle(world: &mut World, does: u8, prints: bool) {
    let mut replied = false;
    for _ in 0..60 {
        if world.state.is_idle() {
            return;
        }
        let event = match world.open.pop() {
            Some(Effect::CallModel { .. }) => {
                reply(u8::from(!std::mem::replace(&mut replied, true)))
            }
            Some(Effect::Judge(_)) => Event::Judged(findings(does)),
            Some(Effect::JudgeAll(cells)) => {
                Event::JudgedAll(cells.iter().map(|_| findings(does)).collect())
            }
            Some(Effect::Run(permit)) => {
                let proposal = permit.proposal().id.clone();
                if prints {
                    world.happens(Event::Output(Output::text(&proposal, Stream::Stdout, "text")));
                }
                Event::Ran(Ran { proposal, status: Some(0), ..Ran::default() })
            }
            Some(effect) => match answer(effect, 4) {
                Some(event) => event,
                None => continue,
            },
            None => Event::Interrupted,
        };
        world.happens(event);
    }
    panic!("the turn does not end");
}

fn piped() -> Event {
    Event::Piped(Piped::new("/data".into(), 2, 1, "hash".into(), b"a\n"))
}

fn go_on(world: &World, before: Option<&str>) -> Option<World> {
    let setup = world.state.setup.clone();
    let mut records = whole(world, setup.profile.opening.len());
    for record in &mut records {
        record.body = KNOWING.body(record.body.clone());
    }
    let earlier = Earlier::of("s1", setup.clone(), &records, before)?;
    let mut next = World::new(None, false, Approval::AsRulesSay);
    next.state = State::new(setup);
    next.happens(Event::Resumed(Box::new(earlier)));
    Some(next)
}

fn turn(world: &mut World, does: u8, prints: bool) {
    world.happens(Event::Asked("do it".into()));
    settle(world, does, prints);
}

fn step(world: &mut World, choice: u8, other: u8) {
    match choice % 12 {
        0 => {
            world.happens(piped());
            world.happens(Event::Asked("look".into()));
            settle(world, other, true);
        }
        1 => world.happens(Event::StandingGiven(Span::Session, no(other))),
        2 => world.happens(Event::StandingGiven(Span::Turn, no(other))),
        3 => world.happens(Event::StandingGiven(Span::Session, Coverage::All)),
        4 => world.happens(Event::StandingRevoked(u32::from(other % 4))),
        5 => {
            let cell = format!("p{}", other % 4 + 1);
            let setup = world.state.setup.clone();
            let records = whole(world, setup.profile.opening.len());
            if let Some(way) = Rewind::to(&cell, setup, &[], &records) {
                let before = standing(&world.state);
                world.happens(Event::RewindWanted(Box::new(way)));
                settle(world, other, false);
                assert!(standing(&world.state).keeps(&before), "going back");
            }
        }
        6 => *world = go_on(world, None).unwrap(),
        _ => turn(world, other, choice.is_multiple_of(2)),
    }
}

proptest! {
    /// Whatever happens in a session, its resume, its fork from any cell and its way back agree with
    /// it on everything that the person said no to, and ask at least as much.
    #[test]
    fn what_was_said_before_still_holds(
        steps in prop::collection::vec((any::<u8>(), any::<u8>()), 1..14),
        cell in 1_u8..5,
    ) {
        let mut world = world();
        for (choice, other) in steps {
            step(&mut world, choice, other);
            let now = standing(&world.state);
            let resumed = go_on(&world, None).unwrap();
            prop_assert!(standing(&resumed.state).keeps(&now), "{:?} {now:?}", standing(&resumed.state));
            // And once more, by the record of that session alone.
            let twice = standing(&go_on(&resumed, None).unwrap().state);
            prop_assert_eq!(&twice, &standing(&resumed.state));
            if let Some(fork) = go_on(&world, Some(&format!("p{cell}"))) {
                prop_assert!(standing(&fork.state).keeps(&now), "{:?} {now:?}", standing(&fork.state));
            }
        }
    }
}

/// A no to a line that holds a secret is recorded without it. Read back, it denies that line and
/// those like it, and no others.
#[test]
fn a_no_that_was_masked_denies_at_least_as_much() {
    for (choice, code, other) in [(3, LEAKS[0], "print(1)"), (4, LEAKS[1], "key = 2")] {
        let mut world = world();
        world.happens(Event::StandingGiven(Span::Session, no(choice)));
        let on = |world: &World, code: &str| {
            let (proposal, found) = probe(code, 0);
            world.state.verdict_on(&proposal, &found, &world.state.taint).opinion
        };
        assert_eq!(on(&world, code), Opinion::Deny);
        let resumed = go_on(&world, None).unwrap();
        let recorded = serde_json::to_string(&resumed.records).unwrap();
        assert!(!recorded.contains(VALUE) && !recorded.contains("c3dvcmRm"), "{recorded}");
        for world in [&resumed, &go_on(&resumed, None).unwrap()] {
            assert_eq!(on(world, code), Opinion::Deny);
            assert!(on(world, other) < Opinion::Deny);
        }
    }
}

/// Where not even the kind of a no can be read back, it denies everything.
#[test]
fn a_no_that_cannot_be_redacted_denies_all() {
    let value = crate::Secret::new("connects".into());
    let redactor = Redactor::of_shapes().knowing([("TOKEN", &value)]);
    let covers = Coverage::no_to_finding("connects").unwrap();
    let given = crate::StandingAnswer { number: 1, span: Span::Session, covers };
    let Body::StandingGiven(kept) = redactor.body(Body::StandingGiven(given)) else { panic!() };
    assert_eq!(kept.covers, Coverage::Denied(crate::Rule::of(Opinion::Deny)));
    let covers = Coverage::no_to_language("shell", &language::example()).unwrap();
    let given = crate::StandingAnswer { number: 1, span: Span::Session, covers: covers.clone() };
    let kept = redactor.body(Body::StandingGiven(given.clone()));
    assert_eq!(kept, Body::StandingGiven(given), "the control");
}

/// Data was piped in and nothing ran.
#[test]
fn outside_text_goes_along_where_nothing_ran() {
    let mut world = world();
    world.happens(Event::Asked("hello".into()));
    world.happens(reply(0));
    // The control: nothing came in.
    let clean = standing(&go_on(&world, None).unwrap().state);
    assert!(!clean.tainted && !clean.unseen);
    world.happens(piped());
    world.happens(Event::Asked("look".into()));
    world.happens(reply(0));
    let resumed = go_on(&world, None).unwrap();
    assert!(standing(&resumed.state).tainted);
    assert!(standing(&go_on(&resumed, None).unwrap().state).tainted);
}

/// The conversation was summed up, and no result is left in it.
#[test]
fn outside_text_goes_along_where_results_were_summed_up() {
    let mut world = world();
    turn(&mut world, 1, true);
    assert!(standing(&world.state).tainted);
    let setup = world.state.setup.clone();
    let mut records = whole(&world, setup.profile.opening.len());
    let text = Untrusted::new("They talked.");
    let messages = vec![crate::Message::Earlier { text }];
    records.push(crate::Record {
        body: Body::Conversation { after: setup.profile.opening.len(), messages },
        ..records[0].clone()
    });
    // Also by a record that does not say that it came in.
    for says in [true, false] {
        let mut records = records.clone();
        records.retain(|one| says || !matches!(one.body, Body::OutsideText { .. }));
        let earlier = Earlier::of("s1", setup.clone(), &records, None).unwrap();
        assert!(!earlier.messages.iter().any(|one| matches!(one, crate::Message::Result { .. })));
        let mut next = State::new(setup.clone());
        next.step(Event::Resumed(Box::new(earlier)));
        assert!(standing(&next).tainted, "{says}");
    }
}

/// A no goes along, and can be taken back there by its number. A yes stays behind.
#[test]
fn a_no_goes_along_and_a_yes_does_not() {
    let mut world = world();
    world.happens(Event::StandingGiven(Span::Session, Coverage::All));
    world.happens(Event::StandingGiven(Span::Session, no(2)));
    let mut resumed = go_on(&world, None).unwrap();
    let given: Vec<_> = resumed
        .records
        .iter()
        .filter_map(|body| match body {
            Body::StandingGiven(answer) => Some((answer.number, answer.covers.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(given, [(1, no(2))]);
    let (proposal, found) = probe("print(1)", 0);
    let on = |state: &State| state.verdict_on(&proposal, &found, &state.taint).opinion;
    assert_eq!(on(&resumed.state), Opinion::Deny);
    resumed.happens(Event::StandingRevoked(1));
    assert!(on(&resumed.state) < Opinion::Deny);
    // One that was taken back there is not brought along from there.
    assert!(on(&go_on(&resumed, None).unwrap().state) < Opinion::Deny);
}
