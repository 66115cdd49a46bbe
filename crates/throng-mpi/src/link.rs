//! Messages between the lab and the hosts by MPI, from one rank to another. None is collective: a rank that waits in a collective call spins on its CPU
//! (Open MPI does, with every back end), next to a server or a generator that is to have it.

use mpi::environment::Universe;
use mpi::topology::{Communicator as _, SimpleCommunicator};
use mpi::traits::{Destination as _, MatchedReceiveVec as _, Source as _};
use throng_lab::stations::Link;

/// All processes that `mpirun` started.
pub(crate) struct Ranks {
    world: SimpleCommunicator,
}

impl Ranks {
    pub(crate) fn of(universe: &Universe) -> Self {
        Self {
            world: universe.world(),
        }
    }

    /// Which of them this process is.
    pub(crate) fn own(&self) -> u32 {
        self.world.rank().cast_unsigned()
    }
}

impl Link for Ranks {
    fn number(&self) -> u32 {
        self.world.size().cast_unsigned()
    }

    /// Returns when the message layer has it: small ones at once, large ones when the receiver takes them.
    fn send(&self, rank: u32, message: Vec<u8>) {
        self.world
            .process_at_rank(rank.cast_signed())
            .send(&message[..]);
    }

    fn poll(&self) -> Option<(u32, Vec<u8>)> {
        let probed = self.world.any_process().immediate_matched_probe()?;
        let (bytes, status) = probed.matched_receive_vec();
        Some((status.source_rank().cast_unsigned(), bytes))
    }
}

/// What this host calls itself.
pub(crate) fn host_name() -> String {
    mpi::environment::processor_name().unwrap_or_else(|_| "unknown".to_owned())
}
