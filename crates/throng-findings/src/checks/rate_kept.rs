//! Open loop: replies came at the rate that was asked for.
//!
//! Where they did not, the trial is of another question than the one asked: the throughput is what the connections carried, and the
//! latencies are lower bounds, since the requests that were never sent have waited too.
//!
//! From what is missing is taken off what a rate that is kept leaves open as well: what is in flight (the mean number outstanding),
//! what failed (which is counted elsewhere), a message at each end of each thread's window, and the chance of exponential gaps, of
//! which the count of a window has the standard deviation √n.

use throng_record::{
    Arrivals, Check, CheckKind, CheckResult, ExchangePhase, Pacing, SustainSpec, SustainedPhase,
};

use super::{Kind, made, not_applicable, percent};
use crate::evidence::Evidence;
use crate::hosts::busiest_in_words;
use crate::limit::{Busy, GENERATOR_BUSY, RATE_KEPT, SERVER_BUSY};

pub(super) const KIND: Kind = Kind {
    name: "rate-kept",
    title: "rate not kept",
    heading: "Rate kept",
    is_the_servers_fault: false,
};

/// Standard deviations of a count that chance is granted.
const DEVIATIONS: f64 = 4.0;

/// What was asked for, and what came of it.
#[derive(Clone, Copy, Debug)]
struct Offered<'a> {
    asked_per_second: f64,
    replies_per_second: f64,
    duration_ns: u64,
    /// What may be missing from a rate that is kept.
    in_flight: f64,
    failed: u64,
    chance: f64,
    /// Due by the window's end, and never sent.
    unsent: u64,
    /// Due while every connection was busy.
    waited: u64,
    busy: Busy,
    /// The generator in words; of several the busiest, by its host.
    generator: &'a str,
    /// What carries one message at a time, as the flag that asks for more of it; absent of a fan-out, whose every line goes to all.
    carrier: Option<&'static str>,
    /// Replies for each unit of the rate.
    replies_of_one: f64,
}

pub(super) fn check(evidence: &Evidence<'_>, pacing: &Pacing, exchange: &ExchangePhase) -> Check {
    let &Pacing::Open {
        rate_per_second,
        arrivals,
        ..
    } = pacing
    else {
        return not_applicable(CheckKind::RateKept, "only an open loop has a rate to keep");
    };
    let due = rate_per_second * exchange.duration_ns as f64 / 1e9;
    let generators = evidence.hosts().len().max(1) as f64;
    let threads = f64::from(evidence.trial.job.fleet.shards) * generators;
    judged(&Offered {
        asked_per_second: rate_per_second,
        replies_per_second: exchange.replies_per_second,
        duration_ns: exchange.duration_ns,
        in_flight: exchange.outstanding.map_or(0.0, |found| found.by_time),
        failed: exchange.errors.total(),
        chance: chance(arrivals, due) + threads,
        unsent: exchange.due_unsent,
        busy: evidence.busy(),
        generator: &busiest_in_words(evidence.trial),
        waited: exchange.waited_for_connection,
        carrier: match evidence.phases().connections() {
            Some(_) => Some("client"),
            None => Some("connection"),
        },
        replies_of_one: 1.0,
    })
}

/// Lines of a fan-out, each of which is a delivery to every connection. Each is put when it is due; it is the deliveries that come late.
pub(super) fn of_lines(
    asked: &SustainSpec,
    connected: u32,
    sustained: &SustainedPhase,
    busy: Busy,
) -> Check {
    let lines = asked.rate_per_second * sustained.duration_ns as f64 / 1e9;
    judged(&Offered {
        asked_per_second: asked.rate_per_second * f64::from(connected),
        replies_per_second: sustained.deliveries_per_second,
        duration_ns: sustained.duration_ns,
        in_flight: sustained.deliveries_per_second * sustained.latency.mean_ns / 1e9,
        failed: sustained.missing,
        chance: (chance(asked.arrivals, lines) + 1.0) * f64::from(connected),
        unsent: 0,
        waited: 0,
        busy,
        generator: "the generator",
        carrier: None,
        replies_of_one: f64::from(connected),
    })
}

fn chance(arrivals: Arrivals, due: f64) -> f64 {
    match arrivals {
        Arrivals::Constant => 0.0,
        Arrivals::Exponential => DEVIATIONS * due.sqrt(),
    }
}

fn judged(offered: &Offered<'_>) -> Check {
    let &Offered {
        asked_per_second,
        replies_per_second,
        ..
    } = offered;
    let due = asked_per_second * offered.duration_ns as f64 / 1e9;
    let allowed = offered.in_flight + offered.failed as f64 + offered.chance;
    if due < 1.0 {
        let why = "the window was over before a message was due";
        return not_applicable(CheckKind::RateKept, why);
    }
    let bound = RATE_KEPT - allowed / due;
    let share = replies_per_second / asked_per_second;
    let evidence = format!("{replies_per_second:.0}/s of {asked_per_second:.0}/s");
    // Not `<`: a share that is no number must not pass.
    if share >= bound {
        let detail = format!("{evidence} ({})", percent(share));
        return made(
            CheckKind::RateKept,
            CheckResult::Passed,
            share,
            bound,
            detail,
        );
    }
    let unsent = match offered.unsent {
        0 => String::new(),
        unsent => format!(", {unsent} due and never sent"),
    };
    let detail = format!("rate not kept: {evidence}{unsent}: {}", offered.advice());
    made(
        CheckKind::RateKept,
        CheckResult::Qualified,
        share,
        bound,
        detail,
    )
}

impl Offered<'_> {
    /// Why, as far as it can be told, and what to try.
    fn advice(&self) -> String {
        let lower = match lower_rate(self.replies_per_second / self.replies_of_one) {
            Some(rate) => format!("try --rate {rate}"),
            None => "try a lower --rate".to_owned(),
        };
        match (self.busy.server, self.busy.generator) {
            _ if self.replies_per_second == 0.0 => {
                "no reply came; see whether the server answers at all (--connections 1 --rate 1)"
                    .to_owned()
            }
            (Some(share), _) if share >= SERVER_BUSY => {
                format!("the server used {} of its cores; {lower}", percent(share))
            }
            (_, Some(share)) if share >= GENERATOR_BUSY => format!(
                "{} used {} of its cores; {lower}, or give it more CPUs (--cpus) and --shards",
                self.generator,
                percent(share)
            ),
            _ => self.advice_where_nobody_is_busy(&lower),
        }
    }

    fn advice_where_nobody_is_busy(&self, lower: &str) -> String {
        let Some(carrier) = self.carrier else {
            return format!("deliveries fell behind their lines; {lower}, or fewer --connections");
        };
        if self.waited > 0 {
            format!("every {carrier} was busy; {lower}, or more {carrier}s (--{carrier}s)")
        } else if self.unsent > 0 {
            format!("the generator was held up; {lower}, or give it a CPU of its own (--cpus)")
        } else {
            format!(
                "what is missing was under way when the time was over; {lower}, or measure longer (--duration)"
            )
        }
    }
}

/// Nine tenths of it, in two digits.
fn lower_rate(per_second: f64) -> Option<u64> {
    let rate = 0.9 * per_second;
    let unit = 10_f64.powf((rate.log10().floor() - 1.0).max(0.0));
    let rounded = (rate / unit).floor() * unit;
    (rounded >= 1.0).then_some(rounded as u64)
}

#[cfg(test)]
mod tests {
    use throng_record::PutSpec;

    use super::*;

    /// 300,000 a second for two seconds on a server that is not busy.
    fn offered(replies_per_second: f64) -> Offered<'static> {
        Offered {
            asked_per_second: 300_000.0,
            replies_per_second,
            duration_ns: 2_000_000_000,
            in_flight: 0.0,
            failed: 0,
            chance: 1.0,
            unsent: 0,
            waited: 0,
            busy: Busy {
                server: Some(0.5),
                generator: Some(0.5),
            },
            generator: "the generator",
            carrier: Some("connection"),
            replies_of_one: 1.0,
        }
    }

    fn result(offered: &Offered<'_>) -> CheckResult {
        judged(offered).result
    }

    #[test]
    fn nineteen_twentieths_are_the_rate_and_less_is_not() {
        assert_eq!(result(&offered(300_000.0)), CheckResult::Passed);
        assert_eq!(result(&offered(285_001.0)), CheckResult::Passed);
        assert_eq!(result(&offered(284_998.0)), CheckResult::Qualified);
        assert_eq!(result(&offered(f64::NAN)), CheckResult::Qualified);
    }

    #[test]
    fn what_is_in_flight_or_failed_or_due_to_chance_is_not_missing() {
        // 15,000 more a second for two seconds.
        let missing = offered(270_000.0);
        assert_eq!(result(&missing), CheckResult::Qualified);
        let allowed: [fn(&mut Offered<'_>); 3] = [
            |offered| offered.in_flight = 30_000.0,
            |offered| offered.failed = 30_000,
            |offered| offered.chance = 30_000.0,
        ];
        for allow in allowed {
            let mut offered = missing;
            allow(&mut offered);
            assert_eq!(result(&offered), CheckResult::Passed, "{offered:?}");
        }
        assert_eq!(chance(Arrivals::Constant, 10_000.0), 0.0);
        assert_eq!(chance(Arrivals::Exponential, 10_000.0), 400.0);
    }

    #[test]
    fn it_says_what_was_kept_of_what_and_what_to_try() {
        let overloaded = Offered {
            unsent: 418_330,
            waited: 500_000,
            ..offered(91_000.0)
        };
        let told = judged(&overloaded).detail;
        let expected = "rate not kept: 91000/s of 300000/s, 418330 due and never sent: every connection was busy; try --rate 81000, or more connections (--connections)";
        assert_eq!(told, expected);
        let with = |busy| {
            let detail = judged(&Offered { busy, ..overloaded }).detail;
            detail.rsplit(": ").next().map(str::to_owned)
        };
        let busy = |server, generator| Busy {
            server: Some(server),
            generator: Some(generator),
        };
        let of_server = with(busy(0.97, 0.99)).expect("a reason");
        assert!(
            of_server.starts_with("the server used 97.0 %"),
            "{of_server}"
        );
        assert!(!of_server.contains("--connections"), "{of_server}");
        let of_generator = with(busy(0.6, 0.99)).expect("a reason");
        assert!(of_generator.contains("--shards"), "{of_generator}");
        assert!(
            of_generator.starts_with("the generator used 99.0 %"),
            "{of_generator}"
        );
        let under_way = judged(&offered(100_000.0)).detail;
        assert!(under_way.contains("measure longer"), "{under_way}");
        let silent = judged(&offered(0.0)).detail;
        assert!(silent.contains("whether the server answers"), "{silent}");
        let unopened = judged(&Offered {
            duration_ns: 0,
            ..offered(0.0)
        });
        assert_eq!(unopened.result, CheckResult::NotApplicable);
    }

    #[test]
    fn a_fan_out_is_held_to_its_deliveries() {
        let asked = SustainSpec {
            put: PutSpec {
                line: b"hello\n".to_vec(),
                speaker: 0,
            },
            rate_per_second: 20.0,
            arrivals: Arrivals::Constant,
            duration_ns: 5_000_000_000,
        };
        let sustained = |duration_ns, mean_ns| {
            let mut sustained = SustainedPhase {
                deliveries: 100_000,
                duration_ns,
                deliveries_per_second: 100_000.0 * 1e9 / duration_ns as f64,
                ..SustainedPhase::default()
            };
            sustained.latency.mean_ns = mean_ns;
            let busy = offered(1.0).busy;
            of_lines(&asked, 1_000, &sustained, busy)
        };
        let kept = sustained(5_010_000_000, 8e6);
        assert_eq!(kept.result, CheckResult::Passed, "{}", kept.detail);
        // The server delivers at half the rate: the last line comes five seconds late, the mean one half of that.
        let late = sustained(10_000_000_000, 2.5e9);
        assert_eq!(late.result, CheckResult::Qualified, "{}", late.detail);
        let advice = "deliveries fell behind their lines; try --rate 9, or fewer --connections";
        assert!(late.detail.ends_with(advice), "{}", late.detail);
    }

    #[test]
    fn a_lower_rate_has_two_digits() {
        let found = [91_234.0, 12.0, 1.3, 0.9].map(lower_rate);
        assert_eq!(found, [Some(82_000), Some(10), Some(1), None]);
    }
}
