//! The state of the engine after the beginning that all conversations share, kept in files.
//!
//! To read the instructions and examples that stand before the person's first words takes a small machine many seconds, and they
//! are the same every time. So the state after them is written once and read at the next start.
//!
//! # Threat
//! A file that is damaged, or made for other weights or by another version, and is then read by C++.
//!
//! # Mechanism
//! A file begins with the SHA-256 of all the rest of it; the rest begins with the identity of its
//! maker, and with the tokens that were read. All of this is checked before the state is used. A
//! file that does not match is ignored and rewritten.
//!
//! # Limits
//! The hash guards against accidents. Whoever may write to the folder may also write hashes; it is private to the person.

use fs_err::os::unix::fs::OpenOptionsExt;
use sha2::{Digest, Sha256};
use std::{
    fmt,
    io::{self, Read, Write},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// The beginning of every file, with the number of the format.
const MAGIC: &[u8; 8] = b"prefix01";
/// How the files end.
const ENDING: &str = "prefix";
/// How many files are kept; the longest unused goes first.
const FILES: usize = 4;
/// No more tokens are kept than this: a beginning that is longer is one that others do not share.
pub(crate) const MOST_TOKENS: usize = 1536;
/// No larger file is read or written.
const MOST_BYTES: u64 = 512 << 20;
/// The version of the library, which may change what it writes.
const LIBRARY: &str = "llama-cpp-2 =0.1.160";

/// The conditions of a state: these weights, this engine, these settings.
pub(crate) type Identity = [u8; 32];

/// The folder of saved states.
#[derive(Debug)]
pub(crate) struct Saved {
    folder: PathBuf,
    identity: Identity,
}

/// A state that was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// The tokens after which it is the state.
    pub(crate) tokens: Vec<i32>,
    /// The state for the engine.
    pub(crate) bytes: Vec<u8>,
}

/// The identity of weights, by the hash of their file, as run with these settings.
pub(crate) fn identity(sha256: &str, settings: &[u32]) -> Identity {
    let mut hash = Sha256::new().chain_update(LIBRARY);
    hash.update(sha256.len().to_le_bytes());
    hash.update(sha256);
    for setting in settings {
        hash.update(setting.to_le_bytes());
    }
    hash.finalize().into()
}

impl Saved {
    pub(crate) fn new(folder: PathBuf, identity: Identity) -> Self {
        Self { folder, identity }
    }

    /// The state that has most in common with these tokens at their beginning, if that is at least `least`.
    pub(crate) fn find(&self, tokens: &[i32], least: usize) -> Option<State> {
        let mut found: Vec<_> = self
            .files()
            .into_iter()
            .filter_map(|(path, _)| {
                let known = self.head(&path).ok()??;
                let shared = shared(&known, tokens);
                (shared >= least.max(1)).then_some((shared, path))
            })
            .collect();
        found.sort();
        // A damaged one may hide a whole one.
        found.into_iter().rev().find_map(|(_, path)| self.read(&path).ok().flatten())
    }

    /// Keeps a state, and takes away what is too much.
    pub(crate) fn keep(&self, state: &State) -> io::Result<()> {
        if state.tokens.len() > MOST_TOKENS || state.bytes.len() as u64 > MOST_BYTES / 2 {
            return Ok(());
        }
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let body = self.body(&state.tokens);
        let name = hex(&Sha256::digest(&body)[..12]);
        let temporary = self.folder.join(format!("{name}.{}.part", std::process::id()));
        let written = write(&temporary, &body, &state.bytes).and_then(|()| {
            fs_err::rename(&temporary, self.folder.join(format!("{name}.{ENDING}")))
        });
        if written.is_err() {
            // It may not even be there.
            fs_err::remove_file(&temporary).unwrap_or_default();
        }
        for (path, _) in self.files().into_iter().skip(FILES) {
            fs_err::remove_file(path)?;
        }
        written
    }

    /// The files, the newest first.
    fn files(&self) -> Vec<(PathBuf, SystemTime)> {
        let entries = fs_err::read_dir(&self.folder).map(|entries| entries.flatten().collect());
        let entries: Vec<_> = entries.unwrap_or_default();
        let mut files: Vec<_> = entries
            .into_iter()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == ENDING))
            .filter_map(|path| {
                let metadata = fs_err::symlink_metadata(&path).ok()?;
                let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                metadata.is_file().then_some((path, modified))
            })
            .collect();
        files.sort_by(|one, other| (other.1, &other.0).cmp(&(one.1, &one.0)));
        files
    }

    /// The part between the hash and the state.
    fn body(&self, tokens: &[i32]) -> Vec<u8> {
        let count = u32::try_from(tokens.len()).unwrap_or(u32::MAX);
        let tokens = tokens.iter().flat_map(|token| token.to_le_bytes());
        self.identity.iter().copied().chain(count.to_le_bytes()).chain(tokens).collect()
    }

    /// The tokens of a file that claims to be for us.
    fn head(&self, path: &Path) -> io::Result<Option<Vec<i32>>> {
        let mut file = fs_err::File::open(path)?;
        let mut magic = [0; MAGIC.len() + 32];
        file.read_exact(&mut magic)?;
        if &magic[..MAGIC.len()] != MAGIC {
            return Ok(None);
        }
        self.tokens(&mut file)
    }

    /// Reads the identity and the tokens.
    fn tokens(&self, from: &mut impl Read) -> io::Result<Option<Vec<i32>>> {
        let mut identity = [0; 32];
        from.read_exact(&mut identity)?;
        let mut count = [0; 4];
        from.read_exact(&mut count)?;
        let count = u32::from_le_bytes(count) as usize;
        if identity != self.identity || count > MOST_TOKENS {
            return Ok(None);
        }
        let mut tokens = vec![0; count * 4];
        from.read_exact(&mut tokens)?;
        let (tokens, _) = tokens.as_chunks::<4>();
        Ok(Some(tokens.iter().map(|token| i32::from_le_bytes(*token)).collect()))
    }

    /// A whole file, if it is what it says.
    fn read(&self, path: &Path) -> io::Result<Option<State>> {
        let mut file = fs_err::File::open(path)?;
        let mut all = Vec::new();
        Read::by_ref(&mut file).take(MOST_BYTES).read_to_end(&mut all)?;
        let Some((magic, rest)) = all.split_at_checked(MAGIC.len()) else { return Ok(None) };
        let Some((hash, mut rest)) = rest.split_at_checked(32) else { return Ok(None) };
        if magic != MAGIC || hash != Sha256::digest(rest).as_slice() {
            return Ok(None);
        }
        let Some(tokens) = self.tokens(&mut rest)? else { return Ok(None) };
        // Used now, so it goes last. Where that cannot be noted, it only goes sooner.
        file.set_modified(SystemTime::now()).unwrap_or_default();
        Ok(Some(State { tokens, bytes: rest.to_vec() }))
    }
}

/// How many tokens two texts have in common at their beginning.
pub(crate) fn shared(one: &[i32], other: &[i32]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

fn write(path: &Path, body: &[u8], state: &[u8]) -> io::Result<()> {
    let hash = Sha256::new().chain_update(body).chain_update(state).finalize();
    let mut file = fs_err::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    for part in [MAGIC.as_slice(), hash.as_slice(), body, state] {
        file.write_all(part)?;
    }
    // After a power failure the hash does not match.
    file.flush()
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        _ = fmt::Write::write_fmt(&mut text, format_args!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn state(tokens: &[i32], bytes: &str) -> State {
        State { tokens: tokens.to_vec(), bytes: bytes.as_bytes().to_vec() }
    }

    fn only_file(saved: &Saved) -> PathBuf {
        let files = saved.files();
        assert_eq!(files.len(), 1);
        files[0].0.clone()
    }

    #[test]
    fn the_longest_beginning_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let saved = Saved::new(folder.path().join("a/b"), [1; 32]);
        assert_eq!(saved.find(&[1, 2], 1), None);
        for kept in [state(&[1, 2], "two"), state(&[1, 2, 3, 9], "four"), state(&[7], "other")] {
            saved.keep(&kept).unwrap();
        }
        assert_eq!(saved.find(&[1, 2, 3, 4], 1), Some(state(&[1, 2, 3, 9], "four")));
        assert_eq!(saved.find(&[1, 2, 3, 4], 4), None);
        assert_eq!(saved.find(&[7, 8], 1), Some(state(&[7], "other")));
        assert_eq!(saved.find(&[8], 0), None);
    }

    #[test]
    fn what_was_made_by_something_else_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        Saved::new(folder.path().into(), [1; 32]).keep(&state(&[1], "x")).unwrap();
        assert_eq!(Saved::new(folder.path().into(), [2; 32]).find(&[1], 1), None);
    }

    #[test]
    fn no_damaged_file_is_used_wherever_the_damage_is() {
        let folder = tempfile::tempdir().unwrap();
        let saved = Saved::new(folder.path().into(), [1; 32]);
        saved.keep(&state(&[1, 2, 3], "the state")).unwrap();
        let path = only_file(&saved);
        let whole = fs_err::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs_err::write(&path, &damaged).unwrap();
            assert_eq!(saved.find(&[1, 2, 3], 1), None, "byte {at}");
            fs_err::write(&path, &whole[..at]).unwrap();
            assert_eq!(saved.find(&[1, 2, 3], 1), None, "cut at {at}");
        }
        fs_err::write(&path, &whole).unwrap();
        assert!(saved.find(&[1, 2, 3], 1).is_some());
    }

    #[test]
    fn a_damaged_file_is_written_anew_and_hides_no_whole_one() {
        let folder = tempfile::tempdir().unwrap();
        let saved = Saved::new(folder.path().into(), [1; 32]);
        saved.keep(&state(&[1, 2, 3], "the state")).unwrap();
        let path = only_file(&saved);
        fs_err::write(
            &path,
            [MAGIC.as_slice(), &[0; 32], &saved.body(&[1, 2, 3]), b"bad"].concat(),
        )
        .unwrap();
        saved.keep(&state(&[1, 2], "less")).unwrap();
        assert_eq!(saved.find(&[1, 2, 3], 1), Some(state(&[1, 2], "less")));
        saved.keep(&state(&[1, 2, 3], "again")).unwrap();
        assert_eq!(saved.find(&[1, 2, 3], 1), Some(state(&[1, 2, 3], "again")));
    }

    #[test]
    fn files_are_few_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let saved = Saved::new(folder.path().join("saved"), [1; 32]);
        for token in 0..9 {
            saved.keep(&state(&[token], "x")).unwrap();
        }
        assert_eq!(saved.files().len(), FILES);
        let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder.path().join("saved")), 0o700);
        assert_eq!(mode(&saved.files()[0].0), 0o600);
        assert_eq!(fs_err::read_dir(folder.path().join("saved")).unwrap().count(), FILES);
    }

    #[test]
    fn an_identity_is_that_of_weights_settings_and_library() {
        let first = identity("a1", &[1]);
        assert_eq!(first, identity("a1", &[1]));
        assert_ne!(first, identity("a1", &[2]));
        assert_ne!(first, identity("a2", &[1]));
        let (name, version) = LIBRARY.split_once(' ').unwrap();
        let used = format!("{name} = {{ version = \"{version}\"");
        assert!(include_str!("../../../../Cargo.toml").contains(&used), "{used}");
    }

    #[test]
    fn too_much_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let saved = Saved::new(folder.path().into(), [1; 32]);
        saved.keep(&state(&vec![1; MOST_TOKENS + 1], "x")).unwrap();
        assert!(saved.files().is_empty());
    }
}
