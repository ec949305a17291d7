//! The known word that a mistyped one was probably meant to be.

/// Longer words are not compared: nobody mistypes a key of this length, and the work grows with
/// the square of it.
const LONGEST: usize = 40;

/// The word among `known` that is at most a third away from `word`.
pub(super) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let word: Vec<char> = word.chars().take(LONGEST + 1).collect();
    if word.len() > LONGEST {
        return None;
    }
    let most = word.len().div_ceil(3);
    known
        .iter()
        .map(|candidate| (distance(&word, candidate), *candidate))
        .filter(|(distance, _)| *distance <= most)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be added, dropped, replaced or swapped with their neighbour.
fn distance(from: &[char], to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let mut best = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && from[i - 1] == *b && to[j - 1] == *a {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 4] = ["model", "max_calls", "max_tokens", "workspace"];

    #[test]
    fn a_slip_of_the_finger_is_recognised() {
        assert_eq!(nearest("modle", &KNOWN), Some("model"));
        assert_eq!(nearest("mdel", &KNOWN), Some("model"));
        assert_eq!(nearest("max_call", &KNOWN), Some("max_calls"));
        assert_eq!(nearest("work_space", &KNOWN), Some("workspace"));
    }

    #[test]
    fn another_word_is_not() {
        assert_eq!(nearest("api_key", &KNOWN), None);
        assert_eq!(nearest("", &KNOWN), None);
        assert_eq!(nearest(&"model".repeat(1000), &KNOWN), None);
    }

    #[test]
    fn letters_are_counted() {
        let distance = |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), b);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "abc"), 0);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("ab", "ba"), 1);
    }
}
