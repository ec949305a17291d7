//! Finds fenced blocks in a stream of Markdown.
//!
//! Text arrives in pieces, cut anywhere; the same text gives the same blocks, whatever the pieces.
//! Only what may still turn out to be a fence is held back: the start of a line, or a line that
//! looks like one. Work is linear in the text.
//!
//! The rules are those of `CommonMark`: three or more backticks or tildes, indented by at most
//! three blanks inside the list items they stand in; closed by at least as many of the same with
//! nothing after them; content loses as much indentation as the opening fence had, and its items'
//! (what remains of a tab that is cut in two are the blanks it stood for). Everything else between
//! the fences is kept byte for byte, line ends included.
//!
//! Differences: blocks inside a block quote (`>`) are prose here, since a quote shows somebody
//! else's words; and HTML is not parsed, so a fence inside HTML counts.
//!
//! Must not repair anything: a block that is not closed, or that its own list item cuts short,
//! is reported as such.

use super::{
    lines::{self, Content, Lines, Next, Reading, is_blank, is_structural},
    tag::tag,
};
use std::mem;

/// One part of a stream of Markdown. The lines of the fences themselves belong to no part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FencePiece {
    /// Prose, exactly as it came.
    Text(String),
    /// A block begins.
    Open {
        /// The language it names, as it was written.
        tag: Option<String>,
    },
    /// More of the block's content.
    Code(String),
    /// The block ends.
    Close(Ending),
}

/// How a block ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With a closing fence.
    Fenced,
    /// With the list item it stood in: a line came that is indented less than the item.
    EndOfItem,
    /// With the text.
    EndOfReply,
}

/// Finds fenced blocks in text that arrives in pieces.
#[derive(Debug, Default)]
pub struct Fences {
    state: State,
    /// The part of the current line that is not decided yet.
    held: String,
    lines: Lines,
    /// After a carriage return: where a newline, being part of the same line end, goes.
    after_return: Option<Side>,
}

/// Where in the text we are.
#[derive(Debug, Default)]
enum State {
    /// In prose, where a line starts.
    #[default]
    Start,
    /// In a line that so far is an opening fence.
    Opening(Opening),
    /// In a line of prose that is no fence.
    Prose,
    /// In a block, in the blanks that a line starts with.
    Margin { fence: Fence, columns: usize },
    /// In a block, in a line that so far is a closing fence.
    Closing { fence: Fence, length: usize, tail: Tail },
    /// In a block, in a line that is content.
    Content { fence: Fence },
}

/// A line that so far is an opening fence.
#[derive(Debug)]
struct Opening {
    reading: Reading,
    mark: char,
    /// How many marks.
    length: usize,
    /// Where in the line the words after the marks begin.
    info: usize,
}

/// The part of a closing fence that we are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tail {
    Marks,
    /// The blanks after them.
    Blanks,
}

/// The fence that opened the current block.
#[derive(Clone, Copy, Debug)]
struct Fence {
    mark: char,
    length: usize,
    /// Columns that the list items take from each line.
    items: usize,
    /// Columns that the fence was indented by, inside the items.
    indent: usize,
}

/// The part that the end of a line belongs to.
#[derive(Clone, Copy, Debug)]
enum Side {
    Text,
    Code,
    /// To a fence, so to nothing.
    Fence,
}

impl Fences {
    /// Takes the next piece of text in; gives what is now certain.
    pub fn feed(&mut self, piece: &str) -> Vec<FencePiece> {
        let mut out = Pieces::default();
        let mut rest = piece;
        while let Some(c) = rest.chars().next() {
            let decided = match self.state {
                State::Prose => Some(Side::Text),
                State::Content { .. } => Some(Side::Code),
                State::Start | State::Opening(_) | State::Margin { .. } | State::Closing { .. } => {
                    None
                }
            };
            let length = match decided {
                Some(side) if !is_end(c) => {
                    let length = rest.find(is_end).unwrap_or(rest.len());
                    out.push(side, &rest[..length]);
                    length
                }
                Some(_) | None => {
                    self.take(c, &mut out);
                    c.len_utf8()
                }
            };
            rest = &rest[length..];
        }
        out.0
    }

    /// Says that the text is over; gives what was held back, and the end of an open block. After
    /// this a new text may begin.
    pub fn finish(&mut self) -> Vec<FencePiece> {
        let mut out = Pieces::default();
        let Self { state, held, .. } = mem::take(self);
        match state {
            State::Start | State::Prose => out.push(Side::Text, &held),
            State::Opening(opening) if opening.length < 3 => out.push(Side::Text, &held),
            State::Opening(opening) => {
                out.push_open(&held, &opening);
                out.0.push(FencePiece::Close(Ending::EndOfReply));
            }
            State::Closing { fence, length, .. } if length >= fence.length => {
                out.0.push(FencePiece::Close(Ending::Fenced));
            }
            State::Margin { fence, .. }
            | State::Closing { fence, .. }
            | State::Content { fence } => {
                out.push_content(&held, fence);
                out.0.push(FencePiece::Close(Ending::EndOfReply));
            }
        }
        out.0
    }

    fn take(&mut self, c: char, out: &mut Pieces) {
        if let Some(side) = self.after_return.take()
            && c == '\n'
        {
            out.push(side, "\n");
            return;
        }
        if is_end(c) {
            let side = self.end_line(out);
            out.push(side, c.encode_utf8(&mut [0; 4]));
            self.after_return = (c == '\r').then_some(side);
        } else {
            self.take_within_line(c, out);
        }
    }

    /// Takes a character that does not end a line.
    fn take_within_line(&mut self, c: char, out: &mut Pieces) {
        self.state = match mem::take(&mut self.state) {
            State::Start => self.start(c, out),
            State::Opening(opening) => self.opening(c, out, opening),
            State::Margin { fence, columns } => self.margin(c, out, fence, columns),
            State::Closing { fence, length, tail } => self.closing(c, out, fence, length, tail),
            state @ State::Prose => {
                out.push(Side::Text, c.encode_utf8(&mut [0; 4]));
                state
            }
            state @ State::Content { .. } => {
                out.push(Side::Code, c.encode_utf8(&mut [0; 4]));
                state
            }
        };
    }

    fn start(&mut self, c: char, out: &mut Pieces) -> State {
        if is_structural(c) {
            self.held.push(c);
            return State::Start;
        }
        let reading = self.lines.read(&self.held, Next::Char(c));
        self.held.push(c);
        if reading.content == Content::Fence {
            let info = self.held.len();
            return State::Opening(Opening { reading, mark: c, length: 1, info });
        }
        self.lines.settle(reading);
        out.push(Side::Text, &mem::take(&mut self.held));
        State::Prose
    }

    fn opening(&mut self, c: char, out: &mut Pieces, mut opening: Opening) -> State {
        let in_marks = opening.info == self.held.len();
        self.held.push(c);
        if in_marks && c == opening.mark {
            opening.length += 1;
            opening.info = self.held.len();
            return State::Opening(opening);
        }
        // A backtick among the words after backticks: this is a code span in a paragraph.
        if opening.length < 3 || (opening.mark == '`' && c == '`') {
            self.not_a_fence(opening.reading, out);
            return State::Prose;
        }
        State::Opening(opening)
    }

    fn not_a_fence(&mut self, mut reading: Reading, out: &mut Pieces) {
        reading.content = Content::Text;
        self.lines.settle(reading);
        out.push(Side::Text, &mem::take(&mut self.held));
    }

    fn margin(&mut self, c: char, out: &mut Pieces, fence: Fence, columns: usize) -> State {
        match c {
            ' ' | '\t' => {
                self.held.push(c);
                let columns = if c == '\t' { (columns / 4 + 1) * 4 } else { columns + 1 };
                if columns < fence.items + 4 {
                    return State::Margin { fence, columns };
                }
                // Too far in for a closing fence.
                out.push_content(&mem::take(&mut self.held), fence);
                State::Content { fence }
            }
            c if columns < fence.items => {
                out.0.push(FencePiece::Close(Ending::EndOfItem));
                self.start(c, out)
            }
            c => {
                self.held.push(c);
                if c == fence.mark {
                    return State::Closing { fence, length: 1, tail: Tail::Marks };
                }
                out.push_content(&mem::take(&mut self.held), fence);
                State::Content { fence }
            }
        }
    }

    fn closing(
        &mut self,
        c: char,
        out: &mut Pieces,
        fence: Fence,
        length: usize,
        tail: Tail,
    ) -> State {
        self.held.push(c);
        if c == fence.mark && tail == Tail::Marks {
            return State::Closing { fence, length: length + 1, tail };
        }
        if matches!(c, ' ' | '\t') && length >= fence.length {
            return State::Closing { fence, length, tail: Tail::Blanks };
        }
        out.push_content(&mem::take(&mut self.held), fence);
        State::Content { fence }
    }

    /// Ends the current line; says what its end belongs to.
    fn end_line(&mut self, out: &mut Pieces) -> Side {
        let (state, side) = match mem::take(&mut self.state) {
            State::Start => {
                let reading = self.lines.read(&self.held, Next::EndOfLine);
                self.lines.settle(reading);
                out.push(Side::Text, &self.held);
                (State::Start, Side::Text)
            }
            State::Opening(opening) if opening.length < 3 => {
                self.not_a_fence(opening.reading, out);
                (State::Start, Side::Text)
            }
            State::Opening(opening) => {
                out.push_open(&self.held, &opening);
                let Opening { reading, mark, length, .. } = opening;
                let indent = reading.indent;
                self.lines.settle(reading);
                let fence = Fence { mark, length, items: self.lines.width(), indent };
                (State::Margin { fence, columns: 0 }, Side::Fence)
            }
            State::Prose => (State::Start, Side::Text),
            State::Closing { fence, length, .. } if length >= fence.length => {
                out.0.push(FencePiece::Close(Ending::Fenced));
                (State::Start, Side::Fence)
            }
            State::Margin { fence, .. }
            | State::Closing { fence, .. }
            | State::Content { fence } => {
                out.push_content(&self.held, fence);
                (State::Margin { fence, columns: 0 }, Side::Code)
            }
        };
        self.state = state;
        self.held.clear();
        side
    }
}

/// Parts on their way out; neighbours of one kind are joined.
#[derive(Default)]
struct Pieces(Vec<FencePiece>);

impl Pieces {
    fn push(&mut self, side: Side, text: &str) {
        if text.is_empty() {
            return;
        }
        match (side, self.0.last_mut()) {
            (Side::Text, Some(FencePiece::Text(last)))
            | (Side::Code, Some(FencePiece::Code(last))) => {
                last.push_str(text);
            }
            (Side::Text, _) => self.0.push(FencePiece::Text(text.into())),
            (Side::Code, _) => self.0.push(FencePiece::Code(text.into())),
            (Side::Fence, _) => {}
        }
    }

    /// Adds the beginning of a block, after the list markers that stand before its fence.
    fn push_open(&mut self, line: &str, opening: &Opening) {
        self.push(Side::Text, &line[..opening.reading.markers()]);
        self.0.push(FencePiece::Open { tag: tag(&line[opening.info..]) });
    }

    /// Adds the start of a line of content, without the indentation that is not the content's.
    fn push_content(&mut self, line: &str, fence: Fence) {
        let goal = fence.items + fence.indent;
        let (mut at, mut column) = (0, 0);
        for blank in line.bytes().take_while(|&byte| is_blank(byte)) {
            if column >= goal {
                break;
            }
            (at, column) = (at + 1, lines::after(blank, column));
        }
        self.push(Side::Code, &" ".repeat(column.saturating_sub(goal)));
        self.push(Side::Code, &line[at..]);
    }
}

fn is_end(c: char) -> bool {
    matches!(c, '\n' | '\r')
}

#[cfg(test)]
mod tests;
