//! Turns the lists and rules of this crate into JSON, which the program reads many times faster
//! than the TOML that people write them in.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a build script speaks to cargo by printing, and is configured by its environment"
)]

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

/// The folders whose files are data of the program.
const FOLDERS: [&str; 2] = ["names", "rules"];

fn main() -> Result<(), Box<dyn Error>> {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"));
    let to = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo names no OUT_DIR")?);
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={}", from.join(folder).display());
        fs::create_dir_all(to.join(folder))?;
        for entry in fs::read_dir(from.join(folder))? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "toml") {
                let name = path.file_stem().ok_or("a file without a name")?;
                let data: toml::Table = toml::from_str(&fs::read_to_string(&path)?)
                    .map_err(|error| format!("{}: {error}", path.display()))?;
                let into = to.join(folder).join(name).with_extension("json");
                fs::write(into, serde_json::to_string(&data)?)?;
            }
        }
    }
    Ok(())
}
