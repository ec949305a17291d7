//! A picture that is shown to a model.

/// A picture, as every format sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its kind, such as `image/png`.
    pub mime: String,
    /// Its bytes, as base64.
    pub data: String,
}

impl Image {
    /// The whole picture as a URL, which some formats want.
    pub(crate) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.mime, self.data)
    }
}
