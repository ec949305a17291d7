//! Shell: stub.
pub(crate) fn is_plain_command(_words: &[String]) -> bool {
    false
}
