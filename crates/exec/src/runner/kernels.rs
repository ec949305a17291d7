//! The kernels of a sandbox, as they are known outside.

use crate::output::Decoder;
use interpreter_core::Language;
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// A process inside that reads code.
#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) language: Language,
    pub(super) state: KernelState,
    /// How long it may still take to be ready, once it was asked for.
    pub(super) start: Option<Start>,
    /// Why we end it, if we do: `was ended: …`.
    pub(super) why: Option<String>,
    /// Bytes it has printed and shown since it was last given code.
    pub(super) printed: u64,
    /// Whether it can be asked how code could go on.
    pub(super) completes: bool,
    /// Whether its memory can be kept.
    pub(super) checkpoints: bool,
    /// How often it was asked how code could go on, and has not answered.
    pub(super) asked: u32,
    pub(super) stdout: Decoder,
    pub(super) stderr: Decoder,
}

/// The start of a kernel, as it is known outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub(super) patience: Duration,
    /// When it is given up; or, if it was, when the sandbox is.
    pub(super) until: Instant,
    /// Whether the host has said that the process is there.
    pub(super) is_there: bool,
}

impl Kernel {
    /// When its start is given up.
    pub(super) fn due(&self) -> Option<Instant> {
        let start = self.start.filter(|_| self.state == KernelState::Starting)?;
        Some(start.until)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KernelState {
    Starting,
    Ready,
    /// It is being ended; after it comes a fresh one, or nothing.
    Ending {
        fresh: bool,
    },
    /// It is being ended by a rewind, which tells of it.
    Leaving,
}

impl Kernel {
    pub(super) fn is_ready(&self) -> bool {
        self.state == KernelState::Ready
    }
}

/// All kernels by their numbers, which are never used twice.
#[derive(Debug, Default)]
pub(super) struct Kernels {
    all: BTreeMap<u32, Kernel>,
    last: u32,
}

impl Kernels {
    /// Adds a kernel that is being started, and gives it a number.
    pub(super) fn add(&mut self, language: Language) -> u32 {
        self.last += 1;
        let (stdout, stderr) = Default::default();
        let kernel = Kernel {
            language,
            state: KernelState::Starting,
            start: None,
            why: None,
            printed: 0,
            completes: false,
            checkpoints: false,
            asked: 0,
            stdout,
            stderr,
        };
        self.all.insert(self.last, kernel);
        self.last
    }

    /// The kernel of a language that is not being ended.
    pub(super) fn of(&self, language: &Language) -> Option<(u32, KernelState)> {
        let mut kernels = self.all.iter();
        let found = kernels.find(|(_, kernel)| {
            kernel.language == *language
                && matches!(kernel.state, KernelState::Starting | KernelState::Ready)
        });
        found.map(|(&number, kernel)| (number, kernel.state))
    }

    /// Whether there is a kernel of a language, in whatever state.
    pub(super) fn of_any(&self, language: &Language) -> bool {
        self.all.values().any(|kernel| kernel.language == *language)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Kernel> {
        self.all.get_mut(&number)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Kernel> {
        self.all.values()
    }

    pub(super) fn remove(&mut self, number: u32) -> Option<Kernel> {
        self.all.remove(&number)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut Kernel)> {
        self.all.iter_mut().map(|(&number, kernel)| (number, kernel))
    }

    /// Forgets all of them: their sandbox is gone.
    pub(super) fn clear(&mut self) -> Vec<Kernel> {
        std::mem::take(&mut self.all).into_values().collect()
    }
}
