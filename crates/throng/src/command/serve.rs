//! `throng serve MODEL`: a built-in server, in this process, until it is told to stop.

use std::io::{self, Write as _};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
use throng_lab::plan::value;
use throng_record::{HandOver, Workload};
use throng_servers::{Announcement, Identity, Model, Options, ServeError};
use throng_sys::address::Address;
use throng_sys::limits;
use throng_sys::socket::ListenError;

use crate::exit::Exit;
use crate::failure::{Failure, note};

const AFTER_HELP: &str = "\
Examples:
  throng serve epoll-edge
  throng serve io-uring --listen 127.0.0.1:7000 --listen '[::1]:7000' --listen unix:/tmp/echo.sock
  throng serve poll --listen 127.0.0.1:0         a free port; the line `ready` names it
  throng serve iterative --workload oneshot --delay 40ms --backlog 5
  throng serve epoll-edge --tls-certificate cert.pem --tls-key key.pem
  throng serve epoll-edge --workload http        then: curl 'http://127.0.0.1:7000/?delay=40'

It prints `workers N` and `serves-at-once N` where its design fixes those numbers, then
`ready ADDRESS` for each listener once all are open, and at the end `served connections=N bytes=M`.
On SIGTERM or Ctrl-C it answers what has come (a delay ends at once), closes, and leaves within two
seconds with exit code 0.";

/// Run a built-in server until SIGTERM or Ctrl-C
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// The concurrency model
    #[arg(value_parser = models().map(|name| name.parse::<Model>().expect("only models are possible values")))]
    model: Model,
    /// What the server answers
    #[arg(long, default_value = Workload::Echo.name(), value_parser = workloads().map(|name| name.parse::<Workload>().expect("only workloads are possible values")))]
    workload: Workload,
    // Not a doc comment: rustdoc would take the brackets for a link.
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:7000",
        help = "Where to listen: HOST:PORT, [IPV6]:PORT or unix:PATH; port 0 leaves the choice to the kernel. Repeatable"
    )]
    listen: Vec<Address>,
    /// Length of each accept queue; the kernel clamps it to net.core.somaxconn
    #[arg(long, value_name = "N", default_value_t = 1024)]
    backlog: u32,
    /// Threads or processes that serve, for models that have a choice
    #[arg(long, value_name = "N")]
    workers: Option<NonZeroU32>,
    /// Threads that accept at each listener and start a thread for each connection (thread-per-connection only)
    #[arg(long, value_name = "N")]
    accept_threads: Option<NonZeroU32>,
    /// How a broadcast message passes from its reader to the writers (two-threads-per-connection only) [default: condvar]
    #[arg(long, value_name = "WAY", value_parser = hand_overs().map(|name| name.parse::<HandOver>().expect("only hand-overs are possible values")))]
    hand_over: Option<HandOver>,
    /// Delay of each answer of `oneshot`, and of `http` if the request does not name one
    #[arg(long, value_name = "TIME", value_parser = value::duration)]
    delay: Option<Duration>,
    /// The same in milliseconds, as catalogued servers take it: 40, 1.5
    #[arg(long, value_name = "N", value_parser = milliseconds, conflicts_with = "delay")]
    delay_ms: Option<Duration>,
    /// The handler sleeps for the delay, as a careless one does: an event loop then serves nobody else
    #[arg(long)]
    delay_inline: bool,
    /// Serve over TLS with the certificate in this file, in PEM, those of authorities below the root behind it
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The certificate's key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
}

fn models() -> PossibleValuesParser {
    PossibleValuesParser::new(
        Model::ALL.map(|model| PossibleValue::new(model.name()).help(model.declaration().summary)),
    )
}

fn workloads() -> PossibleValuesParser {
    PossibleValuesParser::new(
        Workload::ALL.map(|workload| PossibleValue::new(workload.name()).help(workload.summary())),
    )
}

fn hand_overs() -> PossibleValuesParser {
    PossibleValuesParser::new(
        HandOver::ALL.map(|way| PossibleValue::new(way.name()).help(way.summary())),
    )
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    let number: Option<f64> = text.parse().ok();
    number
        .and_then(|number| Duration::try_from_secs_f64(number / 1e3).ok())
        .ok_or_else(|| {
            format!("`{text}` is no number of milliseconds; write for example 40 or 1.5")
        })
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    if let Err(error) = limits::raise_open_files() {
        note(error);
    }
    let options = Options {
        listen: arguments.listen.clone(),
        backlog: arguments.backlog,
        workers: arguments.workers,
        accept_threads: arguments.accept_threads,
        hand_over: arguments.hand_over,
        delay: arguments.delay.or(arguments.delay_ms).unwrap_or_default(),
        delay_inline: arguments.delay_inline,
        tls: identity(arguments),
    };
    let mut announce = |what: Announcement<'_>| match what {
        Announcement::Workers(workers) => tell(&format!("workers {workers}\n")),
        Announcement::ServesAtOnce(connections) => {
            tell(&format!("serves-at-once {connections}\n"));
        }
        Announcement::Ready(address) => tell(&format!("ready {address}\n")),
    };
    let Arguments {
        model, workload, ..
    } = *arguments;
    let served =
        throng_servers::serve(model, workload, &options, &mut announce).map_err(failure)?;
    for text in &served.notes {
        note(text);
    }
    tell(&format!(
        "served connections={} bytes={}\n",
        served.connections, served.bytes
    ));
    Ok(Exit::Success)
}

/// Each of the two files needs the other.
fn identity(arguments: &Arguments) -> Option<Identity> {
    Some(Identity {
        certificate: arguments.tls_certificate.clone()?,
        key: arguments.tls_key.clone()?,
    })
}

/// Whoever launched a server may stop listening to it without stopping it: then nobody is told.
fn tell(line: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout
        .write_all(line.as_bytes())
        .and_then(|()| stdout.flush());
}

fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Workers { .. }
        | ServeError::AcceptThreads { .. }
        | ServeError::HandOver { .. }
        | ServeError::Delay { .. }
        | ServeError::NoUnix { .. }
        | ServeError::NoBroadcast { .. }
        | ServeError::NoBroadcastOverTls
        | ServeError::Identity(_)
        | ServeError::Listeners { .. }
        | ServeError::NoAddress => Failure::usage(error),
        ServeError::Listen(ListenError::Other { address, source }) => {
            Failure::failed(format_args!("cannot listen on {address}"))
                .cause(source)
                .hint("give an address of this machine (`ip addr`); ports below 1024 are root's")
        }
        _ => Failure::failed(error),
    }
    .with_hint_parted()
}
