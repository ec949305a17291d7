//! The kernel's process.

use crate::{
    error::JupyterError,
    folder::Folder,
    launch::{Interrupt, Launch, filled},
    raw::Raw,
};
use rustix::process::{Pid, Signal, kill_process_group};
use std::{
    os::unix::process::CommandExt,
    process::{Child, Command, ExitStatus, Stdio},
};

/// A process that a kernel runs in. It dies with this.
#[derive(Debug)]
pub(crate) struct Kernel {
    child: Child,
    pub(crate) raw: Raw,
    pub(crate) interrupt: Interrupt,
}

impl Kernel {
    /// Starts it.
    ///
    /// A kernel that is interrupted by signal stays in the bridge's process group, to which the
    /// host sends one. A kernel that is interrupted by message must not get one.
    pub(crate) fn start(launch: &Launch, folder: &Folder) -> Result<Self, JupyterError> {
        let connection = folder.connection_file().display().to_string();
        let mut words = launch.argv.iter().map(|w| w.replace("{connection_file}", &connection));
        let program = words.next().ok_or(JupyterError::Launch)?;
        #[expect(clippy::disallowed_methods, reason = "the host started us for this")]
        let mut command = Command::new(&program);
        let (raw, stdout, stderr) = Raw::new().map_err(JupyterError::Output)?;
        command.stdin(Stdio::null()).stdout(stdout).stderr(stderr);
        command.args(words).env("IPYTHONDIR", folder.ipython());
        // Kernels show figures in a way of their own.
        command.env_remove("MPLBACKEND");
        // Without it kernels of Python believe that a person started them, and tell them how to.
        command.env("JPY_PARENT_PID", std::process::id().to_string());
        for (name, value) in &launch.environment {
            #[expect(
                clippy::disallowed_methods,
                reason = "inside, where all of it was given to us"
            )]
            let value = filled(value, |name| std::env::var(name).ok());
            command.env(name, value);
        }
        if launch.interrupt == Interrupt::Message {
            command.process_group(0);
        }
        let child = command.spawn().map_err(|source| JupyterError::Start { program, source })?;
        Ok(Self { child, raw, interrupt: launch.interrupt })
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Kills it. Its death is reported like any other.
    pub(crate) fn kill(&mut self) {
        // It may be gone already.
        self.child.kill().unwrap_or_default();
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.kill();
        _ = self.child.wait().is_ok();
        match self.interrupt {
            // The host kills its children with the bridge's own group.
            Interrupt::Signal => {}
            Interrupt::Message => {
                let group = Pid::from_child(&self.child);
                kill_process_group(group, Signal::KILL).unwrap_or_default();
            }
        }
    }
}
