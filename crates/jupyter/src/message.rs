//! Messages of the Jupyter protocol: how they are written, signed, checked and read.
//!
//! On the wire: addresses, a delimiter, the signature, then header, parent's header, metadata and
//! content as JSON, then buffers. A message whose signature is wrong is not looked into.

use crate::{seal::Seal, zmtp};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

const DELIMITER: &[u8] = b"<IDS|MSG>";

/// The protocol that we speak.
const VERSION: &str = "5.3";

/// The bridge's end of a conversation with a kernel.
#[derive(Debug)]
pub(crate) struct Speaker {
    pub(crate) seal: Seal,
    /// Who we are, on every socket.
    pub(crate) identity: String,
    count: u64,
}

#[derive(Serialize)]
struct Header<'a> {
    msg_id: &'a str,
    session: &'a str,
    username: &'static str,
    date: String,
    msg_type: &'a str,
    version: &'static str,
}

/// A message that came.
#[derive(Debug)]
pub(crate) struct Heard {
    /// Its type, such as `stream`.
    pub(crate) kind: String,
    /// The id of the message that it comes of.
    pub(crate) parent: Option<String>,
    /// Its header, for an answer to it.
    pub(crate) header: Vec<u8>,
    content: Vec<u8>,
}

#[derive(Deserialize)]
struct HeardHeader {
    msg_type: String,
}

#[derive(Deserialize)]
struct ParentHeader {
    msg_id: Option<String>,
}

impl Speaker {
    pub(crate) fn new(seal: Seal, identity: String) -> Self {
        Self { seal, identity, count: 0 }
    }

    /// A message as bytes, and its id.
    pub(crate) fn write(
        &mut self,
        kind: &str,
        parent: Option<&[u8]>,
        content: &impl Serialize,
    ) -> (String, Vec<u8>) {
        self.count += 1;
        let id = format!("{}-{}", self.identity, self.count);
        let header = Header {
            msg_id: &id,
            session: &self.identity,
            username: "user",
            date: jiff::Timestamp::now().to_string(),
            msg_type: kind,
            version: VERSION,
        };
        let header = json(&header);
        let content = json(content);
        let parts: [&[u8]; 4] = [&header, parent.unwrap_or(b"{}"), b"{}", &content];
        let signature = self.seal.sign(&parts);
        let [header, parent, metadata, content] = parts;
        let frames = [DELIMITER, signature.as_bytes(), header, parent, metadata, content];
        (id, zmtp::encode(&frames))
    }

    pub(crate) fn read(&self, frames: &[Vec<u8>]) -> Result<Heard, &'static str> {
        let mut frames = frames.iter().map(Vec::as_slice).skip_while(|frame| *frame != DELIMITER);
        let mut next = || frames.next().ok_or("a message has too few frames");
        next()?;
        let [signature, header, parent, metadata, content] =
            [next()?, next()?, next()?, next()?, next()?];
        if !self.seal.is_of(signature, &[header, parent, metadata, content]) {
            return Err("a message has the wrong signature");
        }
        let wrong = |_| "a header is not understood";
        let HeardHeader { msg_type: kind } = serde_json::from_slice(header).map_err(wrong)?;
        let parent: Option<ParentHeader> = serde_json::from_slice(parent).map_err(wrong)?;
        let parent = parent.and_then(|parent| parent.msg_id);
        Ok(Heard { kind, parent, header: header.to_vec(), content: content.to_vec() })
    }
}

impl Heard {
    #[cfg(test)]
    pub(crate) fn of(kind: &str, content: &serde_json::Value) -> Self {
        let content = content.to_string().into_bytes();
        Self { kind: kind.into(), parent: None, header: b"{}".to_vec(), content }
    }

    /// Its content, or `None` if it does not match its kind.
    pub(crate) fn content<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_slice(&self.content).ok()
    }

    /// Whether it comes of the message with this id.
    pub(crate) fn comes_of(&self, id: &str) -> bool {
        self.parent.as_deref() == Some(id)
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("what we say is text, numbers and lists of them")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speaker() -> Speaker {
        Speaker::new(Seal::new().unwrap(), "me".into())
    }

    /// The frames of a message that we wrote, as the other end would get them.
    fn frames(bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut decoder = zmtp::Decoder::default();
        decoder.push(&zmtp::opening(zmtp::Kind::Dealer, ""));
        decoder.push(bytes);
        decoder.next().unwrap().unwrap()
    }

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let mut speaker = speaker();
        let (first, bytes) = speaker.write("ask", None, &serde_json::json!({"a": "ä\n"}));
        let heard = speaker.read(&frames(&bytes)).unwrap();
        assert_eq!((heard.kind.as_str(), heard.parent.as_deref()), ("ask", None));
        assert_eq!(heard.content::<serde_json::Value>().unwrap()["a"], "ä\n");
        let (_, bytes) = speaker.write("reply", Some(&heard.header), &[1]);
        let mut addressed = frames(&bytes);
        addressed.insert(0, b"topic".to_vec());
        addressed.push(b"buffer".to_vec());
        assert!(speaker.read(&addressed).unwrap().comes_of(&first));
    }

    #[test]
    fn what_is_changed_short_or_signed_by_another_is_refused() {
        let mut speaker = speaker();
        let (_, bytes) = speaker.write("ask", None, &serde_json::json!({}));
        let whole = frames(&bytes);
        let other = Speaker::new(Seal::new().unwrap(), "me".into());
        assert!(other.read(&whole).is_err());
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at].push(b' ');
            assert!(speaker.read(&changed).is_err(), "{at}");
            assert!(speaker.read(&whole[..at]).is_err(), "{at}");
        }
    }

    #[test]
    fn a_header_that_is_no_header_is_refused() {
        let speaker = speaker();
        for (header, parent) in [("[]", "{}"), ("{\"msg_type\":1}", "{}"), ("{}", "{}"), ("x", "1")]
        {
            let parts: [&[u8]; 4] = [header.as_bytes(), parent.as_bytes(), b"{}", b"{}"];
            let signature = speaker.seal.sign(&parts).into_bytes();
            let parts = parts.map(<[u8]>::to_vec);
            let frames = [vec![DELIMITER.to_vec(), signature], parts.to_vec()].concat();
            assert!(speaker.read(&frames).is_err(), "{header}");
        }
    }
}
