//! The backlog experiment where something is wrong: said, counted, over in the time that was stated, and nothing left behind.

mod support;

use std::io::Read as _;
use std::net::TcpStream;
use std::time::Duration;

use rustix::process::Signal;
use support::backlog::{assert_valid_but_for_noise, connections, errors, run_in, run_one};
use support::{Bench, Outcome, THRONG, exit_code, peer, signal, wait_for};
use throng_findings::findings::kind;
use throng_record::{ErrorKind, Finding, Outcome as TrialOutcome, Trial, Verdict};

const FEW: [&str; 6] = ["--clients", "3", "--requests", "2", "--service-time", "5ms"];

/// A running server that treats connections so is asked by 3 clients twice; each request fails as one of these.
fn fails(treat: fn(TcpStream), kinds: &[ErrorKind]) -> (Outcome, Trial) {
    let address = peer::start(treat);
    let flags = [
        address.as_str(),
        "--timeout",
        "500ms",
        "--connect-timeout",
        "2s",
    ];
    let (outcome, trial) = run_one(&[&flags[..], &FEW].concat());
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("error: ") && outcome.stderr.contains("hint: "));
    assert!(outcome.took < Duration::from_secs(20), "{:?}", outcome.took);
    assert_eq!(trial.verdict, Verdict::Invalid);
    let (phase, errors) = (connections(&trial), errors(&trial));
    assert_eq!((phase.begun, phase.answered), (6, 0));
    let counted: u64 = kinds.iter().map(|&kind| errors.of(kind)).sum();
    assert_eq!((counted, errors.total()), (6, 6), "{errors:?}");
    (outcome, trial)
}

fn silent(mut stream: TcpStream) {
    let _ = stream.read_to_end(&mut vec![]);
}

fn closing(mut stream: TcpStream) {
    let _ = stream.read(&mut [0; 64]);
}

/// What was not read makes the kernel reset the connection.
fn resetting(mut stream: TcpStream) {
    let _ = stream.read(&mut [0; 1]);
}

#[test]
fn a_server_that_never_answers_costs_the_stated_timeouts_and_no_more() {
    let (_, trial) = fails(silent, &[ErrorKind::ReplyTimedOut]);
    let phase = connections(&trial);
    assert!(
        phase.duration_ns >= 1_000_000_000,
        "two of 500 ms: {}",
        phase.duration_ns
    );
    assert_eq!(phase.attribution.first_bytes_slow, 6, "all are looked into");
    assert_eq!(phase.attribution.not_explained, 0);
}

#[test]
fn servers_that_close_or_reset_are_told_apart() {
    fails(closing, &[ErrorKind::ClosedEarly]);
    fails(resetting, &[ErrorKind::Reset]);
}

#[test]
fn a_command_that_never_answers_is_ended() {
    let command =
        format!("{THRONG} serve iterative --workload oneshot --delay 1000s --listen {{address}}");
    let flags = ["--command", &command, "--timeout", "500ms"];
    let (outcome, trial) = run_one(&[&flags[..], &FEW].concat());
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert_eq!(errors(&trial).of(ErrorKind::ReplyTimedOut), 6);
    assert!(outcome.took < Duration::from_secs(20), "{:?}", outcome.took);
}

#[test]
fn the_backlog_in_force_is_shown_whatever_was_asked() {
    let command = format!(
        "{THRONG} serve iterative --workload oneshot --delay 5ms --backlog 3 --listen {{address}}"
    );
    let flags = ["--command", &command, "--backlog", "9"];
    let (outcome, trial) = run_one(&[&flags[..], &FEW].concat());
    let queue = trial.accept_queue.expect("observed");
    assert_eq!(queue.backlog_asked, None, "a command has its own");
    assert_eq!(queue.listeners[0].backlog, 3);
    assert_eq!(trial.findings, [], "the server's own choice");
    assert!(outcome.stdout.contains("3 "), "{}", outcome.stdout);
}

#[test]
fn a_backlog_of_0_is_a_queue_of_one() {
    let (outcome, trial) = run_one(&[
        "iterative",
        "--backlog",
        "0",
        "--clients",
        "4",
        "--requests",
        "1",
        "--service-time",
        "5ms",
    ]);
    outcome.assert_well_but_for_noise();
    assert_valid_but_for_noise(&trial);
    let phase = connections(&trial);
    assert_eq!(phase.answered, 4);
    let queue = trial.accept_queue.expect("observed");
    assert_eq!(queue.listeners[0].backlog, 0);
    assert!(queue.listeners[0].depth_max <= 1);
    let has_overflow = |finding: &Finding| kind(finding).name == "accept-queue-overflow";
    assert!(
        trial.findings.iter().any(has_overflow),
        "{:?}",
        trial.findings
    );
}

#[test]
fn a_capture_holds_every_handshake_and_one_that_cannot_be_written_starts_nothing() {
    let bench = Bench::new();
    let flags = ["iterative", "--capture", "seen.pcapng"];
    let (outcome, trials) = run_in(&bench, &[&flags[..], &FEW].concat());
    outcome.assert_well_but_for_noise();
    assert_valid_but_for_noise(&trials[0]);
    let seen = trials[0].handshakes.expect("observed");
    let file = std::fs::File::open(bench.path().join("seen.pcapng")).expect("written");
    let mut reader = pcap_file::pcapng::PcapNgReader::new(file).expect("pcapng");
    let (mut syns, mut syn_acks) = (0, 0);
    while let Some(block) = reader.next_block() {
        let block = block.expect("well-formed");
        let Some(packet) = block.into_enhanced_packet() else {
            continue;
        };
        match tcp_flags(&packet.data) & (SYN | ACK) {
            SYN => syns += 1,
            flags if flags == SYN | ACK => syn_acks += 1,
            _ => {}
        }
    }
    assert_eq!(syns, seen.syns + seen.syn_retransmissions);
    assert_eq!(
        syn_acks,
        seen.syn_acks + seen.syn_ack_retransmissions + seen.syn_acks_repeated
    );
    assert_eq!(syns, 6);
    let bench = Bench::new();
    let outcome = bench.throng(&["backlog", "iterative", "--capture", "no/such/folder.pcapng"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("no/such/folder.pcapng") && bench.runs().is_empty());
}

const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

/// Of an IPv4 segment without a link header (RFC 791, RFC 9293).
fn tcp_flags(packet: &[u8]) -> u8 {
    assert_eq!(packet[0] >> 4, 4, "IPv4");
    let header_bytes = usize::from(packet[0] & 0xf) * 4;
    packet[header_bytes + 13]
}

#[test]
fn an_early_end_keeps_what_was_measured() {
    let bench = Bench::new();
    let mut child = bench.start(&[
        "backlog",
        "iterative",
        "--clients",
        "2",
        "--requests",
        "4",
        "--service-time",
        "50ms",
        "--repeats",
        "60",
    ]);
    let stored = || {
        let text = std::fs::read_to_string(bench.runs().pop()?).ok()?;
        let record = throng_record::schema::read(&text).ok()?;
        Some(record.trials.len())
    };
    assert!(wait_for(Duration::from_secs(30), || stored() >= Some(1)));
    signal(&child, Signal::INT);
    assert_eq!(exit_code(&mut child), Some(130));
    let record = bench.record();
    assert!(record.interrupted && (1..60).contains(&record.trials.len()));
    assert_eq!(record.trials[0].outcome, TrialOutcome::Completed);
    assert_eq!(connections(&record.trials[0]).answered, 8);
    bench.assert_no_process_left();
}
