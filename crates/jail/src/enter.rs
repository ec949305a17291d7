//! How a process is told to become a jail.
//!
//! The process that wants something confined starts our own binary under the name [`JAIL`] and
//! writes the plan to its standard input: four bytes of length, then JSON. What follows on that
//! input belongs to the program inside. If a step fails, one line of JSON on standard error says
//! which and why, and the process ends without having run anything.

use crate::{Failure, Plan, apply, sys};
use std::io::{self, Read, Write};

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

fn enter() -> Failure {
    // Whoever starts us may ignore interrupts, as a shell has what it runs in the background do. Code
    // inside must be interrupted all the same.
    sys::heed_signals();
    let plan = match sys::close_from(3).and_then(|()| read_plan()) {
        Ok(plan) => plan,
        Err(error) => {
            return Failure {
                step: "read the plan".into(),
                errno: error.raw_os_error(),
                cause: error.to_string(),
            };
        }
    };
    apply::apply(&plan)
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
