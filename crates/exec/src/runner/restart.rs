//! Fresh kernels on the person's wish: the old one ends with all that it started, then the new
//! one begins.

use super::{
    Happening,
    actor::Actor,
    live::{KernelState, Next},
};
use crate::ExecError;
use interpreter_core::Language;
use interpreter_host::Inward;

/// Kernels that are being replaced.
#[derive(Debug)]
pub(super) struct Restarting {
    /// All of them.
    languages: Vec<Language>,
    /// Those whose new kernel is not ready yet.
    awaited: Vec<Language>,
}

impl Restarting {
    /// Whether a new kernel of this language is waited for.
    pub(super) fn awaits(&self, language: &Language) -> bool {
        self.awaited.contains(language)
    }
}

impl Actor {
    /// Ends the kernel of a language, or all kernels. Not while something runs: that is what an
    /// interrupt is for.
    pub(super) async fn restart(&mut self, language: Option<&Language>) -> Result<(), ExecError> {
        if self.cell.is_some() {
            let language = language.map_or_else(String::new, |language| language.name().into());
            return Err(ExecError::Kernel { language, reason: "it is running code".into() });
        }
        let mut stopped = Vec::new();
        if let Some(live) = &mut self.live {
            for (&number, kernel) in &mut live.kernels {
                if language.is_none_or(|language| *language == kernel.language) {
                    kernel.state = KernelState::Ending(Next::Fresh);
                    stopped.push((number, kernel.language.clone()));
                }
            }
        }
        if stopped.is_empty() {
            self.report(Happening::Restarted(Vec::new())).await;
            return Ok(());
        }
        let languages: Vec<_> = stopped.iter().map(|(_, language)| language.clone()).collect();
        self.restarting = Some(Restarting { awaited: languages.clone(), languages });
        for (kernel, _) in stopped {
            if let Some(live) = &mut self.live {
                live.send(&Inward::Stop { kernel }).await?;
            }
        }
        Ok(())
    }

    /// The old kernel is gone.
    pub(super) async fn replace(&mut self, language: Language) -> Result<(), ExecError> {
        match &mut self.live {
            Some(live) => live.start_kernel(language, &self.setup.interpreters).await,
            None => Ok(()),
        }
    }

    /// A kernel is ready, perhaps the last one that was waited for.
    pub(super) async fn replaced(&mut self, language: &Language) {
        let Some(restarting) = &mut self.restarting else { return };
        restarting.awaited.retain(|awaited| awaited != language);
        if restarting.awaited.is_empty()
            && let Some(done) = self.restarting.take()
        {
            self.report(Happening::Restarted(done.languages)).await;
        }
    }
}
