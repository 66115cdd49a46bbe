//! What a server answers, apart from how it shares its attention: bytes in, bytes out.

mod echo;

use std::fmt;
use std::str::FromStr;

pub(crate) use echo::Echo;

/// The wire behaviour of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Workload {
    /// Every byte comes back, in order; the end of input is answered by the end of output.
    Echo,
}

/// The name of no workload.
#[derive(Debug, thiserror::Error)]
#[error("there is no workload '{given}'; there are: {}", names())]
pub struct UnknownWorkload {
    /// As written.
    pub given: String,
}

impl Workload {
    /// Every workload.
    pub const ALL: [Self; 1] = [Self::Echo];

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Workload {
    type Err = UnknownWorkload;

    fn from_str(text: &str) -> Result<Self, UnknownWorkload> {
        Self::ALL
            .into_iter()
            .find(|workload| workload.name() == text)
            .ok_or_else(|| UnknownWorkload {
                given: text.to_owned(),
            })
    }
}

fn names() -> String {
    Workload::ALL.map(Workload::name).join(", ")
}

/// One connection's side of a workload. A model feeds it what came and sends what it appends; closing once all of that
/// is sent, after the end of input, is the model's part.
pub(crate) trait Session: Default + Send + 'static {
    /// Bytes came, cut anywhere. What there is to answer is appended to `output`.
    fn input(&mut self, bytes: &[u8], output: &mut Vec<u8>);

    /// Nothing more will come. What was held back for want of its rest is answered now.
    fn end_of_input(&mut self, output: &mut Vec<u8>);
}
