//! Pictures that the person shows the model.

use crate::{AgentError, Context};
use interpreter_core::{
    Blob, Image, Untrusted,
    image::MOST_BYTES,
    session::{Attachment, Event},
};
use std::{
    io::{ErrorKind, Read},
    path::Path,
};

impl Context {
    /// Reads an image for the next prompt, and stores it beside the record. Returns the event that
    /// attaches it, and a description.
    pub fn attach(&self, path: &Path) -> Result<(Event, String), AgentError> {
        let failed = |reason: String| AgentError::Image { path: path.to_owned(), reason };
        // Looked at before it is opened: to open a pipe would wait for its writer.
        let found = match fs_err::metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(failed("it does not exist".into()));
            }
            Err(error) => return Err(failed(error.to_string())),
        };
        if !found.is_file() {
            return Err(failed("it is not a regular file".into()));
        }
        let mut bytes = Vec::new();
        let most = MOST_BYTES as u64 + 1;
        let read =
            fs_err::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes));
        read.map_err(|error| failed(error.to_string()))?;
        let image = Image::new(&bytes).map_err(failed)?;
        let hash = self.outputs().put(&bytes)?;
        let kept = Blob { hash, bytes: bytes.len() as u64, characters: 0 };
        let name = Untrusted::new(path.to_string_lossy()).for_terminal_line(200);
        let words = format!("{name} ({})", image.words());
        Ok((Event::Attached(Attachment { name, image, kept }), words))
    }
}
