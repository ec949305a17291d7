//! A model's wish to see more of what a run printed.
//!
//! A model sees head and tail of a long output. It can ask for the rest in the same way as it runs
//! code: in the language `output`, with the name of a run and a range of characters. This runs
//! nothing; it only reads the output of the model's own code.

/// The language in which a model asks. A language of the person's own by that name goes first.
pub const LANGUAGE: &str = "output";

/// Characters that are shown at once.
pub const MOST: u64 = 8_000;

/// A model's request to see part of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// The tool call that it came in, which wants an answer.
    pub call: Option<String>,
    /// The run that printed it.
    pub run: String,
    /// The first character, counted from 1.
    pub first: u64,
    /// The last character: at most [`MOST`] in all.
    pub last: u64,
}

/// Reads what a model wrote: `p3 4001-8000`.
pub fn parse(text: &str, call: Option<&str>) -> Result<Look, String> {
    let read = || {
        let mut words = text.split_whitespace();
        let (run, range) = (words.next()?, words.next()?);
        let (first, last) = range.split_once('-')?;
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        let name = run.len() <= 20 && run.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let fits = words.next().is_none() && name && 1 <= first && first <= last;
        let last = last.min(first.saturating_add(MOST - 1));
        fits.then(|| Look { call: call.map(str::to_owned), run: run.into(), first, last })
    };
    read().ok_or_else(|| {
        "`output` takes the name of a run and the characters to show, as in `p3 4001-8000`".into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_a_run_is_read() {
        let look = parse(" p12 4001-5000\n", Some("c1")).unwrap();
        let call = Some("c1".into());
        assert_eq!(look, Look { call, run: "p12".into(), first: 4001, last: 5000 });
    }

    #[test]
    fn a_range_is_never_longer_than_what_is_shown() {
        assert_eq!(parse("p1 1-999999999", None).unwrap().last, MOST);
        let far = u64::MAX;
        assert_eq!(parse(&format!("p1 {far}-{far}"), None).unwrap().last, far);
    }

    #[test]
    fn anything_else_is_refused_with_an_example() {
        for text in ["", "p1", "p1 5", "p1 0-5", "p1 9-5", "p1 a-b", "p1 1-2 3", "../x 1-2"] {
            assert!(parse(text, None).unwrap_err().contains("p3 4001-8000"), "{text}");
        }
    }
}
