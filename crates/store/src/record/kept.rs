//! Checks the outputs that have files of their own against the record.
//!
//! One at a time: neither the record nor the outputs need to fit into memory together.

use super::{Log, failure::failure, read::record, read::stored_row};
use crate::{Outputs, StoreError};
use interpreter_core::{Body, Output, Record};
use std::collections::BTreeMap;

/// The result of checking the outputs. Records are named by session and number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptOutputs {
    /// How many are as they were recorded.
    pub whole: u64,
    /// How many have made room for newer ones, by the record.
    pub pruned: u64,
    /// The records whose output is missing, and this program did not remove it.
    pub removed: Vec<(String, u64)>,
    /// The records whose output was changed.
    pub altered: Vec<(String, u64)>,
}

impl Log {
    /// Checks every output and every picture that the record names. A record that cannot be read
    /// names none.
    pub fn verify_outputs(&self, outputs: &Outputs) -> Result<KeptOutputs, StoreError> {
        // When each was last pruned, by hash. Times are texts that sort.
        let mut pruned: BTreeMap<String, String> = BTreeMap::new();
        self.each("kind = 'outputs_pruned'", |record| {
            if let Body::OutputsPruned { hashes } = record.body {
                for hash in hashes {
                    let last = pruned.entry(hash).or_default();
                    *last = record.time.clone().max(std::mem::take(last));
                }
            }
            Ok(())
        })?;
        let mut found = KeptOutputs::default();
        self.each("kind IN ('output', 'image') AND instr(body, '\"kept\":{') > 0", |record| {
            // An output whose words look as if it had a file is passed over.
            let (Body::Output(Output { kept: Some(kept), .. }) | Body::Image { kept, .. }) =
                record.body
            else {
                return Ok(());
            };
            match outputs.get(&kept) {
                Ok(Some(_)) => found.whole += 1,
                Ok(None) if pruned.get(&kept.hash).is_some_and(|last| *last >= record.time) => {
                    found.pruned += 1;
                }
                Ok(None) => found.removed.push((record.session, record.seq)),
                Err(StoreError::AlteredOutput { .. }) => {
                    found.altered.push((record.session, record.seq));
                }
                Err(error) => return Err(error),
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Goes through the records that fulfil `condition`, one at a time.
    pub(super) fn each(
        &self,
        condition: &str,
        mut take: impl FnMut(Record) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let failed = |error| failure(&self.path, error);
        let query = format!("SELECT place, seq, session, time, body FROM record WHERE {condition}");
        let mut statement = self.connection.prepare(&query).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            if let Ok(record) = stored_row(row).map_err(failed).and_then(record) {
                take(record)?;
            }
        }
        Ok(())
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
            let mut body = Body::Output(Output {
                proposal: "p1".into(),
                stream: Stream::Stdout,
                text: Untrusted::new(letter.repeat(100_000)),
                mime: "text/plain".into(),
                bundle: [].into(),
                display: None,
                bytes: None,
                kept: None,
            });
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
        let at = |seq| ("s1".to_owned(), seq);
        std::fs::copy(path("c"), path("b")).unwrap();
        std::fs::remove_file(path("a")).unwrap();
        assert_eq!(
            place.log.verify_outputs(&outputs).unwrap(),
            KeptOutputs { whole: 1, pruned: 0, removed: vec![at(1)], altered: vec![at(2)] }
        );
        let hashes = vec![outputs.put(b"something else").unwrap(), hash("a")];
        place.log.append("s1", &Body::OutputsPruned { hashes }).unwrap();
        assert_eq!(
            place.log.verify_outputs(&outputs).unwrap(),
            KeptOutputs { whole: 1, pruned: 1, removed: vec![], altered: vec![at(2)] }
        );
    }
}
