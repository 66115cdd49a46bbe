//! What happened, with the evidence of a finding, in one sentence.

use throng_record::{Finding, Side};

use crate::format::{exact, hundredths, plural, setting_ns, time_ns};

/// The sentence. One arm for each finding, so that it reads as a table.
pub(super) fn happened(finding: &Finding) -> String {
    match finding {
        Finding::HalfThePortsGone {
            ports,
            connections,
            rate_before_per_second,
            rate_after_per_second,
        } => format!(
            "{} connects a second until half of a source address's {} ports were taken, and {} a second from then on, up to {} connections from one address.",
            exact(rate_before_per_second.round() as u64),
            exact((*ports).into()),
            exact(rate_after_per_second.round() as u64),
            exact((*connections).into())
        ),
        Finding::PortsExhausted {
            ports,
            source_addresses,
            open: 0,
            failed,
        } => format!(
            "{} failed for want of a port: {} with {} each, and connections that have ended keep theirs (TIME_WAIT).",
            plural(*failed, "connect"),
            source_words(*source_addresses),
            plural((*ports).into(), "port")
        ),
        Finding::PortsExhausted {
            ports,
            source_addresses,
            open,
            failed,
        } => format!(
            "{} open from {} with {} each; {} failed or were not begun for want of a port.",
            plural((*open).into(), "connection"),
            source_words(*source_addresses),
            plural((*ports).into(), "port"),
            exact(*failed)
        ),
        Finding::DescriptorsExhausted {
            side,
            limit,
            open,
            failed,
            descriptors_per_connection,
        } => format!(
            "the {} had no descriptor left{}: {} were open, {} more {}{}.",
            match side {
                Side::Generator => "generator",
                Side::Server => "server",
            },
            maybe(limit, |limit| format!(
                " (one table holds {})",
                exact(limit)
            )),
            plural((*open).into(), "connection"),
            exact(*failed),
            match side {
                Side::Generator => "failed or were not begun",
                Side::Server => "were not served",
            },
            maybe(descriptors_per_connection, |each| format!(
                "; the server had {each:.1} descriptors open for each connection that it served"
            ))
        ),
        Finding::ThreadsExhausted {
            limit_name,
            limit,
            threads,
            served,
            of_connections,
        } => format!(
            "{} of {} were served, by {} at most; the least limit here is {limit_name} = {}.",
            exact((*served).into()),
            plural((*of_connections).into(), "connection"),
            plural((*threads).into(), "thread"),
            exact(*limit)
        ),
        Finding::SynRetransmissionSteps {
            connections,
            retransmissions,
            connect_ns_max,
            overflows,
            backlog,
        } => format!(
            "{} waited for a SYN to be sent again ({} in all), {}{}{}.",
            plural((*connections).into(), "connect"),
            times(*retransmissions),
            match *connect_ns_max {
                0 => "and none was answered".to_owned(),
                slowest => format!("the slowest for {}", time(slowest)),
            },
            maybe(overflows, |overflows| format!(
                "; {} (ListenOverflows)",
                plural(overflows, "overflow")
            )),
            maybe(backlog, |backlog| format!(
                "; the backlog in force is {backlog}"
            ))
        ),
        Finding::AcceptQueueOverflow {
            overflows,
            drops,
            connects_delayed,
            syn_retransmissions,
            connect_ns_max,
            backlog,
            depth_max,
            ..
        } => format!(
            "{}, {} (ListenOverflows, ListenDrops){}{}; {} by sending the SYN again{}, {}.",
            plural(*overflows, "overflow"),
            plural(*drops, "drop"),
            maybe(backlog, |backlog| format!(
                "; a backlog of {backlog} holds {}",
                u64::from(backlog) + 1
            )),
            maybe(depth_max, |depth| format!("; {depth} were seen waiting")),
            match connects_delayed {
                0 => "no measured connect was delayed".to_owned(),
                some => format!("{} delayed", plural(*some, "connect")),
            },
            maybe(syn_retransmissions, |again| format!(
                " ({} in all)",
                times(again)
            )),
            match *connect_ns_max {
                0 => "and no connect completed".to_owned(),
                slowest => format!("the slowest that completed took {}", time(slowest)),
            }
        ),
        Finding::BacklogClamped {
            asked,
            in_force,
            somaxconn,
        } => format!(
            "the server was asked for a backlog of {asked}, and {in_force} is in force{}.",
            maybe(somaxconn, |limit| format!(
                "; net.core.somaxconn is {limit}"
            ))
        ),
        Finding::FinalAckDropped {
            connections,
            data_retransmissions,
            syn_ack_retransmissions,
            waited_ns_max,
        } => format!(
            "{} that clients took for established and the server did not have, for up to {}{}{}.",
            plural(*connections, "connection"),
            time(*waited_ns_max),
            maybe(data_retransmissions, |again| format!(
                "; data sent again {}",
                times(again)
            )),
            maybe(syn_ack_retransmissions, |again| format!(
                ", SYN-ACKs {}",
                times(again)
            ))
        ),
        Finding::SynCookies {
            sent,
            received,
            failed,
            request_queue_full,
        } => format!(
            "{} sent; {} came back with a valid one (SyncookiesRecv: the ACK that finds the accept queue full counts, and each retransmission of the data behind it), {} with an invalid or expired one; the request queue was full {}.",
            plural(*sent, "SYN cookie"),
            plural(*received, "segment"),
            exact(*failed),
            times(*request_queue_full)
        ),
        Finding::ConnectionsRefused {
            refused,
            begun,
            connected,
            server_died,
            was_listening,
        } => format!(
            "{} of {} were answered by RST{}{}{}.",
            exact(*refused),
            plural(*begun, "connect"),
            match connected {
                0 => String::new(),
                some => format!(", {} connected", exact(*some)),
            },
            if *server_died {
                "; the server ended during the trial"
            } else {
                ""
            },
            maybe(was_listening, |was| format!(
                "; {} listened when the trial began",
                if was { "somebody" } else { "nobody" }
            ))
        ),
        Finding::HeadOfLineBlocking {
            requests,
            of_requests,
            service_time_ns,
            first_byte_ns_median,
            server_busy,
        } => format!(
            "{} of {} waited inside a server that used {} of its CPU; the median first byte took {}, the service takes {}.",
            exact(*requests),
            plural(*of_requests, "request"),
            percent(*server_busy),
            time(*first_byte_ns_median),
            setting_ns(*service_time_ns)
        ),
        Finding::TooFewAcceptors {
            requests,
            of_requests,
            serves_at_once,
            clients,
            depth_mean,
            server_busy,
        } => format!(
            "{} of {} waited mostly in the accept queue (mean depth {depth_mean:.1}) of a server that used {} of its CPU; {} at once{}.",
            exact(*requests),
            plural(*of_requests, "request"),
            percent(*server_busy),
            plural((*clients).into(), "client"),
            maybe(serves_at_once, |at_once| format!(", {at_once} served"))
        ),
        Finding::DelayedAck {
            share_of_replies,
            gap_ns_median,
            delayed_acks,
            replies,
        } => format!(
            "{} of the replies ({} in all) came in pieces, the last about 40 ms after the first (median of these {}), with {} (DelayedACKs).",
            percent(*share_of_replies),
            exact(*replies),
            time(*gap_ns_median),
            plural(*delayed_acks, "delayed ACK")
        ),
        Finding::Stalls {
            stalls,
            stall_ns_median,
            stall_ns_max,
            period_ns,
            share_of_window,
            waiting_max,
            latency_ns_median,
        } => format!(
            "{}{} no connection got a reply, for {}, together {} of the window, with up to {} waiting; half of all replies took {} or less.",
            times(u64::from(*stalls)),
            maybe(period_ns, |period| format!(", every {},", time(period))),
            match stalls {
                1 => time(*stall_ns_max),
                _ => format!(
                    "{} in the median and {} at most",
                    time(*stall_ns_median),
                    time(*stall_ns_max)
                ),
            },
            percent(*share_of_window),
            plural((*waiting_max).into(), "connection"),
            time(*latency_ns_median)
        ),
        Finding::StarvedConnections {
            connections,
            seldom_served,
            replies_min,
            replies_median,
            waiting,
            waited_ns_max,
            reply_ns_max,
        } => {
            let seldom = seldom_served.map(|seldom| {
                format!(
                    "{} of {} had at most a fifth of the median replies (fewest {}, median {})",
                    exact(seldom.into()),
                    plural((*connections).into(), "connection"),
                    exact(replies_min.unwrap_or(0).into()),
                    exact(replies_median.unwrap_or(0).into())
                )
            });
            let waiting = waiting.map(|waiting| {
                format!(
                    "{} of {} waited at the end of the window, for up to {}, while others were answered; the slowest reply took {}",
                    exact(waiting.into()),
                    plural((*connections).into(), "connection"),
                    time(waited_ns_max.unwrap_or(0)),
                    time(*reply_ns_max)
                )
            });
            let clauses: Vec<String> = seldom.into_iter().chain(waiting).collect();
            format!("{}.", clauses.join("; "))
        }
        Finding::GeneratorBound {
            generator_busy,
            server_busy,
        } => format!(
            "the generator used {} of its CPU, the server {} of its own: it could do more than was measured.",
            percent(*generator_busy),
            percent(*server_busy)
        ),
        Finding::UnbalancedListeners {
            listeners,
            busiest_depth_max,
            busiest_depth_mean,
            idlest_depth_max,
            idlest_depth_mean,
        } => format!(
            "{} on one port: on average {busiest_depth_mean:.1} connections waited at the busiest (at most {busiest_depth_max}) and {idlest_depth_mean:.1} at the idlest (at most {idlest_depth_max}).",
            plural((*listeners).into(), "listener")
        ),
        Finding::CostGrowsWithIdle {
            measured,
            ns_per_connection,
            ns_per_connection_low,
            ns_per_connection_high,
            idle,
            cost_ns_last,
            cost_ns_first,
        } => format!(
            "{} took {} with few idle connections and {} with {}; each adds {} ns (95 % interval {} to {}).",
            match measured.as_str() {
                "accept" => "waiting and accepting",
                "data" => "waiting and reading",
                other => other,
            },
            time(*cost_ns_first),
            time(*cost_ns_last),
            exact((*idle).into()),
            hundredths(*ns_per_connection),
            hundredths(*ns_per_connection_low),
            hundredths(*ns_per_connection_high)
        ),
        Finding::OneCoreOfMany {
            cores_used,
            cores_allowed,
            cores_idle,
            busiest_thread_cores,
            threads_max,
            connections,
            held_by: _,
        } => format!(
            "{} at once to a server that used {cores_used:.2} of {cores_allowed} cores, while {cores_idle:.2} were idle; it had {}{}.",
            plural((*connections).into(), "connection"),
            plural((*threads_max).into(), "thread"),
            match busiest_thread_cores {
                Some(busiest) if *threads_max > 1 =>
                    format!(", the busiest of which used {busiest:.2} of a core"),
                _ => String::new(),
            }
        ),
        Finding::UnfairService {
            connections,
            replies_min,
            replies_p10,
            replies_median,
            replies_p90,
            replies_max,
            fairness_jain,
        } => format!(
            "of {} that asked again at once, one in ten had at most {} replies in the window and one in ten at least {} (median {}, fewest {}, most {}); Jain's fairness index is {}.",
            plural((*connections).into(), "connection"),
            exact((*replies_p10).into()),
            exact((*replies_p90).into()),
            exact((*replies_median).into()),
            exact((*replies_min).into()),
            exact((*replies_max).into()),
            hundredths(*fairness_jain)
        ),
    }
}

/// A clause for what may not have been seen.
fn maybe<T: Copy>(seen: &Option<T>, clause: impl Fn(T) -> String) -> String {
    seen.map_or_else(String::new, clause)
}

/// `once`, `twice`, `17 times`.
pub(crate) fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{} times", exact(more)),
    }
}

fn source_words(addresses: u32) -> String {
    match addresses {
        1 => "one source address".to_owned(),
        more => format!("{} source addresses", exact(more.into())),
    }
}

fn time(nanoseconds: u64) -> String {
    time_ns(nanoseconds as f64)
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
