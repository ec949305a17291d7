//! The last part of a rewind: the temporary folders are emptied, and staged files go back, by way
//! of the host or from outside.
//!
//! # Threat
//! A file that an undone cell left where later programs look for their settings and modules: the
//! home inside is one of the temporary folders.
//!
//! # Mechanism
//! When every kernel has gone back or ended, the host empties these folders. Nothing else runs then
//! but copies of a checkpoint, whose open files are lost in any case. If it cannot empty them, the
//! sandbox is ended.

use super::Actor;
use crate::{
    ExecError,
    runner::{
        checkpoint::{RUNNING, RewoundReply},
        files_back::{Going, Way},
        live::Live,
    },
};
use interpreter_core::{FilesCheckpoint, FilesRewound, MemoryRewound, RewindScope, Rewound};

impl Actor {
    /// Keeps the staged files, unless something runs that may be writing to them.
    pub(super) async fn checkpoint_files(&mut self, number: u32) -> FilesCheckpoint {
        if self.state.is_busy() {
            return FilesCheckpoint::NotKept { reason: RUNNING.into() };
        }
        self.stage.checkpoint(number, self.live.is_some()).await
    }

    /// Empties the temporary folders and puts the staged files back to a checkpoint, and answers.
    /// After cells were replayed, which may need temporary files, only the staged ones go back.
    pub(super) async fn rewind_files(
        &mut self,
        mut rewound: Rewound,
        scope: RewindScope,
        reply: RewoundReply,
    ) -> Result<(), ExecError> {
        let mut requests = Vec::new();
        let mut by_host = false;
        if scope == RewindScope::Everything {
            requests.extend(self.live.as_ref().map(Live::emptying));
        }
        let work = self.live.as_ref().map(|live| live.confinement.work_folder.clone());
        if !matches!(rewound.files, FilesRewound::NotRestored { .. }) {
            match self.stage.begin_rewind(rewound.number, work.as_deref()) {
                Way::Settled(files) => rewound.files = files,
                Way::Outside => rewound.files = self.stage.go_back(rewound.number),
                Way::Inside(more) => {
                    requests.extend(more);
                    by_host = true;
                }
            }
        }
        let mut sent = 0;
        for request in &requests {
            let Some(live) = &mut self.live else { break };
            sent += usize::from(live.send(request).await.is_ok());
        }
        // Otherwise it was too much to say, or nobody listens.
        let clean = sent == requests.len();
        let going = Going { rewound, reply, by_host, clean, awaited: sent };
        if clean && sent > 0 {
            self.stage.await_host(going);
            return Ok(());
        }
        self.files_are_back(going).await
    }

    /// The host has done what it could. If something is left, the sandbox is ended and files are
    /// put back from outside: memory of a checkpoint never stands beside files of another, and no
    /// file of an undone cell beside a later one.
    pub(super) async fn files_are_back(&mut self, going: Going) -> Result<(), ExecError> {
        let Going { mut rewound, reply, by_host, clean, .. } = going;
        let mut are_back = true;
        if by_host {
            are_back = self.stage.is_back(rewound.number)?;
            rewound.files = FilesRewound::Restored;
        }
        if !are_back || !clean {
            let how = "was ended, so that files could be put back";
            self.state.lose_kernels(how);
            self.end().await;
            for kernel in &mut rewound.kernels {
                if matches!(kernel.memory, MemoryRewound::Restored { .. }) {
                    kernel.memory = MemoryRewound::Lost { reason: format!("it {how}") };
                }
            }
        }
        if !are_back {
            rewound.files = self.stage.go_back(rewound.number);
        }
        // Whoever asked may have left.
        _ = reply.send(Ok(rewound)).is_ok();
        Ok(())
    }
}
