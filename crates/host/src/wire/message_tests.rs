//! Messages survive the wire, and only in their direction.

use super::super::frame::{Decoder, encode};
use super::*;

fn returns<F: Frame + PartialEq + std::fmt::Debug>(message: &F) {
    let mut bytes = Vec::new();
    encode(message, &mut bytes).unwrap();
    let mut decoder = Decoder::<F>::default();
    decoder.push(&bytes);
    assert_eq!(&decoder.next().unwrap().unwrap(), message);
}

#[test]
fn every_message_survives_the_wire() {
    let spec = KernelSpec {
        program: "/usr/bin/bash".into(),
        arguments: vec!["driver.sh".into()],
        environment: BTreeMap::from([("LANG".into(), "C.UTF-8".into())]),
        folder: "/work".into(),
        input: KernelInput::File("/data".into()),
    };
    returns(&Inward::Start { kernel: 1, spec });
    returns(&Inward::Interrupt { kernel: 1 });
    returns(&Inward::Stop { kernel: 1 });
    returns(&Inward::Kill { kernel: 1, process: 258 });
    returns(&Inward::Hold { kernel: 1, number: 2, process: 3, most: u64::MAX });
    returns(&Inward::Release { kernel: 1, number: 258 });
    returns(&Inward::Rewind { kernel: 1, number: 258 });
    for held in [false, true] {
        returns(&Outward::Held { kernel: 1, number: 258, held });
    }
    returns(&Outward::Rewound { kernel: 1, number: 258, process: 772 });
    for input in [false, true] {
        returns(&Outward::Started { kernel: 1, process: u32::MAX, input });
    }
    returns(&Inward::Tidy { kernel: 1 });
    returns(&Inward::Measure);
    returns(&Inward::Empty { folders: vec!["/t".into()], home: "/t/h".into() });
    for clean in [false, true] {
        returns(&Outward::Emptied { clean });
    }
    returns(&Inward::Count);
    returns(&Outward::Programs { count: 258 });
    returns(&Outward::Used { milliseconds: u64::MAX });
    returns(&Outward::Crowded { kernel: 7 });
    returns(&Outward::Tidied { kernel: 7 });
    let paths = vec!["a/b".into()];
    let scratch = ".s".into();
    returns(&Inward::Restore { work: "/w".into(), lower: "/l".into(), paths, scratch });
    returns(&Outward::Failed { kernel: 1, message: "no".into() });
    returns(&Outward::Exited { kernel: 1, status: Some(3), signal: None });
    returns(&Outward::Restored { errors: vec!["x".into()] });
}

#[test]
fn a_frame_of_one_direction_is_unknown_in_the_other() {
    let mut bytes = Vec::new();
    encode(&Inward::Stop { kernel: 1 }, &mut bytes).unwrap();
    let mut decoder = Decoder::<Outward>::default();
    decoder.push(&bytes);
    let Some(Err(FrameError::Foreign { source, .. })) = decoder.next() else { panic!() };
    assert!(matches!(*source, FrameError::Unknown { kind: STOP }));
}
