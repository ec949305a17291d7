//! The forms of a result that are more than plain text, as the files that a person can open.
//!
//! # Threat
//! A result is written by hostile code: its label may lie, its name may lead elsewhere, a page may
//! run script or send what it holds to a stranger as soon as somebody looks at it.
//!
//! # Mechanism
//! The bytes of a picture decide its type; a picture that is none is no file. Names are made of the
//! run and a number. Pages and drawings are put into a [page](crate::page) that runs no script and
//! loads nothing.
//!
//! # Limits
//! A viewer for PDF and for pictures reads foreign bytes; whoever opens them trusts that viewer.

use crate::{Output, Stream, Untrusted, image, page};
use base64::{Engine, engine::general_purpose::STANDARD};
use std::{borrow::Cow, collections::BTreeMap};

/// The kind of a form. The order is that in which a person wants to see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FormKind {
    /// Pictures of pixels.
    Png,
    /// The same.
    Jpeg,
    /// The same, perhaps moving.
    Gif,
    /// The same.
    Webp,
    /// A drawing.
    Svg,
    /// A document.
    Pdf,
    /// A page.
    Html,
    /// Formatted text.
    Markdown,
    /// Formulas.
    Latex,
    /// Data.
    Json,
    /// Anything else that is text.
    Text,
}

impl FormKind {
    fn of(mime: &str) -> Self {
        match mime {
            "image/png" => Self::Png,
            "image/jpeg" => Self::Jpeg,
            "image/gif" => Self::Gif,
            "image/webp" => Self::Webp,
            "image/svg+xml" => Self::Svg,
            "application/pdf" => Self::Pdf,
            "text/html" => Self::Html,
            "text/markdown" => Self::Markdown,
            "text/latex" => Self::Latex,
            other if other.ends_with("json") => Self::Json,
            _ => Self::Text,
        }
    }

    /// How the name of its file ends.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Gif => "gif",
            Self::Webp => "webp",
            Self::Svg => "svg",
            Self::Pdf => "pdf",
            Self::Html => "html",
            Self::Markdown => "md",
            Self::Latex => "tex",
            Self::Json => "json",
            Self::Text => "txt",
        }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Png | Self::Jpeg | Self::Gif | Self::Webp => "picture",
            Self::Svg => "drawing",
            Self::Pdf => "document",
            Self::Html => "page",
            Self::Markdown | Self::Latex | Self::Json | Self::Text => "text",
        }
    }

    /// Whether it is made of pixels.
    pub fn is_picture(self) -> bool {
        matches!(self, Self::Png | Self::Jpeg | Self::Gif | Self::Webp)
    }

    /// Whether its bytes are written as base64.
    fn is_encoded(self) -> bool {
        self.is_picture() || self == Self::Pdf
    }
}

/// One form of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// Its kind, by its bytes.
    pub kind: FormKind,
    /// The bytes of its file.
    pub bytes: Vec<u8>,
    /// Width and height of a picture, in pixels.
    pub size: Option<(u32, u32)>,
}

impl Form {
    fn new(mime: &str, text: &Untrusted) -> Result<Self, &'static str> {
        let kind = FormKind::of(mime);
        if !kind.is_encoded() {
            let bytes = if kind == FormKind::Html {
                page::of_html(text.raw()).into_bytes()
            } else {
                text.raw().as_bytes().to_vec()
            };
            return Ok(Self { kind, bytes, size: None });
        }
        // Python's encoders break lines.
        let plain: String = text.raw().split_ascii_whitespace().collect();
        let bytes = STANDARD.decode(plain).map_err(|_| "it is not base64")?;
        if kind == FormKind::Pdf {
            let is_one = bytes.starts_with(b"%PDF-");
            let form = Self { kind, bytes, size: None };
            return if is_one { Ok(form) } else { Err("it is not a PDF") };
        }
        let (mime, width, height) = image::kind(&bytes).ok_or(image::NO_PICTURE)?;
        Ok(Self { kind: FormKind::of(mime), bytes, size: Some((width, height)) })
    }

    /// The page that shows it, for kinds that must not be opened as they are: a drawing that is
    /// opened in a browser runs script.
    pub fn page(&self) -> Option<String> {
        let mime = match self.kind {
            FormKind::Svg => "image/svg+xml",
            FormKind::Gif => "image/gif",
            FormKind::Webp => "image/webp",
            FormKind::Png
            | FormKind::Jpeg
            | FormKind::Pdf
            | FormKind::Html
            | FormKind::Markdown
            | FormKind::Latex
            | FormKind::Json
            | FormKind::Text => return None,
        };
        Some(page::of_picture(mime, &self.bytes))
    }
}

/// A form that cannot be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The kind that it claims to be.
    pub mime: String,
    /// Why it is not.
    pub reason: &'static str,
}

/// The forms of an output that are more than plain text, the best first.
pub fn forms(output: &Output) -> (Vec<Form>, Vec<Unfit>) {
    if output.stream != Stream::Result {
        return Default::default();
    }
    let all = std::iter::once((&output.mime, &output.text)).chain(&output.bundle);
    let rich = all.filter(|(mime, _)| *mime != "text/plain");
    let (mut fit, mut unfit) = (Vec::new(), Vec::new());
    for (mime, text) in rich {
        match Form::new(mime, text) {
            // An empty form is how a value says that it has none.
            Ok(form) if form.bytes.is_empty() || text.raw().is_empty() => {}
            Ok(form) => fit.push(form),
            Err(reason) => unfit.push(Unfit { mime: mime.clone(), reason }),
        }
    }
    fit.sort_by_key(|form| form.kind);
    // A label that lies can make two of one kind: the names of their files would be the same.
    fit.dedup_by_key(|form| form.kind);
    (fit, unfit)
}

/// Whether an output may have forms that are more than plain text.
pub fn has_forms(output: &Output) -> bool {
    output.stream == Stream::Result && (output.mime != "text/plain" || !output.bundle.is_empty())
}

/// Whether an output is a picture whose text only names the object, such as
/// `<Figure size 640x480 with 1 Axes>`.
pub fn is_mere_name(output: &Output) -> bool {
    let pictures = [FormKind::Png, FormKind::Jpeg, FormKind::Gif, FormKind::Webp, FormKind::Svg];
    let text = output.text.raw().trim();
    let names = text.starts_with('<') && text.ends_with('>') && !text.contains('\n');
    names && output.bundle.keys().any(|mime| pictures.contains(&FormKind::of(mime)))
}

/// The text of an output, as a person reads it in a terminal: nothing of a picture, and of a page
/// its words.
pub fn legible<'a>(mime: &str, text: &'a Untrusted) -> Option<Cow<'a, Untrusted>> {
    match FormKind::of(mime) {
        FormKind::Html => Some(Cow::Owned(Untrusted::new(page::words(text.raw())))),
        FormKind::Markdown | FormKind::Latex | FormKind::Json | FormKind::Text => {
            Some(Cow::Borrowed(text))
        }
        FormKind::Png
        | FormKind::Jpeg
        | FormKind::Gif
        | FormKind::Webp
        | FormKind::Svg
        | FormKind::Pdf => None,
    }
}

/// Names results by their runs: `p3-1` is the first of `p3`. Whoever goes through the same outputs
/// gets the same names.
#[derive(Clone, Debug, Default)]
pub struct Names {
    counts: BTreeMap<String, u32>,
    displays: BTreeMap<String, String>,
}

/// Names that a display may have, for results that replace each other.
const MOST_DISPLAYS: usize = 1_000;

impl Names {
    /// The name of an output with forms. One that replaces another has its name.
    pub fn name(&mut self, output: &Output) -> String {
        let known = output.display.as_ref().and_then(|display| self.displays.get(display));
        if let Some(known) = known {
            return known.clone();
        }
        // It is ours, and would still be no path if it were not.
        let run: String =
            output.proposal.chars().filter(char::is_ascii_alphanumeric).take(20).collect();
        let count = self.counts.entry(run.clone()).or_default();
        *count += 1;
        let name = format!("{run}-{count}");
        if let Some(display) = &output.display
            && self.displays.len() < MOST_DISPLAYS
        {
            self.displays.insert(display.clone(), name.clone());
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::RED;

    fn result(mime: &str, text: &str, bundle: &[(&str, &str)]) -> Output {
        Output {
            mime: mime.into(),
            bundle: bundle
                .iter()
                .map(|(mime, text)| ((*mime).into(), Untrusted::new(*text)))
                .collect(),
            ..Output::text("p3", Stream::Result, text)
        }
    }

    #[test]
    fn a_figure_is_a_picture_with_its_size() {
        let figure = result("text/plain", "<Figure>", &[("image/png", RED), ("text/html", "<b>x")]);
        let (fit, unfit) = forms(&figure);
        let kinds: Vec<_> = fit.iter().map(|form| (form.kind, form.size)).collect();
        assert_eq!(kinds, [(FormKind::Png, Some((32, 32))), (FormKind::Html, None)]);
        assert_eq!(unfit, []);
    }

    #[test]
    fn the_bytes_decide_and_not_the_label() {
        let lies = result(
            "text/plain",
            "",
            &[
                ("image/gif", RED),
                ("image/png", RED),
                ("image/jpeg", "PGh0bWw+"),
                ("image/webp", "%"),
            ],
        );
        let (fit, unfit) = forms(&lies);
        assert_eq!(fit.iter().map(|form| form.kind).collect::<Vec<_>>(), [FormKind::Png]);
        let reasons: Vec<_> = unfit.iter().map(|one| (one.mime.as_str(), one.reason)).collect();
        assert_eq!(
            reasons,
            [("image/jpeg", image::NO_PICTURE), ("image/webp", "it is not base64")]
        );
        assert_eq!(
            forms(&result("application/pdf", "PGh0bWw+", &[])).1[0].reason,
            "it is not a PDF"
        );
    }

    #[test]
    fn plain_text_and_streams_have_no_forms() {
        assert!(!has_forms(&result("text/plain", "1", &[])));
        let named = |text, mime| is_mere_name(&result("text/plain", text, &[(mime, RED)]));
        assert!(named("<Figure size 640x480 with 1 Axes>\n", "image/png"));
        assert!(!named("<Figure>", "text/html"));
        assert!(!named("42", "image/png") && !named("<a>\n<b>", "image/png"));
        let printed = Output::text("p1", Stream::Stdout, "x");
        assert!(!has_forms(&Output { mime: "text/html".into(), ..printed.clone() }));
        assert_eq!(forms(&Output { mime: "text/html".into(), ..printed }).0, []);
        assert_eq!(forms(&result("text/plain", "x", &[("text/latex", "")])).0, []);
    }

    #[test]
    fn results_are_named_by_their_runs_and_replaced_by_their_displays() {
        let mut names = Names::default();
        let of = |run: &str, display: Option<&str>| Output {
            display: display.map(str::to_owned),
            ..Output::text(run, Stream::Result, "")
        };
        let given: Vec<_> = [
            of("p1", None),
            of("p1", Some("bar")),
            of("p2", Some("bar")),
            of("p2", None),
            of("../p2", None),
        ]
        .iter()
        .map(|output| names.name(output))
        .collect();
        assert_eq!(given, ["p1-1", "p1-2", "p1-2", "p2-1", "p2-2"]);
    }

    #[test]
    fn a_drawing_is_opened_as_a_picture_in_a_page() {
        let svg = forms(&result("image/svg+xml", "<svg onload='x()'/>", &[])).0.remove(0);
        assert_eq!(svg.bytes, b"<svg onload='x()'/>");
        let page = svg.page().unwrap();
        assert!(page.contains("<img ") && !page.contains("onload"), "{page}");
    }
}
