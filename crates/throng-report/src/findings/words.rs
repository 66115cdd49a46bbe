//! Why each finding comes about and what to do, in a plain sentence or two. What happened, with the figures, is told in `happened`.

use throng_record::{Finding, OneCoreCause, Side};

use crate::format::exact;

/// So many descriptors for each connection that it is more than one, whatever a server needs beside them.
const SEVERAL_EACH: f64 = 1.5;

/// What it is called.
pub(super) fn title(finding: &Finding) -> &'static str {
    match finding {
        Finding::HalfThePortsGone { .. } => "Half the ports gone",
        Finding::PortsExhausted { .. } => "Ports exhausted",
        Finding::DescriptorsExhausted { .. } => "Descriptors exhausted",
        Finding::ThreadsExhausted { .. } => "Threads exhausted",
        Finding::SynRetransmissionSteps { .. } => "SYN retransmission steps",
        Finding::AcceptQueueOverflow { .. } => "Accept-queue overflow",
        Finding::BacklogClamped { .. } => "Backlog clamped",
        Finding::FinalAckDropped { .. } => "Final ACK dropped",
        Finding::SynCookies { .. } => "SYN cookies in use",
        Finding::ConnectionsRefused { .. } => "Connections refused",
        Finding::HeadOfLineBlocking { .. } => "Head-of-line blocking",
        Finding::TooFewAcceptors { .. } => "Too few acceptors",
        Finding::DelayedAck { .. } => "Delayed ACK",
        Finding::GeneratorBound { .. } => "Generator-bound",
        Finding::UnbalancedListeners { .. } => "Unbalanced listeners",
        Finding::CostGrowsWithIdle { .. } => "Cost grows with idle connections",
        Finding::OneCoreOfMany { .. } => "One core of many used",
        Finding::Stalls { .. } => "Stalls",
        Finding::StarvedConnections { .. } => "Starved connections",
        Finding::UnfairService { .. } => "Unfair service between connections",
    }
}

/// Why it comes about.
pub(super) fn cause(finding: &Finding) -> &'static str {
    match finding {
        Finding::HalfThePortsGone { .. } => {
            "connect(2) looks for a free port among those of one parity first; when these are taken it goes through all of them in vain, for each further connection, before it turns to the others."
        }
        Finding::PortsExhausted { .. } => {
            "connections to one destination differ only in their local address and port, so that each source address has as many as there are ports in net.ipv4.ip_local_port_range."
        }
        Finding::DescriptorsExhausted {
            side: Side::Generator,
            ..
        } => {
            "each connection takes a descriptor, and a shard's table holds no more than the limit on open files allows (EMFILE)."
        }
        Finding::DescriptorsExhausted {
            descriptors_per_connection: Some(SEVERAL_EACH..),
            ..
        } => {
            "each connection takes several descriptors in this server (a pipe for splice(2), as in Go's io.Copy between connections; a dup(2) for each direction; a connection to a server behind it), and its table was at its limit on open files: accept(2) fails (EMFILE), and those who come later wait in the accept queue."
        }
        Finding::DescriptorsExhausted { .. } => {
            "each connection takes a descriptor, and the server's table was at its limit on open files: accept(2) fails (EMFILE), and those who come later wait in the accept queue."
        }
        Finding::ThreadsExhausted { .. } => {
            "a thread or a process for each connection: threads and processes share the ids below kernel.pid_max, and a thread's stack takes mappings besides."
        }
        Finding::SynRetransmissionSteps {
            overflows: Some(_), ..
        } => {
            "SYNs, or their answers, were lost on the way or filtered, and not dropped at a full accept queue; the client sends a SYN again after 1 s, and then again and again."
        }
        Finding::SynRetransmissionSteps { .. } => {
            "SYNs were lost on the way, or dropped by a server whose accept queue was full, which cannot be seen from here; the client sends a SYN again after 1 s, and then again and again."
        }
        Finding::AcceptQueueOverflow { .. } => {
            "connections came faster than they were accepted, and Linux drops a SYN that finds the accept queue full; the client sends it again after 1 s, and then again and again."
        }
        Finding::BacklogClamped {
            in_force,
            somaxconn,
            ..
        } if somaxconn.is_none_or(|limit| limit == *in_force) => {
            "listen(2) gives no more than net.core.somaxconn, and says nothing of it."
        }
        Finding::BacklogClamped { .. } => {
            "the server passed another number to listen(2), such as a default of its runtime."
        }
        Finding::FinalAckDropped { .. } => {
            "the last ACK of the handshake found the accept queue full and was dropped; such a connection is completed only when the client sends its data again, after 200 ms and then after doubling waits, or the server its SYN-ACK, which it cannot for a cookie. The time is in the reply, not in the connect."
        }
        Finding::SynCookies { .. } => {
            "so many handshakes were under way that the request queue, as long as the backlog, was full too; the kernel then keeps nothing of a connection, and cannot send a SYN-ACK again."
        }
        Finding::ConnectionsRefused {
            server_died: true, ..
        } => "the server ended, and from then on nobody listened.",
        Finding::ConnectionsRefused {
            was_listening: Some(true),
            ..
        }
        | Finding::ConnectionsRefused { connected: 1.., .. } => {
            "the listener went away during the trial, a firewall rejects, or the server's system refuses where its queue is full (Windows does; Linux drops)."
        }
        Finding::ConnectionsRefused {
            was_listening: Some(false),
            ..
        } => "nobody listens on that address and port.",
        Finding::ConnectionsRefused { .. } => {
            "nobody listens on that address and port, a firewall rejects, or the server's system refuses where its queue is full (Windows does; Linux drops)."
        }
        Finding::HeadOfLineBlocking { .. } => {
            "accepted requests waited for one another: a handler that blocks holds up every other connection of its loop or thread."
        }
        Finding::TooFewAcceptors { .. } => {
            "the server accepts a connection only when it is done with another, though it mostly waits itself."
        }
        Finding::DelayedAck { .. } => {
            "a message in two writes without TCP_NODELAY: Nagle's algorithm holds the second back until the first is acknowledged, and the peer delays that ACK by 40 ms."
        }
        Finding::Stalls { .. } => {
            "something stops the whole server: a garbage collection, a call that blocks the loop, a fork of a large process, a lock that all threads need, a compaction, a CPU quota that is used up."
        }
        Finding::StarvedConnections { .. } => {
            "the server does not come to these connections: a readiness event that was missed (edge-triggered epoll, not read to the end), a worker that hangs, a loop that begins with the same connections again, a request that was lost."
        }
        Finding::GeneratorBound { .. } => "the generator had no time left to ask for more.",
        Finding::UnbalancedListeners { .. } => {
            "SO_REUSEPORT gives a connection to a listener by a hash of its addresses, whether that one's loop is busy or not, and none takes from another's queue."
        }
        Finding::CostGrowsWithIdle { .. } => {
            "select(2) and poll(2) are given the whole set with every call, and the kernel asks each descriptor in it whether it is ready; epoll and io_uring keep the set in the kernel, where what becomes ready reports itself."
        }
        Finding::OneCoreOfMany { held_by, .. } => match held_by {
            OneCoreCause::GlobalInterpreterLock => {
                "the global interpreter lock (GIL) of CPython: of all threads one at a time runs Python code, and the others wait for their turn."
            }
            OneCoreCause::GlobalVmLock => {
                "Ruby's global VM lock (GVL): of all threads one at a time runs Ruby code, and the others wait for their turn."
            }
            OneCoreCause::OneThread => {
                "one thread does all the work, and a thread runs on one CPU at a time."
            }
            OneCoreCause::NotKnown => {
                "not known; several threads or processes shared one core's worth of work, as they do where each holds the same lock while it works, where one hands the others their work, or under a quota of one CPU (cpu.max of a cgroup)."
            }
        },
        Finding::UnfairService { .. } => {
            "the server does not come to its connections in turn: threads or loops that have more connections than others, a scheduler that goes on with whoever ran last, a pool or a lock that waiters get in no order. The percentiles count messages, and so mostly those of the connections that were served often."
        }
    }
}

/// What to do.
pub(super) fn remedy(finding: &Finding) -> String {
    let fixed = match finding {
        Finding::HalfThePortsGone { .. } => {
            "more source addresses: leave --addresses kernel out, or name some with --source. A client elsewhere: bind to several addresses with IP_BIND_ADDRESS_NO_PORT, or widen net.ipv4.ip_local_port_range."
        }
        Finding::PortsExhausted { .. } => {
            "more source addresses: leave --addresses kernel out, or name some with --source; or a wider net.ipv4.ip_local_port_range."
        }
        Finding::DescriptorsExhausted {
            side: Side::Generator,
            ..
        } => {
            "raise the hard limit (ulimit -Hn), or use more shards: each has a descriptor table of its own."
        }
        Finding::DescriptorsExhausted { .. } => {
            "raise the server's limit (ulimit -n, LimitNOFILE= of its unit), and fs.nr_open where that is above it; ls -l /proc/PID/fd shows what its descriptors are."
        }
        Finding::ThreadsExhausted { limit_name, .. } => {
            return match limit_name.as_str() {
                "pids.max" => "raise pids.max of the cgroup (TasksMax= of its unit), or serve with an event loop or light threads.".to_owned(),
                "RLIMIT_NPROC" => "raise the user's limit (ulimit -u), or serve with an event loop or light threads.".to_owned(),
                name => format!("raise {name} (sysctl -w {name}=…), and then whichever is the least, or serve with an event loop or light threads."),
            };
        }
        Finding::SynRetransmissionSteps {
            overflows: Some(_), ..
        } => {
            "look for loss between the two: nstat -az, ethtool -S, a firewall that limits the rate of SYNs."
        }
        Finding::SynRetransmissionSteps { .. } => {
            "nstat -az TcpExtListenOverflows on the server's host tells which; then a longer backlog (with net.core.somaxconn no less), or a look for loss between the two."
        }
        Finding::AcceptQueueOverflow {
            backlog_sufficient: Some(enough),
            ..
        } => {
            return format!(
                "a backlog of {} would have held all that waited in this run (with net.core.somaxconn no less); or accept sooner.",
                exact((*enough).into())
            );
        }
        Finding::AcceptQueueOverflow {
            syn_retransmissions: Some(_),
            ..
        } => {
            "a longer backlog (with net.core.somaxconn no less), accepting sooner, or fewer connects at once (--connect-concurrency, --connect-rate)."
        }
        Finding::AcceptQueueOverflow { .. } => {
            "a longer backlog (with net.core.somaxconn no less); or accept sooner."
        }
        Finding::BacklogClamped {
            asked,
            in_force,
            somaxconn,
        } if somaxconn.is_none_or(|limit| limit == *in_force) => {
            return format!(
                "sysctl -w net.core.somaxconn={asked} and start the server again; in a trial, --kernel somaxconn={asked}."
            );
        }
        Finding::BacklogClamped { .. } => {
            "look for the backlog in the server's configuration, or in its call of listen(2)."
        }
        Finding::FinalAckDropped { .. } => {
            "whatever ends the overflow: a longer backlog, or accepting sooner."
        }
        Finding::SynCookies { .. } => {
            "a longer backlog. With --kernel tcp_syncookies=0 SYNs are dropped instead, and the waiting moves into the connect."
        }
        Finding::ConnectionsRefused {
            server_died: true, ..
        } => {
            "find out why it ended: its last words are with the checks; dmesg tells where the kernel killed it."
        }
        Finding::ConnectionsRefused { .. } => {
            "ss -ltn on the server's host shows who listens where; then look into its log and its firewall."
        }
        Finding::HeadOfLineBlocking { .. } => {
            "do not block in the loop: a timer, asynchronous I/O, a thread pool for what blocks; or more workers."
        }
        Finding::TooFewAcceptors { .. } => {
            "serve more at once: more workers or threads, or an event loop. A longer backlog only lets more of them wait."
        }
        Finding::DelayedAck { .. } => {
            "set TCP_NODELAY, or send a message with one write (writev, a buffer, MSG_MORE)."
        }
        Finding::Stalls { .. } => {
            "the server's own log of pauses first (GODEBUG=gctrace=1, -Xlog:gc, --trace-gc); then perf trace -p PID or offcputime for what it waits in. cpu.stat of its cgroup (nr_throttled) tells of a quota."
        }
        Finding::StarvedConnections { .. } => {
            "ss -tnp on the server's host shows which connections have bytes in Recv-Q that nobody reads; then look how the server chooses whom it serves next."
        }
        Finding::GeneratorBound { .. } => {
            "more CPUs for the generator, or fewer for the server: --cpus SERVER:GENERATOR."
        }
        Finding::UnbalancedListeners { .. } => {
            "one listener that all loops share (EPOLLEXCLUSIVE, as in epoll-shared) where the tail of the latency matters more than the rate of accepting."
        }
        Finding::CostGrowsWithIdle { .. } => {
            "epoll or io_uring where most connections are idle. Where it must be poll: give it no unused entries, and share the connections among several loops."
        }
        Finding::OneCoreOfMany { held_by, .. } => match held_by {
            OneCoreCause::GlobalInterpreterLock => {
                "several processes, one for each CPU, on one listener or by SO_REUSEPORT; or the free-threaded build of CPython (python3.13t, PEP 703), as in python/threads-free-threaded."
            }
            OneCoreCause::GlobalVmLock => {
                "several processes, one for each CPU, on one listener or by SO_REUSEPORT; or Ractors."
            }
            OneCoreCause::OneThread => {
                "a loop for each CPU: more workers (--workers) where it has them, several processes, or several listeners on one port (SO_REUSEPORT), as in epoll-shared and epoll-reuseport."
            }
            OneCoreCause::NotKnown => {
                "top -H -p PID shows whether one thread or each a little is busy, perf trace -s -p PID or strace -f -c -p PID what they wait in: futex is a lock."
            }
        },
        Finding::UnfairService { .. } => {
            "share connections evenly among loops (epoll-shared instead of epoll-reuseport, or hand them over), answer a bounded number of messages of one connection before the next has its turn, and compare servers by latency only where they are about equally fair."
        }
    };
    fixed.to_owned()
}
