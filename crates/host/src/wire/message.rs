//! The messages between the outside and the host.
//!
//! Payloads of more than a number are JSON. Output and code are not among them: they travel through
//! a kernel's own wires, see [`crate::Link`]. The host obeys [`Inward`]. [`Outward`] comes out of a
//! sandbox: the outside shows and counts it, and measures for itself whatever matters.

use super::frame::{Frame, FrameError};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{borrow::Cow, collections::BTreeMap, path::PathBuf};

/// Bytes of the longest payload.
pub(crate) const LONGEST: usize = 16 << 20;

/// How a kernel is started. The environment is the whole of it; nothing is inherited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelSpec {
    /// The interpreter, by its path inside the sandbox.
    pub program: PathBuf,
    /// Its arguments, including the driver's path.
    pub arguments: Vec<String>,
    /// All variables it sees.
    pub environment: BTreeMap<String, String>,
    /// The folder it starts in.
    pub folder: PathBuf,
    /// The standard input of its code.
    #[serde(default)]
    pub input: KernelInput,
}

/// The standard input of a kernel's code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelInput {
    /// There is none.
    #[default]
    Empty,
    /// A pipe, whose other end goes out with `Started`.
    Pipe,
    /// A file, by its path inside the sandbox.
    File(PathBuf),
}

/// A request to the host. The outside numbers the kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inward {
    /// Start a kernel; answered by `Started` or `Failed`.
    Start {
        /// The number it shall have.
        kernel: u32,
        /// How it is started.
        spec: KernelSpec,
    },
    /// Send SIGINT to a kernel's process group. A driver that is between cells ignores it. It may
    /// be lost: before the driver has begun a cell, or at the moment when a shell starts a program
    /// or V8 is busy with itself. Then it takes another, and in the end a `Stop`.
    Interrupt {
        /// The number of the kernel.
        kernel: u32,
    },
    /// Kill a kernel, if it is there, and everything else that does not descend from another
    /// one; answered by `Exited`.
    Stop {
        /// The number of the kernel.
        kernel: u32,
    },
    /// Kill a kernel and its process group, if it is still that process; answered by `Exited`.
    Kill {
        /// The number of the kernel.
        kernel: u32,
        /// The number of its process, as it was told when it was started.
        process: u32,
    },
    /// See to it that there is room for what a kernel may start; answered by `Tidied`, and before it
    /// by `Crowded` if everything had to be ended.
    Tidy {
        /// The number of the kernel.
        kernel: u32,
    },
    /// Say how much processor time has been used; answered by `Used`.
    Measure,
    /// Say how many programs run beside the kernels and their copies; answered by `Programs`.
    Count,
    /// Hold a process as a copy of a kernel's memory, for as long as the kernel lives; answered by
    /// `Held`. The oldest copies go when all of them share too little with the kernel.
    Hold {
        /// The number of the kernel.
        kernel: u32,
        /// The number of the copy.
        number: u32,
        /// The number of the copy's process, as the driver claims it.
        process: u32,
        /// Bytes that the copies of a kernel may take beside what they share.
        most: u64,
    },
    /// End a copy of a kernel.
    Release {
        /// The number of the kernel.
        kernel: u32,
        /// The number of the copy.
        number: u32,
    },
    /// End a kernel's process and everything else but the other kernels with what descends from them,
    /// and all copies; then have a copy take its place; answered by `Rewound`. Later copies, which have higher numbers, are ended.
    Rewind {
        /// The number of the kernel.
        kernel: u32,
        /// The number of the copy.
        number: u32,
    },
    /// Empty folders of which nothing else is in use, but for what is mounted in them; answered by
    /// `Emptied`.
    Empty {
        /// The folders.
        folders: Vec<PathBuf>,
        /// The home of code, below one of them: afterwards it is there, and empty.
        home: PathBuf,
    },
    /// Put paths of the work folder back to what they were; answered by `Restored`.
    Restore {
        /// The work folder, as code sees it.
        work: PathBuf,
        /// The folder that holds what it was.
        lower: PathBuf,
        /// Paths below it, relative.
        paths: Vec<String>,
        /// The name under which a file is written before it takes its place.
        scratch: String,
    },
}

/// A message of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outward {
    /// A kernel's process exists, and the outside's ends of its pipes and its socket come with this
    /// frame: standard output, standard error, control, and standard input if that is a pipe.
    /// Whether its driver works is its own claim.
    Started {
        /// The number of the kernel.
        kernel: u32,
        /// The number of its process inside.
        process: u32,
        /// Whether the end of its standard input comes too.
        input: bool,
    },
    /// A kernel could not be started.
    Failed {
        /// The number of the kernel.
        kernel: u32,
        /// Why it could not be started.
        message: String,
    },
    /// A kernel is dead, and its number is free.
    Exited {
        /// The number of the kernel.
        kernel: u32,
        /// The status it exited with.
        status: Option<i32>,
        /// The signal that killed it.
        signal: Option<i32>,
    },
    /// Processor time that everything inside has used since the sandbox began, as far as the
    /// system counts it.
    Used {
        /// The sum over all processes, in milliseconds.
        milliseconds: u64,
    },
    /// Programs that run inside beside the kernels and their copies.
    Programs {
        /// Their number.
        count: u32,
    },
    /// Leftover processes filled the process limit, so everything was ended. All kernels but this
    /// one are about to send `Exited`; this one, which needed the room, is about to send `Started`
    /// again if it was running.
    Crowded {
        /// The number of the kernel.
        kernel: u32,
    },
    /// There is room for what a kernel may start.
    Tidied {
        /// The number of the kernel.
        kernel: u32,
    },
    /// Whether a process is held as a copy of a kernel's memory: it is one that the host can wake.
    /// Also said of one that was held and has died.
    Held {
        /// The number of the kernel.
        kernel: u32,
        /// The number of the copy.
        number: u32,
        /// Whether it is held.
        held: bool,
    },
    /// A copy has taken a kernel's place, and is about to claim `checkpointed`.
    Rewound {
        /// The number of the kernel.
        kernel: u32,
        /// The number of the copy.
        number: u32,
        /// The number of the kernel's process by now; 0 if there was no such copy, and then nothing
        /// has changed.
        process: u32,
    },
    /// Folders were emptied.
    Emptied {
        /// Whether nothing is left in them.
        clean: bool,
    },
    /// Paths were put back.
    Restored {
        /// The failures, one sentence each.
        errors: Vec<String>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RestorePayload {
    work: PathBuf,
    lower: PathBuf,
    paths: Vec<String>,
    scratch: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EmptyPayload {
    folders: Vec<PathBuf>,
    home: PathBuf,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HoldPayload {
    number: u32,
    process: u32,
    most: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FailedPayload {
    message: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExitedPayload {
    status: Option<i32>,
    signal: Option<i32>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RestoredPayload {
    errors: Vec<String>,
}

const START: u8 = 1;
const INTERRUPT: u8 = 3;
const STOP: u8 = 4;
const RESTORE: u8 = 5;
const KILL: u8 = 6;
const TIDY: u8 = 7;
const HOLD: u8 = 8;
const RELEASE: u8 = 9;
const REWIND: u8 = 10;
const EMPTY: u8 = 11;

const MEASURE: u8 = 20;
const COUNT: u8 = 21;

// Other numbers than inward, so that a stream that is looped back is noticed.
const STARTED: u8 = 68;
const FAILED: u8 = 69;
const EXITED: u8 = 70;
const RESTORED: u8 = 71;
const HELD: u8 = 72;
const REWOUND: u8 = 73;
const EMPTIED: u8 = 74;

const USED: u8 = 80;
const CROWDED: u8 = 81;
const TIDIED: u8 = 82;
const PROGRAMS: u8 = 83;

impl Frame for Inward {
    fn longest(kind: u8) -> Option<usize> {
        match kind {
            START | RESTORE | HOLD | EMPTY => Some(LONGEST),
            INTERRUPT | STOP | TIDY | MEASURE | COUNT => Some(0),
            KILL | RELEASE | REWIND => Some(4),
            _ => None,
        }
    }

    fn parts(&self) -> Result<(u8, u32, Cow<'_, [u8]>), FrameError> {
        Ok(match self {
            Self::Start { kernel, spec } => (START, *kernel, json(START, spec)?),
            Self::Interrupt { kernel } => (INTERRUPT, *kernel, Cow::default()),
            Self::Stop { kernel } => (STOP, *kernel, Cow::default()),
            Self::Kill { kernel, process } => (KILL, *kernel, of_number(*process)),
            Self::Hold { kernel, number, process, most } => {
                let payload = HoldPayload { number: *number, process: *process, most: *most };
                (HOLD, *kernel, json(HOLD, &payload)?)
            }
            Self::Release { kernel, number } => (RELEASE, *kernel, of_number(*number)),
            Self::Rewind { kernel, number } => (REWIND, *kernel, of_number(*number)),
            Self::Tidy { kernel } => (TIDY, *kernel, Cow::default()),
            Self::Measure => (MEASURE, 0, Cow::default()),
            Self::Count => (COUNT, 0, Cow::default()),
            Self::Empty { folders, home } => {
                let payload = EmptyPayload { folders: folders.clone(), home: home.clone() };
                (EMPTY, 0, json(EMPTY, &payload)?)
            }
            Self::Restore { work, lower, paths, scratch } => {
                let (work, lower, paths) = (work.clone(), lower.clone(), paths.clone());
                let scratch = scratch.clone();
                (RESTORE, 0, json(RESTORE, &RestorePayload { work, lower, paths, scratch })?)
            }
        })
    }

    fn from_parts(kind: u8, kernel: u32, payload: Vec<u8>) -> Result<Self, FrameError> {
        Ok(match kind {
            START => Self::Start { kernel, spec: parsed(kind, &payload)? },
            INTERRUPT => Self::Interrupt { kernel },
            STOP => Self::Stop { kernel },
            KILL => Self::Kill { kernel, process: number(&payload) },
            HOLD => {
                let HoldPayload { number, process, most } = parsed(kind, &payload)?;
                Self::Hold { kernel, number, process, most }
            }
            RELEASE => Self::Release { kernel, number: number(&payload) },
            REWIND => Self::Rewind { kernel, number: number(&payload) },
            TIDY => Self::Tidy { kernel },
            MEASURE => Self::Measure,
            COUNT => Self::Count,
            EMPTY => {
                let EmptyPayload { folders, home } = parsed(kind, &payload)?;
                Self::Empty { folders, home }
            }
            RESTORE => {
                let RestorePayload { work, lower, paths, scratch } = parsed(kind, &payload)?;
                Self::Restore { work, lower, paths, scratch }
            }
            _ => return Err(FrameError::Unknown { kind }),
        })
    }
}

impl Frame for Outward {
    fn longest(kind: u8) -> Option<usize> {
        match kind {
            CROWDED | TIDIED => Some(0),
            EMPTIED => Some(1),
            STARTED | HELD => Some(5),
            USED | REWOUND => Some(8),
            PROGRAMS => Some(4),
            FAILED | EXITED | RESTORED => Some(LONGEST),
            _ => None,
        }
    }

    fn parts(&self) -> Result<(u8, u32, Cow<'_, [u8]>), FrameError> {
        Ok(match self {
            Self::Started { kernel, process, input } => {
                let mut payload = process.to_le_bytes().to_vec();
                payload.push(u8::from(*input));
                (STARTED, *kernel, Cow::Owned(payload))
            }
            Self::Failed { kernel, message } => {
                let message = message.clone();
                (FAILED, *kernel, json(FAILED, &FailedPayload { message })?)
            }
            Self::Exited { kernel, status, signal } => {
                let payload = ExitedPayload { status: *status, signal: *signal };
                (EXITED, *kernel, json(EXITED, &payload)?)
            }
            Self::Used { milliseconds } => {
                (USED, 0, Cow::Owned(milliseconds.to_le_bytes().to_vec()))
            }
            Self::Programs { count } => (PROGRAMS, 0, of_number(*count)),
            Self::Crowded { kernel } => (CROWDED, *kernel, Cow::default()),
            Self::Tidied { kernel } => (TIDIED, *kernel, Cow::default()),
            Self::Held { kernel, number, held } => {
                let mut payload = number.to_le_bytes().to_vec();
                payload.push(u8::from(*held));
                (HELD, *kernel, Cow::Owned(payload))
            }
            Self::Rewound { kernel, number, process } => {
                let payload = [number.to_le_bytes(), process.to_le_bytes()].concat();
                (REWOUND, *kernel, Cow::Owned(payload))
            }
            Self::Emptied { clean } => (EMPTIED, 0, Cow::Owned(vec![u8::from(*clean)])),
            Self::Restored { errors } => {
                let errors = errors.clone();
                (RESTORED, 0, json(RESTORED, &RestoredPayload { errors })?)
            }
        })
    }

    fn from_parts(kind: u8, kernel: u32, payload: Vec<u8>) -> Result<Self, FrameError> {
        Ok(match kind {
            STARTED => {
                let (process, more) = payload.split_at(payload.len().min(4));
                Self::Started { kernel, process: number(process), input: more == [1] }
            }
            HELD => {
                let (first, more) = payload.split_at(payload.len().min(4));
                Self::Held { kernel, number: number(first), held: more == [1] }
            }
            REWOUND => {
                let (first, more) = payload.split_at(payload.len().min(4));
                Self::Rewound { kernel, number: number(first), process: number(more) }
            }
            PROGRAMS => Self::Programs { count: number(&payload) },
            FAILED => {
                let FailedPayload { message } = parsed(kind, &payload)?;
                Self::Failed { kernel, message }
            }
            EXITED => {
                let ExitedPayload { status, signal } = parsed(kind, &payload)?;
                Self::Exited { kernel, status, signal }
            }
            USED => {
                // Fewer bytes are a smaller number; more are refused above.
                let mut bytes = [0; 8];
                bytes[..payload.len()].copy_from_slice(&payload);
                Self::Used { milliseconds: u64::from_le_bytes(bytes) }
            }
            CROWDED => Self::Crowded { kernel },
            TIDIED => Self::Tidied { kernel },
            EMPTIED => Self::Emptied { clean: payload == [1] },
            RESTORED => {
                let RestoredPayload { errors } = parsed(kind, &payload)?;
                Self::Restored { errors }
            }
            _ => return Err(FrameError::Unknown { kind }),
        })
    }
}

/// A number of at most four bytes. Fewer are a smaller number; more are refused above.
fn number(payload: &[u8]) -> u32 {
    let mut bytes = [0; 4];
    bytes[..payload.len()].copy_from_slice(payload);
    u32::from_le_bytes(bytes)
}

fn of_number(number: u32) -> Cow<'static, [u8]> {
    Cow::Owned(number.to_le_bytes().to_vec())
}

fn json<T: Serialize>(kind: u8, payload: &T) -> Result<Cow<'static, [u8]>, FrameError> {
    match serde_json::to_vec(payload) {
        Ok(bytes) => Ok(Cow::Owned(bytes)),
        Err(source) => Err(FrameError::Payload { kind, source }),
    }
}

fn parsed<T: DeserializeOwned>(kind: u8, payload: &[u8]) -> Result<T, FrameError> {
    serde_json::from_slice(payload).map_err(|source| FrameError::Payload { kind, source })
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
