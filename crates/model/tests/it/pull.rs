//! Weights are installed whole and right, or not at all.

use crate::server::{Server, Then, answer};
use fs_err as fs;
use interpreter_core::{Secret, hash::sha256};
use interpreter_model::{
    catalogue::{Catalogue, CatalogueEntry},
    pull::{Hub, Progress, PullError, Pulled, pull, take},
    shelf::{Held, Shelf, ShelfError},
};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use tempfile::TempDir;

/// Something that does not compress to nothing and differs everywhere.
fn weights() -> Vec<u8> {
    (0..300_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect()
}

/// A model whose weights are [`weights`].
fn entry() -> CatalogueEntry {
    let weights = weights();
    let text = format!(
        "[[model]]\nname='small'\ntitle='Small'\nrole='default'\nfile='small.gguf'\nbytes={}\n\
         sha256='{}'\nlicence='MIT'\ncontext=1024\nrepository='Org/Small-GGUF'\n",
        weights.len(),
        sha256(&weights)
    );
    Catalogue::parse(&text).unwrap().entries()[0].clone()
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

    /// The leftover of an earlier try.
    fn with_part(self, bytes: &[u8]) -> Self {
        fs::write(self.path("small.gguf.part"), bytes).unwrap();
        self
    }

    async fn pull(&mut self, hub: &Hub) -> Result<Pulled, PullError> {
        let told = &mut self.told;
        pull(&entry(), &self.shelf, hub, &mut |one| told.push(one)).await
    }

    /// The file is there and right, and nothing beside it but what is remembered.
    fn is_whole(&self) {
        assert_eq!(fs::read(self.path("small.gguf")).unwrap(), weights());
        let names = fs::read_dir(self.folder.path()).unwrap().map(|one| one.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["lock", "small.gguf", "small.gguf.checked"]);
        assert_eq!(self.shelf.holds(&entry()), Held::Whole);
    }

    fn part(&self) -> Vec<u8> {
        fs::read(self.path("small.gguf.part")).unwrap_or_default()
    }
}

fn installed(one: &Try, already: bool) -> Pulled {
    Pulled { path: one.path("small.gguf"), already }
}

fn at(server: &Server) -> Hub {
    Hub {
        endpoint: server.address.clone(),
        token: Some(Secret::new("hf-canary".into())),
        ..Hub::default()
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
async fn a_file_is_downloaded_and_checked() {
    let server = Server::by(|request| serve(request, &weights(), usize::MAX), Then::Close).await;
    let mut one = Try::new();
    let pulled = one.pull(&at(&server)).await.unwrap();
    assert_eq!(pulled, installed(&one, false));
    one.is_whole();
    let request = &server.requests()[0];
    assert!(request.starts_with("GET /Org/Small-GGUF/resolve/main/small.gguf "), "{request}");
    assert!(request.contains("authorization: Bearer hf-canary"), "{request}");
    assert_eq!(one.told.last(), Some(&Progress::Bytes { done: 300_000, total: 300_000 }));
    // A second time nobody is asked.
    let again = one.pull(&at(&server)).await.unwrap();
    assert_eq!(again, installed(&one, true));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn what_breaks_off_goes_on_where_it_was() {
    let server = Server::by(|request| serve(request, &weights(), 70_000), Then::Close).await;
    let mut one = Try::new();
    one.pull(&at(&server)).await.unwrap();
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
    let soon = |server| Hub { idle: Duration::from_secs(1), ..at(server) };
    let error = one.pull(&soon(&silent)).await.unwrap_err();
    let PullError::Server { why, kept, .. } = error else { panic!() };
    assert_eq!((why.as_str(), kept), ("sent nothing for 1s", 0));
    // One that sends something each time is listened to.
    one.pull(&soon(&server)).await.unwrap();
    one.is_whole();
}

#[tokio::test]
async fn a_part_from_before_is_read_again_and_continued() {
    let server = Server::by(|request| serve(request, &weights(), usize::MAX), Then::Close).await;
    let mut one = Try::new().with_part(&weights()[..123_456]);
    one.pull(&at(&server)).await.unwrap();
    one.is_whole();
    assert_eq!(one.told[0], Progress::Resumed { bytes: 123_456 });
    assert_eq!(asked_from(&server.requests()[0]), Some(123_456));
    // A part that is whole needs no source at all, and one that is too long is none.
    let mut whole = Try::new().with_part(&weights());
    whole.pull(&at(&server)).await.unwrap();
    whole.is_whole();
    assert_eq!(server.requests().len(), 1);
    let mut long = Try::new().with_part(&[weights(), vec![0]].concat());
    long.pull(&at(&server)).await.unwrap();
    long.is_whole();
    assert_eq!(asked_from(&server.requests()[1]), None);
}

#[tokio::test]
async fn another_file_at_the_same_place_is_taken_from_its_beginning() {
    let server = Server::by(|request| serve(request, &weights(), usize::MAX), Then::Close).await;
    let mut one = Try::new().with_part(b"the beginning of something else");
    fs::write(one.path("small.gguf.part.etag"), "\"else\"").unwrap();
    one.pull(&at(&server)).await.unwrap();
    one.is_whole();
    assert!(server.requests()[0].contains("if-range: \"else\""));
}

#[tokio::test]
async fn a_server_that_knows_no_parts_sends_everything_again() {
    let whole = |_: &str| serve("", &weights(), usize::MAX);
    let server = Server::by(whole, Then::Close).await;
    let mut one = Try::new().with_part(&weights()[..1000]);
    one.pull(&at(&server)).await.unwrap();
    one.is_whole();
}

#[tokio::test]
async fn wrong_bytes_are_removed_and_the_host_is_named() {
    let mut wrong = weights();
    wrong[200_000] ^= 1;
    let server = Server::by(move |request| serve(request, &wrong, usize::MAX), Then::Close).await;
    let mut one = Try::new();
    let entry = entry();
    let error = one.pull(&at(&server)).await.unwrap_err();
    let host = server.address.trim_start_matches("http://");
    let message = error.to_string();
    assert!(message.starts_with(&format!("the file from {host} is not `small.gguf`")), "{message}");
    assert!(message.contains(&entry.sha256), "{message}");
    assert_eq!(one.shelf.holds(&entry), Held::Nothing);
    assert!(!one.path("small.gguf").exists() && !one.path("small.gguf.part.etag").exists());
}

#[tokio::test]
async fn a_wrong_part_from_before_is_named_too() {
    let server = Server::by(|request| serve(request, &weights(), usize::MAX), Then::Close).await;
    let mut one = Try::new().with_part(&[0; 1000]);
    let message = one.pull(&at(&server)).await.unwrap_err().to_string();
    assert!(message.starts_with("the file from an earlier download and 127.0.0.1:"), "{message}");
    one.pull(&at(&server)).await.unwrap();
    one.is_whole();
}

#[tokio::test]
async fn what_cannot_be_the_file_is_not_begun() {
    let long = format!("Content-Length: {}", weights().len() + 1);
    let range = "Content-Range: bytes 5-299999/300000";
    for (status, headers, why) in [
        ("200 OK", vec![long.as_str()], "has a file of 300001 bytes, not of 300000"),
        ("200 OK", vec!["Content-Type: text/html"], "does not state the size of the file"),
        ("206 Partial Content", vec![range], "sends another part than requested"),
        ("206 Partial Content", vec![], "sends another part than requested"),
        ("404 Not Found", vec![], "does not have the file"),
        ("401 Unauthorized", vec![], "rejects the token (`HF_TOKEN`)"),
        ("503 Service Unavailable", vec![], "responds with status 503"),
        ("302 Found", vec![], "redirects to nowhere"),
    ] {
        let server = Server::of(status, &headers, "<html>hello").await;
        let mut one = Try::new().with_part(&weights()[..1000]);
        let hub = Hub { endpoint: server.address.clone(), ..at(&server) };
        let error = one.pull(&hub).await.unwrap_err();
        let PullError::Server { why: told, kept, .. } = &error else { panic!("{error}") };
        assert_eq!(told, why);
        // The earlier part stays.
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
    let error = one.pull(&at(&server)).await.unwrap_err().to_string();
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
    one.pull(&at(&first)).await.unwrap();
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
async fn the_host_of_a_redirect_that_cannot_be_reached_is_named() {
    let location = "Location: http://127.0.0.1:1/signed";
    let server = Server::by(move |_| answer("302 Found", &[location], ""), Then::Close).await;
    let message = Try::new().pull(&at(&server)).await.unwrap_err().to_string();
    let host = server.address.trim_start_matches("http://");
    let told = format!("{host} redirects to 127.0.0.1:1, which cannot be reached");
    assert!(message.contains(&told), "{message}");
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
        let error = one.pull(&at(&server)).await.unwrap_err().to_string();
        assert!(error.contains(why), "{to}: {error}");
        assert!(server.requests().len() <= 6);
    }
}

#[tokio::test]
async fn nobody_there_is_said_quickly_and_an_odd_address_is_named() {
    for (endpoint, why) in [
        ("http://127.0.0.1:1", "127.0.0.1:1 cannot be reached"),
        ("huggingface.co", "`HF_ENDPOINT` is not an address"),
        ("file:///etc", "`HF_ENDPOINT` is not an address"),
        ("https://me:pw@host", "`HF_ENDPOINT` is not an address"),
    ] {
        let hub = Hub { endpoint: endpoint.into(), ..Hub::default() };
        let message = Try::new().pull(&hub).await.unwrap_err().to_string();
        assert!(message.contains(why) && !message.contains("pw"), "{message}");
    }
}

fn nobody() -> Hub {
    Hub { endpoint: "http://127.0.0.1:1".into(), ..Hub::default() }
}

#[tokio::test]
async fn a_file_of_this_machine_is_taken_if_it_is_the_right_one() {
    let (entry, mut one) = (entry(), Try::new().with_part(b"something"));
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("mine.gguf");
    let mut told = |one: Progress| assert!(matches!(one, Progress::Bytes { .. }));
    let missing = take(&entry, &one.shelf, &file, &mut told).await.unwrap_err();
    assert!(matches!(missing, PullError::From { .. }), "{missing}");
    // Nobody writes to a pipe, and a device never ends.
    let pipe = elsewhere.path().join("pipe");
    let (at, mode) = (rustix::fs::CWD, rustix::fs::Mode::from_raw_mode(0o600));
    rustix::fs::mknodat(at, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    for odd in [&pipe, Path::new("/dev/zero"), elsewhere.path()] {
        let refused = take(&entry, &one.shelf, odd, &mut told).await.unwrap_err();
        assert!(matches!(refused, PullError::From { .. }), "{}: {refused}", odd.display());
    }
    fs::write(&file, &weights()[1..]).unwrap();
    let short = take(&entry, &one.shelf, &file, &mut told).await.unwrap_err();
    assert!(matches!(short, PullError::FromSize { .. }), "{short}");
    fs::write(&file, vec![0; weights().len()]).unwrap();
    let wrong = take(&entry, &one.shelf, &file, &mut told).await.unwrap_err();
    assert!(wrong.to_string().starts_with(&format!("the file from {}", file.display())));
    fs::write(&file, weights()).unwrap();
    let taken = take(&entry, &one.shelf, &file, &mut told).await.unwrap();
    assert_eq!(taken, installed(&one, false));
    one.is_whole();
    assert_eq!(fs::read(&file).unwrap(), weights());
    // A file that was spoiled afterwards is fetched again.
    fs::write(one.path("small.gguf"), vec![0; weights().len()]).unwrap();
    let again = one.pull(&nobody()).await.unwrap_err();
    assert!(matches!(again, PullError::Server { .. }), "{again}");
    take(&entry, &one.shelf, &file, &mut told).await.unwrap();
    one.is_whole();
}

#[tokio::test]
async fn two_do_not_fetch_at_once() {
    let silent = Server::by(|_| vec![], Then::Hang).await;
    let folder = tempfile::tempdir().unwrap();
    let (shelf, entry) = (Shelf::new(folder.path().into()), entry());
    let hub = Hub { idle: Duration::from_secs(1), ..at(&silent) };
    let mut quiet = |_| {};
    let first = pull(&entry, &shelf, &hub, &mut quiet);
    let mut quiet = |_| {};
    let second = pull(&entry, &shelf, &hub, &mut quiet);
    let (first, second) = tokio::join!(first, second);
    assert!(matches!(first, Err(PullError::Server { .. })), "{first:?}");
    assert!(matches!(second, Err(PullError::Shelf(ShelfError::Busy { .. }))), "{second:?}");
}

#[tokio::test]
async fn without_room_nothing_is_begun() {
    let server = Server::by(|request| serve(request, &weights(), usize::MAX), Then::Close).await;
    let one = Try::new();
    let large = CatalogueEntry { bytes: 1 << 50, ..entry() };
    let error = pull(&large, &one.shelf, &at(&server), &mut |_| {}).await.unwrap_err();
    assert!(matches!(error, PullError::NoRoom { .. }), "{error}");
    assert!(server.requests().is_empty());
}
