//! Outputs that are too large for the record: each in a file of its own, named by its hash.
//!
//! ```text
//! outputs/ab/abcdef….lz4     an LZ4 frame; `sha256sum FILE` gives its name, `lz4 -dc FILE` what was
//!                            printed
//! ```
//!
//! The record contains the hash, so a changed output is noticed like a changed record. The
//! compressed form is hashed and written, because it is smaller. The total size is bounded: the
//! oldest outputs make room for the newest. That is recorded first, so that an output removed by
//! something else is recognised.
//!
//! Must not trust a file: its content is checked against its name and length.

use crate::{
    Folders, StoreError,
    private::{self, Flush, UNFINISHED},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use interpreter_core::{Blob, Body, Output, Stream, Untrusted, hash::sha256, output::characters};
use lz4_flex::frame::{BlockSize, FrameDecoder, FrameEncoder, FrameInfo};
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read, Write},
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

/// Bytes of all files together.
const MOST: u64 = 2 << 30;

/// Bytes of output that the record itself holds at most. A file costs more than a few lines do.
const LARGE: usize = 16 << 10;

/// How the name of a file ends.
const ENDING: &str = "lz4";

/// The outputs that have files of their own.
#[derive(Debug)]
pub struct Outputs {
    folder: PathBuf,
    most: u64,
    /// Bytes of all files, once they were counted.
    used: Mutex<Option<u64>>,
    /// The hashes of those that are to go.
    pruned: Mutex<Vec<String>>,
}

impl Outputs {
    /// The outputs in these folders. Touches no disk.
    pub fn new(folders: &Folders) -> Self {
        Self::bounded(folders, MOST)
    }

    /// The same, with room for another number of bytes.
    pub fn bounded(folders: &Folders, most: u64) -> Self {
        let folder = folders.outputs_folder();
        Self { folder, most, used: Mutex::new(None), pruned: Mutex::default() }
    }

    /// Bytes of the output in `body`, in all its forms.
    pub fn size(body: &Body) -> usize {
        let Body::Output(Output { text, bundle, bytes, .. }) = body else { return 0 };
        let forms = bundle.values().map(|form| form.raw().len());
        forms.sum::<usize>() + text.raw().len() + bytes.as_ref().map_or(0, String::len)
    }

    /// Whether `body` is an output that is too large for the record.
    pub fn is_large(body: &Body) -> bool {
        Self::size(body) > LARGE
    }

    /// Gives an output a file of its own. Whatever else `body` is stays as it is.
    pub fn keep(&self, body: &mut Body) -> Result<(), StoreError> {
        let Body::Output(Output { stream, text, bundle, bytes, kept, .. }) = body else {
            return Ok(());
        };
        if kept.is_some() {
            return Ok(());
        }
        let characters = characters(text.raw());
        let content: Cow<'_, [u8]> = match (*stream, bytes.as_deref()) {
            (Stream::Result, _) => {
                let whole = serde_json::to_vec(&Whole {
                    text: Cow::Borrowed(text),
                    bundle: Cow::Borrowed(bundle),
                });
                Cow::Owned(whole.map_err(|source| StoreError::Unwritable { source })?)
            }
            (Stream::Stdout | Stream::Stderr, None) => Cow::Borrowed(text.raw().as_bytes()),
            (Stream::Stdout | Stream::Stderr, Some(encoded)) => match STANDARD.decode(encoded) {
                Ok(exact) => Cow::Owned(exact),
                Err(_) => Cow::Borrowed(text.raw().as_bytes()),
            },
        };
        let hash = self.put(&content)?;
        *kept = Some(Blob { hash, bytes: content.len() as u64, characters });
        Ok(())
    }

    /// Puts back into `body` what has a file of its own. Without that it stays as it is.
    pub fn restore(&self, body: &mut Body) -> Result<Restored, StoreError> {
        let Body::Output(Output { stream, text, bundle, bytes, kept: Some(kept), .. }) = body
        else {
            return Ok(Restored::Whole);
        };
        let Some(content) = self.get(kept)? else { return Ok(Restored::Gone) };
        match stream {
            Stream::Result => {
                let whole: Whole<'_> = serde_json::from_slice(&content)
                    .map_err(|_| StoreError::AlteredOutput { path: self.path(&kept.hash) })?;
                *text = whole.text.into_owned();
                *bundle = whole.bundle.into_owned();
            }
            Stream::Stdout | Stream::Stderr => match String::from_utf8(content) {
                Ok(content) => *text = Untrusted::new(content),
                Err(error) => {
                    *text = Untrusted::new(String::from_utf8_lossy(error.as_bytes()));
                    *bytes = Some(STANDARD.encode(error.as_bytes()));
                }
            },
        }
        Ok(Restored::Whole)
    }

    /// Keeps `content` and gives the hash of its file. When this returns, the file is there.
    pub fn put(&self, content: &[u8]) -> Result<String, StoreError> {
        let packed = PackedOutput::new(content);
        self.put_packed(&packed)?;
        Ok(packed.hash)
    }

    /// The same of a content that is packed already.
    pub fn put_packed(
        &self,
        PackedOutput { hash, frame }: &PackedOutput,
    ) -> Result<(), StoreError> {
        let path = self.path(hash);
        let failed = |source| StoreError::Keep { path: path.clone(), source };
        if let Ok(file) = File::options().write(true).open(&path) {
            // The same was printed before. It is as good as new.
            return file.set_modified(SystemTime::now()).map_err(failed);
        }
        private::make_folder(path.parent().expect("every output is in a folder"))?;
        private::write_new(&path, frame, Flush::LetBe).map_err(failed)?;
        self.make_room(frame.len() as u64).map_err(failed)
    }

    /// The stored output, or `None` if it has made room for newer ones.
    pub fn get(&self, kept: &Blob) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.path(&kept.hash);
        let altered = || StoreError::AlteredOutput { path: path.clone() };
        if !is_hash(&kept.hash) {
            return Err(altered());
        }
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StoreError::Read { path, source }),
        };
        // A file could be endless, and so could what a frame claims to hold.
        let mut frame = Vec::new();
        let read = file.take(longest_frame(kept.bytes)).read_to_end(&mut frame);
        if read.is_err() || sha256(&frame) != kept.hash {
            return Err(altered());
        }
        let mut content = Vec::new();
        let most = kept.bytes.saturating_add(1);
        let read = FrameDecoder::new(&*frame).take(most).read_to_end(&mut content);
        match read {
            Ok(count) if count as u64 == kept.bytes => Ok(Some(content)),
            Ok(_) | Err(_) => Err(altered()),
        }
    }

    /// Where an output is.
    fn path(&self, hash: &str) -> PathBuf {
        let folder = self.folder.join(hash.get(..2).unwrap_or("none"));
        folder.join(hash).with_extension(ENDING)
    }

    /// Counts what was added; when that is too much, the oldest files are to go.
    fn make_room(&self, added: u64) -> io::Result<()> {
        let mut used = lock(&self.used);
        let now = used.map_or(self.most.saturating_add(1), |used| used.saturating_add(added));
        *used = Some(if now > self.most { self.sweep()? } else { now });
        Ok(())
    }

    /// The outputs that are to make room for newer ones, by their hashes. They go on record before
    /// [`Outputs::prune`] removes them.
    pub fn to_be_pruned(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.pruned))
    }

    /// Removes outputs that have made room for newer ones.
    pub fn prune(&self, hashes: &[String]) -> Result<(), StoreError> {
        for path in hashes.iter().map(|hash| self.path(hash)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::Keep { path, source: error });
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Removes the output of a session that is removed itself. Its bytes on the disk, if it was there.
    pub(crate) fn remove(&self, hash: &str) -> Result<Option<u64>, StoreError> {
        let path = self.path(hash);
        if !is_hash(hash) {
            return Ok(None);
        }
        let bytes = fs::metadata(&path).map(|found| found.len());
        match bytes.and_then(|bytes| fs::remove_file(&path).map(|()| bytes)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StoreError::Keep { path, source }),
        }
    }

    /// Counts all files, and removes the oldest until a tenth of the space is free. Leftovers of
    /// killed processes go at once.
    fn sweep(&self) -> io::Result<u64> {
        let mut files = Vec::new();
        for above in fs::read_dir(&self.folder)? {
            for file in fs::read_dir(above?.path())? {
                let path = file?.path();
                if path.extension() == Some(OsStr::new(UNFINISHED)) {
                    _ = private::remove_unfinished(&path).is_ok();
                    continue;
                }
                // Another process may have removed it meanwhile.
                let Ok(metadata) = fs::metadata(&path) else { continue };
                files.push((metadata.modified()?, metadata.len(), path));
            }
        }
        let mut used: u64 = files.iter().map(|(_, size, _)| size).sum();
        if used <= self.most {
            return Ok(used);
        }
        files.sort();
        let mut pruned = lock(&self.pruned);
        for (_, size, path) in files {
            if used <= self.most / 10 * 9 {
                break;
            }
            used -= size;
            let hash = path.file_stem().and_then(OsStr::to_str).filter(|name| is_hash(name));
            pruned.extend(hash.map(str::to_owned));
        }
        Ok(used)
    }
}

/// A content that is ready to be kept, and is not on the disk yet.
#[derive(Clone, Debug)]
pub struct PackedOutput {
    hash: String,
    frame: Vec<u8>,
}

impl PackedOutput {
    /// Packs a content.
    pub fn new(content: &[u8]) -> Self {
        let frame = compressed(content);
        Self { hash: sha256(&frame), frame }
    }

    /// The hash that its file is named by.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

/// Whether an output is whole again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    /// It is.
    Whole,
    /// Its file has made room for newer ones.
    Gone,
}

/// The file of a result, as JSON. Any other file contains the plain bytes.
#[derive(Serialize, Deserialize)]
struct Whole<'a> {
    text: Cow<'a, Untrusted>,
    bundle: Cow<'a, BTreeMap<String, Untrusted>>,
}

/// `content` as an LZ4 frame.
fn compressed(content: &[u8]) -> Vec<u8> {
    // As far back as LZ4 looks. Larger blocks only take larger buffers, which are made anew each time.
    let info = FrameInfo::new().block_size(BlockSize::Max64KB);
    let mut encoder = FrameEncoder::with_frame_info(info, Vec::with_capacity(content.len() / 2));
    let written = encoder.write_all(content);
    let frame = written.and_then(|()| encoder.finish().map_err(io::Error::from));
    frame.expect("writing to memory cannot fail")
}

/// Size of the longest frame for so many bytes: incompressible data stays as it is, with a few
/// bytes per block.
fn longest_frame(content: u64) -> u64 {
    content.saturating_add(content / 1_000).saturating_add(1_000)
}

/// A poisoned lock is harmless: the values are replaced as a whole.
fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scene {
        _folder: tempfile::TempDir,
        outputs: Outputs,
    }

    fn scene(most: u64) -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let outputs = Outputs::bounded(&Folders::under(folder.path()), most);
        Scene { _folder: folder, outputs }
    }

    fn kept(outputs: &Outputs, content: &[u8]) -> Blob {
        let hash = outputs.put(content).unwrap();
        Blob { hash, bytes: content.len() as u64, characters: 0 }
    }

    /// Bytes that do not get smaller.
    fn noise(seed: u64, length: usize) -> Vec<u8> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_le_bytes()[0]
        };
        std::iter::repeat_with(&mut next).take(length).collect()
    }

    #[test]
    fn what_is_kept_comes_back_and_takes_less_room() {
        let Scene { outputs, .. } = &scene(MOST);
        let content = "a line that is printed again\n".repeat(100_000);
        let kept = kept(outputs, content.as_bytes());
        assert_eq!(outputs.get(&kept).unwrap().unwrap(), content.as_bytes());
        let file = fs_err::read(outputs.path(&kept.hash)).unwrap();
        assert!(file.len() < content.len() / 50, "{}", file.len());
        assert_eq!(sha256(&file), kept.hash);
        // The same content is the same file.
        assert_eq!(outputs.put(content.as_bytes()).unwrap(), kept.hash);
    }

    #[test]
    fn what_cannot_be_compressed_comes_back_too() {
        let Scene { outputs, .. } = &scene(MOST);
        for length in [0, 1, 4_000, 3_000_000] {
            let content = noise(7, length);
            let kept = kept(outputs, &content);
            assert_eq!(outputs.get(&kept).unwrap().unwrap(), content);
        }
    }

    #[test]
    fn a_file_that_was_changed_is_noticed() {
        let Scene { outputs, .. } = &scene(MOST);
        let kept = kept(outputs, b"what it printed");
        for other in [b"no frame at all".to_vec(), compressed(b"what it did not print"), vec![]] {
            fs_err::write(outputs.path(&kept.hash), other).unwrap();
            assert!(matches!(outputs.get(&kept), Err(StoreError::AlteredOutput { .. })));
        }
        // Nor does a length fit that somebody made up.
        let hash = outputs.put(&vec![0; 100_000]).unwrap();
        for bytes in [0, 99_999, 100_001, u64::MAX] {
            let kept = Blob { hash: hash.clone(), bytes, characters: 0 };
            assert!(matches!(outputs.get(&kept), Err(StoreError::AlteredOutput { .. })));
        }
    }

    #[test]
    fn a_file_cannot_claim_to_be_endless() {
        let Scene { outputs, .. } = &scene(MOST);
        let kept = kept(outputs, b"short");
        let file = File::options().write(true).open(outputs.path(&kept.hash)).unwrap();
        file.set_len(1 << 40).unwrap();
        assert!(matches!(outputs.get(&kept), Err(StoreError::AlteredOutput { .. })));
    }

    #[test]
    fn a_hash_cannot_be_a_path() {
        let Scene { outputs, .. } = &scene(MOST);
        let hash = format!("../../{}", "a".repeat(58));
        let kept = Blob { hash, bytes: 1, characters: 1 };
        assert!(matches!(outputs.get(&kept), Err(StoreError::AlteredOutput { .. })));
    }

    #[test]
    fn the_oldest_make_room_for_the_newest() {
        let Scene { outputs, .. } = &scene(20_000);
        let all: Vec<_> = (1..=8).map(|seed| kept(outputs, &noise(seed, 4_000))).collect();
        // Nothing is gone before somebody has put it on record.
        assert!(outputs.get(&all[0]).unwrap().is_some());
        let going = outputs.to_be_pruned();
        assert!(going.contains(&all[0].hash) && !going.contains(&all[7].hash));
        outputs.prune(&going).unwrap();
        assert_eq!(outputs.get(&all[0]).unwrap(), None);
        assert_eq!(outputs.get(&all[7]).unwrap().unwrap(), noise(8, 4_000));
        assert!(outputs.used.lock().unwrap().unwrap() <= 20_000);
    }

    fn output(stream: Stream, text: &str, bytes: Option<&[u8]>) -> Body {
        let bundle = match stream {
            Stream::Result => [("image/png".into(), Untrusted::new("iVBOR"))].into(),
            Stream::Stdout | Stream::Stderr => BTreeMap::new(),
        };
        Body::Output(Output {
            proposal: "p1".into(),
            stream,
            text: Untrusted::new(text),
            mime: "text/plain".into(),
            bundle,
            display: None,
            bytes: bytes.map(|bytes| STANDARD.encode(bytes)),
            kept: None,
        })
    }

    #[test]
    fn large_output_goes_to_a_file_and_comes_back_whole() {
        let Scene { outputs, .. } = &scene(MOST);
        let text = "é".repeat(LARGE);
        let mut noise = text.clone().into_bytes();
        noise[0] = 0xff;
        let lossy = String::from_utf8_lossy(&noise).into_owned();
        for mut body in [
            output(Stream::Stdout, &text, None),
            output(Stream::Stderr, &lossy, Some(&noise)),
            output(Stream::Result, &text, None),
        ] {
            outputs.keep(&mut body).unwrap();
            let whole = body.clone();
            let Body::Output(Output { text, bundle, bytes, kept: Some(kept), .. }) = &mut body
            else {
                panic!("{body:?}")
            };
            assert!(kept.characters >= LARGE as u64, "{kept:?}");
            (*text, *bundle, *bytes) = Default::default();
            assert_eq!(outputs.restore(&mut body).unwrap(), Restored::Whole);
            assert_eq!(body, whole);
        }
    }

    #[test]
    fn what_is_small_needs_no_file() {
        assert!(!Outputs::is_large(&output(Stream::Stdout, "small", None)));
        assert!(Outputs::is_large(&output(Stream::Stdout, &"x".repeat(LARGE + 1), None)));
        assert!(!Outputs::is_large(&Body::Prompt { text: "x".repeat(LARGE + 1) }));
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_reads_them() {
        use std::{os::unix::fs::PermissionsExt, path::Path};
        let Scene { outputs, .. } = &scene(MOST);
        let kept = kept(outputs, b"private");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&outputs.path(&kept.hash)), 0o600);
    }
}
