//! The small part of Jupyter's server API that front ends need to run code in a kernel.
//!
//! # Threat
//! Code that runs where a rule asks or denies, because an old form of API knows no questions; a
//! token that ends up in a log, because it stood in an address; a page of somebody else that uses
//! what a program has logged in to; kernels without end, or those of another caller.
//!
//! # Mechanism
//! A kernel is a session of mode `run`, and an adapter of the protocol like the other APIs: the
//! service performs each run and checks the rights. Where a rule asks, the run ends with an error
//! that has the link to the question. The only answers that are given here change nothing: no line
//! of input, and later for files. A token stands in a header or in a form, never in an address; a
//! cookie opens these routes alone, together with a header that no form can send, and nothing that
//! a browser sends is answered.
//!
//! # Limits
//! Handing over code is a yes to it, as it is everywhere: whoever has the token runs what the rules
//! do not stop.

pub(super) use self::{
    answering::{JupyterHttp, answer},
    channels::serve_channels,
    described::{JupyterCall, operation, shapes},
    kernels::{ConnectedKernel, Kernels},
    refusal::refused,
    signing_in::{sign_in_page, token_of_form},
    xsrf::has_xsrf_header,
};

mod answering;
mod channels;
mod described;
mod kernels;
mod messages;
mod performing;
mod refusal;
mod run_seen;
mod signing_in;
mod xsrf;
