//! The first process inside a sandbox: starts kernels, carries their output.
