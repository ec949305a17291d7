//! Words that are nearly others.

/// Characters of a word that is compared. Nothing that has a name here has a longer one.
const LONGEST: usize = 40;

/// The known word that is at most a third away from `word`.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    within(word, known, |length| length.div_ceil(3))
}

/// The known word that `word` is with one slip of the finger; a long one may have two. For words that
/// may well be meant as they are.
pub fn slip_of<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    within(word, known, |length| if length < 8 { 1 } else { 2 })
}

fn within<'a>(
    word: &str,
    known: impl Iterator<Item = &'a str>,
    most: impl Fn(usize) -> usize,
) -> Option<&'a str> {
    let length = word.chars().take(LONGEST + 1).count();
    if length > LONGEST {
        return None;
    }
    known
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= most(length))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 4] = ["model", "max_calls", "max_tokens", "workspace"];

    #[test]
    fn a_slip_of_the_finger_is_recognised_and_another_word_is_not() {
        for (word, meant) in [
            ("modle", Some("model")),
            ("mdel", Some("model")),
            ("max_call", Some("max_calls")),
            ("work_space", Some("workspace")),
            ("api_key", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, KNOWN.into_iter()), meant, "{word}");
        }
        assert_eq!(nearest(&"model".repeat(1000), KNOWN.into_iter()), None);
    }

    #[test]
    fn a_word_of_its_own_is_no_slip() {
        let commands = ["run", "doctor", "history", "help", "languages"];
        for (word, meant) in [
            ("doctr", Some("doctor")),
            ("histroy", Some("history")),
            ("langauge", Some("languages")),
            ("hello", None),
            ("sun", Some("run")),
            ("factor", None),
        ] {
            assert_eq!(slip_of(word, commands.into_iter()), meant, "{word}");
        }
    }
}
