//! Where a server listens, what it says of that, and what the kernel does.

use std::net::TcpListener;

use throng_record::ContractException;
use throng_sys::address::Address;
use throng_sys::{sock_diag, sysctl};

use super::clause::{Clause, Outcome, Verdict};
use super::client::Client;
use super::server::{self, Server};
use super::stage::{Failure, Stage};
use super::{framed, http_text};
use throng_record::Workload;

pub(super) const CLAUSES: [Clause; 9] = [
    Clause::core(
        "ready-line",
        ready_line,
        "it prints `ready ADDRESS` once for its listener, with the real port, and serves whoever connects from then on",
    ),
    Clause::core(
        "flags-in-any-order",
        flags_in_any_order,
        "it takes its flags in any order",
    ),
    Clause::core(
        "two-listeners",
        two_listeners,
        "it takes `--listen` twice, prints a ready line for each, and serves both",
    ),
    Clause::core("ipv6", ipv6, "it listens on [::1] and serves there"),
    Clause::core(
        "unix",
        unix,
        "it listens on a Unix socket, serves there, and removes the path when it leaves",
    )
    .under(ContractException::Unix),
    Clause::core(
        "address-taken",
        address_taken,
        "where the address is taken it prints no ready line, says why on standard error, and ends with a status that is not 0",
    ),
    Clause::core(
        "backlog",
        backlog,
        "`listen(2)` is asked for the backlog that `--backlog` says",
    )
    .under(ContractException::Backlog),
    Clause::core(
        "backlog-unasked",
        backlog_unasked,
        "`listen(2)` is asked for a backlog of 1024 where `--backlog` is absent",
    )
    .under(ContractException::Backlog),
    Clause::core(
        "backlog-taken",
        backlog_taken,
        "it starts with `--backlog 317` and serves, whatever becomes of the number",
    ),
];

/// That the server does what the workload is, in the shortest way.
pub(super) fn is_served(client: &mut Client, workload: Workload) -> Result<(), Failure> {
    match workload {
        Workload::Echo => client.echo(b"hello\n"),
        Workload::Broadcast => {
            client.expect(b"connected\n")?;
            client.echo(b"hello\n")
        }
        Workload::Http => http_text::is_ok(client, b"GET / HTTP/1.1\r\nHost: throng\r\n\r\n"),
        Workload::Oneshot => {
            client.send(b"GET / HTTP/1.1")?;
            client.expect(super::oneshot::ANSWER)?;
            client.expect_end()
        }
        Workload::Framed => framed::is_ok(client, &framed::frame(b"{}")),
    }
}

/// That whoever connects to each of its addresses is served.
fn serves(stage: &Stage<'_>, server: &Server<'_>) -> Result<(), Failure> {
    for address in &server.addresses {
        let mut client = Client::connect(address, stage)?;
        is_served(&mut client, stage.workload)
            .map_err(|seen| seen.after(format_args!("at {address}")))?;
    }
    Ok(())
}

/// The port of its first listener, which is TCP.
fn port(server: &Server<'_>) -> Result<u16, Failure> {
    match &server.addresses[0] {
        Address::Tcp(address) if address.port() != 0 => Ok(address.port()),
        _ => Failure::of(format!("`{}`", server.ready[0])),
    }
}

fn ready_line(stage: &Stage<'_>) -> Outcome {
    let server = stage.start()?;
    let ready = server.ready[0].clone();
    port(&server)?;
    let of_loopback = matches!(&server.addresses[0], Address::Tcp(address) if address.ip().is_loopback() && address.is_ipv4());
    if !of_loopback {
        return Failure::of(format!("`{ready}`, though asked for 127.0.0.1"));
    }
    serves(stage, &server)?;
    let left = server.leave()?;
    match left.lines.iter().find(|line| line.starts_with("ready")) {
        Some(second) => Failure::of(format!("`{second}` after `{ready}`")),
        None => Ok(Verdict::Holds),
    }
}

fn flags_in_any_order(stage: &Stage<'_>) -> Outcome {
    let mut words = ["--backlog", "64"].map(str::to_owned).to_vec();
    words.extend(["--workload", stage.workload.name()].map(str::to_owned));
    words.extend(["--listen", "127.0.0.1:0"].map(str::to_owned));
    let server = Server::start(stage, &words, 1)?;
    serves(stage, &server)?;
    Ok(Verdict::Holds)
}

fn two_listeners(stage: &Stage<'_>) -> Outcome {
    let alone = stage.start()?;
    if alone.serves_at_once == Some(1) {
        let because = "it serves one connection at once, and so waits at one listener";
        return Ok(Verdict::Moot(because.to_owned()));
    }
    drop(alone);
    let server = stage.start_on(&["127.0.0.1:0", "127.0.0.1:0"], &[])?;
    if server.addresses[0] == server.addresses[1] {
        return Failure::of(format!("`{}` twice", server.ready[0]));
    }
    serves(stage, &server)?;
    Ok(Verdict::Holds)
}

fn ipv6(stage: &Stage<'_>) -> Outcome {
    if TcpListener::bind("[::1]:0").is_err() {
        return Ok(Verdict::Moot("this machine has no [::1]".to_owned()));
    }
    let server = stage.start_on(&["[::1]:0"], &[])?;
    port(&server)?;
    serves(stage, &server)?;
    Ok(Verdict::Holds)
}

fn unix(stage: &Stage<'_>) -> Outcome {
    let folder = tempfile::tempdir().map_err(|error| Failure(error.to_string()))?;
    let path = folder.path().join("server.sock");
    let address = format!("unix:{}", path.display());
    let server = stage.start_on(&[&address], &[])?;
    if server.addresses[0] != Address::Unix(path.clone()) {
        return Failure::of(format!("`{}` for {address}", server.ready[0]));
    }
    serves(stage, &server)?;
    server.leave()?;
    if path.exists() {
        return Failure::of("the path is left behind");
    }
    Ok(Verdict::Holds)
}

fn address_taken(stage: &Stage<'_>) -> Outcome {
    let taken = TcpListener::bind("127.0.0.1:0").and_then(|listener| {
        let address = listener.local_addr()?;
        Ok((listener, address.to_string()))
    });
    let (_listener, address) = taken.map_err(|error| Failure(error.to_string()))?;
    let refusal = server::refuses(stage, &stage.words(&[&address]))?;
    if refusal.status.success() {
        return Failure::of(refusal.status.to_string());
    }
    if refusal.stderr.is_empty() {
        return Failure::of("nothing on standard error");
    }
    Ok(Verdict::Holds)
}

fn backlog(stage: &Stage<'_>) -> Outcome {
    // Nobody's usual number, and below what a machine is likely to clamp it to.
    asks_for(stage, &["--backlog", "117"], 117)
}

fn backlog_unasked(stage: &Stage<'_>) -> Outcome {
    asks_for(stage, &[], 1024)
}

fn asks_for(stage: &Stage<'_>, flags: &[&str], backlog: u32) -> Outcome {
    let most: u32 = sysctl::read_value("net.core.somaxconn").unwrap_or(u32::MAX);
    let server = stage.start_with(flags)?;
    let port = port(&server)?;
    let found =
        sock_diag::SocketDiagnostics::open().and_then(|diagnostics| diagnostics.listeners_on(port));
    let listeners = match found {
        Ok(listeners) => listeners,
        Err(error) => return Ok(Verdict::Moot(error.to_string())),
    };
    let limits: Vec<u32> = listeners.iter().map(|one| one.accept_queue_limit).collect();
    if limits.is_empty() {
        return Failure::of(format!("nobody listens on port {port}"));
    }
    match limits.iter().find(|&&limit| limit != backlog.min(most)) {
        Some(other) => Failure::of(format!("{other} in place of {}", backlog.min(most))),
        None => Ok(Verdict::Holds),
    }
}

fn backlog_taken(stage: &Stage<'_>) -> Outcome {
    let server = stage.start_with(&["--backlog", "317"])?;
    serves(stage, &server)?;
    Ok(Verdict::Holds)
}
