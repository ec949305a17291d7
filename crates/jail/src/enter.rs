//! How a process becomes a jail.
//!
//! The process that wants something confined starts our own binary under the name [`JAIL`] and
//! writes the plan to its standard input: four bytes of length, then JSON. The rest of that input
//! belongs to the program inside. If a step fails, one line of JSON on standard error names the
//! step and the reason, and the process ends without having run anything.
//!
//! A program in between, such as a container engine's client, may pass no sockets on. Then the first
//! argument is the path of a Unix socket, through which standard input and output are handed over.
//!
//! # See
//! Descriptors that were left open lead out of a sandbox ([CVE-2024-21626]): all but the three
//! standard ones are closed first, by [close_range(2)].
//!
//! [close_range(2)]: https://man7.org/linux/man-pages/man2/close_range.2.html
//! [CVE-2024-21626]: https://nvd.nist.gov/vuln/detail/CVE-2024-21626

use crate::{JailFailure, Plan, apply, sys};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use std::{
    io::{self, IoSliceMut, Read, Write},
    mem::MaybeUninit,
    os::unix::net::UnixStream,
    path::Path,
};

/// The name under which our binary is started to become a jail.
pub const JAIL: &str = "interpreter-jail";

/// The exit status of a jail that could not be built.
const FAILED: i32 = 125;

/// The longest plan that is read.
const LONGEST_PLAN: u32 = 16 << 20;

/// The bytes that hand a plan over.
pub fn encode(plan: &Plan) -> Vec<u8> {
    let json = serde_json::to_vec(plan).expect("a plan holds only text, numbers and lists");
    let length = u32::try_from(json.len()).expect("a plan is far smaller than 4 GiB");
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(json);
    bytes
}

/// In a process that was started as a jail this builds it, becomes the program, and does not
/// return. In any other process it does nothing. Call it first in `main`, before any thread
/// exists.
#[expect(clippy::disallowed_methods, reason = "the stream of a process inside, not a person's")]
pub fn enter_if_asked() {
    if std::env::args_os().next().is_none_or(|name| name != JAIL) {
        return;
    }
    let failure = enter();
    let mut line = serde_json::to_vec(&failure).expect("a failure is plain text");
    line.push(b'\n');
    // If nobody reads it there is nobody to tell.
    _ = io::stderr().write_all(&line).is_ok();
    sys::exit_now(FAILED);
}

fn enter() -> JailFailure {
    // Whoever starts us may ignore interrupts, as a shell has what it runs in the background do. Code
    // inside must be interrupted all the same.
    sys::heed_signals();
    let met = std::env::args_os().nth(1).map_or(Ok(()), |socket| meet(Path::new(&socket)));
    let plan = match met.and_then(|()| sys::close_from(3)).and_then(|()| read_plan()) {
        Ok(plan) => plan,
        Err(error) => {
            return JailFailure {
                step: "read the plan".into(),
                errno: error.raw_os_error(),
                cause: error.to_string(),
            };
        }
    };
    apply::apply(&plan)
}

/// Takes standard input and output from whoever listens at `socket`.
fn meet(socket: &Path) -> io::Result<()> {
    let stream = UnixStream::connect(socket)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(&stream, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut handed = control.drain().filter_map(|message| {
        let RecvAncillaryMessage::ScmRights(descriptors) = message else { return None };
        Some(descriptors)
    });
    let mut handed = handed.next().into_iter().flatten();
    let (Some(input), Some(output)) = (handed.next(), handed.next()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no streams were handed over"));
    };
    rustix::stdio::dup2_stdin(input)?;
    Ok(rustix::stdio::dup2_stdout(output)?)
}

fn read_plan() -> io::Result<Plan> {
    // Unbuffered: what follows the plan is not ours to read.
    let mut input = std::fs::File::from(rustix::io::dup(io::stdin())?);
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > LONGEST_PLAN {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the plan is too long"));
    }
    let mut json = vec![0; length as usize];
    input.read_exact(&mut json)?;
    Ok(serde_json::from_slice(&json)?)
}
