//! An engine's client that hangs for real, by a stand-in for it.

use super::*;
use std::os::unix::net::UnixStream as Client;

struct Engine {
    folder: tempfile::TempDir,
}

impl Engine {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A program that notes its process, starts nothing and does not end.
    fn client(&self) -> Command {
        let mut client = command(Path::new("/bin/sh"));
        client
            .arg("-c")
            .arg(format!("echo $$ > {}; exec sleep 1000", self.at("process").display()));
        client
    }

    async fn launched(&self, patience: Duration) -> Result<Launched, ExecError> {
        let user = rustix::process::geteuid().as_raw();
        let meeting = Meeting::open(self.at("meeting"), user).unwrap();
        let mut remove = command(Path::new("/bin/mkdir"));
        remove.arg(self.at("removed"));
        launch(
            recipe(Backend::named("podman")),
            self.client(),
            Some((meeting, patience)),
            Remains(Some(Box::new(remove))),
            Err("none".into()),
            &Refusals::default(),
        )
        .await
    }

    fn is_running(&self) -> bool {
        let process = fs_err::read_to_string(self.at("process")).unwrap();
        Path::new("/proc").join(process.trim()).exists()
    }
}

#[tokio::test]
async fn an_engine_that_starts_nothing_is_given_up_and_what_it_began_is_removed() {
    let engine = Engine::new();
    let Err(error) = engine.launched(Duration::from_secs(2)).await else {
        panic!("it was launched")
    };
    let ExecError::CannotConfine { backend, reason, cause } = error else { panic!("{error}") };
    assert_eq!((backend, cause), ("podman", Some(Cause::EngineFailed)));
    assert_eq!(reason, "it had not started our program after 2 s");
    assert!(!engine.is_running());
    assert!(engine.at("removed").exists());
    assert!(!engine.at("meeting").exists());
}

/// The control: somebody comes, and the engine's client runs as long as it likes.
#[tokio::test]
async fn an_engine_that_starts_something_in_time_is_not_given_up() {
    let engine = Engine::new();
    let (path, process) = (engine.at("meeting"), engine.at("process"));
    let comes = tokio::task::spawn_blocking(move || {
        loop {
            let runs = fs_err::read_to_string(&process).is_ok_and(|text| text.ends_with('\n'));
            if runs && let Ok(stream) = Client::connect(&path) {
                return stream;
            }
            std::thread::yield_now();
        }
    });
    let mut launched = engine.launched(Duration::from_mins(1)).await.unwrap();
    drop(comes.await.unwrap());
    assert!(!engine.at("removed").exists());
    // One that does not end with its stream either is ended, and what it has begun is removed.
    launched.remains.end(&mut launched.child).await;
    assert!(engine.at("removed").exists() && !engine.is_running());
}
