//! A proposal as it goes on record, and as it is drawn for somebody who decides on it.

use crate::{Body, Proposal, Redactor, redact::Drawn};

impl Proposal {
    /// Its record, before secrets are taken out.
    pub fn body(&self) -> Body {
        Body::Proposal {
            id: self.id.clone(),
            origin: self.origin,
            language: self.language.name().into(),
            code: self.code().clone(),
            hash: self.hash().into(),
            invocation: self.invocation.clone(),
            again: self.again.as_ref().map(|again| again.cell.clone()),
            sealed: None,
        }
    }

    /// The code as it is drawn for somebody who decides on it. Values in its arguments count too.
    pub fn drawn(&self, redactor: &Redactor) -> Drawn {
        let arguments = self.invocation.iter().flat_map(|one| &one.arguments);
        arguments.fold(redactor.draw(self.code()), |drawn, one| drawn.beside(redactor.masks(one)))
    }
}
