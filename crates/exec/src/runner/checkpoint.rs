//! Checkpoints of the kernels, and going back to them.

use super::state::State;
use crate::ExecError;
use interpreter_core::{
    Checkpoint, FilesCheckpoint, FilesRewound, KernelCheckpoint, KernelRewound, MemoryCheckpoint,
    MemoryRewound, RewindScope, Rewound,
};
use tokio::sync::oneshot;

/// Why the memory of a kernel is not kept.
const CANNOT: &str = "its memory cannot be copied; its cells are replayed";

/// Why staged files are not kept.
const NO_FILES: &str = "staged files are not kept yet";

impl State {
    /// Keeps what can be kept.
    pub(super) fn checkpoint(&mut self, number: u32, reply: oneshot::Sender<Checkpoint>) {
        let kernels = self.kernels.iter_mut().map(|(_, kernel)| KernelCheckpoint {
            language: kernel.language.clone(),
            memory: MemoryCheckpoint::NotKept { reason: CANNOT.into() },
        });
        let files = FilesCheckpoint::NotKept { reason: NO_FILES.into() };
        // Whoever asked may have left.
        _ = reply.send(Checkpoint { number, kernels: kernels.collect(), files }).is_ok();
    }

    /// Goes back to a checkpoint.
    pub(super) fn rewind(
        &mut self,
        number: u32,
        scope: RewindScope,
        reply: oneshot::Sender<Result<Rewound, ExecError>>,
    ) {
        let mut kernels = Vec::new();
        if scope == RewindScope::Everything {
            kernels.extend(self.kernels.iter_mut().map(|(_, kernel)| KernelRewound {
                language: kernel.language.clone(),
                memory: MemoryRewound::Lost { reason: CANNOT.into() },
            }));
        }
        let files = FilesRewound::NotRestored { reason: NO_FILES.into() };
        _ = reply.send(Ok(Rewound { number, kernels, files })).is_ok();
    }
}
