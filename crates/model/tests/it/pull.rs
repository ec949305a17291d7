//! Weights come whole and right from whatever source, or not at all.

use crate::server::{Server, Then, answer};
use fs_err as fs;
use interpreter_core::{Secret, Untrusted, hash::sha256};
use interpreter_model::{
    catalogue::{Catalogue, Entry, Source},
    pull::{Progress, PullError, Pulled, Ways, pull, take},
    shelf::{Held, Shelf, ShelfError},
};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use tempfile::TempDir;

mod packages;

/// Something that does not compress to nothing and differs everywhere.
fn weights() -> Vec<u8> {
    (0..300_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect()
}

/// A catalogue of one model, with these sources.
fn entry(sources: Vec<Source>) -> Entry {
    let weights = weights();
    let text = format!(
        "[[model]]\nname='small'\ntitle='Small'\nrole='default'\nfile='small.gguf'\nbytes={}\n\
         sha256='{}'\nlicence='MIT'\ncontext=1024\nsource=[]\n",
        weights.len(),
        sha256(&weights)
    );
    let entry = Catalogue::parse(&text).unwrap().entries()[0].clone();
    Entry { sources, ..entry }
}

fn hub() -> Source {
    Source::HuggingFace { repository: "Org/Small-GGUF".into() }
}

fn packages() -> Source {
    Source::Packages {
        package: "small-part{n}==1.0".into(),
        member: "small_part{n}/data/part{nn}.bin".into(),
        piece: 100_001,
    }
}

/// A shelf, and what was told.
struct Try {
    folder: TempDir,
    shelf: Shelf,
    told: Vec<Progress>,
}

impl Try {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(folder.path().into());
        Self { folder, shelf, told: vec![] }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What an earlier try has left.
    fn with_part(self, bytes: &[u8]) -> Self {
        fs::write(self.path("small.gguf.part"), bytes).unwrap();
        self
    }

    async fn pull(&mut self, entry: &Entry, ways: &Ways) -> Result<Pulled, PullError> {
        self.pull_with(entry, ways, async |_: &str, _: &Path| Err(Untrusted::new("no pip"))).await
    }

    async fn pull_with(
        &mut self,
        entry: &Entry,
        ways: &Ways,
        packages: impl AsyncFn(&str, &Path) -> Result<PathBuf, Untrusted>,
    ) -> Result<Pulled, PullError> {
        let told = &mut self.told;
        pull(entry, &self.shelf, ways, packages, &mut |one| told.push(one)).await
    }

    /// The file is there and right, and nothing beside it but what is remembered.
    fn is_whole(&self) {
        assert_eq!(fs::read(self.path("small.gguf")).unwrap(), weights());
        let names = fs::read_dir(self.folder.path()).unwrap().map(|one| one.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["lock", "small.gguf", "small.gguf.checked"]);
        assert_eq!(self.shelf.holds(&entry(vec![])), Held::Whole);
    }

    fn part(&self) -> Vec<u8> {
        fs::read(self.path("small.gguf.part")).unwrap_or_default()
    }
}

fn at(server: &Server) -> Ways {
    Ways {
        endpoint: server.address.clone(),
        token: Some(Secret::new("hf-canary".into())),
        ..Ways::default()
    }
}

/// The first byte that a request asks for.
fn asked_from(request: &str) -> Option<usize> {
    let line = request.lines().find_map(|line| line.strip_prefix("range: bytes="))?;
    Some(line.trim_end_matches('-').parse().unwrap())
}

/// A file server that does as it should, up to `most` bytes an answer.
fn serve(request: &str, bytes: &[u8], most: usize) -> Vec<u8> {
    let total = bytes.len();
    let etag = format!("ETag: \"{}\"", &sha256(bytes)[..8]);
    let fits = request.lines().find_map(|line| line.strip_prefix("if-range: "));
    let fits = fits.is_none_or(|tag| etag.ends_with(tag));
    match asked_from(request).filter(|_| fits) {
        None => {
            let length = format!("Content-Length: {total}");
            answer("200 OK", &[&length, &etag], &bytes[..total.min(most)])
        }
        Some(from) => {
            let length = format!("Content-Length: {}", total - from);
            let range = format!("Content-Range: bytes {from}-{}/{total}", total - 1);
            let end = total.min(from.saturating_add(most));
            answer("206 Partial Content", &[&length, &etag, &range], &bytes[from..end])
        }
    }
}

#[tokio::test]
async fn a_file_comes_from_the_first_source_and_is_checked() {
    let server = Server::by(|request| serve(request, &weights(), usize::MAX), Then::Close).await;
    let mut one = Try::new();
    let pulled = one.pull(&entry(vec![hub(), packages()]), &at(&server)).await.unwrap();
    assert_eq!(pulled, Pulled::Fetched(one.path("small.gguf")));
    one.is_whole();
    let request = &server.requests()[0];
    assert!(request.starts_with("GET /Org/Small-GGUF/resolve/main/small.gguf "), "{request}");
    assert!(request.contains("authorization: Bearer hf-canary"), "{request}");
    assert_eq!(one.told.last(), Some(&Progress::Bytes { done: 300_000, total: 300_000 }));
    // A second time nobody is asked.
    let again = one.pull(&entry(vec![hub()]), &at(&server)).await.unwrap();
    assert_eq!(again, Pulled::Already(one.path("small.gguf")));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn what_breaks_off_goes_on_where_it_was() {
    let server = Server::by(|request| serve(request, &weights(), 70_000), Then::Close).await;
    let mut one = Try::new();
    one.pull(&entry(vec![hub()]), &at(&server)).await.unwrap();
    one.is_whole();
    let from: Vec<_> = server.requests().iter().map(|one| asked_from(one)).collect();
    assert_eq!(from, [None, Some(70_000), Some(140_000), Some(210_000), Some(280_000)]);
    assert!(server.requests()[1].contains("if-range: \""), "{}", server.requests()[1]);
}

#[tokio::test]
async fn a_server_that_falls_silent_is_left_and_the_part_is_kept() {
    let server = Server::by(|request| serve(request, &weights(), 200_000), Then::Hang).await;
    let silent = Server::by(|_| vec![], Then::Hang).await;
    let mut one = Try::new();
    let soon = |server| Ways { idle: Duration::from_secs(1), ..at(server) };
    let PullError::NoSource { failures, kept, .. } =
        one.pull(&entry(vec![hub()]), &soon(&silent)).await.unwrap_err()
    else {
        panic!()
    };
    assert_eq!((failures[0].why.as_str(), kept), ("sent nothing for 1s", 0));
    // One that sends something each time is listened to.
    one.pull(&entry(vec![hub()]), &soon(&server)).await.unwrap();
    one.is_whole();
}

#[tokio::test]
async fn a_part_from_before_is_read_again_and_continued() {
    let server = Server::by(|request| serve(request, &weights(), usize::MAX), Then::Close).await;
    let mut one = Try::new().with_part(&weights()[..123_456]);
    one.pull(&entry(vec![hub()]), &at(&server)).await.unwrap();
    one.is_whole();
    assert_eq!(one.told[0], Progress::Resumed { bytes: 123_456 });
    assert_eq!(asked_from(&server.requests()[0]), Some(123_456));
    // A part that is whole needs no source at all, and one that is too long is none.
    let mut whole = Try::new().with_part(&weights());
    whole.pull(&entry(vec![hub()]), &at(&server)).await.unwrap();
    whole.is_whole();
    assert_eq!(server.requests().len(), 1);
    let mut long = Try::new().with_part(&[weights(), vec![0]].concat());
    long.pull(&entry(vec![hub()]), &at(&server)).await.unwrap();
    long.is_whole();
    assert_eq!(asked_from(&server.requests()[1]), None);
}

#[tokio::test]
async fn another_file_at_the_same_place_is_taken_from_its_beginning() {
    let server = Server::by(|request| serve(request, &weights(), usize::MAX), Then::Close).await;
    let mut one = Try::new().with_part(b"the beginning of something else");
    fs::write(one.path("small.gguf.part.etag"), "\"else\"").unwrap();
    one.pull(&entry(vec![hub()]), &at(&server)).await.unwrap();
    one.is_whole();
    assert!(server.requests()[0].contains("if-range: \"else\""));
}

#[tokio::test]
async fn a_server_that_knows_no_parts_sends_everything_again() {
    let whole = |_: &str| serve("", &weights(), usize::MAX);
    let server = Server::by(whole, Then::Close).await;
    let mut one = Try::new().with_part(&weights()[..1000]);
    one.pull(&entry(vec![hub()]), &at(&server)).await.unwrap();
    one.is_whole();
}

#[tokio::test]
async fn wrong_bytes_are_removed_and_the_source_is_named() {
    let mut wrong = weights();
    wrong[200_000] ^= 1;
    let server = Server::by(move |request| serve(request, &wrong, usize::MAX), Then::Close).await;
    let mut one = Try::new();
    let entry = entry(vec![hub(), packages()]);
    let error = one.pull(&entry, &at(&server)).await.unwrap_err();
    let host = server.address.trim_start_matches("http://");
    let message = error.to_string();
    assert!(
        message.starts_with(&format!("what came from {host} is not `small.gguf`")),
        "{message}"
    );
    assert!(message.contains(&entry.sha256), "{message}");
    assert_eq!(one.shelf.holds(&entry), Held::Nothing);
    assert!(!one.path("small.gguf").exists() && !one.path("small.gguf.part.etag").exists());
    // The next source is not asked: a lie stops everything.
    assert!(!one.told.iter().any(|told| matches!(told, Progress::Package { .. })));
}

#[tokio::test]
async fn a_wrong_part_from_before_is_named_too() {
    let server = Server::by(|request| serve(request, &weights(), usize::MAX), Then::Close).await;
    let mut one = Try::new().with_part(&[0; 1000]);
    let message = one.pull(&entry(vec![hub()]), &at(&server)).await.unwrap_err().to_string();
    assert!(message.starts_with("what came from an earlier try and 127.0.0.1:"), "{message}");
    one.pull(&entry(vec![hub()]), &at(&server)).await.unwrap();
    one.is_whole();
}

#[tokio::test]
async fn what_cannot_be_the_file_is_not_begun() {
    let long = format!("Content-Length: {}", weights().len() + 1);
    let range = "Content-Range: bytes 5-299999/300000";
    for (status, headers, why) in [
        ("200 OK", vec![long.as_str()], "has a file of 300001 bytes, not of 300000"),
        ("200 OK", vec!["Content-Type: text/html"], "does not say how large the file is"),
        ("206 Partial Content", vec![range], "sends another part than it was asked for"),
        ("206 Partial Content", vec![], "sends another part than it was asked for"),
        ("404 Not Found", vec![], "does not have the file"),
        ("401 Unauthorized", vec![], "refuses a token (`HF_TOKEN`)"),
        ("503 Service Unavailable", vec![], "answers with status 503"),
        ("302 Found", vec![], "redirects to nowhere"),
    ] {
        let server = Server::of(status, &headers, "<html>hello").await;
        let mut one = Try::new().with_part(&weights()[..1000]);
        let ways = Ways { endpoint: server.address.clone(), ..at(&server) };
        let error = one.pull(&entry(vec![hub()]), &ways).await.unwrap_err();
        let PullError::NoSource { failures, kept, .. } = &error else { panic!("{error}") };
        assert_eq!(failures[0].why, why);
        // What came before stays.
        assert_eq!((*kept, one.part().len()), (1000, 1000), "{why}");
        assert!(!error.to_string().contains("hf-canary"));
    }
}

#[tokio::test]
async fn more_than_the_file_has_is_refused() {
    let endless = |_: &str| {
        let head = "HTTP/1.1 206 Partial Content\r\nConnection: close\r\n";
        let range = "Content-Range: bytes 1000-299999/300000\r\n\r\n";
        [head.as_bytes(), range.as_bytes(), &vec![7; 400_000]].concat()
    };
    let server = Server::by(endless, Then::Close).await;
    let mut one = Try::new().with_part(&weights()[..1000]);
    let error = one.pull(&entry(vec![hub()]), &at(&server)).await.unwrap_err().to_string();
    assert!(error.contains("sends more than the file has"), "{error}");
    assert_eq!(one.part(), b"");
}

#[tokio::test]
async fn a_redirect_is_followed_without_the_token() {
    let store = Server::by(|request| serve(request, &weights(), usize::MAX), Then::Close).await;
    let to = format!("Location: {}/signed?x=1", store.address);
    let first = Server::by(
        move |request| {
            if request.starts_with("GET /Org") {
                return answer("302 Found", &["Location: /moved"], "");
            }
            answer("307 Temporary Redirect", &[&to], "")
        },
        Then::Close,
    )
    .await;
    let mut one = Try::new().with_part(&weights()[..1000]);
    one.pull(&entry(vec![hub()]), &at(&first)).await.unwrap();
    one.is_whole();
    let asked = first.requests();
    assert!(asked.iter().all(|one| one.contains("hf-canary")), "{asked:?}");
    assert_eq!(asked.len(), 2);
    let signed = &store.requests()[0];
    assert!(signed.starts_with("GET /signed?x=1 "), "{signed}");
    assert!(!signed.contains("hf-canary") && !signed.contains("authorization"), "{signed}");
    assert_eq!(asked_from(signed), Some(1000));
}

#[tokio::test]
async fn a_redirect_neither_leaves_encryption_nor_goes_on_for_ever() {
    for (to, why) in [
        ("http://models.example.org/x", "without encryption"),
        ("ftp://127.0.0.1/x", "without encryption"),
        ("https://me:pw@models.example.org/x", "which is not followed"),
        ("/again", "redirects more than 5 times"),
    ] {
        let location = format!("Location: {to}");
        let server = Server::by(move |_| answer("302 Found", &[&location], ""), Then::Close).await;
        let mut one = Try::new();
        let error = one.pull(&entry(vec![hub()]), &at(&server)).await.unwrap_err().to_string();
        assert!(error.contains(why), "{to}: {error}");
        assert!(server.requests().len() <= 6);
    }
}

#[tokio::test]
async fn nobody_there_is_said_quickly_and_an_odd_address_is_named() {
    for (endpoint, why) in [
        ("http://127.0.0.1:1", "127.0.0.1:1: cannot be reached"),
        ("huggingface.co", "`HF_ENDPOINT` is not an address"),
        ("file:///etc", "`HF_ENDPOINT` is not an address"),
        ("https://me:pw@host", "`HF_ENDPOINT` is not an address"),
    ] {
        let ways = Ways { endpoint: endpoint.into(), ..Ways::default() };
        let message = Try::new().pull(&entry(vec![hub()]), &ways).await.unwrap_err().to_string();
        assert!(message.contains(why) && !message.contains("pw"), "{message}");
    }
}

fn nobody() -> Ways {
    Ways { endpoint: "http://127.0.0.1:1".into(), ..Ways::default() }
}

#[tokio::test]
async fn a_file_of_this_machine_is_taken_if_it_is_the_right_one() {
    let (entry, mut one) = (entry(vec![hub()]), Try::new().with_part(b"something"));
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("mine.gguf");
    let mut told = |one: Progress| assert!(matches!(one, Progress::Bytes { .. }));
    let missing = take(&entry, &one.shelf, &file, &mut told).await.unwrap_err();
    assert!(matches!(missing, PullError::From { .. }), "{missing}");
    fs::write(&file, &weights()[1..]).unwrap();
    let short = take(&entry, &one.shelf, &file, &mut told).await.unwrap_err();
    assert!(matches!(short, PullError::Shelf(ShelfError::WrongSize { .. })), "{short}");
    fs::write(&file, vec![0; weights().len()]).unwrap();
    let wrong = take(&entry, &one.shelf, &file, &mut told).await.unwrap_err();
    assert!(wrong.to_string().starts_with(&format!("what came from {}", file.display())));
    fs::write(&file, weights()).unwrap();
    let taken = take(&entry, &one.shelf, &file, &mut told).await.unwrap();
    assert_eq!(taken, Pulled::Fetched(one.path("small.gguf")));
    one.is_whole();
    assert_eq!(fs::read(&file).unwrap(), weights());
    // A file that was spoiled afterwards is fetched again.
    fs::write(one.path("small.gguf"), vec![0; weights().len()]).unwrap();
    let again = one.pull(&entry, &nobody()).await.unwrap_err();
    assert!(matches!(again, PullError::NoSource { .. }), "{again}");
    take(&entry, &one.shelf, &file, &mut told).await.unwrap();
    one.is_whole();
}

#[tokio::test]
async fn two_do_not_fetch_at_once() {
    let silent = Server::by(|_| vec![], Then::Hang).await;
    let folder = tempfile::tempdir().unwrap();
    let (shelf, entry) = (Shelf::new(folder.path().into()), entry(vec![hub()]));
    let no_pip = async |_: &str, _: &Path| Err(Untrusted::new("no pip"));
    let ways = Ways { idle: Duration::from_secs(1), ..at(&silent) };
    let mut quiet = |_| {};
    let first = pull(&entry, &shelf, &ways, no_pip, &mut quiet);
    let mut quiet = |_| {};
    let second = pull(&entry, &shelf, &ways, no_pip, &mut quiet);
    let (first, second) = tokio::join!(first, second);
    assert!(matches!(first, Err(PullError::NoSource { .. })), "{first:?}");
    assert!(matches!(second, Err(PullError::Shelf(ShelfError::Busy { .. }))), "{second:?}");
}

#[tokio::test]
async fn without_room_nothing_is_begun() {
    let server = Server::by(|request| serve(request, &weights(), usize::MAX), Then::Close).await;
    let mut one = Try::new();
    let large = Entry { bytes: 1 << 50, ..entry(vec![hub()]) };
    let error = one.pull(&large, &at(&server)).await.unwrap_err();
    assert!(matches!(error, PullError::NoRoom { .. }), "{error}");
    assert!(server.requests().is_empty());
}
