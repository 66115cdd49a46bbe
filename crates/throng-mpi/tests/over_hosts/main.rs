//! throng over several hosts: network namespaces, on which a real `mpirun` starts `throng-mpi`.

mod cluster;
mod experiments;
mod failing;
