//! Setting a new namespace's settings: first the host's, as far as they differ, then the plan's.
//!
//! Some writes change other settings (`net.ipv4.ip_forward` resets many), and some are refused until another is written
//! (`ip_local_port_range` below `ip_unprivileged_port_start`). So all are read again after they were written, and written
//! again where they are not what they should be: until nothing is left to do, three times at most.

use std::collections::BTreeMap;
use std::io;

use throng_sys::namespace::Entered;
use throng_sys::sysctl::{self, network::Access};

use super::error::Refusal;

const PASSES: usize = 3;

type Values = BTreeMap<String, String>;

/// The settings of a namespace; a table in tests.
pub(super) trait Settings {
    fn access(&self, name: &str) -> Access;
    fn read(&self, name: &str) -> io::Result<String>;
    fn write(&self, name: &str, value: &str) -> io::Result<()>;
}

impl Settings for Entered {
    fn access(&self, name: &str) -> Access {
        sysctl::network::access(name).unwrap_or(Access::Absent)
    }

    fn read(&self, name: &str) -> io::Result<String> {
        sysctl::read(name)
    }

    fn write(&self, name: &str, value: &str) -> io::Result<()> {
        self.set(name, value)
    }
}

/// Copies the values that differ and can be set: which were, and which could not be and why.
pub(super) fn copy(settings: &impl Settings, host: &Values) -> (Values, Values) {
    let mut own = host.clone();
    own.retain(|name, _| settings.access(name) == Access::Writable && settings.read(name).is_ok());
    let (mut copied, mut not_copied) = (Values::new(), Values::new());
    for (name, outcome) in write_until_settled(settings, &own) {
        match outcome {
            Ok(()) => copied.insert(name.clone(), own[&name].clone()),
            Err(reason) => not_copied.insert(name, reason),
        };
    }
    (copied, not_copied)
}

/// Sets the plan's values; as the kernel has them then.
pub(super) fn apply(settings: &impl Settings, kernel: &Values) -> Result<Values, Refusal> {
    let mut before = Values::new();
    for (name, value) in kernel {
        let (name, value) = (name.clone(), value.clone());
        match settings.access(&name) {
            Access::Writable => {
                let current = settings.read(&name).unwrap_or_default();
                let current = in_one_form(&current);
                before.insert(name, current);
            }
            Access::ReadOnly => return Err(Refusal::ReadOnly { name }),
            Access::Absent => return Err(Refusal::Absent { name, value }),
        }
    }
    for (name, outcome) in write_until_settled(settings, kernel) {
        outcome.map_err(|reason| Refusal::Value {
            value: kernel[&name].clone(),
            current: before[&name].clone(),
            name,
            reason,
        })?;
    }
    let in_force = kernel.keys().map(|name| {
        let value = settings.read(name).unwrap_or_default();
        (name.clone(), in_one_form(&value))
    });
    Ok(in_force.collect())
}

/// Writes what differs. Of each that had to be written: whether it is in the end what it should be, or why not.
fn write_until_settled(
    settings: &impl Settings,
    values: &Values,
) -> BTreeMap<String, Result<(), String>> {
    let is_settled = |name: &str, value: &str| {
        let own = settings.read(name);
        own.is_ok_and(|own| is_same(&own, value))
    };
    let mut written = BTreeMap::new();
    for _ in 0..PASSES {
        let mut is_over = true;
        for (name, value) in values {
            if is_settled(name, value) {
                continue;
            }
            is_over = false;
            let outcome = match settings.write(name, value) {
                Ok(()) if is_settled(name, value) => Ok(()),
                Ok(()) => Err(match settings.read(name) {
                    Ok(own) => format!("it makes `{}` of it", in_one_form(&own)),
                    Err(error) => error.to_string(),
                }),
                Err(error) => Err(error.to_string()),
            };
            written.insert(name.clone(), outcome);
        }
        if is_over {
            break;
        }
    }
    written
}

/// The kernel separates several values by tabs.
fn is_same(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

/// With single blanks instead.
fn in_one_form(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// Settings of which some behave as the kernel's do: `forward` resets `redirects`, `range` needs `start` to be 0,
    /// `clamped` is at most 100, `fixed` can only be read.
    struct Table(RefCell<Values>);

    impl Table {
        fn new() -> Self {
            Self(RefCell::new(values(&[
                ("clamped", "1"),
                ("fixed", "1"),
                ("forward", "0"),
                ("range", "2000\t3000"),
                ("redirects", "1"),
                ("start", "1024"),
            ])))
        }
    }

    impl Settings for Table {
        fn access(&self, name: &str) -> Access {
            match name {
                "fixed" => Access::ReadOnly,
                name if self.0.borrow().contains_key(name) => Access::Writable,
                _ => Access::Absent,
            }
        }

        fn read(&self, name: &str) -> io::Result<String> {
            let value = self.0.borrow().get(name).cloned();
            value.ok_or(io::ErrorKind::NotFound.into())
        }

        fn write(&self, name: &str, value: &str) -> io::Result<()> {
            let mut table = self.0.borrow_mut();
            let value = match name {
                "range" if table["start"] != "0" => return Err(io::ErrorKind::InvalidInput.into()),
                "range" => value.replace(' ', "\t"),
                "clamped" if value.len() > 2 => "100".to_owned(),
                _ => value.to_owned(),
            };
            if name == "forward" {
                table.insert("redirects".to_owned(), "0".to_owned());
            }
            table.insert(name.to_owned(), value);
            Ok(())
        }
    }

    fn values(pairs: &[(&str, &str)]) -> Values {
        let pairs = pairs.iter();
        pairs
            .map(|&(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    #[test]
    fn what_differs_is_copied_and_what_that_changes_is_put_right() {
        let table = Table::new();
        let host = values(&[
            ("clamped", "500"),
            ("elsewhere", "7"),
            ("fixed", "2"),
            ("forward", "1"),
            ("redirects", "1"),
            ("start", "1024"),
        ]);
        let (copied, not_copied) = copy(&table, &host);
        assert_eq!(copied, values(&[("forward", "1"), ("redirects", "1")]));
        assert_eq!(not_copied, values(&[("clamped", "it makes `100` of it")]));
        assert_eq!(table.read("redirects").unwrap(), "1");
    }

    #[test]
    fn what_needs_another_setting_first_is_tried_again() {
        let table = Table::new();
        let kernel = values(&[("range", "10 20"), ("start", "0")]);
        let in_force = apply(&table, &kernel).expect("in some order");
        assert_eq!(in_force, values(&[("range", "10 20"), ("start", "0")]));
    }

    #[test]
    fn what_cannot_be_had_is_refused_before_anything_is_written() {
        let refusal = |pairs: &[(&str, &str)]| {
            let table = Table::new();
            let refusal = apply(&table, &values(pairs)).expect_err("refused");
            (refusal, table.read("forward").unwrap())
        };
        let (absent, forward) = refusal(&[("forward", "1"), ("none", "2")]);
        assert!(matches!(absent, Refusal::Absent { .. }), "{absent}");
        assert_eq!(forward, "0");
        let (fixed, _) = refusal(&[("fixed", "2")]);
        assert!(matches!(fixed, Refusal::ReadOnly { .. }), "{fixed}");
        let (clamped, _) = refusal(&[("clamped", "101")]);
        let text = clamped.to_string();
        assert!(
            text.contains("`101` (it makes `100` of it)") && text.contains("`1`"),
            "{text}"
        );
    }
}
