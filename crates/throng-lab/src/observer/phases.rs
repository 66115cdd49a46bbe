//! What each phase of the generator's work costs both sides.
//!
//! Between two phases the generator waits and nothing goes on, so one reading ends a phase and begins the next. A phase's window is from the
//! end of the reading before it to the start of the reading after it: reading tens of thousands of processes takes its time, and that
//! is in no phase. The generator does not wait for the border between connects and acknowledgements: there the reading's time is the
//! latter's.

use throng_record::{PhaseCost, PhaseName, SideCost};

use super::side::Reading;

/// One reading of both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Border {
    pub(super) begun_at_ns: u64,
    pub(super) ended_at_ns: u64,
    pub(super) generator: Option<Reading>,
    pub(super) server: Option<Reading>,
}

/// Where one phase of a trial turned into the next.
#[derive(Debug, Default)]
pub(super) struct Borders {
    under_way: Option<(PhaseName, Border)>,
    pub(super) costs: Vec<(PhaseName, PhaseCost)>,
}

impl Borders {
    /// Whatever is under way ends here; `next` begins when the generator goes on. The phase that ended.
    pub(super) fn border(&mut self, border: Border, next: Option<PhaseName>) -> Option<PhaseName> {
        let ended = self.under_way.take();
        self.under_way = next.map(|phase| (phase, border));
        let (phase, begin) = ended?;
        let cost = PhaseCost {
            window_ns: border.begun_at_ns.saturating_sub(begin.ended_at_ns),
            generator: between(begin.generator, border.generator),
            server: between(begin.server, border.server),
        };
        self.costs.push((phase, cost));
        Some(phase)
    }
}

/// A process that left without being waited for takes its figures along, hence saturating.
fn between(begin: Option<Reading>, end: Option<Reading>) -> Option<SideCost> {
    let (begin, end) = (begin?.sample, end?.sample);
    Some(SideCost {
        cpu_ns: end.cpu_ns.saturating_sub(begin.cpu_ns),
        user_ns: end.user_ticks_ns.saturating_sub(begin.user_ticks_ns),
        system_ns: end.system_ticks_ns.saturating_sub(begin.system_ticks_ns),
        threads: u32::try_from(end.threads).unwrap_or(u32::MAX),
        rss_bytes: end.rss_bytes,
    })
}

#[cfg(test)]
mod tests {
    use throng_sys::process_tree::TreeSample;

    use super::*;

    fn border(at_ns: u64, cpu_ns: u64) -> Border {
        let reading = |threads| {
            let mut reading = Reading::default();
            reading.sample = TreeSample {
                threads,
                cpu_ns,
                rss_bytes: 10 * threads,
                ..TreeSample::default()
            };
            reading
        };
        Border {
            begun_at_ns: at_ns,
            ended_at_ns: at_ns + 7,
            generator: Some(reading(3)),
            server: (at_ns < 1_000).then(|| reading(cpu_ns)),
        }
    }

    #[test]
    fn a_phase_costs_what_was_used_from_its_border_to_the_next() {
        let mut phases = Borders::default();
        assert_eq!(
            phases.border(border(100, 5), Some(PhaseName::Connect)),
            None
        );
        let ended = phases.border(border(300, 25), None);
        assert_eq!(ended, Some(PhaseName::Connect));
        assert_eq!(phases.border(border(400, 99), Some(PhaseName::Get)), None);
        assert_eq!(
            phases.border(border(450, 100), Some(PhaseName::Close)),
            Some(PhaseName::Get)
        );
        phases.border(border(1_450, 150), None);
        let told: Vec<_> = phases
            .costs
            .iter()
            .map(|(phase, cost)| {
                (
                    *phase,
                    cost.window_ns,
                    cost.generator.map(|side| side.cpu_ns),
                )
            })
            .collect();
        let expected = [
            (PhaseName::Connect, 193, Some(20)),
            (PhaseName::Get, 43, Some(1)),
            (PhaseName::Close, 993, Some(50)),
        ];
        assert_eq!(told, expected);
        let server = phases.costs[1].1.server.expect("seen");
        assert_eq!((server.threads, server.rss_bytes), (100, 1_000));
        assert_eq!(phases.costs[2].1.server, None, "it had gone");
    }
}
