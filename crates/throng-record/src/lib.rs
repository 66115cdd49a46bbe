//! The plain data that every part of throng shares.
//!
//! Measuring writes these types, reporting reads them, and `run.json` is nothing but a [`RunRecord`] in JSON. Public fields,
//! units in the names, one version number ([`SCHEMA_VERSION`]); the JSON Schema is derived from the types, so that
//! it cannot drift from them. There is no behaviour here beyond merging, encoding, simple arithmetic and [figures in words](mod@format).
#![forbid(unsafe_code)]

pub mod accept;
pub mod built_in;
pub mod catalogue;
pub mod check;
pub mod connections;
pub mod contract;
pub mod division;
pub mod errors;
pub mod fanout;
pub mod finding;
pub mod fleet;
pub mod format;
pub mod histogram;
pub mod hold;
pub mod host;
pub mod job;
pub mod listener;
pub mod machine;
pub mod merge;
pub mod network;
pub mod pages;
pub mod phase;
pub mod phases;
pub mod plan;
pub mod protocol;
pub mod run;
pub mod schema;
pub mod search;
pub mod sequence;
pub mod setting;
pub mod side;
pub mod target;
pub mod tasks;
pub mod timeline;
pub mod tls;
pub mod trial;
pub mod workload;

pub use accept::{AcceptPhase, AcceptSpec, IdleCost, IdleSlice, Multiplexer, Slope};
pub use built_in::BuiltInModel;
pub use catalogue::{CatalogueRecord, ContractException, DeclaredModel, LeftOut};
pub use check::{Check, CheckKind, CheckResult, Limit, Verdict};
pub use connections::{Attribution, Cause, ConnectionsPhase, RequestRecord};
pub use contract::{ClauseRecord, ClauseResult, ContractReport, ContractStanding};
pub use errors::{ErrorCounts, ErrorKind};
pub use fanout::{IndexSlice, LinePhase, PutPhase, SustainedPhase};
pub use finding::{Finding, OneCoreCause, Side};
pub use fleet::{Backend, Closing, FleetSpec, SourceAddresses};
pub use histogram::Histogram;
pub use hold::{HoldPhase, KernelMemoryRecord, KernelMemorySample, PingPhase, SlabGrowth};
pub use host::{ClockOffset, Host, HostPart};
pub use job::{GoOn, LoadEvent, LoadJob, LoadRecord};
pub use listener::{AcceptQueueRecord, DepthSample, HandshakesRecord, ListenerRecord};
pub use machine::Machine;
pub use network::{Network, NetworkRecord};
pub use pages::{PageRequest, PagesRecord, PagesSpec, StatusRange};
pub use phase::{
    ClosePhase, ConnectPhase, ConnectStop, ExchangePhase, QueueFullWaits, RepliesPerConnection,
    Silence, SlowConnection, StarvedConnections, SteadyWindow,
};
pub use phases::{Measured, PhaseCost, PhaseName, PhaseRecord, Phases, SideCost};
pub use plan::Plan;
pub use protocol::{Amount, Arrivals, ConnectionUse, ExchangeSpec, Expect, Pacing, Protocol, Stop};
pub use run::RunRecord;
pub use schema::SCHEMA_VERSION;
pub use search::{Bracket, Decision, Probe, Purpose, SearchEnd, SearchRecord, SearchSpec};
pub use sequence::{PhaseSpec, PingSpec, PutSpec, Sequence, SustainSpec};
pub use setting::{Setting, SweptValue};
pub use side::{MemorySample, SeriesSample, SideRecord};
pub use target::{HttpTarget, ServeOptions, TargetKind, TargetRecord};
pub use tasks::{TaskClient, TaskTarget, TasksRecord, TasksSpec};
pub use timeline::Timeline;
pub use tls::{Handshakes, TlsPhase, TlsSpec, TlsTarget, Trust};
pub use trial::{Outcome, Trial};
pub use workload::{HandOver, UnknownWord, Workload};
