//! Calls that are harmless only with some arguments: each with its own check.
//!
//! A check may only say no: whatever it doesn't know is not understood.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "whatever else an argument is, it isn't known to be harmless"
)]

use super::{Kind, StrictWalk, texts};
use crate::strict::{names::PythonNames, shell};
use ruff_python_ast::{Expr, ExprCall, ExprContext, ExprSubscript, Identifier};
use ruff_text_size::Ranged;

/// Named arguments by which a harmless call loads or starts something, whichever call it is.
pub(super) const REFUSED_KEYWORDS: [&str; 29] = [
    "fromfile_prefix_chars",
    "extra_args",
    "formula",
    "auto_open",
    "show_plot",
    "image_path",
    "extensions",
    "url",
    "cls_",
    "writer",
    "backend",
    "renderer",
    "usetex",
    "shell",
    "executable",
    "preexec_fn",
    "allow_pickle",
    "memory",
    "eval_str",
    "cache_dir",
    "plugin",
    "loader",
    "storage_options",
    "trust_remote_code",
    "opener",
    "Loader",
    "input",
    "env",
    "protocol",
];

/// Named arguments that take a function or the name of one.
pub(super) const FUNCTION_KEYWORDS: [&str; 2] = ["aggfunc", "func"];

/// Calls of modules with a check of their own.
const CALLS: [&str; 62] = [
    // Classes are made of these; what calls one may make a class of any names.
    "abc.ABCMeta",
    "enum.Enum",
    "enum.IntEnum",
    "enum.StrEnum",
    "enum.Flag",
    "enum.IntFlag",
    "typing.TypedDict",
    "typing.NamedTuple",
    "dataclasses.dataclass",
    "functools.wraps",
    "pandas.NamedAgg",
    "IPython.display.HTML",
    "subprocess.run",
    "subprocess.check_output",
    "subprocess.call",
    "subprocess.check_call",
    "requests.get",
    "requests.post",
    "requests.put",
    "requests.patch",
    "requests.delete",
    "requests.head",
    "httpx.get",
    "httpx.post",
    "urllib.request.urlopen",
    "logging.basicConfig",
    "matplotlib.use",
    "matplotlib.style.use",
    "matplotlib.style.context",
    "matplotlib.pyplot.style.use",
    "matplotlib.pyplot.style.context",
    "matplotlib.pyplot.switch_backend",
    "matplotlib.rcParams",
    "matplotlib.pyplot.rcParams",
    "matplotlib.pyplot.rc",
    "matplotlib.rc",
    "matplotlib.pyplot.rc_context",
    "seaborn.set",
    "seaborn.set_theme",
    "seaborn.set_style",
    "seaborn.set_context",
    "pandas.set_option",
    "pandas.option_context",
    "pandas.reset_option",
    "pandas.options",
    "pandas.read_sql",
    "pandas.read_sql_query",
    "os.environ",
    "operator.attrgetter",
    "operator.methodcaller",
    "statsmodels.formula.api.ols",
    "statsmodels.formula.api.logit",
    "statsmodels.formula.api.glm",
    "statsmodels.formula.api.poisson",
    "statsmodels.formula.api.mixedlm",
    "statsmodels.formula.api.probit",
    "statsmodels.formula.api.gls",
    "statsmodels.formula.api.wls",
    "statsmodels.formula.api.quantreg",
    "statsmodels.formula.api.rlm",
    "statsmodels.formula.api.mnlogit",
    "statsmodels.formula.api.negativebinomial",
];

/// Names of modules with checks that are harmless by themselves.
const PLAIN: [&str; 14] = [
    "subprocess.PIPE",
    "subprocess.DEVNULL",
    "subprocess.STDOUT",
    "subprocess.CalledProcessError",
    "subprocess.TimeoutExpired",
    "subprocess.CompletedProcess",
    "requests.exceptions",
    "requests.RequestException",
    "requests.HTTPError",
    "requests.Timeout",
    "requests.ConnectionError",
    "matplotlib.style.available",
    "matplotlib.pyplot.style.available",
    "httpx.HTTPError",
];

/// The kind of thing that a dotted path stands for.
pub(super) fn path(names: &PythonNames, path: &str) -> Option<Kind> {
    if let Some(module) = names.module(path) {
        return Some(Kind::Module(module));
    }
    if let Some(found) = names.found(path) {
        return Some(Kind::Found(found));
    }
    if let Some(special) = CALLS.iter().find(|call| **call == path) {
        return Some(Kind::Special(special));
    }
    if PLAIN.contains(&path) {
        return Some(Kind::Value);
    }
    let (module, name) = path.rsplit_once('.')?;
    let module = names.module(module)?;
    if name == "__version__" {
        return Some(Kind::Value);
    }
    names.is_plain(module, name).then_some(Kind::Value)
}

/// An attribute of something with a check.
pub(super) fn member(outer: &'static str, name: &str) -> Option<Kind> {
    Some(match (outer, name) {
        ("os.environ", "get") => Kind::Found("os.environ.get"),
        ("pandas.options", "display") => Kind::Special("pandas.options.display"),
        ("pandas.options", "mode") => Kind::Special("pandas.options.mode"),
        ("pandas.options.display" | "pandas.options.mode", name) if !name.starts_with('_') => {
            Kind::Value
        }
        ("matplotlib.rcParams" | "matplotlib.pyplot.rcParams", "update") => {
            Kind::Special("rcParams.update")
        }
        _ => return None,
    })
}

/// Whether attributes of it may be set.
pub(super) fn may_set(outer: &str) -> bool {
    matches!(outer, "pandas.options.display" | "pandas.options.mode")
}

/// Whether an item of it may be read or set.
pub(super) fn may_index(name: &str, subscript: &ExprSubscript) -> bool {
    let key = texts::literal(&subscript.slice);
    match name {
        "os.environ" => subscript.ctx == ExprContext::Load && key.is_some(),
        "type" => true,
        "matplotlib.rcParams" | "matplotlib.pyplot.rcParams" => {
            key.is_some_and(|key| is_plain_setting(&key))
        }
        _ => false,
    }
}

/// Whether a setting of Matplotlib is about looks: others name programs and modules.
fn is_plain_setting(key: &str) -> bool {
    let refused =
        ["animation", "backend", "text.usetex", "text.latex", "pgf", "webagg", "datapath"];
    !refused.iter().any(|start| key.starts_with(start))
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_')
}

/// Whether a call opens an archive, which its mode may write.
pub(super) fn is_archive(name: &str) -> bool {
    matches!(name, "zipfile.ZipFile" | "tarfile.open")
}

/// Whether a file is opened for reading, by a mode that stands in the code.
pub(super) fn only_reads(call: &ExprCall) -> bool {
    argument(call, 1, "mode").is_none_or(|mode| {
        texts::literal(mode).is_some_and(|mode| mode.starts_with('r') && !mode.contains('+'))
    })
}

/// Whether a name is one that a column has and hardly anything else: what it is taken from is one.
pub(super) fn is_of_columns(name: &str) -> bool {
    matches!(
        name,
        "value_counts"
            | "str"
            | "dt"
            | "fillna"
            | "isna"
            | "notna"
            | "isnull"
            | "notnull"
            | "isin"
            | "map"
            | "astype"
            | "unique"
            | "nunique"
            | "cat"
            | "between"
            | "shift"
            | "rolling"
            | "cumsum"
            | "mean"
            | "median"
            | "std"
            | "var"
            | "quantile"
            | "describe"
            | "hist"
            | "sum"
            | "min"
            | "max"
    )
}

/// Attributes of values whose harm depends on how they are called.
pub(super) fn depends(name: &str) -> bool {
    matches!(
        name,
        "format"
            | "agg"
            | "aggregate"
            | "transform"
            | "apply"
            | "query"
            | "eval"
            | "replace"
            | "rename"
            | "copy"
            | "execute"
            | "executemany"
            | "executescript"
            | "show"
            | "write"
            | "to_string"
            | "extract"
            | "open"
            | "update"
    )
}

/// Whether such a name is harmless to hand on if the session has none of the values that matter.
pub(super) fn is_plain_without(name: &str) -> bool {
    matches!(name, "replace" | "rename" | "copy" | "update")
}

pub(super) fn argument<'a>(call: &'a ExprCall, at: usize, name: &str) -> Option<&'a Expr> {
    call.arguments.find_argument_value(name, at)
}

fn is_spread(call: &ExprCall) -> bool {
    call.arguments.args.iter().any(Expr::is_starred_expr)
        || call.arguments.keywords.iter().any(|keyword| keyword.arg.is_none())
}

/// Whether only these named arguments are given.
fn only(call: &ExprCall, names: &[&str]) -> bool {
    call.arguments
        .keywords
        .iter()
        .all(|keyword| keyword.arg.as_ref().is_some_and(|name| names.contains(&name.as_str())))
}

impl<'a> StrictWalk<'_, 'a> {
    /// A call of a method that depends on its arguments.
    pub(super) fn dependent(&mut self, name: &str, of: &'a Expr, call: &'a ExprCall) {
        let positional = call.arguments.args.len();
        let first = call.arguments.args.first();
        let has_path = self.has("pathlib");
        let is_plain = match name {
            "format" => self.is_plain_format(of, call),
            "agg" | "aggregate" | "transform" | "apply" => self.is_plain_aggregate(call),
            "query" | "eval" => {
                positional == 1
                    && only(call, &["inplace"])
                    && first
                        .and_then(texts::literal)
                        .is_some_and(|text| texts::is_plain_query(&text, name == "eval"))
            }
            // A path would be moved.
            "replace" => {
                !has_path
                    || positional >= 2
                    || positional == 0
                    || first.is_some_and(Expr::is_dict_expr)
            }
            "rename" | "copy" => !has_path || positional == 0,
            "open" => {
                call.arguments.args.len() <= 1
                    && only(call, &["encoding", "errors", "newline"])
                    && first.is_none_or(|mode| {
                        texts::literal(mode)
                            .is_some_and(|mode| matches!(mode.as_str(), "r" | "rt" | "rb"))
                    })
            }
            // A tree of XML would be written to a file.
            "write" => !self.has("xml"),
            // A table would be written to a file.
            "to_string" => positional == 0 && call.arguments.find_keyword("buf").is_none(),
            "extract" => !self.has("archives"),
            // A picture would be given to a program, a figure to the one that is named.
            "show" => !self.has("PIL") && positional == 0,
            // Settings of a text in a figure.
            "update" => {
                !self.has("figures")
                    || (positional <= 1 && first.is_none_or(|one| self.spreads_plain(one)))
            }
            "execute" | "executemany" | "executescript" => {
                self.texts(first).is_some_and(|all| all.iter().all(|one| texts::is_plain_sql(one)))
            }
            _ => false,
        };
        let may_spread = matches!(name, "apply" | "format" | "show" | "write");
        if !is_plain || (is_spread(call) && !may_spread) {
            self.unknown(&format!(".{name}"), call.func.range());
        }
        self.arguments(call, matches!(name, "format"));
    }

    /// The texts that an argument may be, if all of them stand in the code.
    fn texts(&self, argument: Option<&Expr>) -> Option<Vec<String>> {
        let argument = argument?;
        if let Some(text) = texts::literal(argument) {
            return Some(vec![text]);
        }
        let name = argument.as_name_expr()?.id.as_str();
        self.bound.values(name)?.iter().map(|one| texts::literal(one)).collect()
    }

    fn is_plain_format(&self, of: &Expr, call: &ExprCall) -> bool {
        if let Some(all) = self.texts(Some(of)) {
            return all.iter().all(|one| texts::is_plain_template(one));
        }
        // Formats of a styled table.
        let is_style = |one: &Expr| match one {
            Expr::Attribute(attribute) => attribute.attr.as_str() == "style",
            Expr::Call(call) => call.func.as_attribute_expr().is_some_and(|one| {
                matches!(
                    one.attr.as_str(),
                    "background_gradient"
                        | "highlight_max"
                        | "highlight_min"
                        | "bar"
                        | "hide"
                        | "set_caption"
                        | "set_properties"
                )
            }),
            _ => false,
        };
        let plain = |one: &Expr| match one {
            Expr::Dict(dict) => dict.items.iter().all(|item| {
                item.value.is_lambda_expr()
                    || texts::literal(&item.value)
                        .is_some_and(|text| texts::is_plain_template(&text))
            }),
            other => {
                other.is_number_literal_expr()
                    || other.is_lambda_expr()
                    || texts::literal(other).is_some_and(|text| texts::is_plain_template(&text))
            }
        };
        is_style(of)
            && call.arguments.args.iter().all(plain)
            && call.arguments.keywords.iter().all(|keyword| {
                let name = keyword.arg.as_ref().map(Identifier::as_str);
                matches!(name, Some("precision" | "na_rep" | "thousands" | "decimal" | "subset"))
                    || plain(&keyword.value)
            })
    }

    /// A call with a check of its own.
    pub(super) fn special(&mut self, name: &'static str, call: &'a ExprCall) {
        let is_plain = !is_spread(call) && self.is_plain_call(name, call);
        if !is_plain {
            self.unknown(name, call.range());
        }
        let (is_own, arguments) = (matches!(name, "getattr" | "setattr"), &call.arguments);
        if name.starts_with("subprocess.") {
            // Its words were looked at; the rest are values.
            arguments.keywords.iter().for_each(|keyword| self.value(&keyword.value));
            arguments.args.iter().for_each(|one| self.value(one));
            return;
        }
        if is_own {
            // The first may be a module, of which a literal name is taken.
            arguments.args.iter().skip(1).for_each(|one| self.value(one));
            return;
        }
        self.arguments(call, false);
    }

    fn is_plain_call(&mut self, name: &'static str, call: &'a ExprCall) -> bool {
        let first = argument(call, 0, "_");
        let literal = |one: Option<&Expr>| one.and_then(texts::literal);
        match name {
            "getattr" | "setattr" => self.is_plain_getattr(name, call),
            // With more it makes a class, whose parts may be of any names.
            "type" => call.arguments.args.len() == 1 && call.arguments.keywords.is_empty(),
            "operator.attrgetter" => call.arguments.args.iter().all(|one| {
                texts::literal(one).is_some_and(|text| {
                    text.split('.').all(|part| self.names.is_method(part) && !depends(part))
                })
            }),
            "pandas.NamedAgg" => {
                argument(call, 1, "aggfunc").is_some_and(|one| self.is_function(one))
            }
            // A text that begins like an address would be fetched.
            "IPython.display.HTML" => self.is_plain_markup(call),
            "operator.methodcaller" => {
                literal(first).is_some_and(|text| self.names.is_method(&text) && !depends(&text))
            }
            "subprocess.run"
            | "subprocess.check_output"
            | "subprocess.call"
            | "subprocess.check_call" => is_plain_start(call),
            "logging.basicConfig" => {
                call.arguments.args.is_empty()
                    && only(
                        call,
                        &[
                            "level", "format", "datefmt", "force", "stream", "filename",
                            "filemode", "handlers", "encoding",
                        ],
                    )
            }
            name if name.starts_with("matplotlib.")
                || name.starts_with("seaborn.")
                || name == "rcParams.update" =>
            {
                is_plain_drawing(name, call)
            }
            "pandas.set_option" | "pandas.option_context" | "pandas.reset_option" => {
                call.arguments.args.iter().step_by(2).all(|key| {
                    texts::literal(key).is_some_and(|key| {
                        key.starts_with("display.")
                            || key.starts_with("mode.")
                            || matches!(key.as_str(), "max_rows" | "max_columns" | "precision")
                    })
                }) && call.arguments.keywords.is_empty()
            }
            "pandas.read_sql" | "pandas.read_sql_query" => {
                let text = argument(call, 0, "sql");
                self.texts(text).is_some_and(|all| {
                    all.iter().all(|one| texts::is_plain_sql(one) && !one.contains("://"))
                }) && argument(call, 1, "con").is_some_and(|one| !one.is_string_literal_expr())
            }
            name if name.starts_with("statsmodels.formula.api.") => {
                let formula = argument(call, 0, "formula");
                let groups = ["re_formula", "vc_formula"];
                let has_more = groups.iter().any(|name| argument(call, 9, name).is_some());
                !has_more
                    && self
                        .texts(formula)
                        .is_some_and(|all| all.iter().all(|one| texts::is_plain_formula(one)))
            }
            name if name.starts_with("requests.")
                || name.starts_with("httpx.")
                || name == "urllib.request.urlopen" =>
            {
                is_plain_address(argument(call, 0, "url"))
                    && only(call, &["url", "params", "json", "data", "headers", "timeout"])
            }
            _ => false,
        }
    }

    /// Whether a page that is shown stands in the code, or is made of a table.
    fn is_plain_markup(&self, call: &ExprCall) -> bool {
        let is_made = |call: &ExprCall| {
            call.func
                .as_attribute_expr()
                .is_some_and(|made| matches!(made.attr.as_str(), "to_html" | "render"))
        };
        let is_tag = |text: &str| text.trim_start().starts_with('<');
        call.arguments.keywords.is_empty()
            && call.arguments.args.first().is_some_and(|one| match one {
                Expr::Call(call) => is_made(call),
                Expr::FString(text) => {
                    let first = text.value.elements().next().and_then(|one| one.as_literal());
                    first.is_some_and(|one| is_tag(&one.value))
                }
                one => self.texts(Some(one)).is_some_and(|all| all.iter().all(|one| is_tag(one))),
            })
    }

    fn is_plain_getattr(&mut self, name: &str, call: &'a ExprCall) -> bool {
        let [of, attribute, ..] = &*call.arguments.args else { return false };
        let Some(text) = texts::literal(attribute) else { return false };
        match self.expression(of) {
            Kind::Value if name == "getattr" => self.may_take(of, &text),
            Kind::Value => !text.starts_with('_') && !matches!(text.as_str(), "backend" | "usetex"),
            Kind::Module(module) if name == "getattr" => {
                path(self.names, &format!("{module}.{text}")) == Some(Kind::Value)
            }
            _ => false,
        }
    }
}

/// Whether a setting of a library that draws is about looks alone.
fn is_plain_drawing(name: &str, call: &ExprCall) -> bool {
    let first = argument(call, 0, "_");
    let literal = |one: Option<&Expr>| one.and_then(texts::literal);
    match name {
        "matplotlib.use" | "matplotlib.pyplot.switch_backend" => {
            literal(first).is_some_and(|text| {
                matches!(text.to_ascii_lowercase().as_str(), "agg" | "svg" | "pdf" | "ps")
            }) && only(call, &["force"])
        }
        "matplotlib.style.use"
        | "matplotlib.style.context"
        | "matplotlib.pyplot.style.use"
        | "matplotlib.pyplot.style.context" => {
            let plain = |one: &Expr| {
                texts::literal(one).is_some_and(|text| {
                    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
                })
            };
            first.is_some_and(|one| match one {
                Expr::List(list) => list.elts.iter().all(plain),
                one => plain(one),
            }) && call.arguments.keywords.is_empty()
        }
        "matplotlib.pyplot.rc" | "matplotlib.rc" => {
            matches!(
                literal(first).as_deref(),
                Some("axes" | "font" | "lines" | "figure" | "xtick" | "ytick" | "legend" | "grid")
            )
        }
        "rcParams.update" | "matplotlib.pyplot.rc_context" => {
            first.is_some_and(has_plain_settings) && call.arguments.keywords.is_empty()
        }
        "seaborn.set" | "seaborn.set_theme" | "seaborn.set_style" | "seaborn.set_context" => {
            let is_text = |one: &Expr| one.is_literal_expr() || has_plain_settings(one);
            call.arguments.args.iter().all(is_text)
                && argument(call, 9, "rc").is_none_or(has_plain_settings)
        }
        _ => false,
    }
}

fn has_plain_settings(settings: &Expr) -> bool {
    settings.as_dict_expr().is_some_and(|dict| {
        dict.items.iter().all(|item| {
            let key = item.key.as_ref().and_then(texts::literal);
            key.is_some_and(|key| is_plain_setting(&key))
        })
    })
}

/// Whether an address stands in the code as far as its host goes.
fn is_plain_address(address: Option<&Expr>) -> bool {
    let text = match address {
        Some(Expr::StringLiteral(text)) => format!("{}/", text.value.to_str()),
        Some(Expr::FString(text)) => {
            let first = text.value.elements().next();
            first
                .and_then(|one| one.as_literal())
                .map(|one| one.value.to_string())
                .unwrap_or_default()
        }
        _ => return false,
    };
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.and_then(|rest| rest.split_once('/')).is_some_and(|(host, _)| {
        !host.is_empty()
            && host.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-' || c == ':')
    })
}

/// Whether a program is started by words that stand in the code, and those are understood.
fn is_plain_start(call: &ExprCall) -> bool {
    let Some(Expr::List(words)) = argument(call, 0, "args") else { return false };
    let words: Option<Vec<String>> = words.elts.iter().map(texts::literal).collect();
    words.is_some_and(|words| shell::is_plain_command(&words))
        && only(
            call,
            &[
                "args",
                "capture_output",
                "text",
                "check",
                "timeout",
                "encoding",
                "stdout",
                "stderr",
                "errors",
                "universal_newlines",
            ],
        )
}
