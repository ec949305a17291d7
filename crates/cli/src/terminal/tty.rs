//! The terminal's modes: quiet while the program has it, as it was when the program lets go.
//!
//! Quiet means that typed keys are neither echoed nor gathered into lines: nothing that a person
//! types can get into somebody's output on the screen. Ctrl-C and Ctrl-Z still send their signals,
//! so they work whatever the program is doing. Pastes come in brackets.
//!
//! Whoever drops [`Quiet`] gets the terminal back as it was, also when a command fails or panics.

use super::device::Device;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use std::{io, sync::Arc};

const BEGIN: &[u8] = b"\x1b[?2004h";
/// Also shows the cursor, which a line editor may have hidden.
const END: &[u8] = b"\x1b[?2004l\x1b[?25h";

/// The terminal, as it was and as it is to be.
#[derive(Clone, Debug)]
pub(super) struct Tty {
    device: Device,
    usual: Termios,
    quiet: Termios,
    /// Whether it understands sequences.
    is_smart: bool,
}

impl Tty {
    /// A terminal, as it is now.
    pub(super) fn find(device: Device, is_smart: bool) -> io::Result<Self> {
        let usual = tcgetattr(device.keys())?;
        let mut quiet = usual.clone();
        quiet.local_modes -= LocalModes::ECHO | LocalModes::ICANON;
        quiet.local_modes |= LocalModes::ISIG;
        quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        Ok(Self { device, usual, quiet, is_smart })
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    /// Whether the terminal understands sequences, and can be asked where its cursor is.
    pub(super) fn is_smart(&self) -> bool {
        self.is_smart
    }

    /// Makes the terminal quiet. Input that was typed before stays in its buffer.
    pub(super) fn hush(&self) -> io::Result<()> {
        tcsetattr(self.device.keys(), OptionalActions::Now, &self.quiet)?;
        self.send(BEGIN)
    }

    /// Makes it what it was.
    pub(super) fn let_go(&self) -> io::Result<()> {
        self.send(END)?;
        Ok(tcsetattr(self.device.keys(), OptionalActions::Now, &self.usual)?)
    }

    /// Lets go of the terminal while `act` runs, for a program that wants it whole.
    pub(super) fn lend<T>(&self, act: impl FnOnce() -> T) -> T {
        // If the terminal is gone, `act` finds out for itself.
        _ = self.let_go().is_ok();
        let done = act();
        _ = self.hush().is_ok();
        done
    }

    /// Asks the terminal where its cursor is.
    pub(super) fn ask_position(&self) -> io::Result<()> {
        self.send(b"\x1b[6n")
    }

    fn send(&self, sequence: &[u8]) -> io::Result<()> {
        if self.is_smart { self.device.put(sequence) } else { Ok(()) }
    }
}

/// A terminal that is quiet for as long as this lives.
#[derive(Debug)]
pub(super) struct Quiet(Arc<Tty>);

impl Quiet {
    pub(super) fn begin(tty: Arc<Tty>) -> io::Result<Self> {
        tty.hush()?;
        Ok(Self(tty))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // If it cannot be set back, the terminal is gone.
        _ = self.0.let_go().is_ok();
    }
}
