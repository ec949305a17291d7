//! Foreign pages and drawings, in a page that can do nothing.
//!
//! # Threat
//! A page of hostile code that runs script, reads other files, or sends what it holds to a
//! stranger: code without a network would have one as soon as somebody opens its result.
//!
//! # Mechanism
//! Three walls, each enough for most of it. The page has a policy that allows nothing but its own
//! styles and pictures that are inside of it. The foreign page is in a frame without any rights:
//! no script, no forms, no refresh, no other page in its place. And only tags from a list reach
//! that frame; every other `<` is a character. A policy and a frame are not enough: browsers
//! connect for `<link rel=preconnect>` and for a link that is clicked before they ask either.
//! Drawings are shown as pictures, which browsers neither run nor let load anything.
//!
//! # Limits
//! It depends on the browser. Links lead nowhere.

use base64::{Engine, engine::general_purpose::STANDARD};

/// Nothing but styles and pictures of its own.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; \
                      base-uri 'none'; form-action 'none'";

/// Tags that a foreign page may have. None of them loads, runs or leads anywhere by itself. A link
/// is written as another tag.
const TAGS: &[&str] = &[
    "a",
    "abbr",
    "article",
    "b",
    "blockquote",
    "body",
    "br",
    "caption",
    "center",
    "circle",
    "cite",
    "clippath",
    "code",
    "col",
    "colgroup",
    "dd",
    "defs",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "ellipse",
    "em",
    "figcaption",
    "figure",
    "font",
    "footer",
    "g",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "i",
    "img",
    "ins",
    "kbd",
    "li",
    "line",
    "lineargradient",
    "main",
    "mark",
    "nav",
    "ol",
    "p",
    "path",
    "polygon",
    "polyline",
    "pre",
    "q",
    "radialgradient",
    "rect",
    "s",
    "samp",
    "section",
    "small",
    "span",
    "stop",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "text",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "tspan",
    "tt",
    "u",
    "ul",
    "var",
];

/// A foreign page in a page that can do nothing.
pub(crate) fn of_html(html: &str) -> String {
    let inner = format!("{}{}", head(), only_known_tags(html));
    whole(&format!("<iframe sandbox=\"\" srcdoc=\"{}\"></iframe>", quoted(&inner)))
}

/// A picture or drawing in a page that can do nothing.
pub(crate) fn of_picture(mime: &'static str, bytes: &[u8]) -> String {
    whole(&format!("<img alt=\"\" src=\"data:{mime};base64,{}\">", STANDARD.encode(bytes)))
}

fn head() -> String {
    format!(
        "<!doctype html><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\
         <meta http-equiv=\"x-dns-prefetch-control\" content=\"off\">\
         <meta name=\"referrer\" content=\"no-referrer\">"
    )
}

fn whole(body: &str) -> String {
    let style = "html,body{margin:0;height:100%;background:#fff}\
                 iframe{border:0;width:100%;height:100%;display:block}img{max-width:100%}";
    format!("{}<title>result</title><style>{style}</style>{body}\n", head())
}

/// Text inside of a quoted attribute.
fn quoted(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;")
}

/// The same page, in which a `<` that begins no known tag is a character. A tag's name follows its
/// `<` at once, so this takes no parser; that it also changes a `<` in an attribute harms nobody.
/// Scripts, and tags that only tell the browser something, are left out.
pub fn only_known_tags(html: &str) -> String {
    let mut safe = String::with_capacity(html.len());
    let mut parts = html.split('<');
    safe.push_str(parts.next().unwrap_or_default());
    let (mut is_script, mut is_drawing) = (false, false);
    for part in parts {
        let name = tag(part);
        if is_script {
            is_script = name_of_end(part).as_deref() != Some("script");
            if let Some((_, behind)) = part.split_once('>').filter(|_| !is_script) {
                safe.push(' ');
                safe.push_str(behind);
            }
            continue;
        }
        if name == "script" && part.contains(ends_name) {
            is_script = true;
            continue;
        }
        if let Some(behind) = behind_remark(part) {
            // The blank keeps the text on both sides from becoming one tag.
            safe.push(' ');
            safe.push_str(behind);
            continue;
        }
        if !is_known(part) {
            safe.push_str("&lt;");
            safe.push_str(part);
            continue;
        }
        let end = name_of_end(part);
        match end.as_deref().unwrap_or(&name) {
            "svg" => is_drawing = end.is_none(),
            "a" => {
                // A `span` would end a drawing.
                safe.push_str(if end.is_some() { "</" } else { "<" });
                safe.push_str(if is_drawing { "g" } else { "span" });
                safe.push_str(&part[1 + usize::from(end.is_some())..]);
                continue;
            }
            _ => {}
        }
        safe.push('<');
        safe.push_str(part);
    }
    safe
}

/// The name of the tag that ends here, if one does.
fn name_of_end(part: &str) -> Option<String> {
    part.strip_prefix('/').map(tag)
}

/// Whether a known tag begins here. Its name must end before the next `<`.
fn is_known(part: &str) -> bool {
    let named = part.strip_prefix('/').unwrap_or(part);
    named.contains(ends_name) && TAGS.contains(&tag(named).as_str())
}

/// The text behind a comment, a document type or a tag that shows nothing, if it is one.
fn behind_remark(part: &str) -> Option<&str> {
    let ends = match part.strip_prefix("!--") {
        Some(_) => "-->",
        None if ["!doctype", "base", "link", "meta"].contains(&tag(part).as_str()) => ">",
        None => return None,
    };
    part.split_once(ends).map(|(_, behind)| behind)
}

/// The name at the beginning of a tag, in small letters; too long a one is no known one.
fn tag(text: &str) -> String {
    let name = text.split(ends_name).next().unwrap_or_default();
    let name: String = name.chars().take(20).collect();
    name.to_ascii_lowercase()
}

fn ends_name(c: char) -> bool {
    c.is_ascii_whitespace() || c == '/' || c == '>'
}

/// The words of a page, for a terminal: without tags, styles and script.
pub(crate) fn words(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        add_words(&mut text, &rest[..at]);
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, behind)| behind);
            continue;
        }
        let (inside, behind) = rest.split_once('>').unwrap_or((rest, ""));
        let closes = inside.starts_with('/');
        let name = tag(inside.trim_start_matches('/'));
        rest = behind;
        match name.as_str() {
            "style" | "script" | "head" | "title" if !closes => {
                rest = behind_closing(behind, &name);
            }
            "br" | "hr" => text.push('\n'),
            "td" | "th" if !closes && !text.ends_with('\n') && !text.is_empty() => {
                text.push_str("  ");
            }
            "li" if !closes => {
                new_line(&mut text);
                text.push_str("- ");
            }
            "p" | "div" | "tr" | "table" | "ul" | "ol" | "pre" | "blockquote" | "section"
            | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "li" | "dt" | "dd" | "caption" => {
                new_line(&mut text);
            }
            _ => {}
        }
    }
    add_words(&mut text, rest);
    text.trim().to_owned()
}

/// The text behind the tag that closes `name`.
fn behind_closing<'a>(text: &'a str, name: &str) -> &'a str {
    let mut rest = text;
    while let Some(at) = rest.find("</") {
        rest = &rest[at + 2..];
        if tag(rest) == name {
            return rest.split_once('>').map_or("", |(_, behind)| behind);
        }
    }
    ""
}

fn new_line(text: &mut String) {
    let trimmed = text.trim_end_matches(' ').len();
    text.truncate(trimmed);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Adds words as a browser does: blanks and line ends are one blank.
fn add_words(text: &mut String, piece: &str) {
    let begins = piece.starts_with(|c: char| c.is_ascii_whitespace());
    let ends = piece.ends_with(|c: char| c.is_ascii_whitespace());
    let blank = |text: &mut String| {
        if !text.is_empty() && !text.ends_with(['\n', ' ']) {
            text.push(' ');
        }
    };
    let mut is_first = true;
    for word in piece.split_ascii_whitespace() {
        if !is_first || begins {
            blank(text);
        }
        is_first = false;
        push_decoded(text, word);
    }
    if ends && !is_first {
        blank(text);
    }
}

/// The characters that pages cannot write as they are, and a blank that does not break.
const ENTITIES: [(&str, &str); 6] = [
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&nbsp;", " "),
    ("&amp;", "&"),
];

fn push_decoded(text: &mut String, word: &str) {
    let mut rest = word;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = ENTITIES.iter().find(|(written, _)| rest.starts_with(written));
        let (written, meant) = known.copied().unwrap_or(("&", "&"));
        text.push_str(meant);
        rest = &rest[written.len()..];
    }
    text.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The foreign part of a page, as a browser would read it.
    fn inner(html: &str) -> String {
        let page = of_html(html);
        let (_, rest) = page.split_once("srcdoc=\"").unwrap();
        let (quoted, end) = rest.split_once('"').unwrap();
        assert_eq!(end, "></iframe>\n");
        quoted.replace("&quot;", "\"").replace("&amp;", "&")
    }

    #[test]
    fn a_foreign_page_is_in_a_frame_without_rights_behind_a_policy() {
        let page = of_html("<table><tr><td class=\"a&b\">1</td></tr></table>");
        let policy = page.find("Content-Security-Policy").unwrap();
        assert!(policy < page.find("<iframe sandbox=\"\" srcdoc=").unwrap(), "{page}");
        let inner = inner("<table><tr><td class=\"a&b\">1</td></tr></table>");
        assert!(inner.starts_with("<!doctype html>") && inner.contains("default-src 'none'"));
        assert!(inner.ends_with("<table><tr><td class=\"a&b\">1</td></tr></table>"), "{inner}");
    }

    #[test]
    fn tags_that_run_load_or_lead_elsewhere_are_text() {
        for tag in [
            "iframe",
            "IFRAME",
            "object",
            "embed",
            "form",
            "input",
            "button",
            "video",
            "audio",
            "source",
            "frame",
            "template",
            "portal",
            "math",
            "use",
            "image",
            "foreignObject",
            "animate",
            "set",
            "noscript",
            "plaintext",
        ] {
            for written in [format!("<{tag} a=b>"), format!("<{tag}\n>"), format!("<{tag}/>")] {
                let inner = inner(&written);
                assert!(inner.ends_with(&written.replace('<', "&lt;")), "{inner}");
            }
        }
        for (written, read) in [
            ("<!-- x -->y", "\"> y"),
            ("<!DOCTYPE html><p>y", "\"> <p>y"),
            // Text around a comment must not become a tag.
            ("<b<!-- x -->ase href=y>", "&lt;b ase href=y>"),
            ("<<!-- x -->script>", "&lt; script>"),
            ("<!-- <i> -->", "&lt;!-- <i> -->"),
            // Tags that only tell the browser something.
            ("<meta charset=x>y", "\"> y"),
            ("<LINK rel=preconnect href=//y>z", "\"> z"),
            ("<base\nhref=//y>z", "\"> z"),
            ("<link rel=\"a>b\">z", "\"> b\">z"),
            ("<link <b>", "&lt;link <b>"),
            ("<links>", "&lt;links>"),
            // Scripts, with whatever is in them.
            ("<script>if (a<b) {}</script>y", "\"> y"),
            ("<SCRIPT\nsrc=//y></ScRiPt >y", "\"> y"),
            ("<b<script></script>ase>", "&lt;b ase>"),
            ("x<script>y<b>z", "\">x"),
            ("<script>y</script", "\">"),
            ("<script</b>", "&lt;script</b>"),
            ("<scripts>", "&lt;scripts>"),
            // Links lead nowhere.
            ("<a href=//y>z</a>", "<span href=//y>z</span>"),
            ("<A\nping=//y>z</A >", "<span\nping=//y>z</span >"),
            ("<svg><a href=//y></a></svg><a>", "<svg><g href=//y></g></svg><span>"),
            ("<abbr>z</abbr>", "<abbr>z</abbr>"),
        ] {
            assert!(inner(written).ends_with(read), "{}", inner(written));
        }
    }

    #[test]
    fn a_page_has_words() {
        let html = "<!doctype html><head><title>no</title></head><style>p{a:b}</style>\
                    <h1>Sales &amp; costs</h1>\n<p>A  <b>bold</b>\nword.</p><ul><li>one<li>two</ul>\
                    <script>alert('<p>no')</script><!-- no --><table><tr><th>a<th>b\
                    <tr><td>1<td>&lt;2</table>";
        assert_eq!(words(html), "Sales & costs\nA bold word.\n- one\n- two\na  b\n1  <2");
        assert_eq!(words("a < b"), "a");
        assert_eq!(words(""), "");
    }

    #[test]
    fn a_name_that_runs_into_the_next_tag_is_text() {
        for (html, safe) in [("</b<<", "&lt;/b&lt;&lt;"), ("<b<i>", "&lt;b<i>"), ("</b>", "</b>")] {
            assert!(inner(html).ends_with(safe), "{}", inner(html));
        }
    }

    proptest! {
        #[test]
        fn nothing_leaves_the_attribute_and_no_unknown_tag_gets_in(html in r#"(<|>|/|"|'|&|!--|-->|!doctype|script|link|a|svg|b|p| |=|;|quot|é|.){0,60}"#) {
            let inner = inner(&html);
            let foreign = inner.split_once("no-referrer\">").unwrap().1;
            for part in foreign.split('<').skip(1) {
                let name = name_of_end(part).unwrap_or_else(|| tag(part));
                prop_assert!(is_known(part) && name != "a", "{}", foreign);
            }
        }

        #[test]
        fn words_of_anything(html in r"(<|>|/|!--|-->|&|&lt;|script|style|li|p| |é|.){0,60}") {
            words(&html);
        }
    }
}
