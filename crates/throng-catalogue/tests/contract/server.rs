//! A server of the contract with a thread for each connection, and with one fault if so asked.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the server speaks to whoever started it"
)]

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, exit};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use throng_sys::address::Address;
use throng_sys::signal::Termination;
use throng_sys::{limits, socket};

use super::broadcast::{self, Room};
use super::fault::Fault;
use super::{framed, http};

/// The first argument of a server. The second is its fault.
pub(crate) const SERVE: &str = "serve-for-a-test";

pub(crate) struct Flags {
    pub(crate) fault: Fault,
    listen: Vec<Address>,
    workload: String,
    backlog: u32,
    pub(crate) delay: Duration,
}

/// Serves where the command line asks for it, before this process has any other thread.
pub(crate) fn serve_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next()? != SERVE {
        return None;
    }
    let fault = Fault::of(&arguments.next().expect("a fault"));
    match flags(fault, arguments) {
        Ok(flags) => Some(serve(flags)),
        Err(refused) => {
            eprintln!("refused: {refused}");
            Some(ExitCode::from(2))
        }
    }
}

fn flags(fault: Fault, mut words: impl Iterator<Item = String>) -> Result<Flags, String> {
    let mut flags = Flags {
        fault,
        listen: Vec::new(),
        workload: String::new(),
        backlog: 1024,
        delay: Duration::ZERO,
    };
    while let Some(flag) = words.next() {
        let value = words.next();
        let is_known = ["--listen", "--workload", "--backlog", "--delay-ms"].contains(&&*flag);
        if !is_known {
            if fault == Fault::IgnoresUnknownFlags {
                continue;
            }
            return Err(flag);
        }
        let value = value.ok_or_else(|| flag.clone())?;
        let is_number = value.parse::<f64>().is_ok_and(|number| number >= 0.0);
        let number = match fault {
            Fault::TakesAnyNumber if !is_number => 7.0,
            _ => value.parse().unwrap_or(-1.0),
        };
        match &*flag {
            "--listen" => flags.listen.push(value.parse().map_err(|_| flag)?),
            "--workload" => flags.workload = value,
            _ if number < 0.0 => return Err(flag),
            "--backlog" => flags.backlog = number as u32,
            _ => flags.delay = Duration::from_secs_f64(number / 1e3),
        }
    }
    if flags.listen.is_empty() {
        if fault != Fault::ListensUnasked {
            return Err("--listen".to_owned());
        }
        flags
            .listen
            .push("127.0.0.1:0".parse().expect("an address"));
    }
    // What it lists the test says, which is the first argument of all in its environment.
    let listed = std::env::var("LISTED").unwrap_or_default();
    if !listed.split(' ').any(|word| word == flags.workload) {
        if fault != Fault::TakesAnyWorkload {
            return Err("--workload".to_owned());
        }
        flags.workload = "echo".to_owned();
    }
    match fault {
        Fault::BacklogOfItsOwn => flags.backlog = 99,
        Fault::IgnoresDelayMs => flags.delay = Duration::ZERO,
        _ => {}
    }
    Ok(flags)
}

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) flags: Flags,
    pub(crate) room: Room,
    /// Held by those who do one at a time what they should do at once.
    pub(crate) turn: Mutex<()>,
    open: AtomicUsize,
    was_heard: AtomicBool,
}

impl Shared {
    /// Whether there is no other connection.
    pub(crate) fn serves_one(&self) -> bool {
        self.open.load(Ordering::Relaxed) == 1
    }
}

fn serve(flags: Flags) -> ExitCode {
    limits::raise_open_files().expect("the soft limit rises to the hard one");
    let fault = flags.fault;
    if fault == Fault::EndsBeforeReady {
        eprintln!("this is the last of me");
        return ExitCode::from(3);
    }
    let termination = Termination::take_over().expect("taken over");
    let mut listeners = Vec::new();
    for address in &flags.listen {
        match socket::listen(address, flags.backlog) {
            Ok(listener) => listeners.push(listener),
            Err(_) if fault == Fault::EndsInOrderWhereTaken => return ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    if fault == Fault::LeavesAChild {
        start_a_child_that_stays();
    }
    let shared = Arc::new(Shared {
        flags,
        room: Room::default(),
        turn: Mutex::default(),
        open: AtomicUsize::new(0),
        was_heard: AtomicBool::new(false),
    });
    let mut paths = Vec::new();
    for (listener, bound) in listeners {
        socket::set_blocking(&listener).expect("set");
        let shared = Arc::clone(&shared);
        println!("ready {bound}");
        if let Address::Unix(path) = &bound {
            paths.push(path.clone());
        }
        thread::spawn(move || accept(&listener, &bound, &shared));
    }
    loop {
        termination.wait().expect("a signal");
        if fault != Fault::IgnoresSigterm {
            break;
        }
    }
    if fault != Fault::KeepsItsPath {
        for path in paths {
            std::fs::remove_file(path).expect("its own");
        }
    }
    exit(0)
}

#[expect(
    clippy::zombie_processes,
    reason = "that it is left behind is the fault"
)]
fn start_a_child_that_stays() {
    let mut child = Command::new("sleep");
    child.arg("1000").process_group(0).spawn().expect("a child");
}

fn accept(listener: &OwnedFd, bound: &Address, shared: &Arc<Shared>) {
    loop {
        if shared.flags.fault == Fault::ServesFiveHundred {
            while shared.open.load(Ordering::Relaxed) >= 500 {
                thread::sleep(Duration::from_millis(5));
            }
        }
        let Ok(connection) = socket::accept_blocking(listener) else {
            continue;
        };
        let _ = socket::set_nodelay(&connection);
        if shared.flags.fault == Fault::ReadyTwice
            && !shared.was_heard.swap(true, Ordering::Relaxed)
        {
            println!("ready {bound}");
        }
        shared.open.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::clone(shared);
        thread::Builder::new()
            .stack_size(256 * 1024)
            .spawn(move || {
                // Of either family: what is called is the same.
                let stream = TcpStream::from(connection);
                match &*shared.flags.workload {
                    "echo" => echo(stream, &shared),
                    "broadcast" => broadcast::serve(stream, &shared),
                    "http" => http::serve(stream, &shared),
                    "framed" => framed::serve(stream, &shared),
                    _ => oneshot(stream, &shared),
                }
                shared.open.fetch_sub(1, Ordering::Relaxed);
            })
            .expect("a thread");
    }
}

fn echo(mut stream: TcpStream, shared: &Shared) {
    let fault = shared.flags.fault;
    if fault == Fault::ForgetsTheRest {
        return forgets_the_rest(stream);
    }
    let writer = (fault == Fault::KeepsEverything).then(|| keeps_everything(&stream));
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = match stream.read(&mut buffer) {
            Ok(0) if fault == Fault::StaysAfterTheEnd => {
                thread::sleep(Duration::from_secs(1000));
                return;
            }
            Ok(0) => return,
            Ok(count) => count,
            Err(error) => {
                if fault == Fault::EndsAtAReset && error.kind() == ErrorKind::ConnectionReset {
                    eprintln!("I did not expect that");
                    exit(1);
                }
                return;
            }
        };
        let bytes = &mut buffer[..count];
        if fault == Fault::SwapsBytes && count > 1000 {
            bytes.swap(998, 999);
        }
        if let Some(writer) = &writer {
            let _ = writer.send(bytes.to_vec());
            continue;
        }
        let turn = (fault == Fault::WritesOneAtATime).then(|| shared.turn.lock());
        if stream.write_all(bytes).is_err() {
            return;
        }
        drop(turn);
    }
}

/// Writes the last byte of a long read when more comes or nothing does; before the end of input it is forgotten.
fn forgets_the_rest(mut stream: TcpStream) {
    let long = Duration::from_millis(500);
    stream.set_read_timeout(Some(long)).expect("set");
    let mut buffer = vec![0; 64 * 1024];
    let mut held_back = Vec::new();
    loop {
        let count = match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
            Err(_) => return,
        };
        let mut bytes = std::mem::take(&mut held_back);
        bytes.extend_from_slice(&buffer[..count]);
        if count > 1000 {
            held_back.extend(bytes.pop());
        }
        if stream.write_all(&bytes).is_err() {
            return;
        }
    }
}

fn keeps_everything(stream: &TcpStream) -> mpsc::Sender<Vec<u8>> {
    let (sender, kept) = mpsc::channel::<Vec<u8>>();
    let mut stream = stream.try_clone().expect("cloned");
    thread::spawn(move || {
        for bytes in kept {
            if stream.write_all(&bytes).is_err() {
                return;
            }
        }
        let _ = socket::end_output(&stream);
    });
    sender
}

fn oneshot(mut stream: TcpStream, shared: &Shared) {
    let read = stream.read(&mut [0; 4096]);
    let is_silent = !matches!(read, Ok(count) if count > 0);
    if is_silent && shared.flags.fault != Fault::AnswersSilence {
        return;
    }
    http::wait(shared.flags.delay, shared);
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nok\r\n");
}
