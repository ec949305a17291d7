//! Messages of the bridge to the host: claims, each a line of JSON of bounded length.

use crate::error::JupyterError;
use interpreter_host::{Claim, claim};
use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::net::UnixStream;

/// Characters of an error's name and message.
const LONGEST_MESSAGE: usize = 10_000;

/// Characters of a question.
const LONGEST_PROMPT: usize = 10_000;

/// The way to the host.
#[derive(Debug)]
pub(crate) struct Claims {
    pub(crate) host: UnixStream,
}

impl Claims {
    fn say(&mut self, claim: &Claim) -> Result<(), JupyterError> {
        self.say_line(&line(claim))
    }

    fn say_line(&mut self, line: &[u8]) -> Result<(), JupyterError> {
        self.host.write_all(line).map_err(JupyterError::Host)
    }

    pub(crate) fn ready(&mut self, version: &str) -> Result<(), JupyterError> {
        self.say(&Claim::Ready { version: cut(version, 100), completes: true, checkpoints: false })
    }

    /// Something shown. Forms that are too long for a claim are left out, the longest first.
    pub(crate) fn result(
        &mut self,
        mut bundle: BTreeMap<String, String>,
        display: Option<String>,
    ) -> Result<(), JupyterError> {
        let display = display.map(|name| cut(&name, 200));
        let all: usize = bundle.values().map(String::len).sum();
        loop {
            let claim = line(&Claim::Result { bundle: bundle.clone(), display: display.clone() });
            // Its newline does not count.
            if claim.len() <= claim::LONGEST {
                return self.say_line(&claim);
            }
            let longest = bundle.iter().max_by_key(|(_, data)| data.len());
            let Some(longest) = longest.map(|(mime, _)| mime.clone()) else { return Ok(()) };
            bundle.remove(&longest);
            if bundle.is_empty() {
                let text = format!("[a result of {all} bytes, too large to be shown]");
                bundle.insert("text/plain".into(), text);
            }
        }
    }

    pub(crate) fn asks(&mut self, prompt: &str, secret: bool) -> Result<(), JupyterError> {
        self.say(&Claim::Asks { prompt: cut(prompt, LONGEST_PROMPT), secret })
    }

    pub(crate) fn raised(&mut self, name: &str, message: &str) -> Result<(), JupyterError> {
        let [name, message] = [name, message].map(|text| cut(text, LONGEST_MESSAGE));
        self.say(&Claim::Raised { name, message })
    }

    pub(crate) fn completions(
        &mut self,
        start: usize,
        end: usize,
        matches: Vec<String>,
    ) -> Result<(), JupyterError> {
        let short = |text: &String| text.len() <= claim::LONGEST_MATCH;
        let matches = matches.into_iter().filter(short).take(claim::MOST_MATCHES).collect();
        self.say(&Claim::Completions { start, end, matches })
    }

    pub(crate) fn finished(&mut self, status: i32) -> Result<(), JupyterError> {
        self.say(&Claim::Finished { status })
    }
}

fn line(claim: &Claim) -> Vec<u8> {
    let mut line = serde_json::to_vec(claim).expect("claims are text and numbers");
    line.push(b'\n');
    line
}

fn cut(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};

    /// The claim that the host reads when a result of these forms is shown.
    fn shown(forms: &[(&str, usize)]) -> BTreeMap<String, String> {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let bundle =
            forms.iter().map(|(mime, length)| ((*mime).to_owned(), "\n".repeat(*length))).collect();
        let reader = std::thread::spawn(move || {
            let mut line = Vec::new();
            BufReader::new(theirs).read_until(b'\n', &mut line).unwrap();
            assert_eq!(line.pop(), Some(b'\n'));
            assert!(line.len() <= claim::LONGEST);
            Claim::parse(&line).unwrap()
        });
        Claims { host: ours }.result(bundle, None).unwrap();
        let claim = reader.join().unwrap();
        let Claim::Result { bundle, .. } = claim else { panic!("{claim:?}") };
        bundle
    }

    #[test]
    fn a_result_that_is_too_long_loses_its_longest_forms() {
        let bundle = shown(&[("text/plain", 10), ("text/html", 9 << 20), ("image/png", 20)]);
        assert_eq!(bundle.keys().collect::<Vec<_>>(), ["image/png", "text/plain"]);
        let said = "[a result of 8388608 bytes, too large to be shown]";
        assert_eq!(shown(&[("text/plain", 8 << 20)])["text/plain"], said);
    }
}
