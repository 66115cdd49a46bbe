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

/// Sets the plan's values: all of them are in force then, at once.
pub(super) fn apply(settings: &impl Settings, kernel: &Values) -> Result<(), Refusal> {
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
    Ok(())
}

/// Writes what differs. Of each that had to be written: whether it is in the end what it should be, or why not.
fn write_until_settled(
    settings: &impl Settings,
    values: &Values,
) -> BTreeMap<String, Result<(), String>> {
    // In words what it is instead.
    let settled = |name: &str, value: &str| match settings.read(name) {
        Ok(own) if is_same(&own, value) => Ok(()),
        Ok(own) => Err(format!("it makes `{}` of it", in_one_form(&own))),
        Err(error) => Err(error.to_string()),
    };
    let mut written = BTreeMap::new();
    for _ in 0..PASSES {
        let mut is_over = true;
        for (name, value) in values {
            if settled(name, value).is_ok() {
                continue;
            }
            is_over = false;
            let outcome = settings.write(name, value);
            written.insert(name.clone(), outcome.map_err(|error| error.to_string()));
        }
        if is_over {
            break;
        }
    }
    // The last word: a write may undo another, and make up for one that was refused.
    for (name, value) in values {
        match (settled(name, value), written.get_mut(name)) {
            (Ok(()), None) | (Err(_), Some(Err(_))) => {}
            (in_the_end, _) => {
                written.insert(name.clone(), in_the_end);
            }
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
    /// `clamped` is at most 100, `fixed` can only be read, and of `left` and `right` one only is not 0.
    struct Table(RefCell<Values>);

    impl Table {
        fn new() -> Self {
            Self(RefCell::new(values(&[
                ("clamped", "1"),
                ("fixed", "1"),
                ("forward", "0"),
                ("left", "0"),
                ("range", "2000\t3000"),
                ("redirects", "1"),
                ("right", "0"),
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
            let undone = match name {
                "forward" => Some("redirects"),
                "left" => Some("right"),
                "right" => Some("left"),
                _ => None,
            };
            if let Some(undone) = undone {
                table.insert(undone.to_owned(), "0".to_owned());
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
        apply(&table, &kernel).expect("in some order");
        assert_eq!(table.read("range").unwrap(), "10\t20");
        assert_eq!(table.read("start").unwrap(), "0");
    }

    #[test]
    fn what_cannot_be_in_force_at_once_is_refused() {
        let pair = values(&[("left", "1"), ("right", "1")]);
        let text = apply(&Table::new(), &pair).expect_err("one of both");
        let text = text.to_string();
        assert!(text.contains("`1` (it makes `0` of it)"), "{text}");
        assert_eq!(apply(&Table::new(), &values(&[("left", "1")])), Ok(()));
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
