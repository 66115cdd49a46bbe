//! The workload `echo` in every model on every address family, as far as the contract does not say it: what the server counts, bystanders, floods, places.
//!
//! That bytes come back in whatever pieces, half-close and slow readers are clauses, to which `throng servers check` holds each model (`throng/tests/contract.rs`).

#[expect(dead_code, reason = "the other test programs need more of it")]
mod common;

use std::io::{Read as _, Write as _};
use std::num::NonZeroU32;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use common::bystander::Bystander;
use common::case::{Case, any, bounded, each_case};
use common::client::{Client, pattern};
use common::named;
use throng_sys::socket::{end_output, reset_on_close};

fn main() -> ExitCode {
    common::main(|| {
        let every = named![
            messages_of_every_size_come_back,
            a_flood_starves_nobody,
            a_reset_ends_one_connection_only,
            slots_of_closed_connections_serve_new_ones,
        ];
        let of_bounded = named![as_many_as_announced_are_served_at_once_and_no_more];
        each_case(any, every)
            .chain(each_case(bounded, of_bounded))
            .collect()
    })
}

fn messages_of_every_size_come_back(case: Case) {
    let server = case.setup().start();
    let mut client = server.connect();
    let mut bytes = 0;
    for size in [
        1, 2, 6, 1000, 8192, 16_384, 65_535, 65_536, 65_537, 1_048_576,
    ] {
        client.echo_while_reading(&pattern(size));
        bytes += size;
    }
    drop(client);
    server.stop_expecting(1, bytes);
}

fn as_many_as_announced_are_served_at_once_and_no_more(case: Case) {
    let has_pool = case.model.workers(None) > Some(NonZeroU32::MIN);
    let five = NonZeroU32::new(5);
    let server = case.setup().workers(five.filter(|_| has_pool)).start();
    let bound = server.serves_at_once.expect("a bound, announced") as usize;
    let mut served = server.connect_many(bound);
    served.iter_mut().for_each(|client| client.echo(b"served"));

    let mut waiting = server.connect_many(3);
    for client in &mut waiting {
        client.write_all(b"waits").expect("sent");
    }
    server.uses_little_cpu_time(Duration::from_millis(200));
    waiting.iter_mut().for_each(Client::expect_nothing);

    // A place becomes free for the first in the queue, and for no other.
    drop(served.pop());
    waiting[0].expect(b"waits");
    thread::sleep(Duration::from_millis(100));
    waiting[1..].iter_mut().for_each(Client::expect_nothing);
    served.iter_mut().for_each(|client| client.echo(b"again"));

    drop(served);
    let mut waiting = waiting.into_iter();
    drop(waiting.next());
    for mut client in waiting {
        client.expect(b"waits");
    }
    server.stop_expecting(bound + 3, bound * 6 + (bound - 1) * 5 + 3 * 5);
}

fn a_flood_starves_nobody(case: Case) {
    // Two of them at once would starve each other.
    static FLOOD: Mutex<()> = Mutex::new(());
    let _alone = FLOOD.lock().unwrap_or_else(PoisonError::into_inner);

    let server = case.setup().one_loop().start();
    let flooding = AtomicBool::new(true);
    let mut flood = server.connect();
    flood.echo(b"first");
    let mut quiet = Bystander::of(&server);
    let mut writer = flood.try_clone();
    thread::scope(|scope| {
        scope.spawn(|| {
            let message = pattern(256 * 1024);
            while flooding.load(Ordering::Relaxed) {
                writer.write_all(&message).expect("sent");
            }
            end_output(&writer).expect("half-closed");
        });
        scope.spawn(|| {
            let mut buffer = vec![0; 256 * 1024];
            while flood.read(&mut buffer).expect("read") > 0 {}
        });
        for _ in 0..10 {
            quiet.says(b"quiet");
        }
        flooding.store(false, Ordering::Relaxed);
    });
    quiet.hears_the_rest();
    assert_eq!(server.stop().connections, 2);
}

fn a_reset_ends_one_connection_only(case: Case) {
    const ROUNDS: u8 = 40;
    let server = case.setup().start();
    // Where one connection is served at a time, another one after each.
    let mut bystander = (server.at_most(2) == 2).then(|| server.connect());
    let mut connections = u64::from(bystander.is_some());
    for round in 0..ROUNDS {
        let mut client = server.connect();
        reset_on_close(&client).expect("set");
        match round % 4 {
            0 => {}
            1 => client.write_all(b"sent, and gone").expect("sent"),
            2 => client.echo(b"answered, and gone"),
            _ => {
                // Gone while the server waits for room.
                let message = [round; 65_536];
                client.push_until_full(|_| &message, Duration::ZERO);
            }
        }
        drop(client);
        connections += 1;
        if let Some(bystander) = &mut bystander {
            bystander.echo(&[round]);
        } else {
            server.connect().echo(&[round]);
            connections += 1;
        }
    }
    drop(bystander);
    server.connect().echo(b"the last");
    server.accepts_everyone();
    assert_eq!(server.stop().connections, connections + 1);
}

fn slots_of_closed_connections_serve_new_ones(case: Case) {
    let server = case.setup().start();
    let count = server.at_most(20);
    let mut clients = server.connect_many(count);
    let mut bytes = 0;
    for round in 0..100 {
        // Several events of one batch, some of which close while others open.
        let closing = round % count;
        for client in &mut clients {
            client.write_all(&pattern(100)).expect("sent");
        }
        let old = std::mem::replace(&mut clients[closing], server.connect());
        clients[closing].write_all(&pattern(100)).expect("sent");
        end_output(&old).expect("half-closed");
        for mut client in std::iter::once(old).chain(clients.iter().map(Client::try_clone)) {
            client.expect(&pattern(100));
            bytes += 100;
        }
    }
    drop(clients);
    server.stop_expecting(count + 100, bytes);
}
