//! Writes the person's config files: a host that they granted for good, a model that they chose, or
//! a file they edited.
//!
//! The new file is complete before it takes the place of the old one, and is written only if it
//! can be read again. A host or a model leaves everything else in the file as it is, comments too.

use super::{ConfigError, ConfigFiles, ConfigText, Layer, Settings, read::read};
use crate::{Folders, StoreError, private};
use interpreter_core::{Rule, egress::HostRule};
use serde_json::Value as Json;
use std::fs;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, Value, value};

/// Adds a host to `network.hosts` in the person's config file. Whether anything had to be added.
pub fn keep_host(folders: &Folders, rule: &HostRule) -> Result<bool, StoreError> {
    let file = folders.config_file();
    let text = read(file.clone())?.map(|file| file.text).unwrap_or_default();
    match added(&text, rule) {
        Added::Text(text) => {
            write_config(folders, &ConfigText { path: file, text })?;
            Ok(true)
        }
        Added::There => Ok(false),
        Added::Impossible => {
            Err(ConfigError::CannotKeep { path: file, entry: rule.to_string() }.into())
        }
    }
}

/// Takes an entry out of `network.hosts` in the person's config file, as it is written there. Whether
/// there was one.
pub fn forget_host(folders: &Folders, entry: &str) -> Result<bool, StoreError> {
    let path = folders.config_file();
    let text = read(path.clone())?.map(|file| file.text).unwrap_or_default();
    let Ok(mut document) = text.parse::<DocumentMut>() else { return Ok(false) };
    let network = document.get_mut("network").and_then(Item::as_table_like_mut);
    let hosts = network.and_then(|network| network.get_mut("hosts")?.as_array_mut());
    let Some(hosts) = hosts else { return Ok(false) };
    let before = hosts.len();
    hosts.retain(|one| one.as_str() != Some(entry));
    if hosts.len() == before {
        return Ok(false);
    }
    write_config(folders, &ConfigText { path, text: document.to_string() })?;
    Ok(true)
}

/// Sets `model` in the person's config file.
pub fn keep_model(folders: &Folders, name: &str) -> Result<(), StoreError> {
    let path = folders.config_file();
    let text = read(path.clone())?.map(|file| file.text).unwrap_or_default();
    let Ok(mut document) = text.parse::<DocumentMut>() else {
        return Err(ConfigError::CannotKeep { path, entry: name.into() }.into());
    };
    document.insert("model", value(name));
    write_config(folders, &ConfigText { path, text: document.to_string() })
}

/// Adds a rule to the person's config file. Whether anything had to be added.
pub fn keep_rule(folders: &Folders, rule: &Rule) -> Result<bool, StoreError> {
    let path = folders.config_file();
    let impossible = || ConfigError::CannotKeep { path: path.clone(), entry: rule.words() };
    let text = read(path.clone())?.map(|file| file.text).unwrap_or_default();
    let mut document = text.parse::<DocumentMut>().map_err(|_| impossible())?;
    let table = table_of(rule);
    let empty = || Item::ArrayOfTables(ArrayOfTables::new());
    let rules = document.entry("rule").or_insert_with(empty);
    let Some(rules) = rules.as_array_of_tables_mut() else { return Err(impossible().into()) };
    if rules.iter().any(|one| one.to_string() == table.to_string()) {
        return Ok(false);
    }
    rules.push(table);
    write_config(folders, &ConfigText { path, text: document.to_string() })?;
    Ok(true)
}

/// A rule as a table of a config file.
fn table_of(rule: &Rule) -> Table {
    let mut table = Table::new();
    let json = serde_json::to_value(rule).unwrap_or_default();
    for (key, found) in json.as_object().into_iter().flatten() {
        let texts = found.as_array().map(|all| all.iter().filter_map(Json::as_str));
        let item = match (found.as_str(), texts) {
            (Some(text), _) => value(text),
            (None, Some(texts)) => value(texts.collect::<Array>()),
            (None, None) => match (found.as_bool(), found.as_i64()) {
                (Some(yes), _) => value(yes),
                (None, Some(number)) => value(number),
                (None, None) => continue,
            },
        };
        table.insert(key, item);
    }
    table
}

/// Removes a rule from the person's config file, by its place in it from 0. Whether there was one.
pub fn remove_rule(folders: &Folders, at: usize) -> Result<bool, StoreError> {
    let path = folders.config_file();
    let text = read(path.clone())?.map(|file| file.text).unwrap_or_default();
    let Ok(mut document) = text.parse::<DocumentMut>() else { return Ok(false) };
    let Some(rules) = document.get_mut("rule") else { return Ok(false) };
    if let Some(tables) = rules.as_array_of_tables_mut() {
        if at >= tables.len() {
            return Ok(false);
        }
        tables.remove(at);
    } else if let Some(array) = rules.as_array_mut() {
        if at >= array.len() {
            return Ok(false);
        }
        array.remove(at);
    } else {
        return Ok(false);
    }
    write_config(folders, &ConfigText { path, text: document.to_string() })?;
    Ok(true)
}

/// Writes the person's config file or a profile, if it has no errors.
pub fn write_config(folders: &Folders, file: &ConfigText) -> Result<(), StoreError> {
    let faults = Settings::faults(&ConfigFiles::default(), file, Layer::User);
    if !faults.is_empty() {
        return Err(ConfigError::Invalid(faults).into());
    }
    folders.make_config_folder()?;
    if file.path.parent() == Some(&folders.profiles_folder()) {
        private::make_folder(&folders.profiles_folder())?;
    }
    // Where the file is a link, its target is changed and not the link.
    let path = fs::canonicalize(&file.path).unwrap_or_else(|_| file.path.clone());
    private::write_theirs(&path, file.text.as_bytes())
        .map_err(|source| StoreError::Keep { path, source })
}

/// The result of adding an entry to a text.
enum Added {
    /// The new text.
    Text(String),
    /// The entry was there already.
    There,
    /// The text has a form that nothing can be added to.
    Impossible,
}

fn added(text: &str, rule: &HostRule) -> Added {
    let Ok(mut document) = text.parse::<DocumentMut>() else { return Added::Impossible };
    let network = document.entry("network").or_insert_with(|| Item::Table(Table::new()));
    let hosts = network.as_table_like_mut().and_then(|network| {
        let empty = || Item::Value(Value::Array(Array::new()));
        network.entry("hosts").or_insert_with(empty).as_array_mut()
    });
    let Some(hosts) = hosts else { return Added::Impossible };
    let entry = rule.to_string();
    if hosts.iter().any(|one| one.as_str() == Some(&entry)) {
        return Added::There;
    }
    hosts.push(entry);
    Added::Text(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::{Opinion, Patterns, Risk};

    fn keep(before: Option<&str>, rule: &str) -> (Result<bool, String>, String) {
        let root = tempfile::tempdir().unwrap();
        let folders = Folders::under(root.path());
        folders.make_config_folder().unwrap();
        if let Some(text) = before {
            fs_err::write(folders.config_file(), text).unwrap();
        }
        let kept = keep_host(&folders, &rule.parse().unwrap()).map_err(|error| error.to_string());
        let after = fs_err::read_to_string(folders.config_file()).unwrap_or_default();
        (kept, after)
    }

    #[test]
    fn a_host_is_taken_out_and_all_else_stays() {
        let root = tempfile::tempdir().unwrap();
        let folders = Folders::under(root.path());
        assert!(!forget_host(&folders, "a.org").unwrap());
        folders.make_config_folder().unwrap();
        let before =
            "# mine\nmodel = \"openai/x\"\n\n[network]\nhosts = [\"a.org\", \"b.org:443\"]\n";
        fs_err::write(folders.config_file(), before).unwrap();
        for other in ["b.org", "A.org", "a.or", ""] {
            assert!(!forget_host(&folders, other).unwrap(), "{other}");
        }
        assert!(forget_host(&folders, "b.org:443").unwrap());
        let after = fs_err::read_to_string(folders.config_file()).unwrap();
        assert_eq!(after, before.replace(", \"b.org:443\"", ""));
    }

    #[test]
    fn a_host_is_added_and_all_else_stays() {
        let before = "# mine\nmodel = \"openai/x\" # the good one\n\n[network]\nhosts = [\n  \"a.org\", # why\n]\n\n\
                      [limits]\nwall = \"1h\"\n";
        let (kept, after) = keep(Some(before), "files.example.org:443");
        assert_eq!(kept, Ok(true));
        assert!(after.starts_with("# mine\nmodel = \"openai/x\" # the good one\n"), "{after}");
        assert!(after.contains("\"a.org\", # why") || after.contains("\"a.org\""), "{after}");
        assert!(after.contains("# why") && after.contains("\"files.example.org:443\""), "{after}");
        assert!(after.ends_with("[limits]\nwall = \"1h\"\n"), "{after}");
    }

    #[test]
    fn a_file_is_made_where_there_was_none() {
        let (kept, after) = keep(None, "a.org:443");
        assert_eq!(kept, Ok(true));
        assert_eq!(after, "[network]\nhosts = [\"a.org:443\"]\n");
        let (kept, after) = keep(Some("network.ask = true\n"), "a.org:443");
        assert_eq!(kept, Ok(true));
        assert!(
            after.contains("network.hosts = [\"a.org:443\"]") || after.contains("hosts"),
            "{after}"
        );
    }

    #[test]
    fn what_is_there_is_not_added_twice_and_what_is_wrong_is_not_touched() {
        let there = "[network]\nhosts = [\"a.org:443\"]\n";
        assert_eq!(keep(Some(there), "a.org:443"), (Ok(false), there.to_owned()));
        for wrong in ["not toml at all", "network = 3\n", "[network]\nhosts = \"a\"\n"] {
            let (kept, after) = keep(Some(wrong), "a.org:443");
            assert!(kept.unwrap_err().contains("`a.org:443` cannot be added"), "{wrong}");
            assert_eq!(after, wrong);
        }
    }

    #[test]
    fn a_model_is_set_and_all_else_stays() {
        let root = tempfile::tempdir().unwrap();
        let folders = Folders::under(root.path());
        let text = || fs_err::read_to_string(folders.config_file()).unwrap();
        keep_model(&folders, "openai/gpt-x").unwrap();
        assert_eq!(text(), "model = \"openai/gpt-x\"\n");
        keep_model(&folders, "ollama/org/y:1").unwrap();
        assert_eq!(text(), "model = \"ollama/org/y:1\"\n");
        let before = "# mine\noffline = false # for now\n\n# of code\n[network]\nask = true\n";
        fs_err::write(folders.config_file(), before).unwrap();
        keep_model(&folders, "openai/x").unwrap();
        assert!(text().contains("offline = false # for now\nmodel = \"openai/x\"\n"), "{}", text());
        assert!(text().ends_with("\n# of code\n[network]\nask = true\n"), "{}", text());
        fs_err::write(folders.config_file(), "not toml at all").unwrap();
        let error = keep_model(&folders, "openai/x").unwrap_err().to_string();
        assert!(error.contains("`openai/x` cannot be added"), "{error}");
        assert_eq!(text(), "not toml at all");
    }

    #[test]
    fn a_rule_is_added_once_and_removed_again_and_nothing_else_changes() {
        let root = tempfile::tempdir().unwrap();
        let folders = Folders::under(root.path());
        folders.make_config_folder().unwrap();
        let before = "# mine\nmodel = \"openai/x\"\n\n[[rule]] # careful\ndecision = \"deny\"\n\
                      line = \"rm *\"\n";
        fs_err::write(folders.config_file(), before).unwrap();
        let text = || fs_err::read_to_string(folders.config_file()).unwrap();
        let rule = Rule {
            language: Some(Patterns::one("python")),
            finding: Patterns::new(vec!["reads".into(), "starts".into()]).ok(),
            program: Some(Patterns::one("ls")),
            risk: Some(Risk::Medium),
            ..Rule::of(Opinion::Allow)
        };
        assert!(keep_rule(&folders, &rule).unwrap() && !keep_rule(&folders, &rule).unwrap());
        assert!(text().starts_with(before), "{}", text());
        assert!(
            text().contains("[[rule]]\ndecision = \"allow\"\nfinding = [\"reads\", \"starts\"]\n"),
            "{}",
            text()
        );
        assert!(remove_rule(&folders, 1).unwrap() && !remove_rule(&folders, 1).unwrap());
        assert_eq!(text().trim_end(), before.trim_end());
        assert!(remove_rule(&folders, 0).unwrap());
        assert!(!text().contains("rule"), "{}", text());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_the_file_as_private_as_it_was() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().unwrap();
        let folders = Folders::under(&root.path().join("home"));
        folders.make_config_folder().unwrap();
        let real = root.path().join("dotfiles.toml");
        fs_err::write(&real, "").unwrap();
        fs_err::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, folders.config_file()).unwrap();
        assert!(keep_host(&folders, &"a.org:443".parse().unwrap()).unwrap());
        assert!(fs_err::symlink_metadata(folders.config_file()).unwrap().is_symlink());
        assert!(fs_err::read_to_string(&real).unwrap().contains("a.org:443"));
        assert_eq!(fs_err::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
