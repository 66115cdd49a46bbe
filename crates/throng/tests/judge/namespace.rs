//! A network namespace of the judge's own, and what other programs see in it: `dumpcap` and `tshark` the segments, `nstat` the counters,
//! `ss` the listeners. throng runs in it with `--net host`, and so shares it with them.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, geteuid, kill_process};

/// A network in which nobody else is. It ends with its holder.
pub(crate) struct Namespace {
    holder: Child,
}

impl Namespace {
    pub(crate) fn new() -> Self {
        let mut command = Command::new("unshare");
        if !geteuid().is_root() {
            command.args(["--user", "--map-root-user"]);
        }
        let mut holder = command
            .args(["--net", "sh", "-c"])
            .arg("ip link set lo up && echo up && exec sleep 600")
            .stdout(Stdio::piped())
            .spawn()
            .expect("util-linux and iproute2 are installed");
        let mut line = String::new();
        let stdout = holder.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("text");
        assert_eq!(line, "up\n", "no namespace could be made");
        Self { holder }
    }

    /// The words that start a program in it.
    pub(crate) fn starter(&self) -> Vec<String> {
        let mut words = vec!["nsenter".to_owned(), "--net".to_owned()];
        if !geteuid().is_root() {
            words.extend(["--user".to_owned(), "--preserve-credentials".to_owned()]);
        }
        words.extend(["--target".to_owned(), self.holder.id().to_string()]);
        words
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let words = self.starter();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg(program);
        command
    }

    /// Every counter of this network's kernel, by `nstat`'s names. A new namespace begins at 0.
    pub(crate) fn counters(&self) -> BTreeMap<String, u64> {
        let text = output(self.command("nstat").args(["-a", "-s", "-z"]));
        let counter = |line: &str| {
            let mut words = line.split_whitespace();
            Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
        };
        text.lines().filter_map(counter).collect()
    }

    /// The backlog in force of the listener on this port, as `ss` shows it.
    pub(crate) fn backlog(&self, port: u16) -> Option<u32> {
        let text = output(self.command("ss").args(["-H", "-l", "-t", "-n"]));
        let is_on_port = |line: &&str| {
            let mut words = line.split_whitespace();
            words
                .nth(3)
                .is_some_and(|local| local.ends_with(&format!(":{port}")))
        };
        let line = text.lines().find(is_on_port)?;
        line.split_whitespace().nth(2)?.parse().ok()
    }

    /// Keeps every TCP segment on loopback from now on.
    pub(crate) fn capture(&self, folder: &Path) -> Capture {
        let file = folder.join("judge.pcapng");
        let mut dumpcap = self
            .command("dumpcap")
            .args(["-q", "-i", "lo", "-s", "96", "-B", "64", "-f", "tcp", "-w"])
            .arg(&file)
            .stderr(Stdio::piped())
            .spawn()
            .expect("tshark is installed");
        let stderr = dumpcap.stderr.take().expect("piped");
        let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
        let is_ready = lines.any(|line| line.starts_with("File:"));
        assert!(is_ready, "dumpcap does not capture here");
        Capture { dumpcap, file }
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// A capture under way.
pub(crate) struct Capture {
    dumpcap: Child,
    file: PathBuf,
}

/// What `tshark` says of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) at_ns: u64,
    pub(crate) destination: u16,
    pub(crate) flags: u16,
    pub(crate) data_bytes: u32,
}

impl Segment {
    pub(crate) fn is_syn(&self) -> bool {
        self.flags & 0x12 == 0x02
    }
}

impl Capture {
    pub(crate) fn stop(mut self) -> Vec<Segment> {
        kill_process(Pid::from_child(&self.dumpcap), Signal::INT).expect("it runs");
        self.dumpcap.wait().expect("it ends");
        segments(&self.file)
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        let _ = self.dumpcap.kill();
        let _ = self.dumpcap.wait();
    }
}

/// How many SYNs there are, those sent again included.
pub(crate) fn syns(segments: &[Segment]) -> u64 {
    segments.iter().filter(|segment| segment.is_syn()).count() as u64
}

/// What `tshark` reads in a file, in the order of time.
pub(crate) fn segments(file: &Path) -> Vec<Segment> {
    const FIELDS: [&str; 4] = ["frame.time_epoch", "tcp.dstport", "tcp.flags", "tcp.len"];
    let mut command = Command::new("tshark");
    command.arg("-r").arg(file).args(["-T", "fields"]);
    FIELDS.iter().for_each(|field| {
        command.args(["-e", field]);
    });
    let text = output(command.stderr(Stdio::null()));
    let mut segments: Vec<Segment> = text.lines().map(segment).collect();
    // Two CPUs may have handed theirs over in another order than they were stamped.
    segments.sort_by_key(|segment| segment.at_ns);
    segments
}

fn segment(line: &str) -> Segment {
    let fields: Vec<&str> = line.split('\t').collect();
    let [at, destination, flags, length] = fields[..] else {
        panic!("tshark says: {line}");
    };
    let (seconds, fraction) = at.split_once('.').expect("a fraction");
    let number = |text: &str| text.parse::<u64>().expect("a number");
    Segment {
        at_ns: number(seconds) * 1_000_000_000 + number(&format!("{fraction:0<9}")),
        destination: number(destination) as u16,
        flags: u16::from_str_radix(flags.trim_start_matches("0x"), 16).expect("flags"),
        data_bytes: number(length) as u32,
    }
}

/// What a program prints; it must end well.
fn output(command: &mut Command) -> String {
    let output = command.output().expect("it is installed");
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}
