//! The bytes of a result, found by its record and checked against the hash that was asked for.
//!
//! # Threat
//! A result is written by hostile code, and the address of one can be made up.
//!
//! # Mechanism
//! A result is found by its session and number, never by a path. The hash is that of the file where
//! the record has one (`kept.hash`), and otherwise that of the text of the form as the record has
//! it. The bytes of a picture decide its type. A page comes without scripts, links and hints to the
//! browser, whoever asks: neither a policy nor a frame keeps a browser from connecting for those.
//! A drawing can hold the same, so browsers get it as a picture and in no other place.
//!
//! Must not let a script through: a script has a network, whatever its policy says (WebRTC).

use super::{gate::parameter, refusal::HttpRefusal};
use base64::{Engine, engine::general_purpose::STANDARD};
use interpreter_core::{Body, Output, Stream, Untrusted, hash::sha256, page::only_known_tags};
use interpreter_store::{Folders, Log, Outputs, Restored};

/// The longest name of a form that is read.
const LONGEST_FORM: usize = 64;

const DRAWING: &str = "image/svg+xml";

/// The result that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WantedResult {
    pub(super) session: String,
    seq: u64,
    hash: String,
    form: String,
}

/// The bytes, and the type by which they are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundResult {
    pub(super) kind: ResultKind,
    pub(super) bytes: Vec<u8>,
}

/// The type by which a browser shows a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResultKind {
    /// A page, of known tags alone.
    Page,
    /// A drawing, only for pictures.
    Drawing,
    /// Anything that a browser neither runs nor follows.
    Still(&'static str),
}

impl WantedResult {
    /// Reads what a request asks for.
    pub(super) fn parse(path: &str, query: Option<&str>) -> Result<Self, HttpRefusal> {
        let asked = |name| parameter(query, name)?.ok_or(HttpRefusal::Unknown);
        let is_id = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let session = asked("session")?;
        if session.is_empty() || session.len() > 64 || !session.bytes().all(is_id) {
            return Err(HttpRefusal::Unknown);
        }
        // Names of forms have a slash and a plus, which may come escaped.
        let form = asked("form")?.replace("%2F", "/").replace("%2f", "/");
        let form = form.replace("%2B", "+").replace("%2b", "+");
        if form.len() > LONGEST_FORM {
            return Err(HttpRefusal::Unknown);
        }
        Ok(Self {
            session: session.to_owned(),
            seq: asked("seq")?.parse().map_err(|_| HttpRefusal::Unknown)?,
            hash: path.strip_prefix("/o/").unwrap_or_default().to_owned(),
            form,
        })
    }

    /// Refuses a drawing where it would be a page: in a frame, in a tab, as an object. `place` is
    /// where the browser puts it (`Sec-Fetch-Dest`); other programs do not say.
    pub(super) fn check_place(&self, place: Option<&str>) -> Result<(), HttpRefusal> {
        match place {
            None | Some("image" | "empty") => Ok(()),
            Some(_) if self.form == DRAWING => Err(HttpRefusal::OnlyPicture),
            Some(_) => Ok(()),
        }
    }

    /// Finds it. Reads the disk.
    pub(super) fn find(&self, folders: &Folders) -> Result<FoundResult, HttpRefusal> {
        let log = Log::open_to_read(folders).map_err(|_| HttpRefusal::Failed)?;
        let record = log.record(&self.session, self.seq).map_err(|_| HttpRefusal::Failed)?;
        let mut body = record.ok_or(HttpRefusal::Unknown)?.body;
        let Body::Output(Output { kept, .. }) = &body else { return Err(HttpRefusal::Unknown) };
        let is_kept = match kept {
            Some(kept) if kept.hash == self.hash => true,
            Some(_) => return Err(HttpRefusal::Unknown),
            None => false,
        };
        // A file that was changed is found by its hash.
        match Outputs::new(folders).restore(&mut body) {
            Ok(Restored::Whole) => {}
            Ok(Restored::Gone) => return Err(HttpRefusal::Unknown),
            Err(_) => return Err(HttpRefusal::Failed),
        }
        let Body::Output(output) = body else { return Err(HttpRefusal::Unknown) };
        let text = self.form_of(&output).ok_or(HttpRefusal::Unknown)?;
        if !is_kept && sha256(text.as_bytes()) != self.hash {
            return Err(HttpRefusal::Unknown);
        }
        shown(&self.form, text).ok_or(HttpRefusal::Unknown)
    }

    fn form_of<'a>(&self, output: &'a Output) -> Option<&'a str> {
        if output.mime == self.form {
            return Some(output.text.raw());
        }
        let is_result = output.stream == Stream::Result;
        output.bundle.get(&self.form).filter(|_| is_result).map(Untrusted::raw)
    }
}

/// The bytes of a form, as a browser shows them. Whatever is not known to be shown safely is text.
fn shown(form: &str, text: &str) -> Option<FoundResult> {
    let plain = |kind| FoundResult { kind, bytes: text.as_bytes().to_vec() };
    Some(match form {
        "text/html" => {
            let bytes = format!("<!doctype html>{}", only_known_tags(text)).into_bytes();
            FoundResult { kind: ResultKind::Page, bytes }
        }
        DRAWING => plain(ResultKind::Drawing),
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "application/pdf" => {
            // Python's encoders break lines.
            let joined: String = text.split_ascii_whitespace().collect();
            let bytes = STANDARD.decode(joined).ok()?;
            FoundResult { kind: ResultKind::Still(kind_of(&bytes)?), bytes }
        }
        _ => plain(ResultKind::Still("text/plain; charset=utf-8")),
    })
}

/// The type of a picture or a document, by its first bytes.
fn kind_of(bytes: &[u8]) -> Option<&'static str> {
    let begins = |with: &[u8]| bytes.starts_with(with);
    Some(match bytes {
        _ if begins(b"\x89PNG\r\n\x1a\n") => "image/png",
        _ if begins(b"\xff\xd8\xff") => "image/jpeg",
        _ if begins(b"GIF87a") || begins(b"GIF89a") => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ if begins(b"%PDF-") => "application/pdf",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of all tags, as a browser reads them: letters behind `<` or `</`.
    fn tags(page: &str) -> Vec<String> {
        let names = page.split('<').skip(1).map(|part| {
            let named = part.strip_prefix('/').unwrap_or(part);
            let is_end = |c: char| c.is_ascii_whitespace() || c == '/' || c == '>';
            named.split(is_end).next().unwrap_or_default().to_ascii_lowercase()
        });
        names.collect()
    }

    #[test]
    fn no_page_has_a_tag_that_runs_loads_or_connects() {
        let hostile = [
            "<link rel=preconnect href=//x>",
            "<LiNk\trel=dns-prefetch href=//x>",
            "<link/rel=prefetch/href=//x>",
            "</link><link\u{c}rel=preload href=//x>",
            "<meta http-equiv=refresh content='0;url=//x'>",
            "<meta http-equiv=x-dns-prefetch-control content=on>",
            "<base href=//x>",
            "<script>location='//x'</script>",
            "<script src=//x></script>",
            "<scr<script></script>ipt>alert(1)</script>",
            "<b<!-- -->ase href=//x>",
            "<!--><script>alert(1)</script>-->",
            "<title><script></title><link rel=preconnect href=//x></script>",
            "<style><link rel=preconnect href=//x></style><link rel=preconnect href=//x>",
            "<svg><style><link rel=preconnect href=//x></style></svg>",
            "<svg><script href=//x /><link xmlns='http://www.w3.org/1999/xhtml' rel=preconnect>",
            "<img alt='<link rel=preconnect href=//x>'>",
            "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
            "<object data=//x></object><embed src=//x>",
            "<form action=//x><button>y</button></form>",
            "<a href=//x ping=//x>y</a>",
            "<svg><a xlink:href=//x><text>y</text></a></svg>",
            "<template><link rel=preconnect href=//x></template>",
            "<noscript><link rel=preconnect href=//x></noscript>",
            "<video poster=//x><source src=//x></video><audio src=//x>",
            "<\0link rel=preconnect href=//x><l\0ink rel=preconnect href=//x>",
            "<xml:link rel=preconnect href=//x><?xml-stylesheet href=//x?>",
            "<![CDATA[<link rel=preconnect href=//x>]]>",
            "<frameset><frame src=//x></frameset><portal src=//x>",
        ];
        let refused = [
            "link",
            "meta",
            "base",
            "script",
            "iframe",
            "frame",
            "object",
            "embed",
            "form",
            "a",
            "template",
            "noscript",
            "video",
            "audio",
            "source",
            "portal",
            "?xml-stylesheet",
        ];
        for one in hostile.iter().copied().chain([hostile.concat().as_str()]) {
            let found = shown("text/html", one).unwrap();
            assert_eq!(found.kind, ResultKind::Page);
            let page = String::from_utf8(found.bytes).unwrap();
            let page = page.strip_prefix("<!doctype html>").unwrap();
            for tag in tags(page) {
                assert!(!refused.contains(&tag.as_str()), "{tag} in {page}");
            }
        }
        // The control: a table is a table.
        let table = "<style>td{color:red}</style><table><tr><td class=\"a\">1 &lt; 2</table>";
        let found = shown("text/html", table).unwrap();
        assert_eq!(found.bytes, format!("<!doctype html>{table}").into_bytes());
    }

    #[test]
    fn a_form_is_a_page_only_by_its_exact_name() {
        let script = "<script>alert(1)</script>";
        for form in ["text/html; charset=utf-8", "TEXT/HTML", "application/xhtml+xml", "text/xml"] {
            let kind = shown(form, script).unwrap().kind;
            assert_eq!(kind, ResultKind::Still("text/plain; charset=utf-8"), "{form}");
        }
        // The bytes of a picture decide its type.
        assert_eq!(shown("image/png", &STANDARD.encode(script)), None);
        let gif = shown("image/png", &STANDARD.encode("GIF89a")).unwrap();
        assert_eq!(gif.kind, ResultKind::Still("image/gif"));
    }

    #[test]
    fn a_drawing_is_a_picture_and_nothing_else() {
        let wanted = |form: &str| {
            let query = format!("session=s&seq=1&form={form}");
            WantedResult::parse("/o/00", Some(&query)).unwrap()
        };
        let (drawing, page) = (wanted("image%2Fsvg%2Bxml"), wanted("text/html"));
        for place in ["document", "iframe", "frame", "object", "embed", "", "xslt", "Image"] {
            let refused = Err(HttpRefusal::OnlyPicture);
            assert_eq!(drawing.check_place(Some(place)), refused, "{place}");
            assert_eq!(page.check_place(Some(place)), Ok(()), "{place}");
        }
        for place in [Some("image"), Some("empty"), None] {
            assert_eq!(drawing.check_place(place), Ok(()));
        }
    }
}
