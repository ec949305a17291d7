//! Checks the outputs that have files of their own against the record.
//!
//! One at a time: neither the record nor the outputs need to fit into memory together.

use super::{Log, failure::failure, read::record, read::stored_row};
use crate::{Outputs, StoreError};
use interpreter_core::Body;

/// What a check of the outputs found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptOutputs {
    /// How many are as they were recorded.
    pub whole: u64,
    /// How many have made room for newer ones.
    pub gone: u64,
    /// The records whose output was changed.
    pub altered: Vec<u64>,
}

impl Log {
    /// Checks every output and every picture that the record names.
    pub fn verify_outputs(&self, outputs: &Outputs) -> Result<KeptOutputs, StoreError> {
        let failed = |error| failure(&self.path, error);
        let mut statement = self
            .connection
            .prepare(
                "SELECT seq, session, time, body FROM record
                 WHERE kind IN ('output', 'image') AND instr(body, '\"kept\":{') > 0 ORDER BY seq",
            )
            .map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut found = KeptOutputs::default();
        while let Some(row) = rows.next().map_err(failed)? {
            let record = record(stored_row(row).map_err(failed)?)?;
            let (Body::Output { kept: Some(kept), .. } | Body::Image { kept, .. }) = &record.body
            else {
                continue;
            };
            match outputs.get(kept) {
                Ok(Some(_)) => found.whole += 1,
                Ok(None) => found.gone += 1,
                Err(StoreError::AlteredOutput { .. }) => found.altered.push(record.seq),
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Folders, record::example::Place};
    use interpreter_core::{Stream, Untrusted};

    #[test]
    fn a_changed_output_is_named_and_a_missing_one_counted() {
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

        let path = |letter: &str| {
            let hash = outputs.put(letter.repeat(100_000).as_bytes()).unwrap();
            folders.outputs_folder().join(&hash[..2]).join(format!("{hash}.lz4"))
        };
        std::fs::copy(path("c"), path("b")).unwrap();
        std::fs::remove_file(path("a")).unwrap();
        assert_eq!(
            place.log.verify_outputs(&outputs).unwrap(),
            KeptOutputs { whole: 1, gone: 1, altered: vec![2] }
        );
    }
}
