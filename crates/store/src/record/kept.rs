//! Checks the outputs that have files of their own against the record.
//!
//! One at a time: neither the record nor the outputs need to fit into memory together.

use super::{Log, failure::failure, read::record, read::stored_row};
use crate::{Outputs, StoreError};
use interpreter_core::Body;
use std::collections::BTreeMap;

/// What a check of the outputs found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptOutputs {
    /// How many are as they were recorded.
    pub whole: u64,
    /// How many have made room for newer ones, by the record.
    pub pruned: u64,
    /// The records whose output was removed by something else.
    pub removed: Vec<u64>,
    /// The records whose output was changed.
    pub altered: Vec<u64>,
}

impl Log {
    /// Checks every output and every picture that the record names.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other kind names an output")]
    pub fn verify_outputs(&self, outputs: &Outputs) -> Result<KeptOutputs, StoreError> {
        let failed = |error| failure(&self.path, error);
        let mut statement = self
            .connection
            .prepare(
                "SELECT seq, session, time, body FROM record
                 WHERE kind = 'outputs_pruned'
                     OR (kind IN ('output', 'image') AND instr(body, '\"kept\":{') > 0)
                 ORDER BY seq",
            )
            .map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut found = KeptOutputs::default();
        // The records of those that are missing, by hash, until a later record explains it.
        let mut missing: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let record = record(stored_row(row).map_err(failed)?)?;
            match record.body {
                Body::OutputsPruned { hashes } => {
                    let explained = hashes.iter().filter_map(|hash| missing.remove(hash));
                    found.pruned += explained.map(|seqs| seqs.len() as u64).sum::<u64>();
                }
                Body::Output { kept: Some(kept), .. } | Body::Image { kept, .. } => {
                    match outputs.get(&kept) {
                        Ok(Some(_)) => found.whole += 1,
                        Ok(None) => missing.entry(kept.hash).or_default().push(record.seq),
                        Err(StoreError::AlteredOutput { .. }) => found.altered.push(record.seq),
                        Err(error) => return Err(error),
                    }
                }
                // An output whose words look as if it had a file.
                _ => {}
            }
        }
        found.removed = missing.into_values().flatten().collect();
        found.removed.sort_unstable();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Folders, record::example::Place};
    use interpreter_core::{Stream, Untrusted};

    #[test]
    fn an_output_that_was_changed_or_removed_is_named_and_a_pruned_one_counted() {
        let mut place = Place::new();
        let folder = tempfile::tempdir().unwrap();
        let folders = Folders::under(folder.path());
        let outputs = Outputs::new(&folders);
        for letter in ["a", "b", "c"] {
            let mut body = Body::Output {
                proposal: "p1".into(),
                stream: Stream::Stdout,
                text: Untrusted::new(letter.repeat(100_000)),
                mime: "text/plain".into(),
                bundle: [].into(),
                display: None,
                bytes: None,
                kept: None,
            };
            outputs.keep(&mut body).unwrap();
            place.log.append("s1", &body).unwrap();
        }
        let whole = KeptOutputs { whole: 3, ..KeptOutputs::default() };
        assert_eq!(place.log.verify_outputs(&outputs).unwrap(), whole);

        let hash = |letter: &str| outputs.put(letter.repeat(100_000).as_bytes()).unwrap();
        let hashes = ["a", "b", "c"].map(hash);
        let hash = |letter: &str| hashes[usize::from(letter.as_bytes()[0] - b'a')].clone();
        let path = |letter: &str| {
            let hash = hash(letter);
            folders.outputs_folder().join(&hash[..2]).join(format!("{hash}.lz4"))
        };
        std::fs::copy(path("c"), path("b")).unwrap();
        std::fs::remove_file(path("a")).unwrap();
        assert_eq!(
            place.log.verify_outputs(&outputs).unwrap(),
            KeptOutputs { whole: 1, pruned: 0, removed: vec![1], altered: vec![2] }
        );
        let hashes = vec![outputs.put(b"something else").unwrap(), hash("a")];
        place.log.append("s1", &Body::OutputsPruned { hashes }).unwrap();
        assert_eq!(
            place.log.verify_outputs(&outputs).unwrap(),
            KeptOutputs { whole: 1, pruned: 1, removed: vec![], altered: vec![2] }
        );
    }
}
