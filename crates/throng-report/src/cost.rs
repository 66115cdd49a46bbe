//! What a phase cost: the parts of what was read of both sides around it, as figures.

use throng_record::{PhaseCost, PhaseName, SideCost};

use crate::unit::{Better, Unit};

/// One of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Generator,
    Server,
}

/// One of the things that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Window,
    User(Side),
    System(Side),
    Cpu(Side),
    Threads,
    Rss,
}

impl Side {
    fn word(self) -> &'static str {
        match self {
            Self::Generator => "generator",
            Self::Server => "server",
        }
    }

    fn of(self, cost: &PhaseCost) -> Option<&SideCost> {
        match self {
            Self::Generator => cost.generator.as_ref(),
            Self::Server => cost.server.as_ref(),
        }
    }
}

impl Part {
    /// All that is told of a phase.
    pub(crate) const ALL: [Self; 9] = {
        use Part::{Cpu, Rss, System, Threads, User, Window};
        use Side::{Generator, Server};
        [
            Window,
            User(Generator),
            System(Generator),
            Cpu(Generator),
            User(Server),
            System(Server),
            Cpu(Server),
            Threads,
            Rss,
        ]
    };

    pub(crate) fn key(self, phase: PhaseName) -> String {
        let phase = phase.name();
        match self {
            Self::Window => format!("{phase}_window_ns"),
            Self::User(side) => format!("{phase}_{}_user_ns", side.word()),
            Self::System(side) => format!("{phase}_{}_system_ns", side.word()),
            Self::Cpu(side) => format!("{phase}_{}_cpu_ns", side.word()),
            Self::Threads => format!("{phase}_server_threads"),
            Self::Rss => format!("{phase}_server_rss_bytes"),
        }
    }

    pub(crate) fn heading(self, phase: PhaseName) -> String {
        let phase = phase.name();
        match self {
            Self::Window => format!("{phase},\nread over"),
            Self::User(side) => format!("{phase},\n{} user", side.word()),
            Self::System(side) => format!("{phase},\n{} system", side.word()),
            Self::Cpu(side) => format!("{phase},\n{} CPU", side.word()),
            Self::Threads => format!("{phase},\nthreads"),
            Self::Rss => format!("{phase},\nserver RSS"),
        }
    }

    pub(crate) fn unit(self) -> Unit {
        match self {
            Self::Threads => Unit::Count,
            Self::Rss => Unit::Bytes,
            _ => Unit::Nanoseconds,
        }
    }

    pub(crate) fn better(self) -> Better {
        match self {
            Self::Window | Self::Threads => Better::Neither,
            _ => Better::Less,
        }
    }

    pub(crate) fn sentence(self, phase: PhaseName) -> String {
        let phase = phase.name();
        match self {
            Self::Window => format!(
                "Time from the reading of both sides before the phase `{phase}` to the reading after it; whatever was waited for in vain is in it."
            ),
            Self::User(side) => format!(
                "User part of the {}'s CPU time in the phase `{phase}`, counted in ticks: below 50 ms it is noise.",
                side.word()
            ),
            Self::System(side) => format!(
                "System part of the {}'s CPU time in the phase `{phase}`, counted in ticks: below 50 ms it is noise.",
                side.word()
            ),
            Self::Cpu(side) => format!(
                "CPU time of the {} in the phase `{phase}`, from the scheduler's nanosecond account.",
                side.word()
            ),
            Self::Threads => format!("Threads of the server at the end of the phase `{phase}`."),
            Self::Rss => {
                format!(
                    "Resident set of the server at the end of the phase `{phase}`, summed over processes."
                )
            }
        }
    }

    pub(crate) fn of(self, cost: &PhaseCost) -> Option<f64> {
        Some(match self {
            Self::Window => cost.window_ns as f64,
            Self::User(side) => side.of(cost)?.user_ns as f64,
            Self::System(side) => side.of(cost)?.system_ns as f64,
            Self::Cpu(side) => side.of(cost)?.cpu_ns as f64,
            Self::Threads => cost.server?.threads.into(),
            Self::Rss => cost.server?.rss_bytes as f64,
        })
    }
}
