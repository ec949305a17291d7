//! Lists the files of the built page, so that the program carries them.
//!
//! They are committed: building the program needs no Node.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a build script speaks to cargo by printing, and is configured by its environment"
)]

use std::{env, fmt::Write, fs, io, path::Path};

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("page/dist");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file()
            && let Ok(name) = entry.file_name().into_string()
        {
            println!("cargo::rerun-if-changed={}", entry.path().display());
            names.push(name);
        }
    }
    names.sort();
    let mut list = String::from("&[\n");
    for name in names {
        let path = folder.join(&name).display().to_string();
        // Writing to a string cannot fail.
        _ = writeln!(list, "    ({name:?}, include_bytes!({path:?})),");
    }
    list.push_str("]\n");
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("page_files.rs"), list)
}
