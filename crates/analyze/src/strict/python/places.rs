//! Calls that count because a finding names what they read or write: the finding must know it.
//!
//! The rules look at the first argument. So it must stand there, with few others in their places;
//! and where a call reads addresses as well as files, it must be seen to be a file.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "whatever else an expression is, it isn't known to be a file"
)]

use super::{StrictWalk, texts};
use ruff_python_ast::{Expr, ExprCall, Operator};
use ruff_text_size::Ranged;

/// Named arguments that say which file it is, out of the place where the rules look, or more.
const PLACES: &str = "source path_or_buf path_or_buffer filepath_or_buffer io path file filename fname fp dst \
    src dir root_dir base_dir uri factory database auto_open mode_ engine_kwargs fsspec_options \
    credential_provider extract_dir filter converters hive_schema";

/// Calls that take an address in place of a file.
const ADDRESSED: [&str; 5] =
    ["pandas.read_", "polars.read_", "polars.scan_", "pandas.ExcelFile", "numpy.genfromtxt"];

/// How many arguments a call may be given by their places.
fn most_positional(name: &str) -> usize {
    match name {
        "open" | "io.open" | "gzip.open" | "bz2.open" | "lzma.open" | "codecs.open" => 4,
        "numpy.savez"
        | "numpy.savez_compressed"
        | "tempfile.mkdtemp"
        | "tempfile.mkstemp"
        | "shutil.make_archive"
        | "numpy.savetxt"
        | "matplotlib.pyplot.imsave"
        | "touch" => 3,
        "numpy.save"
        | "numpy.loadtxt"
        | "pandas.read_excel"
        | "pandas.read_csv"
        | "json.dump"
        | "zipfile.ZipFile"
        | "tarfile.open"
        | "write_text"
        | "save"
        | "to_excel"
        | "extractall"
        | "logging.FileHandler" => 2,
        "iterdir" | "rmdir" | "tempfile.TemporaryDirectory" | "tempfile.NamedTemporaryFile" => 0,
        name if name.starts_with("os.") || name.starts_with("shutil.") => 2,
        _ => 1,
    }
}

impl<'a> StrictWalk<'_, 'a> {
    /// A call that the lenient walk finds: by its name, with its arguments in their places.
    pub(super) fn found(&mut self, name: &str, call: &'a ExprCall) {
        let is_spread = call.arguments.args.iter().any(Expr::is_starred_expr)
            || call.arguments.keywords.iter().any(|keyword| keyword.arg.is_none());
        let has_place = call.arguments.keywords.iter().any(|keyword| {
            keyword
                .arg
                .as_deref()
                .is_some_and(|name| PLACES.split_ascii_whitespace().any(|place| place == name))
        });
        let is_archive = super::special::is_archive(name) && !super::special::only_reads(call);
        let may_reach = (ADDRESSED.iter().any(|start| name.starts_with(start))
            || matches!(name, "numpy.loadtxt" | "matplotlib.pyplot.imread"))
            && !call.arguments.args.first().is_some_and(|one| self.is_local(one, 0));
        if is_spread
            || has_place
            || is_archive
            || may_reach
            || call.arguments.args.len() > most_positional(name)
            || (name.ends_with("savefig") && !is_plain_picture(call))
        {
            self.unknown(name, call.range());
        }
        self.arguments(call, false);
    }

    /// Whether an expression is a file, its name or its text, and can't be an address.
    fn is_local(&self, expression: &Expr, depth: usize) -> bool {
        if depth > 4 {
            return false;
        }
        let inner = |one: &Expr| self.is_local(one, depth + 1);
        match expression {
            Expr::StringLiteral(_) | Expr::FString(_) => texts::is_local_text(expression),
            Expr::List(list) => !list.elts.is_empty() && list.elts.iter().all(inner),
            // `Path('a') / name`, `'data/' + name`.
            Expr::BinOp(one) if one.op == Operator::Div => !self.is_own("__truediv__"),
            Expr::BinOp(one) => {
                texts::literal(&one.left).is_some_and(|text| texts::begins_a_path(&text))
                    || (one.left.is_f_string_expr() && inner(&one.left))
            }
            Expr::Name(name) => {
                let name = name.id.as_str();
                self.is_of_files(name)
                    || self.bound.all_values(name, inner)
                    || (!self.bound.sets(name) && self.past.locals.contains(name))
            }
            Expr::Call(call) => self.is_local_call(call, depth),
            Expr::Subscript(subscript) => is_of_glob(self, &subscript.value),
            _ => false,
        }
    }

    /// Whether a name is taken from a list of files that was found, or is an open file.
    fn is_of_files(&self, name: &str) -> bool {
        let is_open = |one: &Expr| {
            one.as_call_expr().is_some_and(|call| match &*call.func {
                Expr::Name(name) => name.id == "open" && !self.bound.sets("open"),
                Expr::Attribute(attribute) => attribute.attr.as_str() == "open",
                _ => false,
            })
        };
        let sources = self.bound.sources(name);
        sources.is_some_and(|all| all.iter().all(|one| is_open(one) || is_of_glob(self, one)))
    }

    fn is_local_call(&self, call: &ExprCall, depth: usize) -> bool {
        if let Some(path) = self.path_of(&call.func) {
            let first = call.arguments.args.first();
            return match path.as_str() {
                "io.StringIO"
                | "io.BytesIO"
                | "pathlib.Path"
                | "os.getcwd"
                | "os.path.abspath"
                | "os.path.expanduser"
                | "tempfile.gettempdir" => true,
                "os.path.join" => first.is_some_and(|one| self.is_local(one, depth + 1)),
                _ => false,
            };
        }
        match &*call.func {
            Expr::Attribute(attribute) => {
                let name = attribute.attr.as_str();
                matches!(name, "joinpath" | "with_suffix" | "with_name") && !self.is_own(name)
            }
            Expr::Name(name) => {
                matches!(name.id.as_str(), "sorted" | "max" | "min" | "open")
                    && self.is_untouched(&name.id)
                    && call.arguments.args.first().is_some_and(|one| is_of_glob(self, one))
            }
            _ => false,
        }
    }
}

/// Whether an expression is a list of files that a pattern which stands in the code has found.
fn is_of_glob(walk: &StrictWalk<'_, '_>, expression: &Expr) -> bool {
    match expression {
        Expr::Call(call) => {
            if let Some(path) = walk.path_of(&call.func) {
                return matches!(path.as_str(), "glob.glob" | "glob.iglob");
            }
            match &*call.func {
                Expr::Attribute(attribute) => {
                    let name = attribute.attr.as_str();
                    matches!(name, "glob" | "rglob" | "iterdir") && !walk.is_own(name)
                }
                Expr::Name(name) => {
                    matches!(name.id.as_str(), "sorted" | "list" | "reversed")
                        && walk.is_untouched(&name.id)
                        && call.arguments.args.first().is_some_and(|one| is_of_glob(walk, one))
                }
                _ => false,
            }
        }
        Expr::Name(name) => {
            walk.bound.all_values(&name.id, |one| one.is_call_expr() && is_of_glob(walk, one))
        }
        _ => false,
    }
}

/// Whether a figure is saved as a picture: some formats start a program.
fn is_plain_picture(call: &ExprCall) -> bool {
    let is_plain = |text: &str| {
        let end = text.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        !matches!(end.as_str(), "pgf" | "ps" | "eps")
    };
    let format = call.arguments.find_keyword("format");
    format.is_none_or(|one| texts::literal(&one.value).is_some_and(|text| is_plain(&text)))
        && call.arguments.args.first().is_none_or(|one| match one {
            Expr::StringLiteral(text) => is_plain(text.value.to_str()),
            Expr::FString(text) => {
                let last = text.value.elements().last();
                last.is_some_and(|one| {
                    one.as_literal()
                        .is_some_and(|one| one.value.contains('.') && is_plain(&one.value))
                })
            }
            _ => true,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_of_addresses() {
        for text in ["data/", "./x", "sales_", "a b", "../", "/tmp/x", "2024-"] {
            assert!(texts::begins_a_path(text), "{text}");
        }
        for text in ["", "http", "http:", "http://", "s3", "file-x", "HTTPS:/"] {
            assert!(!texts::begins_a_path(text), "{text}");
        }
    }
}
