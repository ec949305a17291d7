//! The terminal's modes: quiet while the program has it, as it was when the program lets go.
//!
//! Quiet means that typed keys are neither echoed nor gathered into lines: nothing that a person
//! types can get into somebody's output on the screen. Ctrl-C and Ctrl-Z still send their signals,
//! so they work whatever the program is doing. Pastes come in brackets.
//!
//! Whoever drops [`Quiet`] gets the terminal back as it was, also when a command fails or panics.
//!
//! # Threat
//! Another program of our pipeline or script that reads the controlling terminal: a key that is
//! meant for a pager answers our question.
//!
//! # Mechanism
//! A program that reads single keys sets the modes for that. So we take the terminal only while its
//! modes are those of a shell's commands ([`Device::is_free`]). Ours carry a mark that no other
//! program sets and no other process of ours has; where it is gone, somebody has set other modes
//! since, the key is theirs, and so are the modes from then on. A program that leaves the modes
//! alone waits in the kernel for the next key, and gets it before us. If we see that, because a key
//! was announced and is not there, nothing that follows counts either (`desk.rs`).
//!
//! # Limits
//! A pager that is started while a question waits leaves the terminal as it found it: quiet. A
//! program that neither sets modes nor waits for a key, and looks only from time to time, is not
//! noticed; our question is then what the person sees.

use super::device::Device;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use std::{io, sync::Arc};

const BEGIN: &[u8] = b"\x1b[?2004h";
/// Also shows the cursor, which a line editor may have hidden.
const END: &[u8] = b"\x1b[?2004l\x1b[?25h";

/// Codes that mean nothing while no lines are gathered and a read ends with its first key. The first
/// is set to 0 by whoever wants single keys.
const MARKED: [SpecialCodeIndex; 3] =
    [SpecialCodeIndex::VTIME, SpecialCodeIndex::VEOL, SpecialCodeIndex::VEOL2];

/// The mark of a process: the first part is never 0.
fn mark(process: u32) -> [u8; 3] {
    let [low, middle, high, _] = process.to_le_bytes();
    // Numbers of processes have 22 bits.
    [high | 0x80, middle, low]
}

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
        if device.is_shared() {
            for (code, value) in MARKED.into_iter().zip(mark(std::process::id())) {
                quiet.special_codes[code] = value;
            }
        }
        Ok(Self { device, usual, quiet, is_smart })
    }

    /// Whether the modes are those that we have set. At standard input and output nobody else sets
    /// them, but for the line editor.
    pub(super) fn is_held(&self) -> bool {
        if !self.device.is_shared() {
            return true;
        }
        let same = |now: &Termios| {
            let codes = [SpecialCodeIndex::VMIN, SpecialCodeIndex::VLNEXT];
            now.local_modes == self.quiet.local_modes
                && now.input_modes == self.quiet.input_modes
                && codes
                    .into_iter()
                    .chain(MARKED)
                    .all(|code| now.special_codes[code] == self.quiet.special_codes[code])
        };
        tcgetattr(self.device.keys()).is_ok_and(|now| same(&now))
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    /// Whether the terminal understands sequences, and can be asked where its cursor is.
    pub(super) fn is_smart(&self) -> bool {
        self.is_smart
    }

    /// Makes the terminal quiet, unless another program has it. Input that was typed before stays in
    /// its buffer.
    pub(super) fn hush(&self) -> io::Result<()> {
        if !self.is_held() && !self.device.is_free() {
            return Ok(());
        }
        tcsetattr(self.device.keys(), OptionalActions::Now, &self.quiet)?;
        self.send(BEGIN)
    }

    /// Makes it what it was, unless another program has it by now.
    pub(super) fn let_go(&self) -> io::Result<()> {
        if !self.is_held() {
            return Ok(());
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_process_has_a_mark_of_its_own() {
        let all: HashSet<_> = (0..1 << 22).step_by(61).map(mark).collect();
        assert_eq!(all.len(), (0..1 << 22).step_by(61).count());
        assert!(all.iter().all(|[first, ..]| *first != 0));
    }
}
