//! Why a file of weights isn't run.

/// A fault in the head of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GgufFault {
    /// It can't be opened or read.
    Unreadable,
    /// It is a folder, a pipe or a device.
    NoFile,
    NotGguf,
    Version,
    /// Something in it is longer than the file.
    CutShort,
    /// A count or a length is larger than any known model has.
    TooMuch,
    /// A key or a value isn't one of the format.
    Entry,
    /// A name stands twice.
    Twice,
    /// A value that the engine needs is missing or has another type.
    Missing,
    /// A value that no model can have.
    Impossible,
    Architecture,
    /// It goes on in other files.
    Parts,
    /// The tokens don't fit together.
    Vocabulary,
    /// A tensor has an impossible name, shape or type.
    Tensor,
    /// Tensors overlap, leave gaps or aren't where the file has bytes.
    Place,
}

impl GgufFault {
    /// The fault as the end of a sentence that begins with "it".
    pub(crate) const fn problem(self) -> &'static str {
        match self {
            Self::Unreadable => "cannot be read",
            Self::NoFile => "is not a regular file",
            Self::NotGguf => "is not a GGUF file",
            Self::Version => "has a version of GGUF that is not known here",
            Self::CutShort => "is damaged: it is shorter than it says",
            Self::TooMuch => "is damaged: it says that it has more than any known model",
            Self::Entry => "is damaged: a key or a value in it is not valid",
            Self::Twice => "is damaged: it has a name twice",
            Self::Missing => "lacks a value that its model needs",
            Self::Impossible => "has a value that no model can have",
            Self::Architecture => "has a model of a kind that is not run here",
            Self::Parts => "is only a part of its model",
            Self::Vocabulary => "has tokens that do not fit together",
            Self::Tensor => "has a tensor that is not valid",
            Self::Place => "has tensors that are not where they should be",
        }
    }
}
