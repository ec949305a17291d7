//! An export can be checked without the database, and no change of it goes unseen.

use super::*;
use crate::record::{
    ExportFilter,
    example::{Place, prompt},
};
use std::io::Cursor;

fn export(place: &Place, filter: &ExportFilter) -> Vec<String> {
    let mut lines = Vec::new();
    let take = |linked: LinkedRecord| {
        lines.push(linked.line());
        Ok::<_, StoreError>(())
    };
    place.log.export(filter, take).unwrap();
    lines
}

fn check(lines: &[String]) -> ExportVerification {
    ExportVerification::of(Cursor::new(lines.join("\n").into_bytes())).unwrap()
}

fn reasons(lines: &[String]) -> Vec<(u64, BreakReason)> {
    check(lines).breaks.into_iter().map(|one| (one.seq, one.reason)).collect()
}

#[test]
fn an_export_is_the_record_and_can_be_checked_alone() {
    let place = Place::with_records();
    let lines = export(&place, &ExportFilter::default());
    let found = check(&lines);
    assert_eq!((found.records, found.sessions, found.partial), (6, 2, 0));
    assert!(found.is_whole());
    // Each line is the record that `--json` prints, with its link.
    let value: serde_json::Value = serde_json::from_str(&lines[1]).unwrap();
    let record = place.log.records("s1").nth(1).unwrap().unwrap();
    let expected = serde_json::to_value(&record).unwrap();
    for (name, field) in expected.as_object().unwrap() {
        assert_eq!(&value[name], field, "{name}");
    }
    assert_eq!(
        value["link"]["prev"],
        serde_json::from_str::<serde_json::Value>(&lines[0]).unwrap()["link"]["hash"]
    );
}

#[test]
fn a_session_or_a_time_is_exported_alone() {
    let mut place = Place::with_records();
    let one = ExportFilter { session: Some("s2".into()), ..ExportFilter::default() };
    let lines = export(&place, &one);
    assert_eq!((lines.len(), check(&lines).sessions), (3, 1));
    let late = place.log.append("s1", &prompt("later")).unwrap();
    let since = ExportFilter { since: Some(late.time.clone()), ..ExportFilter::default() };
    let found = check(&export(&place, &since));
    assert_eq!((found.records, found.partial, found.is_whole()), (1, 1, true));
    let until = ExportFilter { until: Some(late.time), ..ExportFilter::default() };
    assert_eq!(check(&export(&place, &until)).records, 6);
}

/// The attacks: any byte, any line, any order.
#[test]
fn a_tampered_export_is_noticed() {
    let place = Place::with_records();
    let lines = export(&place, &ExportFilter { session: Some("s1".into()), ..Default::default() });
    for (at, line) in lines.iter().enumerate() {
        for place in 0..line.len() {
            let mut bytes = line.clone().into_bytes();
            bytes[place] ^= 1;
            let mut changed: Vec<Vec<u8>> = lines.iter().map(|one| one.clone().into()).collect();
            changed[at] = bytes;
            let found = ExportVerification::of(Cursor::new(changed.join(&b'\n'))).unwrap();
            assert!(!found.is_whole(), "line {at}, byte {place}");
        }
    }
    let without = |gone: usize| {
        let kept = lines.iter().enumerate().filter(|(at, _)| *at != gone);
        kept.map(|(_, line)| line.clone()).collect::<Vec<_>>()
    };
    assert_eq!(reasons(&without(1)), [(3, BreakReason::Missing)]);
    let swapped = [lines[0].clone(), lines[2].clone(), lines[1].clone()];
    assert!(!check(&swapped).is_whole());
    let twice = [lines[0].clone(), lines[0].clone(), lines[1].clone(), lines[2].clone()];
    assert_eq!(reasons(&twice), [(1, BreakReason::Added)]);
    let foreign = [lines[0].clone(), "{\"kind\":\"note\"}".into()];
    assert_eq!(check(&foreign).unreadable, Some(2));
    // A field that stands twice cannot say something else than what was hashed.
    let doubled = lines[1].replacen("{\"seq\":2", "{\"seq\":2,\"text\":\"harmless\"", 1);
    assert!(!check(&[lines[0].clone(), doubled, lines[2].clone()]).is_whole());
}

#[test]
fn an_anchor_shows_what_an_export_leaves_out() {
    let mut place = Place::with_records();
    let anchor = place.log.anchor().unwrap();
    place.log.append("s1", &prompt("later")).unwrap();
    let lines = export(&place, &ExportFilter::default());
    let faults = |lines: &[String]| {
        let text = lines.join("\n");
        let open = || Ok(Cursor::new(text.clone().into_bytes()));
        anchor.check_export(Path::new("export"), open).unwrap().faults
    };
    assert_eq!(faults(&lines), []);
    // The newest record of `s2` that was anchored: the links alone do not show it.
    let cut: Vec<_> = lines
        .iter()
        .filter(|line| !line.contains(r#""session":"s2""#) || !line.contains("session_ended"))
        .cloned()
        .collect();
    assert!(check(&cut).is_whole());
    assert_eq!(faults(&cut), [AnchorFault::Missing { session: "s2".into(), seq: 3 }]);
    let bare: Vec<_> = lines.iter().filter(|line| !line.contains("anchored")).cloned().collect();
    assert!(matches!(faults(&bare)[..], [AnchorFault::Unknown { .. }]));
}
