//! The last part of a rewind: staged files go back, by way of the host or from outside.

use super::Actor;
use crate::{
    ExecError,
    runner::{
        checkpoint::{RUNNING, RewoundReply},
        files_back::Way,
    },
};
use interpreter_core::{FilesCheckpoint, FilesRewound, MemoryRewound, Rewound};

impl Actor {
    /// Keeps the staged files, unless something runs that may be writing to them.
    pub(super) async fn checkpoint_files(&mut self, number: u32) -> FilesCheckpoint {
        if self.state.is_busy() {
            return FilesCheckpoint::NotKept { reason: RUNNING.into() };
        }
        self.stage.checkpoint(number, self.live.is_some()).await
    }

    /// Puts the staged files back to a checkpoint, and answers.
    pub(super) async fn rewind_files(
        &mut self,
        mut rewound: Rewound,
        reply: RewoundReply,
    ) -> Result<(), ExecError> {
        let work = self.live.as_ref().map(|live| live.confinement.work_folder.clone());
        match self.stage.begin_rewind(rewound.number, work.as_deref()) {
            Way::Settled(files) => rewound.files = files,
            Way::Outside => rewound.files = self.stage.go_back(rewound.number),
            Way::Inside(requests) => {
                let Some(live) = &mut self.live else { return Ok(()) };
                let mut sent = 0;
                for request in &requests {
                    sent += usize::from(live.send(request).await.is_ok());
                }
                if sent == requests.len() {
                    self.stage.await_host(rewound, reply, sent);
                    return Ok(());
                }
                // Too much to say, or nobody listens.
                return self.files_are_back(rewound, reply).await;
            }
        }
        // Whoever asked may have left.
        _ = reply.send(Ok(rewound)).is_ok();
        Ok(())
    }

    /// The host has put files back, as far as it could. If something is left, the sandbox is ended and
    /// they are put back from outside: memory of a checkpoint never stands beside files of another.
    pub(super) async fn files_are_back(
        &mut self,
        mut rewound: Rewound,
        reply: RewoundReply,
    ) -> Result<(), ExecError> {
        rewound.files = FilesRewound::Restored;
        if !self.stage.is_back(rewound.number)? {
            let how = "was ended, so that files could be put back";
            self.state.lose_kernels(how);
            self.end().await;
            for kernel in &mut rewound.kernels {
                if matches!(kernel.memory, MemoryRewound::Restored { .. }) {
                    kernel.memory = MemoryRewound::Lost { reason: format!("it {how}") };
                }
            }
            rewound.files = self.stage.go_back(rewound.number);
        }
        _ = reply.send(Ok(rewound)).is_ok();
        Ok(())
    }
}
