//! Where a reply ends, if the model does not say so itself.
//!
//! A small model that has written its code goes on: it explains, it invents the output, it answers itself. So a reply ends with
//! its first block of code. And a small model may say one thing again and again, which ends it too.

/// How many bytes at least must repeat before it is a loop.
const LOOP_BYTES: usize = 320;
/// How often at least.
const LOOP_TIMES: usize = 6;
/// The longest part that is looked for.
const LONGEST_PART: usize = 200;
/// No line that is longer is a fence.
const FENCE_LINE: usize = 200;

/// Why a reply ended here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Its first block of code is complete.
    Block,
    /// It repeats itself.
    Loop,
}

/// Watches a reply as it comes.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// The fence that is open, as it was written.
    open: Option<Fence>,
    /// The line that is being written, unless it is too long to be a fence.
    line: String,
    /// The end of the whole text.
    tail: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
}

impl Watch {
    /// Hears the next part. If the reply ends in it: after how many bytes, and why.
    pub(crate) fn hear(&mut self, part: &str) -> Option<(usize, End)> {
        for (at, character) in part.char_indices() {
            if character != '\n' {
                if self.line.len() <= FENCE_LINE {
                    self.line.push(character);
                }
                continue;
            }
            let line = std::mem::take(&mut self.line);
            match self.open {
                None => self.open = opening(&line),
                Some(fence) if closes(&line, fence) => return Some((at + 1, End::Block)),
                Some(_) => {}
            }
        }
        self.tail.extend_from_slice(part.as_bytes());
        let most = LONGEST_PART * LOOP_TIMES;
        self.tail.drain(..self.tail.len().saturating_sub(most));
        repeats(&self.tail).then_some((part.len(), End::Loop))
    }
}

/// The fence that a line opens.
fn opening(line: &str) -> Option<Fence> {
    let (fence, rest) = fence(line)?;
    let inline = fence.mark == '`' && rest.contains('`');
    (!inline).then_some(fence)
}

/// Whether a line closes a fence.
fn closes(line: &str, open: Fence) -> bool {
    fence(line).is_some_and(|(fence, rest)| {
        fence.mark == open.mark && fence.length >= open.length && rest.trim().is_empty()
    })
}

/// The marks that a line begins with, if they are enough, and what follows them.
fn fence(line: &str) -> Option<(Fence, &str)> {
    if line.len() > FENCE_LINE {
        return None;
    }
    let line = line.trim_start_matches([' ', '\t']);
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    (length >= 3).then_some((Fence { mark, length }, rest))
}

/// Whether a text ends in one part again and again.
fn repeats(tail: &[u8]) -> bool {
    (1..=LONGEST_PART).any(|part| {
        let wanted = LOOP_BYTES.max(part * LOOP_TIMES);
        let Some(start) = tail.len().checked_sub(wanted) else { return false };
        let tail = &tail[start..];
        // From the end: what differs, differs there first.
        (part..tail.len()).rev().all(|at| tail[at] == tail[at - part])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rest of a reply that comes in parts of so many characters, and why it ended.
    fn heard(text: &str, step: usize) -> (String, Option<End>) {
        let mut watch = Watch::default();
        let mut kept = String::new();
        let characters: Vec<char> = text.chars().collect();
        for part in characters.chunks(step) {
            let part: String = part.iter().collect();
            if let Some((length, end)) = watch.hear(&part) {
                kept += &part[..length];
                return (kept, Some(end));
            }
            kept += &part;
        }
        (kept, None)
    }

    #[test]
    fn a_reply_ends_with_its_first_block() {
        let text = "Let me see.\n```python\nprint(1)\n```\nThis prints 1.\n```\n2\n```\n";
        for step in 1..40 {
            let (kept, end) = heard(text, step);
            assert_eq!(kept, "Let me see.\n```python\nprint(1)\n```\n", "step {step}");
            assert_eq!(end, Some(End::Block));
        }
    }

    #[test]
    fn only_a_fence_of_the_same_kind_closes() {
        let inner = "~~~\n```\n````python\n``` x\n";
        let (kept, end) = heard(&format!("````md\n{inner}````  \nrest"), 3);
        assert_eq!((kept.as_str(), end), (&*format!("````md\n{inner}````  \n"), Some(End::Block)));
        assert_eq!(heard("~~~sh\nls\n```\n~~~\nx", 2).0, "~~~sh\nls\n```\n~~~\n");
        assert_eq!(heard("  ```sh\n  ls\n  ```\nx", 2).0, "  ```sh\n  ls\n  ```\n");
    }

    #[test]
    fn prose_has_no_end_of_ours() {
        for text in [
            "Use `x` and ```y``` here.\nThe end.\n",
            "```inline``` is no block\nls\n",
            "",
            "``\n``\n",
        ] {
            assert_eq!(heard(text, 1), (text.to_owned(), None));
        }
        let long = format!("{}\n", "`".repeat(FENCE_LINE + 50));
        assert_eq!(opening(&long), None);
    }

    #[test]
    fn what_repeats_ends() {
        let line = "print('Sorry, I cannot do that.')\n";
        let (kept, end) = heard(&line.repeat(100), 4);
        assert_eq!(end, Some(End::Loop));
        assert!(kept.len() < 400, "{}", kept.len());
        assert_eq!(heard(&"ha".repeat(1_000), 7).1, Some(End::Loop));
        let long = format!("{}\n", (0..60).map(|n| n.to_string()).collect::<String>());
        assert_eq!(heard(&long.repeat(50), 5).1, Some(End::Loop));
    }

    #[test]
    fn what_is_alike_but_not_the_same_goes_on() {
        let list: Vec<_> = (0..200).map(|n| format!("    row({n}, 0, 0, 0),\n")).collect();
        let list = list.concat();
        assert_eq!(heard(&list, 3).1, None);
        assert_eq!(heard(&"-".repeat(200), 3).1, None);
        assert_eq!(heard(&"| a | b | c |\n".repeat(5), 3).1, None);
    }
}
