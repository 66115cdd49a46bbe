//! What is told of a trial as a whole: both sides, the kernel's account, the memory of many connections, and what went wrong.

use throng_record::{KernelMemoryRecord, KernelMemorySample, SideRecord};

use crate::failures::{self, Failures};
use crate::figure::{Figure, OneTrial};
use crate::listener;
use crate::unit::Unit;

pub(super) fn figures() -> Vec<Figure> {
    let mut figures = of_failures();
    figures.extend(of_sides());
    figures.extend(of_listener());
    figures.extend(of_kernel_memory());
    figures
}

fn of_failures() -> Vec<Figure> {
    type PickFailures = fn(&Failures) -> u64;
    let kinds: [(&str, &str, &str, PickFailures); 8] = [
        (
            "errors",
            "errors",
            "All that went wrong, in whichever phase.",
            |all| all.total(),
        ),
        (
            "refused",
            "refused",
            "Connects that were answered by RST.",
            |all| all.refused,
        ),
        (
            "reset",
            "reset",
            "Connections that were reset once established.",
            |all| all.reset,
        ),
        (
            "closed",
            "closed",
            "Connections that the server closed without a whole answer.",
            |all| all.closed,
        ),
        (
            "timed_out",
            "timed out",
            "No connection, or no answer, within its time.",
            |all| all.timed_out,
        ),
        (
            "ports_exhausted",
            "without\na port",
            "Connects that found no local port.",
            |all| all.no_port,
        ),
        (
            "wrong_answers",
            "answered\nwrongly",
            "Answers with wrong or excess bytes, or with another HTTP status.",
            |all| all.wrong,
        ),
        (
            "other_errors",
            "other\nerrors",
            "Whatever else went wrong.",
            |all| all.other,
        ),
    ];
    let figure =
        |(key, heading, sentence, of): (&'static str, &'static str, &'static str, PickFailures)| {
            let of_trial = move |one: &OneTrial<'_>| {
                Some(of(&failures::of_errors(&one.trial.phases.errors())) as f64)
            };
            Figure::failures(key, heading, sentence, of_trial)
        };
    kinds.into_iter().map(figure).collect()
}

fn of_sides() -> Vec<Figure> {
    fn server<'a>(one: &OneTrial<'a>) -> Option<&'a SideRecord> {
        one.trial.server.as_ref()
    }
    fn generator<'a>(one: &OneTrial<'a>) -> Option<&'a SideRecord> {
        one.trial.generator.as_ref()
    }
    vec![
        Figure::number("server_cpu_per_message_ns", "server CPU\n/message", Unit::Nanoseconds, "CPU time of the server's process tree ÷ messages.", |one| server(one)?.cpu_per_message_ns),
        Figure::number("server_utilisation", "server\nbusy", Unit::Share, "CPU time of the server ÷ what the CPUs that it may use could give in the window.", |one| Some(server(one)?.utilisation)).neither(),
        Figure::number("server_system_share", "server\nin kernel", Unit::Share, "Part of the server's CPU time that the kernel used for it; absent below a second of it, since it is counted in ticks.", |one| system_share(server(one)?)).neither(),
        Figure::number("server_memory_per_connection_bytes", "server memory\n/connection", Unit::Bytes, "Growth of the server's memory that is no file's, from before the first connection to all open ÷ connections.", |one| server(one)?.memory_per_connection_bytes),
        Figure::number("server_rss_connected_bytes", "server\nRSS", Unit::Bytes, "Resident set of the server with every connection open: a page counts once for each process.", |one| Some(server(one)?.memory_connected.rss_bytes as f64)),
        Figure::number("server_pss_connected_bytes", "server\nPSS", Unit::Bytes, "Proportional set of the server with every connection open: a page is divided among those that share it.", |one| Some(server(one)?.memory_connected.pss_bytes? as f64)),
        Figure::number("server_rss_measured_bytes", "server RSS,\nat the end", Unit::Bytes, "Resident set of the server at the end of the measured window.", |one| Some(server(one)?.memory_measured.rss_bytes as f64)),
        Figure::count("server_processes_max", "processes", "Most processes of the server seen at once.", |one| Some(server(one)?.processes_max.into())),
        Figure::count("server_threads_max", "threads", "Most threads of the server seen at once, over all its processes.", |one| Some(server(one)?.threads_max.into())),
        Figure::count("server_voluntary_switches", "waits", "Voluntary context switches of the server in the window: waits.", |one| Some(server(one)?.voluntary_switches as f64)),
        Figure::count("server_involuntary_switches", "preemptions", "Involuntary context switches of the server in the window: preemptions.", |one| Some(server(one)?.involuntary_switches as f64)),
        Figure::number("generator_cpu_per_message_ns", "generator CPU\n/message", Unit::Nanoseconds, "CPU time of the generator ÷ messages.", |one| generator(one)?.cpu_per_message_ns).neither(),
        Figure::number("generator_utilisation", "generator\nbusy", Unit::Share, "CPU time of the generator ÷ what the CPUs that it may use could give in the window.", |one| Some(generator(one)?.utilisation)).neither(),
        Figure::number("generator_bytes_per_connection", "generator's own\n/connection", Unit::Bytes, "The generator's own memory for each idle connection, as it counts it itself.", |one| generator(one)?.memory_per_connection_bytes).neither(),
    ]
}

/// Absent where the times are too short to be divided: they are counted in ticks of 4 or 10 ms.
fn system_share(side: &SideRecord) -> Option<f64> {
    const TOTAL_MIN_NS: u64 = 1_000_000_000;
    let total_ns = side.user_ns + side.system_ns;
    (total_ns >= TOTAL_MIN_NS).then(|| side.system_ns as f64 / total_ns as f64)
}

fn of_listener() -> Vec<Figure> {
    let counter =
        |key: &'static str, heading: &'static str, sentence: &'static str, name: &'static str| {
            Figure::count(key, heading, sentence, move |one: &OneTrial<'_>| {
                one.counter_of_listener(name)
            })
            .less()
        };
    vec![
        counter(
            "listen_overflows",
            "over-\nflows",
            "SYNs and final ACKs that found the accept queue full (ListenOverflows).",
            "TcpExt.ListenOverflows",
        ),
        counter(
            "listen_drops",
            "drops",
            "Those, and drops at the listener for other reasons (ListenDrops).",
            "TcpExt.ListenDrops",
        ),
        counter(
            "syn_cookies_sent",
            "cookies\nsent",
            "SYN cookies that were sent (SyncookiesSent).",
            "TcpExt.SyncookiesSent",
        ),
        Figure::count(
            "syn_ack_retransmissions",
            "SYN-ACKs\nagain",
            "SYN-ACKs sent again, as they were observed.",
            |one| Some(one.trial.handshakes.as_ref()?.syn_ack_retransmissions as f64),
        )
        .less(),
        Figure::count(
            "accept_queue_max",
            "queue\nmax",
            "The longest that the accept queue was seen, of all listeners of the port together.",
            listener::accept_queue_max,
        )
        .less(),
        Figure::count(
            "backlog_in_force",
            "backlog\nin force",
            "The backlog in force, as found.",
            |one| Some(listener::backlog_in_force(one.trial)?.into()),
        ),
        Figure::count(
            "time_wait_sockets",
            "TIME_WAIT\nleft",
            "Sockets in TIME_WAIT, of either side, that the trial's network had more at its end than at its beginning.",
            |one| grown(one, "Sockstat.TimeWait"),
        ),
        Figure::count(
            "time_wait_overflows",
            "closed\nwithout it",
            "Sockets that closed without TIME_WAIT, since there were as many as net.ipv4.tcp_max_tw_buckets allows.",
            |one| grown(one, "TcpExt.TCPTimeWaitOverflow"),
        ),
    ]
}

/// Fewer than before: sockets of others are counted too, and nothing can be told.
fn grown(one: &OneTrial<'_>, name: &str) -> Option<f64> {
    let change = one.counter(name)?;
    (change >= 0).then_some(change as f64)
}

fn of_kernel_memory() -> Vec<Figure> {
    type PickSample = fn(&KernelMemoryRecord) -> Option<&KernelMemorySample>;
    type PickBytes = fn(&KernelMemorySample) -> u64;
    let mut figures = vec![Figure::number(
        "kernel_bytes_per_connection",
        "kernel's\n/connection",
        Unit::Bytes,
        "Growth of the kernel's memory ÷ connections: slab, page tables, per-CPU memory and socket buffers, of both ends where both are on this machine, and of whatever else happened on it.",
        |one| Some(one.trial.kernel_memory.as_ref()?.bytes_per_connection),
    )];
    let kinds: [(_, _, PickBytes); 4] = [
        ("kernel_slab", "Slab of the whole machine", |sample| {
            sample.slab_bytes
        }),
        (
            "kernel_socket_buffers",
            "Buffers of TCP sockets of the whole machine",
            |sample| sample.socket_buffers_bytes,
        ),
        (
            "kernel_stack",
            "Stacks of threads of the whole machine",
            |sample| sample.kernel_stack_bytes,
        ),
        (
            "available",
            "Memory of the machine that is available",
            |sample| sample.available_bytes,
        ),
    ];
    let moments: [(_, _, PickSample); 3] = [
        ("before", "before the first connection", |memory| {
            Some(&memory.before)
        }),
        ("connected", "with every connection open", |memory| {
            Some(&memory.connected)
        }),
        ("after", "after the end", |memory| memory.after.as_ref()),
    ];
    for (kind, what, bytes) in kinds {
        for (moment, when, sample) in moments {
            let figure = Figure::number(
                format!("{kind}_{moment}_bytes"),
                format!("{},\n{moment}", kind.replace('_', " ")),
                Unit::Bytes,
                format!("{what} {when}."),
                move |one| Some(bytes(sample(one.trial.kernel_memory.as_ref()?)?) as f64),
            );
            figures.push(figure.neither());
        }
    }
    figures
}
