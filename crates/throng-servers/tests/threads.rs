//! The model that a server declares is the model that the kernel shows. Alone in its file: it counts the threads of
//! the whole process.

mod common;

use std::thread;
use std::time::{Duration, Instant};

use common::{Client, Server};
use throng_servers::Model;

#[test]
fn each_model_has_the_threads_it_declares() {
    for model in Model::ALL {
        let before = threads();
        let server = Server::start(model, "127.0.0.1:0".parse().expect("an address"));
        assert_becomes(model, before, 0);
        let mut clients: Vec<Client> = (0..30).map(|_| server.connect()).collect();
        for client in &mut clients {
            client.echo_while_reading(&common::pattern(100_000));
        }
        assert_becomes(model, before, 30);
        clients.truncate(10);
        assert_becomes(model, before, 10);
        let (served, _) = server.stop();
        assert_eq!(served.connections, 30);
        assert_eq!(threads(), before, "{model} leaves none behind");
    }
}

/// A thread that has ended its work may still be on its way out.
fn assert_becomes(model: Model, before: u64, connections: u64) {
    let begin = Instant::now();
    let expected = model.expected_threads(connections);
    while threads() - before != expected {
        assert!(
            begin.elapsed() < Duration::from_secs(10),
            "{model} has {} threads with {connections} connections, not {expected}",
            threads() - before
        );
        thread::sleep(Duration::from_millis(1));
    }
}

fn threads() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").expect("readable");
    tasks.count() as u64
}
