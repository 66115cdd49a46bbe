//! Knowing that a server listens, without connecting to it.

use std::io;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use throng_sys::address::Address;
use throng_sys::namespace::Network;
use throng_sys::orphans::Orphan;
use throng_sys::process_tree::ProcessTree;
use throng_sys::sock_diag;

use super::{LaunchError, Launcher};
use throng_child::Child;
use throng_child::{Lines, NextLine};

/// How often the listener is looked up.
const POLL: Duration = Duration::from_millis(5);

/// A server that is ready: where, and what it announced of itself before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Announced {
    /// Of several services listener by listener: the first of each, then the second of each.
    pub(crate) addresses: Vec<Address>,
    /// Threads, loops or processes that serve.
    pub(crate) workers: Option<u32>,
    /// The most connections that it serves at the same time.
    pub(crate) serves_at_once: Option<u32>,
}

impl Announced {
    /// A server that has said nothing of itself.
    pub(crate) fn nothing(addresses: Vec<Address>) -> Self {
        Self {
            addresses,
            workers: None,
            serves_at_once: None,
        }
    }

    /// Of services that are one target. What one serves at once says nothing of all.
    pub(super) fn joined(services: Vec<Self>) -> Self {
        let number = services.len();
        let listeners = services.iter().map(|one| one.addresses.len()).max();
        let of_listener = |listener: usize| {
            let services = services.iter();
            services.filter_map(move |one| one.addresses.get(listener).cloned())
        };
        let sum = services.iter().map(|one| one.workers).sum();
        Self {
            addresses: (0..listeners.unwrap_or(0)).flat_map(of_listener).collect(),
            workers: sum,
            serves_at_once: services[0].serves_at_once.filter(|_| number == 1),
        }
    }
}

/// What was seen at the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AddressState {
    Nothing,
    /// A listener that none of the server's processes holds.
    Strangers,
    Ready,
}

/// Waits until the server is ready, and says where. A server whose lines are wanted prints `ready ADDRESS` for each listener; any other has one, and is
/// ready when a listener there is held by one of its processes.
pub(super) fn wait(
    child: &mut Child,
    tree: &ProcessTree,
    lines: Lines,
    listeners: &[Address],
    network: &Network,
    launcher: &Launcher<'_>,
) -> Result<Announced, LaunchError> {
    let mut announced = Announced::nothing(match lines {
        Lines::Unwanted => listeners.to_vec(),
        Lines::Wanted { .. } => vec![],
    });
    let asked = &listeners[0];
    let timeout = Duration::from_nanos(launcher.setting.ready_timeout_ns);
    let deadline = Instant::now() + timeout;
    let mut seen = AddressState::Nothing;
    loop {
        if lines == Lines::Unwanted {
            seen = look_up(asked, tree, network)?;
            if seen == AddressState::Ready && stays(child) {
                return Ok(announced);
            }
            std::thread::sleep(POLL);
        } else if hear(child, &mut announced)? && announced.addresses.len() == listeners.len() {
            return Ok(announced);
        }
        if let Some(status) = child.exited() {
            return Err(ended(child, asked, seen, status));
        }
        if launcher.interrupted.load(Ordering::Relaxed) {
            return Err(LaunchError::Interrupted);
        }
        if Instant::now() >= deadline {
            return Err(late(child, tree, asked, network, seen, timeout));
        }
    }
}

/// Whether it is still there a moment later: one that goes into the background does so when it listens.
fn stays(child: &mut Child) -> bool {
    std::thread::sleep(POLL);
    child.exited().is_none()
}

/// Takes in the next line; whether it was the one that says ready.
fn hear(child: &Child, announced: &mut Announced) -> Result<bool, LaunchError> {
    match child.next_line(Duration::from_millis(20)) {
        NextLine::Line(line) => match line.trim().split_once(' ') {
            Some(("ready", text)) => match text.parse::<Address>() {
                Ok(address) => {
                    announced.addresses.push(address.connectable());
                    return Ok(true);
                }
                Err(_) => return Err(LaunchError::ReadyWithoutAddress(text.to_owned())),
            },
            Some(("workers", number)) => announced.workers = number.parse().ok(),
            Some(("serves-at-once", number)) => announced.serves_at_once = number.parse().ok(),
            _ => {}
        },
        NextLine::Silence => {}
        // Its output is closed: it ends, or waits for nothing that could come. Do not spin on that.
        NextLine::End => std::thread::sleep(POLL),
    }
    Ok(false)
}

fn look_up(
    address: &Address,
    tree: &ProcessTree,
    network: &Network,
) -> Result<AddressState, LaunchError> {
    let inode = match address {
        Address::Tcp(tcp) => network
            .find_listener(*tcp)
            .map_err(LaunchError::LookUp)?
            .map(|listener| listener.inode),
        Address::Unix(path) => network
            .find_unix_listener(path)
            .map_err(LaunchError::LookUp)?
            .map(|listener| listener.inode),
    };
    let Some(inode) = inode else {
        return Ok(AddressState::Nothing);
    };
    let pids = tree
        .pids()
        .map_err(LaunchError::Observe)?
        .unwrap_or_default();
    match sock_diag::owner_of(inode, &pids) {
        Ok(Some(_)) => Ok(AddressState::Ready),
        Ok(None) => Ok(AddressState::Strangers),
        // A server that changed its user cannot be looked into; the port was free a moment ago, so it is its own.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(AddressState::Ready),
        Err(error) => Err(LaunchError::Observe(error)),
    }
}

fn ended(child: &Child, asked: &Address, seen: AddressState, status: ExitStatus) -> LaunchError {
    let how = status.to_string();
    // One that failed may leave something too, which is not the point then.
    let left = if status.success() {
        left_after_a_while(child)
    } else {
        vec![]
    };
    if !left.is_empty() {
        return LaunchError::WentToBackground { how, left };
    }
    let (address, tail) = (asked.to_string(), child.output().tail());
    if seen == AddressState::Strangers {
        LaunchError::AddressTaken { address, how, tail }
    } else {
        LaunchError::ExitedAtOnce { address, how, tail }
    }
}

fn late(
    child: &Child,
    tree: &ProcessTree,
    asked: &Address,
    network: &Network,
    seen: AddressState,
    timeout: Duration,
) -> LaunchError {
    let (address, tail) = (asked.to_string(), child.output().tail_now());
    if seen == AddressState::Strangers {
        let how = "it still runs".to_owned();
        return LaunchError::AddressTaken { address, how, tail };
    }
    LaunchError::NeverReady {
        address,
        seconds: timeout.as_secs_f64(),
        elsewhere: elsewhere(tree, network).unwrap_or_default(),
        tail,
    }
}

/// What it left in the background. A process that forks once more while all are looked through can be missed at first.
fn left_after_a_while(child: &Child) -> Vec<Orphan> {
    const LOOKS: u32 = 5;
    for _ in 1..LOOKS {
        let left = child.left();
        if !left.is_empty() {
            return left;
        }
        std::thread::sleep(POLL);
    }
    child.left()
}

/// Where the server listens instead, for the message.
fn elsewhere(tree: &ProcessTree, network: &Network) -> Option<String> {
    let pids = tree.pids().ok()??;
    let listeners = network.listeners().ok()?;
    let own: Vec<String> = listeners
        .iter()
        .filter(|listener| matches!(sock_diag::owner_of(listener.inode, &pids), Ok(Some(_))))
        .map(|listener| listener.address.to_string())
        .collect();
    (!own.is_empty()).then(|| format!("; it listens on {} instead", own.join(", ")))
}
