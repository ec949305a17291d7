//! apt: its sources, in both forms.

use super::{
    address,
    machine::{Index, IndexMachine, list, read},
};

pub(super) fn find(machine: &IndexMachine<'_>) -> Index {
    let mut urls = Vec::new();
    let main = machine.in_root("etc/apt/sources.list");
    for file in list(&machine.in_root("etc/apt/sources.list.d")).into_iter().chain([main]) {
        let text = read(&file).unwrap_or_default();
        match file.extension().and_then(|ending| ending.to_str()) {
            Some("list") => urls.extend(text.lines().filter_map(of_line)),
            Some("sources") => urls.extend(text.split("\n\n").flat_map(of_paragraph)),
            Some(_) | None => {}
        }
    }
    let hosts = urls.iter().filter_map(|url| Some(address::read(url)?.rule)).collect();
    Index { hosts, ..Index::default() }
}

/// `deb [options] https://host/debian suite main`.
fn of_line(line: &str) -> Option<String> {
    let line = line.split('#').next().unwrap_or_default().trim();
    let rest = line.strip_prefix("deb-src").or_else(|| line.strip_prefix("deb"))?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    let rest = match rest.strip_prefix('[') {
        Some(options) => options.split_once(']')?.1,
        None => rest,
    };
    rest.split_whitespace().next().map(str::to_owned)
}

/// Lines of `Key: value`, where a value may go on in lines that are indented.
fn of_paragraph(text: &str) -> Vec<String> {
    let mut urls = Vec::new();
    let mut key = String::new();
    let mut enabled = true;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let value = match line.split_once(':') {
            Some((name, value)) if !line.starts_with([' ', '\t']) => {
                key = name.trim().to_lowercase();
                value
            }
            Some(_) | None => line,
        };
        match key.as_str() {
            "uris" => urls.extend(value.split_whitespace().map(str::to_owned)),
            "enabled" => enabled = !matches!(value.trim(), "no" | "false" | "off" | "0"),
            _ => {}
        }
    }
    if enabled { urls } else { Vec::new() }
}
