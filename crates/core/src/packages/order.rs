//! An order for the packages of a folder, and leave to carry it out.

use super::{PackageKind, PackagePlan, Requirement, requirement::normal_name};
use crate::Grantor;
use serde::{Deserialize, Serialize, de::Error as _};
use std::fmt;

/// The most packages of one order.
pub(super) const MOST: usize = 50;

/// A change to the packages of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PackageOrder {
    /// Where they come from.
    #[serde(rename = "source")]
    pub kind: PackageKind,
    /// Whether they come or go.
    pub change: PackageChange,
    packages: Vec<Requirement>,
    /// Whether code of a package may run to build it.
    pub build: bool,
}

/// Whether packages come or go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PackageChange {
    /// They are installed.
    Install,
    /// They are removed.
    Remove,
}

impl PackageOrder {
    /// An order for these packages, all of one kind; `None` for none, or for too many.
    pub fn new(change: PackageChange, packages: Vec<Requirement>) -> Option<Self> {
        let kind = packages.first()?.kind();
        let fits = packages.len() <= MOST && packages.iter().all(|one| one.kind() == kind);
        fits.then_some(Self { kind, change, packages, build: false })
    }

    /// The same, where packages may be built from their source, which runs their code.
    #[must_use]
    pub fn with_build(self) -> Self {
        Self { build: true, ..self }
    }

    /// The packages.
    pub fn packages(&self) -> &[Requirement] {
        &self.packages
    }

    /// Whether this is a name of one of them.
    pub fn names(&self, name: &str) -> bool {
        let name = normal_name(self.kind, name);
        self.packages.iter().any(|one| one.normal_name() == name)
    }

    /// Their names, for a sentence: `pandas`, `pandas and numpy`, `pandas, numpy and 3 more`.
    pub fn words(&self) -> String {
        const NAMED: usize = 4;
        let names: Vec<_> = self.packages.iter().map(Requirement::text).collect();
        match names.as_slice() {
            [] => String::new(),
            [one] => (*one).to_owned(),
            [before @ .., last] if names.len() <= NAMED => {
                format!("{} and {last}", before.join(", "))
            }
            _ => format!("{} and {} more", names[..NAMED].join(", "), names.len() - NAMED),
        }
    }

    /// The command by which a person gives this order.
    pub fn command(&self) -> String {
        let verb = match self.change {
            PackageChange::Install => "add",
            PackageChange::Remove => "remove",
        };
        let kind = match self.kind {
            PackageKind::Python => "",
            PackageKind::Npm => "--npm ",
        };
        let build = if self.build { "--build " } else { "" };
        let names: Vec<_> = self.packages.iter().map(Requirement::text).collect();
        format!("interpreter packages {verb} {kind}{build}{}", names.join(" "))
    }
}

impl<'de> Deserialize<'de> for PackageOrder {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Raw {
            source: PackageKind,
            change: PackageChange,
            packages: Vec<String>,
            build: bool,
        }
        let Raw { source, change, packages, build } = Raw::deserialize(deserializer)?;
        let read = packages.iter().map(|one| Requirement::parse(source, one));
        let packages = read.collect::<Result<Vec<_>, _>>().map_err(D::Error::custom)?;
        let order = Self::new(change, packages).ok_or_else(|| D::Error::custom("no packages"))?;
        Ok(Self { build, ..order })
    }
}

/// Leave to find out what an order comes to, once. With an order that builds, code of packages may
/// run for it, after a yes.
///
/// Outside this crate it can be held and spent, but not made.
#[derive(Debug)]
#[must_use = "without it nothing is looked up"]
pub struct PackageLookup {
    order: PackageOrder,
}

impl PackageLookup {
    pub(crate) fn of(order: PackageOrder) -> Self {
        Self { order }
    }

    /// The order.
    pub fn order(&self) -> &PackageOrder {
        &self.order
    }

    /// Uses the leave up.
    pub fn spend(self) -> PackageOrder {
        self.order
    }
}

/// Leave to change the packages of a folder by one plan, once.
///
/// Outside this crate it can be held and spent, but not made.
#[derive(Debug)]
#[must_use = "a permit that is not spent changes nothing"]
pub struct PackagePermit {
    order: PackageOrder,
    plan: PackagePlan,
    granted_by: Grantor,
}

impl PackagePermit {
    pub(crate) fn grant(order: PackageOrder, plan: PackagePlan, by: Grantor) -> Self {
        Self { order, plan, granted_by: by }
    }

    /// The order.
    pub fn order(&self) -> &PackageOrder {
        &self.order
    }

    /// Who said yes.
    pub fn granted_by(&self) -> Grantor {
        self.granted_by
    }

    /// Uses the permit up.
    pub fn spend(self) -> (PackageOrder, PackagePlan) {
        (self.order, self.plan)
    }
}

impl fmt::Display for PackageChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Install => "install",
            Self::Remove => "remove",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(names: &[&str]) -> Option<PackageOrder> {
        let read = |name: &&str| Requirement::parse(PackageKind::Python, name).unwrap();
        PackageOrder::new(PackageChange::Install, names.iter().map(read).collect())
    }

    #[test]
    fn an_order_is_told_in_a_few_words_and_as_a_command() {
        let told = |names: &[&str]| order(names).unwrap().words();
        assert_eq!(told(&["a"]), "a");
        assert_eq!(told(&["a", "b==1"]), "a and b==1");
        assert_eq!(told(&["a", "b", "c", "d", "e", "f"]), "a, b, c, d and 2 more");
        let built = order(&["a", "b"]).unwrap().with_build();
        assert_eq!(built.command(), "interpreter packages add --build a b");
        assert_eq!(order(&[]), None);
        assert_eq!(order(&["x"; MOST + 1]), None);
        assert!(order(&["Ruamel.YAML"]).unwrap().names("ruamel_yaml"));
    }

    #[test]
    fn an_order_is_read_back_from_the_record_and_checked_again() {
        let written = serde_json::to_string(&order(&["a>=1"]).unwrap()).unwrap();
        assert_eq!(
            written,
            r#"{"source":"python","change":"install","packages":["a>=1"],"build":false}"#
        );
        assert_eq!(
            serde_json::from_str::<PackageOrder>(&written).unwrap(),
            order(&["a>=1"]).unwrap()
        );
        let planted = written.replace("a>=1", "--index-url=x");
        assert!(serde_json::from_str::<PackageOrder>(&planted).is_err());
    }
}
