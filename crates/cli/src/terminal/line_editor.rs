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
use std::borrow::Cow;

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
    loop {
        return match editor.read_line(&mark) {
            Ok(Signal::Success(line)) => Heard::Text(line),
            Ok(Signal::CtrlC) => Heard::Interrupted,
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
/// seen.
pub(super) struct Careful(Emacs);

impl Default for Careful {
    fn default() -> Self {
        Self::new(reedline::default_emacs_keybindings())
    }
}

impl Careful {
    pub(super) fn new(mut keys: Keybindings) -> Self {
        let suspend = ReedlineEvent::ExecuteHostCommand(SUSPEND.into());
        keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('z'), suspend);
        Self(Emacs::new(keys))
    }
}

impl EditMode for Careful {
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others are the editor's own")]
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        match event.into() {
            terminal_event::Event::Paste(text) => {
                ReedlineEvent::Edit(vec![EditCommand::InsertString(plain(&text))])
            }
            other => match ReedlineRawEvent::try_from(other) {
                Ok(event) => self.0.parse_event(event),
                Err(()) => ReedlineEvent::None,
            },
        }
    }

    fn edit_mode(&self) -> PromptEditMode {
        self.0.edit_mode()
    }
}

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
