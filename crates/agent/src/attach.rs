//! Pictures and text files that the person shows the model.
//!
//! # Threat
//! A prompt that was pasted names a file the person would not send: a secret, or something outside
//! of the folder.
//!
//! # Mechanism
//! A text file is read only in the work folder, links resolved, and not if it has the name of a
//! secret, by its own name or by that of its target, unless the person allows it by its path.
//! Whatever is sent is announced and on record.

use crate::{AgentError, Context};
use interpreter_core::{
    Blob, Image, Untrusted,
    image::MOST_BYTES,
    sensitive::{self, SensitiveForm},
    session::{AttachedFile, Attachment, Event},
};
use interpreter_store::{PackedOutput, regular};
use std::{
    io::{ErrorKind, Read},
    os::unix::ffi::OsStrExt,
    path::Path,
};

/// The largest file that is attached, and the bytes of it that are sent.
const LARGEST: u64 = 16 << 20;
const SENT: usize = 32 << 10;

impl Context {
    /// Reads an image for the next prompt, and stores it beside the record. Returns the event that
    /// attaches it, and a description.
    pub fn attach(&self, path: &Path) -> Result<(Event, String), AgentError> {
        let failed = |reason: String| AgentError::Image { path: path.to_owned(), reason };
        let file = regular::open(path).map_err(|error| {
            let is_missing = error.kind() == ErrorKind::NotFound;
            failed(if is_missing { "it does not exist".into() } else { error.to_string() })
        })?;
        let mut bytes = Vec::new();
        let read = file.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| failed(error.to_string()))?;
        self.attach_image(&path.to_string_lossy(), &bytes)
    }

    fn attach_image(&self, name: &str, bytes: &[u8]) -> Result<(Event, String), AgentError> {
        let (attachment, packed) = attached_image(name, bytes)?;
        self.outputs().put_packed(&packed)?;
        let words = format!("{} ({})", attachment.name, attachment.image.words());
        Ok((Event::Attached(attachment), words))
    }

    /// Reads a file of the work folder for the next prompt: an image, or text, of which the
    /// beginning is sent if it is long. Returns the event that attaches it, and a description.
    pub fn attach_file(&self, path: &Path) -> Result<(Event, String), AgentError> {
        let failed = |reason: String| AgentError::Attachment { path: path.to_owned(), reason };
        let bytes = self.read_for_prompt(path).map_err(failed)?;
        if Image::new(&bytes).is_ok() {
            return self.attach(&self.work_folder.join(path));
        }
        let whole = String::from_utf8(bytes)
            .ok()
            .filter(|text| !text.contains('\0'))
            .ok_or_else(|| failed("it is neither text nor an image; code can read it".into()))?;
        let (attached, words) = attached_text(&path.to_string_lossy(), whole);
        Ok((Event::FileAttached(attached), words))
    }

    /// The bytes of a file, or why it is not sent.
    fn read_for_prompt(&self, path: &Path) -> Result<Vec<u8>, String> {
        let typed = self.work_folder.join(path);
        let real = fs_err::canonicalize(&typed).map_err(|error| {
            let is_missing = error.kind() == ErrorKind::NotFound;
            if is_missing { "it does not exist".to_owned() } else { error.to_string() }
        })?;
        if !real.starts_with(&self.work_folder) {
            return Err("it is outside this folder; copy it here first".into());
        }
        if self.folders.everywhere().iter().any(|ours| real.starts_with(ours)) {
            return Err("it belongs to this program".into());
        }
        let file = regular::open(&real).map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        if bytes.len() as u64 > LARGEST {
            let most = LARGEST >> 20;
            return Err(format!("it is larger than {most} MiB; let code read it instead"));
        }
        let shown = self.shown();
        for path in [typed.as_path(), real.as_path()] {
            if let Some(reason) = secret(path, &bytes).filter(|_| !shown.contains(path)) {
                return Err(format!("it has the name of a secret ({reason})"));
            }
        }
        Ok(bytes)
    }
}

/// A text that goes with a prompt, of which the beginning is sent if it is long; and a description.
pub fn attached_text(name: &str, whole: String) -> (AttachedFile, String) {
    let mut end = whole.len().min(SENT);
    while !whole.is_char_boundary(end) {
        end -= 1;
    }
    let name = Untrusted::new(name).for_terminal_line(200);
    let total = whole.len();
    let (text, words) = if end < total {
        let note = format!("[cut here: {end} of {total} bytes are shown; code can read the rest]");
        (format!("{}\n{note}\n", &whole[..end]), format!("the first {end} of {total} bytes"))
    } else {
        (whole, format!("{total} bytes"))
    };
    let words = format!("{name} ({words})");
    (AttachedFile { name, bytes: total as u64, text: Untrusted::new(text) }, words)
}

/// An image that goes with a prompt, and its bytes, which are not kept yet: whoever sends the prompt
/// hands them over, and they are kept if it is taken.
pub fn attached_image(name: &str, bytes: &[u8]) -> Result<(Attachment, PackedOutput), AgentError> {
    let failed = |reason: String| AgentError::Image { path: name.into(), reason };
    let image = Image::new(bytes).map_err(failed)?;
    let packed = PackedOutput::new(bytes);
    let kept = Blob { hash: packed.hash().into(), bytes: bytes.len() as u64, characters: 0 };
    let name = Untrusted::new(name).for_terminal_line(200);
    Ok((Attachment { name, image, kept }, packed))
}

/// The kind of secret that a file has the name of, if it has one.
fn secret(path: &Path, bytes: &[u8]) -> Option<&'static str> {
    let (parent, name) = (path.parent()?, path.file_name()?);
    if let Some((_, place)) = sensitive::place_above(parent) {
        return Some(place.reason);
    }
    let one = sensitive::named(parent, name.as_bytes(), SensitiveForm::File)?;
    let text = String::from_utf8_lossy(bytes);
    let holds = one.only_with.is_empty() || one.only_with.iter().any(|word| text.contains(word));
    holds.then_some(one.reason)
}
