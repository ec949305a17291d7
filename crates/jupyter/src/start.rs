//! Starts a kernel and waits until it speaks and is heard.
//!
//! The kernel makes its sockets when it is ready to; a watch on the folder tells. That a socket
//! listens, a moment after it is there, nothing tells: only for that moment it is tried again.
//! A subscription takes effect some time after it was made, so the kernel is asked who it is until
//! an answer is also published.

use crate::{
    channels::{Channels, Socket, Tried},
    error::{End, JupyterError},
    folder::{Channel, Folder},
    kernel::Kernel,
    launch::Launch,
    message::Speaker,
    raw::Output,
    seal::{Seal, random_hex},
    wait::{Signals, wait},
};
use rustix::{
    buffer::spare_capacity,
    fs::inotify,
    io::read,
    net::{RecvFlags, recv},
};
use serde::Deserialize;
use serde_json::json;
use std::{
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
    time::{Duration, Instant},
};

/// How long a kernel may take to start. Some compile half of themselves first.
const PATIENCE: Duration = Duration::from_mins(2);

/// How long from a socket's birth until it listens, at most; then it is tried again.
const BREATH: Duration = Duration::from_millis(2);

/// To see whether there is something without taking it, or waiting for it.
const LOOK: RecvFlags = RecvFlags::PEEK.union(RecvFlags::DONTWAIT);

/// How often a kernel is asked who it is.
const MOST_QUESTIONS: u32 = 200;

/// A connected kernel, and its parts. They are dropped in this order.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) kernel: Kernel,
    pub(crate) signals: Signals,
    pub(crate) channels: Channels,
    /// The version of its language.
    pub(crate) version: String,
    /// Goes when the kernel is gone.
    pub(crate) folder: Folder,
}

#[derive(Deserialize)]
struct KernelInfo {
    #[serde(default)]
    language_info: LanguageInfo,
}

#[derive(Default, Deserialize)]
struct LanguageInfo {
    #[serde(default)]
    version: String,
}

pub(crate) fn start(
    launch: &Launch,
    host: &UnixStream,
    output: &mut Output,
) -> Result<Started, End> {
    let seal = Seal::new().map_err(JupyterError::Folder)?;
    let identity = random_hex().map_err(JupyterError::Folder)?;
    let folder = Folder::make(&seal).map_err(JupyterError::Folder)?;
    let births = watch(&folder).map_err(JupyterError::Prepare)?;
    let kernel = Kernel::start(launch, &folder)?;
    let signals = Signals::take().map_err(JupyterError::Prepare)?;
    let until = Instant::now() + PATIENCE;
    let mut life = Life { kernel, signals, host, until };
    match life.begin(&folder, &births, Speaker::new(seal, identity)) {
        Ok((channels, version)) => {
            let Life { mut kernel, signals, .. } = life;
            kernel.raw.forget();
            Ok(Started { kernel, signals, channels, version, folder })
        }
        Err(end) => {
            life.kernel.raw.pass_on(output)?;
            Err(end)
        }
    }
}

/// Becomes readable when something is made in the folder.
fn watch(folder: &Folder) -> std::io::Result<OwnedFd> {
    let births = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?;
    inotify::add_watch(&births, folder.path(), inotify::WatchFlags::CREATE)?;
    Ok(births)
}

/// A kernel that is being started.
struct Life<'a> {
    kernel: Kernel,
    signals: Signals,
    host: &'a UnixStream,
    until: Instant,
}

impl Life<'_> {
    fn begin(
        &mut self,
        folder: &Folder,
        births: &OwnedFd,
        speaker: Speaker,
    ) -> Result<(Channels, String), End> {
        let mut channels = self.connect(folder, births, speaker)?;
        let version = self.introduce(&mut channels)?;
        Ok((channels, version))
    }

    /// Sleeps until one of these can be read, which it says, or something else happens.
    fn sleep(
        &self,
        sources: &[Option<BorrowedFd<'_>>],
        until: Instant,
    ) -> Result<Vec<bool>, JupyterError> {
        let [stdout, stderr] = self.kernel.raw.sources();
        let [signals, host] = [self.signals.as_fd(), self.host.as_fd()].map(Some);
        let mut all = sources.to_vec();
        all.extend([signals, host, stdout, stderr]);
        wait(&all, Some(until))
    }

    /// Whether there is still hope.
    fn check(&mut self, what: &'static str) -> Result<(), End> {
        self.kernel.raw.keep()?;
        // An interrupt before the first cell is nobody's.
        _ = self.signals.read();
        if let Some(status) = self.kernel.ended() {
            return Err(End::Died(status));
        }
        if recv(self.host, &mut [0], LOOK).is_ok_and(|(_, count)| count == 0) {
            return Err(End::HungUp);
        }
        if Instant::now() >= self.until {
            return Err(JupyterError::TooLate { what, seconds: PATIENCE.as_secs() }.into());
        }
        Ok(())
    }

    fn connect(
        &mut self,
        folder: &Folder,
        births: &OwnedFd,
        speaker: Speaker,
    ) -> Result<Channels, End> {
        let mut sockets: [Option<Socket>; 4] = Default::default();
        let mut events = Vec::with_capacity(4096);
        loop {
            self.check("did not open its sockets")?;
            // Before they are tried: what is born meanwhile wakes the next wait.
            while read(births, spare_capacity(&mut events)).is_ok_and(|count| count > 0) {
                events.clear();
            }
            let mut refused = false;
            for (socket, channel) in sockets.iter_mut().zip(Channel::ALL) {
                if socket.is_none() {
                    match Socket::connect(folder, channel, &speaker.identity)? {
                        Tried::Connected(connected) => *socket = Some(connected),
                        Tried::Refused => refused = true,
                        Tried::Absent => {}
                    }
                }
            }
            sockets = match sockets {
                [Some(shell), Some(iopub), Some(stdin), Some(control)] => {
                    return Ok(Channels { shell, iopub, stdin, control, speaker });
                }
                incomplete => incomplete,
            };
            let until = if refused { Instant::now() + BREATH } else { self.until };
            self.sleep(&[Some(births.as_fd())], until)?;
        }
    }

    /// Asks the kernel who it is until the answer is also published. Gives its language's version.
    fn introduce(&mut self, channels: &mut Channels) -> Result<String, End> {
        let mut version = None;
        let mut published = false;
        let mut questions = 1;
        channels.ask(Channel::Shell, "kernel_info_request", &json!({}));
        loop {
            self.check("opened its sockets and said nothing")?;
            while channels.next(Channel::Iopub)?.is_some() {
                published = true;
            }
            while let Some(heard) = channels.next(Channel::Shell)? {
                if heard.kind != "kernel_info_reply" {
                    continue;
                }
                let info = heard.content::<KernelInfo>();
                version = Some(info.map_or_else(String::new, |info| info.language_info.version));
                if !published && questions < MOST_QUESTIONS {
                    questions += 1;
                    channels.ask(Channel::Shell, "kernel_info_request", &json!({}));
                }
            }
            if let (true, Some(version)) = (published, version.take_if(|_| published)) {
                return Ok(version);
            }
            let [shell, iopub, ..] = channels.sources();
            let woken = self.sleep(&[shell, iopub], self.until)?;
            for (woken, channel) in woken.iter().zip([Channel::Shell, Channel::Iopub]) {
                if *woken {
                    channels.socket(channel).receive();
                }
            }
        }
    }
}
