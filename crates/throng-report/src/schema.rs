//! The published JSON Schema of `--format json`.
//!
//! It is derived from the types, which only the tests of this crate do: they hold the published file to it. What stands in the record as well is
//! described by the record's schema, to which this one refers.

/// The JSON Schema (draft 2020-12) of [`crate::Summary`].
pub const JSON_SCHEMA: &str = include_str!("../../../docs/summary.schema.json");

/// Types of the record, by reference to its schema.
#[cfg(test)]
macro_rules! of_record {
    ($($name:ident)*) => { $(
        #[derive(Clone, Copy)]
        pub(crate) struct $name;

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let reference = concat!("run.schema.json#/$defs/", stringify!($name));
                schemars::json_schema!({ "$ref": reference })
            }
        }
    )* };
}
#[cfg(test)]
of_record!(CheckKind Decision Finding Limit Machine NetworkRecord Plan Purpose RequestRecord SearchRecord Slope SlowConnection SweptValue);

#[cfg(test)]
mod tests {
    use super::JSON_SCHEMA;
    use crate::Summary;

    /// `INSTA_UPDATE=always` writes it anew, with all snapshots.
    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let of_types = format!("{:#}\n", schemars::schema_for!(Summary<'static>).to_value());
        if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
            let path = concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../docs/summary.schema.json"
            );
            std::fs::write(path, &of_types).expect("written");
        } else {
            assert!(
                JSON_SCHEMA == of_types,
                "docs/summary.schema.json is stale: INSTA_UPDATE=always cargo test -p throng-report"
            );
        }
    }

    /// What is referred to is there.
    #[test]
    fn every_type_of_the_record_is_in_its_schema() {
        let record = throng_record::schema::JSON_SCHEMA;
        for part in JSON_SCHEMA.split("run.schema.json#/$defs/").skip(1) {
            let name = part.split('"').next().expect("quoted");
            assert!(record.contains(&format!("    \"{name}\": {{")), "{name}");
        }
    }
}
