//! From what the stations measured and saw to one record, and a part of it for each host.

use throng_record::merge::{MergeError, Part, merge};
use throng_record::{Host, HostPart, LoadRecord, PhaseName, Phases, SeriesSample};

use super::conductor::Post;
use super::message::Done;
use crate::generator::GeneratorError;
use crate::plan::GeneratorHost;

type Merged = (LoadRecord, Vec<HostPart>, Vec<SeriesSample>);

/// `hosts`: who they are.
pub(super) fn merged(
    parts: Vec<(Post, Done)>,
    (hosts, generators): (&[Host], &[GeneratorHost]),
) -> Result<Merged, GeneratorError> {
    let part = |(post, done): &(Post, Done)| host(post, done, hosts.iter().zip(generators));
    let mut hosts: Vec<HostPart> = parts.iter().map(part).collect();
    let series = series(&parts);
    let all: Vec<Moments> = parts
        .iter()
        .map(|(post, done)| Moments::of(post, done))
        .collect();
    for (host, own) in hosts.iter_mut().zip(&all) {
        host.start_skew_ns = own.behind(&all);
        host.window_skew_ns = own.window_behind(&all);
    }
    let parts = parts.into_iter().filter_map(|(post, done)| {
        Some(Part {
            record: done.record?,
            clock_offset_ns: -post.clock.offset_ns,
        })
    });
    let record = merge(parts.collect())?;
    Ok((record, hosts, series))
}

fn host<'a>(
    post: &Post,
    done: &Done,
    mut hosts: impl Iterator<Item = (&'a Host, &'a GeneratorHost)>,
) -> HostPart {
    let own = hosts.find(|(host, _)| host.rank == post.rank);
    let limits = own.map(|(_, generator)| &generator.limits);
    let phases = done.record.as_ref().map(|record| &record.phases);
    let exchange = phases.and_then(Phases::exchange);
    HostPart {
        rank: post.rank,
        name: own.map_or_else(String::new, |(host, _)| host.name.clone()),
        first_connection: post.fleet.first_connection,
        connections: post.fleet.connections,
        connected: phases.map_or(0, Phases::kept),
        errors: phases.map(Phases::errors).unwrap_or_default(),
        source_addresses: done.source_addresses,
        local_ports: limits.and_then(|limits| {
            let (first, last) = limits.ip_local_port_range?;
            Some(u32::from(last.saturating_sub(first)) + 1)
        }),
        open_files_hard: limits.map(|limits| limits.open_files_hard),
        clock: post.clock,
        start_skew_ns: 0,
        window_skew_ns: None,
        replies: exchange.map_or(0, |exchange| exchange.replies),
        latency: exchange.map(|exchange| exchange.latency.clone()),
        generator: done.generator.clone(),
        stolen_share: done.stolen_share,
        others_share: done.others_share,
        throttled_share: done.throttled_share,
        kernel_counters: done.kernel_counters.clone(),
    }
}

/// When a station began what, by the lab's clock.
struct Moments {
    begun_ns: Vec<(PhaseName, u64)>,
    window_ns: Option<u64>,
}

impl Moments {
    fn of(post: &Post, done: &Done) -> Self {
        let here = |at_ns: u64| at_ns.saturating_add_signed(-post.clock.offset_ns);
        let none = Phases::default();
        let phases = done.record.as_ref().map_or(&none, |record| &record.phases);
        let begun = phases.0.iter().filter_map(|phase| {
            let at_ns = phase.begun_at_monotonic_ns?;
            Some((phase.measured.name(), here(at_ns)))
        });
        let window = phases
            .exchange()
            .map(|exchange| exchange.started_at_monotonic_ns);
        Self {
            begun_ns: begun.collect(),
            window_ns: window.filter(|&at_ns| at_ns > 0).map(here),
        }
    }

    /// The most that it was later than the first of all.
    fn behind(&self, all: &[Self]) -> u64 {
        // A host whose connections did not open leaves phases out.
        let behind = self.begun_ns.iter().map(|(phase, own_ns)| {
            let begun = all.iter().flat_map(|one| &one.begun_ns);
            let of_phase = begun.filter(|(name, _)| name == phase);
            let first = of_phase.map(|(_, at_ns)| at_ns).min();
            first.map_or(0, |first_ns| own_ns - first_ns)
        });
        behind.max().unwrap_or(0)
    }

    fn window_behind(&self, all: &[Self]) -> Option<u64> {
        let first_ns = all.iter().filter_map(|one| one.window_ns).min()?;
        Some(self.window_ns? - first_ns)
    }
}

/// Replies and CPU time of all generators over time: the samples of all by the lab's clock, each of which adds what its station had more.
fn series(parts: &[(Post, Done)]) -> Vec<SeriesSample> {
    let mut all: Vec<(u64, usize, &SeriesSample)> = Vec::new();
    for (station, (post, done)) in parts.iter().enumerate() {
        let start_ns = done
            .started_at_monotonic_ns
            .saturating_add_signed(-post.clock.offset_ns);
        all.extend(
            done.series
                .iter()
                .map(|sample| (start_ns + sample.at_ns, station, sample)),
        );
    }
    all.sort_by_key(|(at_ns, ..)| *at_ns);
    let mut replies = vec![0; parts.len()];
    let samples = all.into_iter().map(|(at_ns, station, sample)| {
        replies[station] = sample.replies;
        SeriesSample {
            at_ns,
            replies: replies.iter().sum(),
            generator_cpu_ns: sample.generator_cpu_ns,
            ..SeriesSample::default()
        }
    });
    samples.collect()
}

impl From<MergeError> for GeneratorError {
    fn from(error: MergeError) -> Self {
        Self::Failed(error.to_string())
    }
}
