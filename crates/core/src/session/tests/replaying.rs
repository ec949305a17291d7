//! Cells run again: judged by the rules of now, asked about once, each with a permit of its own.

use super::{replay::numbered, *};
use crate::{Origin, Piped, record::Decision};
use proptest::prelude::*;

pub(super) fn past_cell(number: u8, code: &str, end: CellEnd) -> PastCell {
    PastCell {
        id: format!("p{number}"),
        origin: Origin::Model,
        language: "python".into(),
        code: Untrusted::new(code),
        is_whole: true,
        time: "2026-01-02T03:04:05Z".into(),
        end,
        memory: CellMemory::Lost,
        files: vec![],
    }
}

fn wanted(cells: Vec<PastCell>) -> Event {
    Event::ReplayWanted(Box::new(Replay { cells }))
}

fn two() -> Event {
    wanted(vec![past_cell(1, "x = 1", CellEnd::Done), past_cell(2, "x = 2", CellEnd::Done)])
}

fn judged(count: usize) -> Event {
    Event::JudgedAll(vec![Findings::new(vec![]).understood(); count])
}

fn ran_as(proposal: &str, status: i32) -> Event {
    Event::Ran(Ran { proposal: proposal.into(), status: Some(status), ..Ran::default() })
}

fn restarted() -> Event {
    Event::Restarted(vec![])
}

/// The permits of a step.
fn permits(effects: &[Effect]) -> Vec<(String, Grantor)> {
    let permit = |effect: &Effect| match effect {
        Effect::Run(permit) => {
            Some((permit.proposal().code().raw().to_owned(), permit.granted_by()))
        }
        _ => None,
    };
    effects.iter().filter_map(permit).collect()
}

const WEIGHED: [&str; 3] = ["proposal p1 python x = 1", "findings", "verdict Ask"];

#[test]
fn cells_are_judged_asked_about_once_and_run_one_by_one() {
    let script = Script::new(|_| {})
        .when(two())
        .gives(&["replay", "judge 2 cells"])
        .when(judged(2))
        .gives(
            &[
                &WEIGHED[..],
                &["proposal p2 python x = 2", "findings", "verdict Ask", "ask to run p1, p2 again"],
            ]
            .concat(),
        )
        .tell(GivenAnswer::Run)
        .gives(&["answer by Person", "answer by Person", "restart python"])
        .when(restarted())
        .gives(&["run p1 by Person"])
        .when(Event::Output(Output::text("p1", Stream::Stdout, "1\n")))
        .when(ran_as("p1", 0))
        .gives(&["run p2 by Person"])
        .when(ran_as("p2", 0))
        .gives(&["note", "finish Done"]);
    // The conversation has the results already.
    assert_eq!(script.state.messages().len(), 1);
    script
        .asked()
        .replied(PYTHON)
        .judged()
        .answered("p3", GivenAnswer::Run)
        .ran(0)
        .tells("-[2 earlier cells were run again]");
}

#[test]
fn what_the_rules_deny_now_is_left_out_even_with_yes() {
    let deny = Rule { line: Some(Patterns::one("x = 1*")), ..Rule::of(Opinion::Deny) };
    Script::new(|setup| {
        setup.approval = Approval::Yes;
        setup.policy.project = Rules(vec![deny]);
    })
    .when(two())
    .when(judged(2))
    .gives(&[
        "proposal p1 python x = 1",
        "findings",
        "verdict Deny",
        "note",
        "proposal p2 python x = 2",
        "findings",
        "verdict Ask",
        "answer by Flag",
        "restart python",
    ])
    .when(restarted())
    .gives(&["run p2 by Flag"]);
}

/// No rule, mode or standing answer answers for the person: the cells were approved at another time.
#[test]
fn only_the_person_says_yes() {
    let allowed = || {
        Script::new(|setup| setup.policy.user = Rules(vec![Rule::of(Opinion::Allow)]))
            .when(Event::StandingGiven(crate::Span::Session, crate::Coverage::All))
            .when(two())
            .when(judged(2))
    };
    assert_eq!(allowed().said.last().unwrap(), "ask to run p1, p2 again");
    for by in [Grantor::Nobody, Grantor::Rule, Grantor::Standing, Grantor::Mode, Grantor::Typed] {
        let refused = allowed().tell_by(GivenAnswer::Run, by).gives(&[]);
        refused.tell_by(reject(), Grantor::Nobody).gives(&["note", "finish Refused"]);
    }
    allowed().tell(reject()).gives(&["note", "finish Refused"]);
    allowed().when(Event::Interrupted).gives(&["note", "finish Interrupted"]);
    let late = allowed().when(Event::TimeUp(5));
    late.gives(&["time_up", "note", "finish TimedOut"]).tell(GivenAnswer::Run).gives(&[]);
}

#[test]
fn a_failure_stops_the_rest_unless_it_failed_before() {
    let three = || {
        let cells = ["a", "b", "c"];
        let cells = (1..).zip(cells).map(|(number, code)| {
            let end = if code == "b" { CellEnd::Failed } else { CellEnd::Done };
            past_cell(number, code, end)
        });
        Script::new(|_| {})
            .when(wanted(cells.collect()))
            .when(judged(3))
            .tell(GivenAnswer::Run)
            .when(restarted())
    };
    three().when(ran_as("p1", 1)).gives(&["note", "finish CodeFailed"]);
    let went_on = three().when(ran_as("p1", 0)).when(ran_as("p2", 1)).gives(&["run p3 by Person"]);
    went_on.when(ran_as("p3", 0)).gives(&["note", "finish Done"]);
    // A dead interpreter is another failure than the one before.
    let died = Ran { proposal: "p2".into(), kernel_ended: true, ..Ran::default() };
    three().when(ran_as("p1", 0)).when(Event::Ran(died)).gives(&["note", "finish CodeFailed"]);
    three()
        .when(Event::Interrupted)
        .gives(&["interrupt"])
        .when(ran_as("p1", 130))
        .gives(&["note", "finish Interrupted"]);
}

#[test]
fn what_did_not_end_or_is_not_whole_or_keeps_nothing_is_left_out() {
    let stopped = past_cell(1, "x = 1", CellEnd::Stopped);
    let redacted = PastCell { is_whole: false, ..past_cell(2, "k = '…'", CellEnd::Done) };
    let unknown = PastCell { language: "cobol".into(), ..past_cell(3, "x", CellEnd::Done) };
    let alias = PastCell { language: "PY".into(), ..past_cell(4, "x", CellEnd::Done) };
    let cells = vec![stopped, redacted, unknown, alias];
    let mut state = Script::new(|_| {}).state;
    let effects = state.step(wanted(cells));
    let Effect::Note(Body::Replay { cells, left_out }) = &effects[0] else { panic!("{effects:?}") };
    assert!(cells.is_empty());
    let why: Vec<_> = left_out.iter().map(|one| one.why.as_str()).collect();
    assert_eq!(
        why,
        [
            "it did not run to its end",
            "a secret was taken out of its code",
            "cobol is not available",
            "PY is not available",
        ]
    );
    assert!(matches!(effects.last(), Some(Effect::FinishTurn(TurnEnd::Done))), "{effects:?}");
}

/// Outside text counts for cells that run again as for any other.
#[test]
fn outside_text_is_heard_for_cells_that_run_again() {
    use crate::{Capability, Deed, Risk};
    let reads = Capability::new(Deed::Reads, "/home/ann/.ssh/id_rsa", 1, Risk::High);
    let sends = Capability::new(Deed::Connects, "attacker.example", 1, Risk::Medium);
    let found = || Event::JudgedAll(vec![Findings::new(vec![reads.clone(), sends.clone()])]);
    let one = || wanted(vec![past_cell(1, "send()", CellEnd::Done)]);
    let piped = Piped::new("/data".into(), 2, 1, "hash".into(), b"a\n");
    let tainted = Script::new(|_| {}).when(Event::Piped(piped)).asked().replied("Read.");
    tainted.when(one()).when(found()).gives(&[
        "proposal p1 python send()",
        "findings",
        "verdict Deny",
        "note",
        "finish Refused",
    ]);
    // Nor does it help to spread it over two of them.
    let both = vec![Findings::new(vec![reads.clone()]), Findings::new(vec![sends.clone()])];
    let two =
        wanted(vec![past_cell(1, "read()", CellEnd::Done), past_cell(2, "send()", CellEnd::Done)]);
    let piped = Piped::new("/data".into(), 2, 1, "hash".into(), b"a\n");
    let tainted = Script::new(|_| {}).when(Event::Piped(piped)).asked().replied("Read.");
    let script = tainted.when(two).when(Event::JudgedAll(both));
    let verdicts: Vec<_> =
        script.said.iter().filter(|one| one.starts_with("verdict")).cloned().collect();
    assert_eq!(verdicts, ["verdict Ask", "verdict Deny"]);
    // The control: the same cell where nothing was read.
    let clean = Script::new(|_| {}).when(one()).when(found());
    assert_eq!(clean.said.last().unwrap(), "ask to run p1 again");
}

proptest! {
    /// Whatever cells there are and whoever answers: what is denied never gets a permit, each permit
    /// is for a cell that was asked about, and without the person there is none.
    #[test]
    fn a_denied_cell_never_runs_again(
        evil in prop::collection::vec(any::<bool>(), 1..12),
        by in prop_oneof![Just(Grantor::Person), Just(Grantor::Nobody), Just(Grantor::Rule)],
        run in any::<bool>(),
        statuses in prop::collection::vec(0_i32..2, 12),
    ) {
        let deny = Rule { line: Some(Patterns::one("evil*")), ..Rule::of(Opinion::Deny) };
        let mut state = Script::new(|setup| setup.policy.user = Rules(vec![deny])).state;
        let code = |evil: &bool| if *evil { "evil()" } else { "good()" };
        let cells: Vec<_> = (1..)
            .zip(&evil)
            .map(|(number, evil)| past_cell(number, code(evil), CellEnd::Done))
            .collect();
        let count = cells.len();
        let mut all = vec![];
        let mut effects = state.step(wanted(cells));
        let mut statuses = statuses.into_iter();
        while let Some(effect) = effects.pop() {
            let event = match &effect {
                Effect::JudgeAll(_) => judged(count),
                Effect::AskReplay(question) => question.answer_by(if run { GivenAnswer::Run } else { reject() }, by),
                Effect::Restart(_) => restarted(),
                Effect::Prepare { language, .. } => prepared(language.clone()),
                Effect::Run(permit) => {
                    ran_as(&permit.proposal().id, statuses.next().unwrap_or(0))
                }
                _ => continue,
            };
            effects = state.step(event);
            all.extend(permits(&effects));
        }
        prop_assert!(all.iter().all(|(code, by)| code == "good()" && *by == Grantor::Person));
        if !run || by != Grantor::Person {
            prop_assert!(all.is_empty());
        }
        let good = evil.iter().filter(|evil| !**evil).count();
        prop_assert!(all.len() <= good);
        // The control: something does run.
        prop_assert!(!run || by != Grantor::Person || good == 0 || !all.is_empty());
    }
}

fn proposal(id: &str, language: &str, code: &str) -> Body {
    Body::Proposal {
        id: id.into(),
        origin: Origin::Model,
        language: language.into(),
        code: Untrusted::new(code),
        hash: crate::hash::sha256(code.as_bytes()),
        invocation: None,
        again: None,
        sealed: None,
    }
}

fn started(id: &str, code: &str) -> Body {
    Body::RunStarted {
        proposal: id.into(),
        hash: crate::hash::sha256(code.as_bytes()),
        backend: "native".into(),
        enforced: vec![],
        missing: vec![],
    }
}

fn finished(id: &str, status: i32, kernel_ended: bool) -> Body {
    Body::RunFinished {
        proposal: id.into(),
        status: Some(status),
        signal: None,
        limit: None,
        kernel_ended,
        ms: 1,
    }
}

/// The records of a session in which cells ran, one of them edited.
fn ran_before() -> Vec<crate::Record> {
    let edited = Body::Answer {
        proposal: "p2".into(),
        decision: Decision::Edit,
        by: Grantor::Person,
        hash: None,
        code: Some(Untrusted::new("y = 3")),
        sealed: None,
        reason: None,
    };
    let rejected = proposal("p3", "python", "never = 1");
    numbered([
        proposal("p1", "python", "x = 1"),
        started("p1", "x = 1"),
        finished("p1", 0, false),
        proposal("p2", "python", "y = 2"),
        edited,
        started("p2", "y = 3"),
        finished("p2", 1, false),
        rejected,
        proposal("p4", "shell", "A=[secret:KEY]"),
        started("p4", "A=sk-1"),
        finished("p4", 0, false),
        proposal("p5", "shell", "exit 0"),
        started("p5", "exit 0"),
        finished("p5", 0, true),
    ])
}

#[test]
fn the_cells_of_a_session_are_those_that_ran() {
    let records = ran_before();
    let cells = PastCell::all(&[], &records);
    let told: Vec<_> = cells
        .iter()
        .map(|cell| (&*cell.id, cell.code.raw(), cell.is_whole, cell.end, cell.memory))
        .collect();
    assert_eq!(
        told,
        [
            ("p1", "x = 1", true, CellEnd::Done, CellMemory::Kept),
            ("p2", "y = 3", true, CellEnd::Failed, CellMemory::Kept),
            ("p4", "A=[secret:KEY]", false, CellEnd::Done, CellMemory::Lost),
            ("p5", "exit 0", true, CellEnd::Stopped, CellMemory::Lost),
        ]
    );
    // A restart by the person is a wish to be rid of them.
    let more = [Body::Restarted { languages: vec!["python".into()] }];
    let all = records.iter().map(|record| record.body.clone()).chain(more);
    let cells = PastCell::all(&[], &numbered(all));
    let replay = Replay::of(cells, None);
    assert!(replay.cells.iter().all(|cell| cell.language == "shell"), "{replay:?}");
    // In a session that goes on from it, nothing of it is in memory.
    let cells = PastCell::all(&PastCell::all(&[], &records), &[]);
    assert!(cells.iter().all(|cell| cell.memory == CellMemory::Lost));
    let python = language::example().find("python").unwrap();
    assert_eq!(Replay::of(cells, Some(&python)).cells.len(), 2);
}

/// Records of cells and of ways back: a cell ends well, or with its interpreter, or somebody goes
/// back to before one.
fn ways_back(choices: &[(u8, u8)]) -> Vec<crate::Record> {
    let (mut all, mut ran) = (Vec::new(), 0_usize);
    for (choice, which) in choices {
        if choice % 3 == 2 && ran > 0 {
            let to = format!("p{}", usize::from(*which) % ran + 1);
            all.push(Body::Rewound { to, cells: vec![], programs: 0 });
            continue;
        }
        ran += 1;
        let id = format!("p{ran}");
        let language = ["python", "shell"][usize::from(*which) % 2];
        all.extend([
            proposal(&id, language, "x"),
            started(&id, "x"),
            finished(&id, 0, *choice == 1),
        ]);
    }
    numbered(all)
}

proptest! {
    /// After a way back, the memory of each cell is that of the records before.
    #[test]
    fn memory_goes_back_to_what_it_was(choices in prop::collection::vec(any::<(u8, u8)>(), 0..24)) {
        let records = ways_back(&choices);
        for (at, record) in records.iter().enumerate() {
            let Body::Rewound { to, .. } = &record.body else { continue };
            let was_there = PastCell::all(&[], &records[..at]).iter().any(|cell| cell.id == *to);
            let now = PastCell::all(&[], &records[..=at]);
            if was_there {
                let then = PastCell::all(&[], PastCell::before(&records, to).unwrap());
                prop_assert!(now.iter().all(|cell| cell.id != *to));
                for (now, then) in now.iter().zip(&then) {
                    prop_assert_eq!(now.memory, then.memory);
                }
            }
        }
    }
}

#[test]
fn a_session_may_go_back_thousands_of_times() {
    let once = |number: usize| {
        let id = format!("p{}", number + 2);
        [
            proposal(&id, "python", "x"),
            started(&id, "x"),
            finished(&id, 0, false),
            Body::Rewound { to: id, cells: vec![], programs: 0 },
        ]
    };
    let first = [proposal("p1", "python", "x"), started("p1", "x"), finished("p1", 0, false)];
    let records = numbered(first.into_iter().chain((0..3_000).flat_map(once)));
    let cells = PastCell::all(&[], &records);
    assert_eq!(
        cells.iter().map(|cell| (&*cell.id, cell.memory)).collect::<Vec<_>>(),
        [("p1", CellMemory::Kept)]
    );
}
