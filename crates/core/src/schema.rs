//! JSON Schema, as far as an answer of a model is checked by it.
//!
//! Knows the keywords that describe the shape of data. A schema with any other keyword is refused,
//! and not checked in part: whoever reads the answer relies on all of it. Annotations such as `title`
//! and `format` describe and do not check, as the specification has it.

use serde_json::{Map, Value};
use std::fmt::Write;

/// How deep schemas and answers may be nested.
const DEPTH: usize = 64;

/// Faults that are listed.
const LISTED: usize = 5;

/// Keywords that check something here.
const CHECKS: &[&str] = &[
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "not",
    "oneOf",
    "properties",
    "required",
    "type",
    "uniqueItems",
];

/// Keywords that say something and check nothing.
const ANNOTATIONS: &[&str] = &[
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "format",
    "readOnly",
    "title",
    "writeOnly",
];

/// The types of JSON, by their names.
const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];

/// A schema that is understood as a whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    root: Value,
}

impl Schema {
    /// Reads a schema.
    ///
    /// # Errors
    /// If it is no JSON, or says something that is not checked here.
    pub fn parse(text: &str) -> Result<Self, String> {
        let root: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let schema = Self { root };
        schema.understood(&schema.root, "", DEPTH)?;
        for (name, one) in schema.definitions() {
            schema.understood(one, &format!("/$defs/{name}"), DEPTH)?;
        }
        Ok(schema)
    }

    /// The request for a model to answer by it.
    pub fn request(&self) -> String {
        format!(
            "[Answer with JSON alone, without any other text, that fits this JSON Schema:\n{}]",
            self.root
        )
    }

    /// The JSON of an answer, if it fits.
    ///
    /// # Errors
    /// The faults, in words for the model.
    pub fn check(&self, answer: &str) -> Result<Value, String> {
        let Some(json) = json_in(answer) else {
            return Err("it is not JSON".into());
        };
        let mut faults = Vec::new();
        self.fits(&self.root, &json, "", DEPTH, &mut faults);
        if faults.is_empty() {
            return Ok(json);
        }
        let mut words = faults[..faults.len().min(LISTED)].join("; ");
        if faults.len() > LISTED {
            // Writing to a string cannot fail.
            _ = write!(words, "; and {} more", faults.len() - LISTED);
        }
        Err(words)
    }

    fn definitions(&self) -> impl Iterator<Item = (&String, &Value)> {
        let named = ["$defs", "definitions"].into_iter().filter_map(|name| self.root.get(name));
        named.filter_map(Value::as_object).flatten()
    }

    /// The schema that a `$ref` means: the whole, or one of its definitions.
    fn target(&self, reference: &str) -> Option<&Value> {
        let path = reference.strip_prefix('#')?;
        if path.is_empty() {
            return Some(&self.root);
        }
        let named = path.strip_prefix("/$defs/").or_else(|| path.strip_prefix("/definitions/"))?;
        self.definitions().find(|(name, _)| *name == named).map(|(_, schema)| schema)
    }

    /// Whether all of a schema is understood.
    fn understood(&self, schema: &Value, at: &str, depth: usize) -> Result<(), String> {
        let place = |what: &str| format!("{what} (at #{at})");
        let Some(depth) = depth.checked_sub(1) else {
            return Err(place("it is nested too deeply"));
        };
        let Value::Object(keywords) = schema else {
            let is_fine = schema.is_boolean();
            return is_fine
                .then_some(())
                .ok_or_else(|| place("a schema is an object, true or false"));
        };
        for (keyword, value) in keywords {
            let wrong = || Err(place(&format!("`{keyword}` has a value of another type")));
            let known = CHECKS.contains(&keyword.as_str());
            if !known && !ANNOTATIONS.contains(&keyword.as_str()) {
                return Err(place(&format!("the keyword `{keyword}` is not supported")));
            }
            if !has_form(keyword, value) {
                return wrong();
            }
            match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) if self.target(reference).is_none() => {
                    return Err(place(&format!("`{reference}` leads nowhere")));
                }
                ("type", Value::String(name)) if !TYPES.contains(&name.as_str()) => return wrong(),
                ("type", Value::Array(names)) => {
                    let all = names
                        .iter()
                        .all(|one| one.as_str().is_some_and(|one| TYPES.contains(&one)));
                    if !all {
                        return wrong();
                    }
                }
                ("allOf" | "anyOf" | "oneOf", Value::Array(all)) => {
                    for one in all {
                        self.understood(one, &format!("{at}/{keyword}"), depth)?;
                    }
                }
                ("items" | "additionalProperties" | "not", one) => {
                    self.understood(one, &format!("{at}/{keyword}"), depth)?;
                }
                ("properties", Value::Object(all)) => {
                    for (name, one) in all {
                        self.understood(one, &format!("{at}/properties/{name}"), depth)?;
                    }
                }
                ("required", Value::Array(all)) if !all.iter().all(Value::is_string) => {
                    return wrong();
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Notes where a value does not fit a schema.
    fn fits(
        &self,
        schema: &Value,
        value: &Value,
        at: &str,
        depth: usize,
        faults: &mut Vec<String>,
    ) {
        let Some(depth) = depth.checked_sub(1) else {
            return faults.push(fault(at, "it is nested too deeply"));
        };
        if *schema == Value::Bool(false) {
            return faults.push(fault(at, "nothing is allowed here"));
        }
        let Some(keywords) = schema.as_object() else { return };
        let target = keywords.get("$ref").and_then(Value::as_str);
        if let Some(target) = target.and_then(|target| self.target(target)) {
            self.fits(target, value, at, depth, faults);
        }
        if let Some(wanted) = keywords.get("type")
            && !is_of(value, wanted)
        {
            let words = format!("expected {}, found {}", names(wanted), type_of(value));
            return faults.push(fault(at, &words));
        }
        if let Some(all) = keywords.get("enum").and_then(Value::as_array)
            && !all.contains(value)
        {
            let all: Vec<_> = all.iter().map(Value::to_string).collect();
            faults.push(fault(at, &format!("expected one of {}", all.join(", "))));
        }
        if let Some(only) = keywords.get("const").filter(|only| *only != value) {
            faults.push(fault(at, &format!("expected {only}")));
        }
        self.fits_together(keywords, value, at, depth, faults);
        match value {
            Value::Object(object) => self.fits_object(keywords, object, at, depth, faults),
            Value::Array(items) => self.fits_array(keywords, items, at, depth, faults),
            Value::String(text) => {
                let length = text.chars().count() as u64;
                within(keywords, "minLength", "maxLength", length, "characters", at, faults);
            }
            Value::Number(number) => in_range(keywords, number.as_f64(), at, faults),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn fits_together(
        &self,
        keywords: &Map<String, Value>,
        value: &Value,
        at: &str,
        depth: usize,
        faults: &mut Vec<String>,
    ) {
        let list = |name: &str| keywords.get(name).and_then(Value::as_array);
        let faults_of = |one: &Value| {
            let mut faults = Vec::new();
            self.fits(one, value, at, depth, &mut faults);
            faults
        };
        for one in list("allOf").into_iter().flatten() {
            faults.extend(faults_of(one));
        }
        if let Some(all) = list("anyOf")
            && !all.iter().any(|one| faults_of(one).is_empty())
        {
            faults.push(fault(at, "it fits none of the forms that are allowed"));
        }
        if let Some(all) = list("oneOf") {
            let count = all.iter().filter(|one| faults_of(one).is_empty()).count();
            if count != 1 {
                let words =
                    format!("it must fit one of the forms that are allowed, and fits {count}");
                faults.push(fault(at, &words));
            }
        }
        if keywords.get("not").is_some_and(|one| faults_of(one).is_empty()) {
            faults.push(fault(at, "it has a form that is not allowed"));
        }
    }

    fn fits_object(
        &self,
        keywords: &Map<String, Value>,
        object: &Map<String, Value>,
        at: &str,
        depth: usize,
        faults: &mut Vec<String>,
    ) {
        let known = keywords.get("properties").and_then(Value::as_object);
        let others = keywords.get("additionalProperties");
        for (name, value) in object {
            let at = format!("{at}/{name}");
            match known.and_then(|known| known.get(name)).or(others) {
                Some(Value::Bool(false)) => faults.push(fault(&at, "it is not a known name")),
                Some(schema) => self.fits(schema, value, &at, depth, faults),
                None => {}
            }
        }
        let required = keywords.get("required").and_then(Value::as_array).into_iter().flatten();
        for name in required.filter_map(Value::as_str).filter(|name| !object.contains_key(*name)) {
            faults.push(fault(at, &format!("`{name}` is missing")));
        }
    }

    fn fits_array(
        &self,
        keywords: &Map<String, Value>,
        items: &[Value],
        at: &str,
        depth: usize,
        faults: &mut Vec<String>,
    ) {
        within(keywords, "minItems", "maxItems", items.len() as u64, "items", at, faults);
        if let Some(schema) = keywords.get("items") {
            for (index, item) in items.iter().enumerate() {
                self.fits(schema, item, &format!("{at}/{index}"), depth, faults);
            }
        }
        let unique = keywords.get("uniqueItems") == Some(&Value::Bool(true));
        let mut seen = std::collections::BTreeSet::new();
        if unique && !items.iter().all(|item| seen.insert(item.to_string())) {
            faults.push(fault(at, "an item is there twice"));
        }
    }
}

/// Whether the value of a keyword has the form that it must have.
fn has_form(keyword: &str, value: &Value) -> bool {
    match keyword {
        "$ref" => value.is_string(),
        "allOf" | "anyOf" | "enum" | "oneOf" | "required" => value.is_array(),
        "properties" => value.is_object(),
        "type" => value.is_string() || value.is_array(),
        "maxItems" | "maxLength" | "minItems" | "minLength" => value.is_u64(),
        "uniqueItems" => value.is_boolean(),
        "exclusiveMaximum" | "exclusiveMinimum" | "maximum" | "minimum" => value.is_number(),
        _ => true,
    }
}

fn fault(at: &str, what: &str) -> String {
    if at.is_empty() { what.to_owned() } else { format!("{at}: {what}") }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if is_whole(number) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Whether a number is an integer; `1.0` is one.
fn is_whole(number: &serde_json::Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|one| one.fract() == 0.0)
}

fn is_of(value: &Value, wanted: &Value) -> bool {
    let found = type_of(value);
    let fits = |name: &str| name == found || (name == "number" && found == "integer");
    match wanted.as_array() {
        Some(names) => names.iter().filter_map(Value::as_str).any(fits),
        None => wanted.as_str().is_some_and(fits),
    }
}

fn names(wanted: &Value) -> String {
    match wanted.as_array() {
        Some(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        None => wanted.as_str().unwrap_or_default().to_owned(),
    }
}

fn within(
    keywords: &Map<String, Value>,
    least: &str,
    most: &str,
    count: u64,
    what: &str,
    at: &str,
    faults: &mut Vec<String>,
) {
    if let Some(least) = keywords.get(least).and_then(Value::as_u64).filter(|least| count < *least)
    {
        faults.push(fault(at, &format!("expected at least {least} {what}, found {count}")));
    }
    if let Some(most) = keywords.get(most).and_then(Value::as_u64).filter(|most| count > *most) {
        faults.push(fault(at, &format!("expected at most {most} {what}, found {count}")));
    }
}

fn in_range(
    keywords: &Map<String, Value>,
    number: Option<f64>,
    at: &str,
    faults: &mut Vec<String>,
) {
    let Some(number) = number else { return };
    let bound = |name: &str| keywords.get(name).and_then(Value::as_f64);
    let checks = [
        ("minimum", bound("minimum").is_some_and(|least| number < least)),
        ("maximum", bound("maximum").is_some_and(|most| number > most)),
        ("exclusiveMinimum", bound("exclusiveMinimum").is_some_and(|least| number <= least)),
        ("exclusiveMaximum", bound("exclusiveMaximum").is_some_and(|most| number >= most)),
    ];
    for (name, _) in checks.into_iter().filter(|(_, is_wrong)| *is_wrong) {
        faults.push(fault(at, &format!("{number} is beyond the {name} {}", keywords[name])));
    }
}

/// The JSON in an answer: all of it, what stands in its last fence, or what lies between its
/// outermost brackets.
fn json_in(answer: &str) -> Option<Value> {
    let answer = answer.trim();
    let whole = serde_json::from_str(answer).ok();
    let fenced = || {
        let (_, rest) =
            answer.rsplit_once("```").and_then(|(before, _)| before.rsplit_once("```"))?;
        let (_, body) = rest.split_once('\n')?;
        serde_json::from_str(body.trim()).ok()
    };
    let between = || {
        let start = answer.find(['{', '['])?;
        let end = answer.rfind(['}', ']'])?;
        serde_json::from_str(answer.get(start..=end)?).ok()
    };
    whole.or_else(fenced).or_else(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = r##"{
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Rows",
        "type": "object", "required": ["rows"], "additionalProperties": false,
        "properties": {
            "rows": { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/row" } },
            "note": { "type": ["string", "null"], "maxLength": 5 }
        },
        "$defs": { "row": {
            "type": "object", "required": ["name", "count"],
            "properties": {
                "name": { "type": "string", "minLength": 1 },
                "count": { "type": "integer", "minimum": 0 },
                "kind": { "enum": ["a", "b"] }
            }
        } }
    }"##;

    fn checked(answer: &str) -> Result<String, String> {
        Schema::parse(ROWS).unwrap().check(answer).map(|json| json.to_string())
    }

    #[test]
    fn an_answer_that_fits_is_found_in_what_surrounds_it() {
        let json = r#"{"rows":[{"name":"x","count":2}]}"#;
        for answer in [
            json.to_owned(),
            format!("\n{json}\n"),
            format!("Here it is:\n```json\n{json}\n```\nDone."),
            format!("The answer is {json}."),
        ] {
            let found = checked(&answer).unwrap();
            assert_eq!(
                serde_json::from_str::<Value>(&found).unwrap(),
                serde_json::from_str::<Value>(json).unwrap()
            );
        }
        assert!(checked(r#"{"rows":[{"name":"x","count":2.0,"kind":"a"}],"note":null}"#).is_ok());
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_place() {
        for (answer, fault) in [
            ("no", "it is not JSON"),
            ("[]", "expected object, found array"),
            ("{}", "`rows` is missing"),
            (r#"{"rows":[]}"#, "/rows: expected at least 1 items, found 0"),
            (r#"{"rows":[{"name":"x"}]}"#, "/rows/0: `count` is missing"),
            (
                r#"{"rows":[{"name":"","count":-1}]}"#,
                "/rows/0/count: -1 is beyond the minimum 0; /rows/0/name: expected at least 1 characters, found 0",
            ),
            (
                r#"{"rows":[{"name":"x","count":1.5}]}"#,
                "/rows/0/count: expected integer, found number",
            ),
            (
                r#"{"rows":[{"name":"x","count":1,"kind":"c"}]}"#,
                "/rows/0/kind: expected one of \"a\", \"b\"",
            ),
            (r#"{"rows":[{"name":"x","count":1}],"more":1}"#, "/more: it is not a known name"),
            (
                r#"{"rows":[{"name":"x","count":1}],"note":"longer"}"#,
                "/note: expected at most 5 characters, found 6",
            ),
        ] {
            assert_eq!(checked(answer).unwrap_err(), fault, "{answer}");
        }
        let many = format!("{{\"rows\":[{}]}}", ["1"; 9].join(","));
        assert!(checked(&many).unwrap_err().ends_with("; and 4 more"));
    }

    #[test]
    fn forms_are_combined() {
        let schema = |text: &str| Schema::parse(text).unwrap();
        let any = schema(r#"{"anyOf":[{"type":"string"},{"const":1}]}"#);
        assert!(any.check("\"x\"").is_ok() && any.check("1").is_ok() && any.check("2").is_err());
        let one = schema(r#"{"oneOf":[{"minimum":0},{"maximum":10}]}"#);
        assert!(one.check("-1").is_ok() && one.check("5").is_err());
        let not = schema(r#"{"allOf":[{"type":"integer"}],"not":{"exclusiveMinimum":3}}"#);
        assert!(not.check("3").is_ok() && not.check("4").is_err());
        let unique = schema(r#"{"type":"array","uniqueItems":true}"#);
        assert!(unique.check("[1,2]").is_ok() && unique.check("[1,1]").is_err());
    }

    #[test]
    fn a_schema_that_is_not_understood_is_refused() {
        for (text, why) in [
            ("{", "EOF"),
            ("1", "a schema is an object"),
            (r#"{"pattern":"x"}"#, "the keyword `pattern` is not supported (at #)"),
            (r#"{"properties":{"a":{"if":{}}}}"#, "`if` is not supported (at #/properties/a)"),
            (r##"{"$ref":"#/$defs/none"}"##, "leads nowhere"),
            (r#"{"$ref":"https://example.org/x"}"#, "leads nowhere"),
            (r#"{"type":"text"}"#, "`type` has a value of another type"),
            (r#"{"minItems":-1}"#, "`minItems` has a value"),
            (r#"{"required":[1]}"#, "`required` has a value"),
        ] {
            let error = Schema::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_schema_that_leads_to_itself_comes_to_an_end() {
        let schema = Schema::parse(r##"{"$ref":"#"}"##).unwrap();
        assert!(schema.check("1").unwrap_err().contains("too deeply"));
        let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        let tree = Schema::parse(r##"{"items":{"$ref":"#"}}"##).unwrap();
        assert!(tree.check(&deep).unwrap_err().contains("too deeply"));
        assert!(tree.check("[[[1]]]").is_ok());
    }
}
