//! Text out of the bytes of tokens: a character may be cut between two of them.

/// Collects bytes until they are characters.
#[derive(Debug, Default)]
pub(crate) struct Characters {
    /// The beginning of a character; never more than three bytes.
    begun: Vec<u8>,
}

impl Characters {
    /// The complete characters so far. Invalid bytes become the replacement character.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> String {
        self.begun.extend_from_slice(bytes);
        let mut text = String::new();
        let mut rest = &self.begun[..];
        loop {
            match str::from_utf8(rest) {
                Ok(whole) => {
                    text.push_str(whole);
                    rest = &[];
                    break;
                }
                Err(error) => {
                    let (whole, broken) = rest.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(whole));
                    let Some(length) = error.error_len() else {
                        rest = broken;
                        break;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    rest = &broken[length..];
                }
            }
        }
        self.begun = rest.to_vec();
        text
    }

    /// The rest at the end.
    pub(crate) fn end(self) -> String {
        String::from_utf8_lossy(&self.begun).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_comes_whole_however_it_is_cut(text in ".{0,40}", cuts in prop::collection::vec(1..5_usize, 0..60)) {
            let (mut rest, mut cuts) = (text.as_bytes(), cuts.into_iter());
            let (mut characters, mut heard) = (Characters::default(), String::new());
            while !rest.is_empty() {
                let (part, more) = rest.split_at(cuts.next().unwrap_or(1).min(rest.len()));
                heard += &characters.take(part);
                rest = more;
            }
            prop_assert_eq!(heard + &characters.end(), text);
        }

        #[test]
        fn bytes_become_what_they_would_as_a_whole(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut characters = Characters::default();
            let mut heard: String = bytes.iter().map(|byte| characters.take(&[*byte])).collect();
            prop_assert!(characters.begun.len() <= 3);
            heard += &characters.end();
            prop_assert_eq!(heard, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}
