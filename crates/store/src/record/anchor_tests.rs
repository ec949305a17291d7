//! An anchor holds whatever came before it, also against someone who has the key.

use super::*;
use crate::record::example::{Place, prompt, started};
use interpreter_core::record::RemovalReason;

fn faults(place: &Place, anchor: &Anchor) -> Vec<AnchorFault> {
    place.log.check_anchor(anchor).unwrap().faults
}

#[test]
fn what_was_anchored_is_still_there_however_much_follows() {
    let mut place = Place::with_records();
    let first = place.log.anchor().unwrap();
    assert_eq!(first.records, 6);
    place.log.append("s1", &prompt("more")).unwrap();
    place.log.append("s3", &started()).unwrap();
    let second = place.log.anchor().unwrap();
    assert_eq!(second.records, 9);
    for anchor in [&first, &second] {
        assert_eq!(faults(&place, anchor), []);
        assert_eq!(anchor.to_string().parse::<Anchor>().unwrap(), *anchor);
    }
    // The second names only what has changed: two sessions, and the anchor before it.
    let record = place.log.records(&second.session).next().unwrap().unwrap();
    let Body::Anchored { heads, since, .. } = record.body else { panic!("{record:?}") };
    assert_eq!((heads.len(), since.map(|one| one.hash)), (3, Some(first.hash.clone())));
    assert_eq!(place.log.check_anchor(&second).unwrap().sessions, 4);
    assert!(place.log.verify().unwrap().is_whole());
}

/// The attack: the whole data folder is put back as it was, with its key.
#[test]
fn an_anchor_shows_that_the_record_was_set_back() {
    let mut place = Place::with_records();
    let old = place.log.anchor().unwrap();
    let copy = tempfile::tempdir().unwrap();
    let files = || std::fs::read_dir(&place.folders.data).unwrap().map(|file| file.unwrap().path());
    for file in files().filter(|path| path.is_file()) {
        fs_err::copy(&file, copy.path().join(file.file_name().unwrap())).unwrap();
    }
    place.log.append("s2", &prompt("the evidence")).unwrap();
    let anchor = place.log.anchor().unwrap();
    assert_eq!(faults(&place, &anchor), []);
    let back = crate::Folders { data: copy.path().into(), ..place.folders.clone() };
    std::fs::set_permissions(copy.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .unwrap();
    let log = Log::open(&back).unwrap();
    assert!(log.verify().unwrap().is_whole());
    assert!(matches!(log.check_anchor(&anchor).unwrap().faults[..], [AnchorFault::Unknown { .. }]));
    // The control: an anchor from before is fine.
    assert_eq!(log.check_anchor(&old).unwrap().faults, []);
}

/// The attack: someone with the key writes another record in place of one that was anchored.
#[test]
fn an_anchor_shows_a_record_that_was_written_anew() {
    let mut place = Place::with_records();
    let anchor = place.log.anchor().unwrap();
    let change = "UPDATE record SET hash = 'x' WHERE session = 's1' AND seq = 3;
                  DELETE FROM record WHERE session = 's2' AND seq = 3";
    place.tamperer().execute_batch(change).unwrap();
    let other = AnchorFault::Other { session: "s1".into(), seq: 3 };
    let missing = AnchorFault::Missing { session: "s2".into(), seq: 3 };
    assert_eq!(faults(&place, &anchor), [other, missing]);
}

#[test]
fn a_line_that_was_changed_is_noticed() {
    let mut place = Place::with_records();
    let anchor = place.log.anchor().unwrap();
    let fewer = Anchor { records: 5, ..anchor.clone() };
    assert_eq!(faults(&place, &fewer), [AnchorFault::Reworded]);
    let later = Anchor { time: "2030-01-01T00:00:00.000000Z".into(), ..anchor.clone() };
    assert_eq!(faults(&place, &later), [AnchorFault::Reworded]);
    let other = Anchor { hash: "0".repeat(64), ..anchor.clone() };
    assert!(matches!(faults(&place, &other)[..], [AnchorFault::Unknown { .. }]));
    for line in ["", "x", "interpreter-anchor-1 5", &format!("{anchor} more"), "\u{1b}[2J"] {
        assert!(line.parse::<Anchor>().is_err(), "{line}");
    }
}

#[test]
fn a_session_that_was_removed_on_purpose_is_no_fault() {
    let mut place = Place::with_records();
    let anchor = place.log.anchor().unwrap();
    place.log.remove(&place.folders, &["s1".into()], RemovalReason::Asked).unwrap();
    let check = place.log.check_anchor(&anchor).unwrap();
    assert_eq!((check.removed, check.faults), (1, vec![]));
}
