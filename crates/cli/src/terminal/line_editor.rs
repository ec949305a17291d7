//! The line editor as the keyboard uses it: its keys, its mark, and how it is left.
//!
//! Pastes become text that can be seen; Ctrl-Z suspends the program. Must not run while the keyboard
//! reads the terminal itself.

use super::{draft::plain, keyboard::Heard, tty::Tty};
use crossterm::event as terminal_event;
use reedline::{
    Color, EditCommand, EditMode, Emacs, KeyCode, KeyModifiers, Keybindings, Prompt,
    PromptEditMode, PromptHistorySearch, Reedline, ReedlineEvent, ReedlineRawEvent, Signal,
    SimpleMatchHighlighter,
};
use std::{borrow::Cow, time::Duration};

/// The program's own command for the editor.
const SUSPEND: &str = "suspend";

/// An editor whose text has the colour of the terminal. The library's own is white, which a light
/// terminal hides.
pub(super) fn in_own_colour() -> Reedline {
    Reedline::create().with_highlighter(Box::new(SimpleMatchHighlighter::default()))
}

/// Has the person write a line. Ctrl-Z suspends the program, and they go on where they were.
pub(super) fn read(editor: &mut Reedline, tty: &Tty, mark: String) -> Heard {
    let mark = Mark(mark);
    // From now on a signal that the window has changed wakes the editor.
    _ = terminal_event::poll(Duration::ZERO).is_ok();
    loop {
        return match editor.read_line(&mark) {
            Ok(Signal::Success(line)) => Heard::Text(line),
            Ok(Signal::CtrlC) => Heard::Interrupted,
            Ok(Signal::ExternalBreak(_)) => {
                // As Ctrl-C does. If the terminal is gone, the next look at the keyboard says so.
                editor.run_edit_commands(&[EditCommand::Clear]);
                _ = tty.device().put(b"\n").is_ok();
                Heard::Withdrawn
            }
            Ok(Signal::HostCommand(command)) if command == SUSPEND => {
                tty.lend(suspend);
                continue;
            }
            Ok(_) | Err(_) => Heard::Ended,
        };
    }
}

/// Stops this program until somebody lets it go on.
pub(crate) fn suspend() {
    // To this very thread: one that is sent to the process may stop it a moment later, when the
    // terminal is quiet again. Where it is refused, nothing is stopped.
    _ = signal_hook::low_level::raise(rustix::process::Signal::STOP.as_raw()).is_ok();
}

/// The keys of an editor: those of Emacs, with Ctrl-Z to suspend. Pastes become text that can be
/// seen, and what a terminal says late about its colour becomes nothing.
pub(super) struct Careful {
    keys: Emacs,
    late: LateColour,
}

impl Default for Careful {
    fn default() -> Self {
        Self::new(reedline::default_emacs_keybindings())
    }
}

impl Careful {
    pub(super) fn new(mut keys: Keybindings) -> Self {
        let suspend = ReedlineEvent::ExecuteHostCommand(SUSPEND.into());
        keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('z'), suspend);
        Self { keys: Emacs::new(keys), late: LateColour::default() }
    }
}

impl EditMode for Careful {
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others are the editor's own")]
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        let event = event.into();
        let before = match &event {
            terminal_event::Event::Key(key) => match self.late.take(key) {
                Some(text) => text,
                None => return ReedlineEvent::None,
            },
            _ => self.late.give_up(),
        };
        let event = match event {
            terminal_event::Event::Paste(text) => {
                ReedlineEvent::Edit(vec![EditCommand::InsertString(plain(&text))])
            }
            other => match ReedlineRawEvent::try_from(other) {
                Ok(event) => self.keys.parse_event(event),
                Err(()) => ReedlineEvent::None,
            },
        };
        if before.is_empty() {
            return event;
        }
        let typed = ReedlineEvent::Edit(vec![EditCommand::InsertString(before)]);
        ReedlineEvent::Multiple(vec![typed, event])
    }

    fn edit_mode(&self) -> PromptEditMode {
        self.keys.edit_mode()
    }
}

/// A terminal's answer what its colour is, if it comes when nobody waits for it any more:
/// `ESC ] 11 ; rgb:… ESC \`. The editor would take it for keys.
#[derive(Debug, Default)]
struct LateColour {
    /// Its text so far.
    held: Option<String>,
}

impl LateColour {
    /// The longest that a terminal says.
    const LONGEST: usize = 64;

    /// `None` if a key belongs to an answer; otherwise the text that was held for one and is none.
    fn take(&mut self, key: &terminal_event::KeyEvent) -> Option<String> {
        let is_alt = key.modifiers == KeyModifiers::ALT;
        let Some(held) = &mut self.held else {
            if is_alt && key.code == KeyCode::Char(']') {
                self.held = Some(String::new());
                return None;
            }
            return Some(String::new());
        };
        let is_bell = key.modifiers == KeyModifiers::CONTROL && key.code == KeyCode::Char('g');
        if held.starts_with(COLOUR) && (is_bell || is_alt && key.code == KeyCode::Char('\\')) {
            self.held = None;
            return None;
        }
        if let (KeyCode::Char(c), KeyModifiers::NONE | KeyModifiers::SHIFT) =
            (key.code, key.modifiers)
        {
            held.push(c);
            let begins = COLOUR.starts_with(held.as_str());
            let goes_on = held.strip_prefix(COLOUR).is_some_and(|colour| {
                colour.chars().all(|c| c.is_ascii_hexdigit() || "rgba:/#".contains(c))
            });
            if begins || goes_on && held.len() < Self::LONGEST {
                return None;
            }
            held.pop();
        }
        Some(self.give_up())
    }

    /// It is no answer: the text that was held.
    fn give_up(&mut self) -> String {
        self.held.take().unwrap_or_default()
    }
}

/// The beginning of an answer about the colour of the background.
const COLOUR: &str = "11;";

/// The few characters before what is typed, in the terminal's own colour.
struct Mark(String);

impl Prompt for Mark {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        self.0.as_str().into()
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        "    ".into()
    }

    fn get_prompt_color(&self) -> Color {
        Color::Default
    }

    fn get_prompt_multiline_color(&self) -> Color {
        Color::Default
    }

    fn get_indicator_color(&self) -> Color {
        Color::Default
    }

    fn render_prompt_history_search_indicator(&self, _: PromptHistorySearch) -> Cow<'_, str> {
        "search: ".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terminal_event::KeyEvent;

    /// The keys that an editor is given for these bytes: ESC is Alt.
    fn keys(bytes: &str) -> Vec<KeyEvent> {
        let mut keys = Vec::new();
        let mut rest = bytes.chars();
        while let Some(c) = rest.next() {
            keys.push(match c {
                '\u{1b}' => KeyEvent::new(KeyCode::Char(rest.next().unwrap()), KeyModifiers::ALT),
                '\u{7}' => KeyEvent::new(KeyCode::Char('g'), KeyModifiers::CONTROL),
                c => KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE),
            });
        }
        keys
    }

    /// The text that is left of them.
    fn left(bytes: &str) -> String {
        let mut late = LateColour::default();
        let mut left = String::new();
        for key in keys(bytes) {
            let Some(before) = late.take(&key) else { continue };
            left.push_str(&before);
            if let (KeyCode::Char(c), KeyModifiers::NONE) = (key.code, key.modifiers) {
                left.push(c);
            }
        }
        left + &late.give_up()
    }

    #[test]
    fn a_colour_that_comes_late_is_no_text() {
        assert_eq!(left("a\u{1b}]11;rgb:ffff/0A0a/0000\u{1b}\\b"), "ab");
        assert_eq!(left("a\u{1b}]11;rgba:ff/ff/ff/ff\u{7}b"), "ab");
    }

    #[test]
    fn keys_that_only_begin_like_one_are_kept() {
        for typed in ["1", "11", "11;", "11;rgb:", "12;rgb:0/0/0", "11;rgb:0/0/0 x", "x"] {
            assert_eq!(left(&format!("a\u{1b}]{typed}")), format!("a{typed}"));
        }
        let long = format!("11;{}", "f".repeat(100));
        assert_eq!(left(&format!("\u{1b}]{long}")), long);
        assert_eq!(left("11;rgb:0/0/0"), "11;rgb:0/0/0");
    }
}
