//! The workload `broadcast` of the server of these tests: a writing thread for each connection, fed through a queue.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::fault::Fault;
use super::server::Shared;

/// Lines that wait for one listener at most.
const QUEUE: usize = 128;
/// Shorter than the longest line that must be served.
const SHORT: usize = 32 * 1024;

#[derive(Default)]
pub(crate) struct Room {
    members: Mutex<Vec<Member>>,
    /// Of members that there have been.
    count: AtomicU64,
}

struct Member {
    number: u64,
    stream: TcpStream,
    queue: Queue,
}

enum Queue {
    Bounded(SyncSender<Arc<[u8]>>),
    Endless(Sender<Arc<[u8]>>),
}

impl Room {
    fn members(&self) -> MutexGuard<'_, Vec<Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, line: &[u8], fault: Fault) {
        let line: Arc<[u8]> = line.into();
        self.members().retain(|member| {
            let is_taken = match &member.queue {
                Queue::Endless(queue) => queue.send(Arc::clone(&line)).is_ok(),
                Queue::Bounded(queue) if fault == Fault::WaitsForTheSlow => {
                    queue.send(Arc::clone(&line)).is_ok()
                }
                Queue::Bounded(queue) => queue.try_send(Arc::clone(&line)).is_ok(),
            };
            if !is_taken {
                let _ = member.stream.shutdown(Shutdown::Both);
            }
            is_taken
        });
    }

    fn join(&self, stream: &TcpStream, fault: Fault) -> u64 {
        let mut writer = stream.try_clone().expect("cloned");
        let mut write_all = move |lines: &mut dyn Iterator<Item = Arc<[u8]>>| {
            for line in lines {
                if writer.write_all(&line).is_err() {
                    return;
                }
            }
        };
        let queue = if fault == Fault::KeepsForTheSlow {
            let (sender, receiver): (_, Receiver<Arc<[u8]>>) = channel();
            thread::spawn(move || write_all(&mut receiver.iter()));
            Queue::Endless(sender)
        } else {
            let (sender, receiver): (_, Receiver<Arc<[u8]>>) = sync_channel(QUEUE);
            thread::spawn(move || write_all(&mut receiver.iter()));
            Queue::Bounded(sender)
        };
        let mut members = self.members();
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let greeting: Arc<[u8]> = b"connected\n"[..].into();
        match &queue {
            Queue::Bounded(queue) => queue.send(greeting).expect("there is room"),
            Queue::Endless(queue) => queue.send(greeting).expect("it is read"),
        }
        members.push(Member {
            number,
            stream: stream.try_clone().expect("cloned"),
            queue,
        });
        number
    }
}

pub(crate) fn serve(mut stream: TcpStream, shared: &Shared) {
    let fault = shared.flags.fault;
    let mut buffer = vec![0; 64 * 1024];
    let number = shared.room.join(&stream, fault);
    let mut begun = Vec::new();
    while let Ok(count) = stream.read(&mut buffer) {
        if count == 0 {
            if fault == Fault::EndsTheUnfinished && !begun.is_empty() {
                begun.push(b'\n');
                shared.room.say(&begun, fault);
            }
            break;
        }
        begun.extend_from_slice(&buffer[..count]);
        if fault == Fault::PassesPiecesOn {
            shared.room.say(&begun, fault);
            begun.clear();
        }
        while let Some(end) = begun.iter().position(|&byte| byte == b'\n') {
            let rest = begun.split_off(end + 1);
            shared.room.say(&begun, fault);
            begun = rest;
        }
        if fault == Fault::EndsLongLines && begun.len() > SHORT {
            break;
        }
    }
    shared
        .room
        .members()
        .retain(|member| member.number != number);
    let _ = stream.shutdown(Shutdown::Both);
}
