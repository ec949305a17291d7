//! The folder that a script goes to: `cd`, `pushd`, `popd`.
//!
//! A `cd` may fail, so relative names are known after it only as far as `&&` goes. Functions run
//! whenever they are called, and loops come back: where the folder changes anywhere in a script,
//! names in them are nobody's.

use super::{names::Names, walk::Walk, words};
use crate::{folder::Folder, literal::Literal};
use shuck_ast::SimpleCommand;

fn is_move(program: Option<&str>) -> bool {
    matches!(program, Some("cd" | "pushd" | "popd"))
}

/// Whether a command may change the folder of its shell.
fn may_move(command: &[Literal]) -> bool {
    let program = command.first().and_then(Literal::whole);
    is_move(program)
        || (matches!(program, Some("command" | "builtin"))
            && command.iter().any(|word| is_move(word.whole()) || word.whole().is_none()))
}

impl Walk<'_> {
    /// Walks something after which nobody knows the folder, if it may have changed.
    pub(super) fn settled<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        if !self.changes_folder() {
            return walk(self);
        }
        let before = self.analysis.folder.clone();
        let given = walk(self);
        if self.analysis.folder != before {
            self.analysis.folder = Folder::Elsewhere;
        }
        given
    }

    /// Walks something that may run in any folder that the script goes to.
    pub(super) fn anywhere<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        self.repeats += 1;
        let changes = self.changes_folder();
        let before = self.analysis.folder.clone();
        if changes {
            self.analysis.folder = Folder::Elsewhere;
        }
        let given = walk(self);
        self.repeats -= 1;
        if !changes {
            return given;
        }
        let moves = self.inside > 0 || self.names().moves;
        self.analysis.folder = if moves { Folder::Elsewhere } else { before };
        given
    }

    /// Walks something that runs in a shell of its own.
    pub(super) fn inside<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.analysis.folder.clone();
        self.inside += 1;
        let given = walk(self);
        self.inside -= 1;
        self.analysis.folder = before;
        given
    }

    fn changes_folder(&self) -> bool {
        !self.is_learning && self.names().changes_folder
    }

    /// The folder after a command.
    pub(super) fn go(&mut self, command: &[Literal]) {
        if !self.changes_folder() {
            return;
        }
        let program = command.first().and_then(Literal::whole);
        let is_function = |names: &Names| {
            program.is_some_and(|name| {
                names.functions.contains(name) || names.past.functions.contains_key(name)
            })
        };
        self.analysis.folder = match command {
            [_, folder] if program == Some("cd") => self.analysis.folder.then(folder),
            _ if may_move(command) || is_function(self.names()) => Folder::Elsewhere,
            _ => return,
        };
    }

    /// Remembers that a command changes the folder.
    pub(super) fn learn_moves(&mut self, name: &[Literal], simple: &SimpleCommand) {
        let texts = simple.args.iter().map(|word| {
            words::plain(word, &self.script.text).map_or_else(Literal::computed, Literal::known)
        });
        let program = name.first().and_then(Literal::whole);
        let is_one = match program {
            Some("command" | "builtin") => {
                may_move(&name.iter().cloned().chain(texts).collect::<Vec<_>>())
            }
            program => is_move(program),
        };
        if is_one {
            self.learned.changes_folder = true;
            self.learned.moves |= self.inside == 0;
        }
    }
}
