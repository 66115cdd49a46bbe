//! Generator-bound: the figure is the generator's, as the check of that name found it.

use throng_record::finding::GeneratorBound;

use super::clause::percent;
use super::{Kind, Words};

pub(super) const KIND: Kind = Kind {
    name: "generator-bound",
    title: "Generator-bound",
    page: include_str!("../../../../docs/findings/generator-bound.md"),
};

impl Words for GeneratorBound {
    fn happened(&self) -> String {
        format!(
            "the generator used {} of its CPU, the server {} of its own: it could do more than was measured.",
            percent(self.generator_busy),
            percent(self.server_busy)
        )
    }

    fn cause(&self) -> &'static str {
        "the generator had no time left to ask for more."
    }

    fn remedy(&self) -> String {
        "more CPUs for the generator, or fewer for the server: --cpus SERVER:GENERATOR.".to_owned()
    }

    fn gravity(&self) -> f64 {
        1.0 - self.server_busy
    }
}
