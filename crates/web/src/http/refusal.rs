//! Why a request is refused, and the little that its sender learns.

use hyper::StatusCode;

/// A refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HttpRefusal {
    /// It can be read in two ways.
    Ambiguous,
    /// It names a host that is not ours.
    OtherHost,
    /// There is no such route.
    Unknown,
    /// A page of somebody else sent it.
    OtherOrigin,
    NotLoggedIn,
    NoRight,
    NotJson,
    /// The body is no form, or has other fields.
    NotForm,
    /// A token stands in the address.
    TokenInUrl,
    NoLength,
    TooLarge,
    /// The body or the answer took too long.
    TooLate,
    /// Too many wrong codes.
    TooMany,
    /// A code that is wrong, old or used.
    WrongCode,
    /// A name or a password that is wrong; which of them is not said.
    WrongPassword,
    /// Too many attempts with a password.
    TooManyGuesses,
    /// It is no handshake of a WebSocket.
    NoHandshake,
    /// A drawing that a browser would show as a page.
    OnlyPicture,
    /// There is no room for another connection.
    Full,
    /// Something failed here.
    Failed,
}

impl HttpRefusal {
    pub(super) const fn status(self) -> StatusCode {
        match self {
            Self::Ambiguous | Self::NotForm | Self::TokenInUrl => StatusCode::BAD_REQUEST,
            Self::OtherHost => StatusCode::MISDIRECTED_REQUEST,
            Self::Unknown => StatusCode::NOT_FOUND,
            Self::OtherOrigin | Self::NoRight | Self::OnlyPicture => StatusCode::FORBIDDEN,
            Self::NotLoggedIn | Self::WrongCode | Self::WrongPassword => StatusCode::UNAUTHORIZED,
            Self::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::NoLength => StatusCode::LENGTH_REQUIRED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooLate => StatusCode::REQUEST_TIMEOUT,
            Self::TooMany | Self::TooManyGuesses => StatusCode::TOO_MANY_REQUESTS,
            Self::NoHandshake => StatusCode::UPGRADE_REQUIRED,
            Self::Full => StatusCode::SERVICE_UNAVAILABLE,
            Self::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// A word for programs.
    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::Ambiguous => "ambiguous",
            Self::OtherHost => "other_host",
            Self::Unknown => "unknown",
            Self::OtherOrigin => "other_origin",
            Self::NotLoggedIn => "not_logged_in",
            Self::NoRight => "no_right",
            Self::NotJson => "not_json",
            Self::NotForm => "not_form",
            Self::TokenInUrl => "token_in_url",
            Self::NoLength => "no_length",
            Self::TooLarge => "too_large",
            Self::TooLate => "too_late",
            Self::TooMany | Self::TooManyGuesses => "too_many",
            Self::WrongCode => "wrong_code",
            Self::WrongPassword => "wrong_password",
            Self::NoHandshake => "no_handshake",
            Self::OnlyPicture => "only_picture",
            Self::Full => "full",
            Self::Failed => "failed",
        }
    }

    /// The same for people, with the next step where there is one.
    pub(super) const fn message(self) -> &'static str {
        match self {
            Self::Ambiguous => "the request can be read in more than one way",
            Self::OtherHost => "this server has another name; use the link that it printed",
            Self::Unknown => "there is nothing here",
            Self::OtherOrigin => "the request comes from another page",
            Self::NotLoggedIn => {
                "not logged in; press Enter where `interpreter serve` runs for a new link"
            }
            Self::NoRight => "the token does not allow this",
            Self::NotJson => "the body must be `application/json`",
            Self::NotForm => "the body must be a form with `_xsrf` and `password`",
            Self::TokenInUrl => {
                "a token in an address ends up in logs, so it is not taken; use it as the \
                 password, or in the header `Authorization`"
            }
            Self::NoLength => "the request needs a `Content-Length`",
            Self::TooLarge => "the body is too large",
            Self::TooLate => "it took too long",
            Self::TooMany => "too many wrong links; wait a minute",
            Self::WrongCode => {
                "this link is wrong, used or older than a minute; press Enter where `interpreter \
                 serve` runs for a new one"
            }
            Self::WrongPassword => "the name or the password is wrong",
            Self::TooManyGuesses => "too many attempts to log in; wait a minute",
            Self::NoHandshake => "this is a WebSocket",
            Self::OnlyPicture => "a drawing is shown as a picture only",
            Self::Full => "there is no room for another connection; close a tab",
            Self::Failed => "something failed on the server",
        }
    }
}
