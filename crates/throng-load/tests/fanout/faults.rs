//! Servers that greet or deliver wrongly: each fault under its own name, in its phase, with the connections' indices.

use std::io::Write as _;
use std::net::Shutdown;

use throng_record::{ErrorKind, LoadRecord};

use super::server::{
    Manner, Server, deliver, deliver_but_every_tenth, deliver_twice, greet, silent,
};
use super::support::{BACKENDS, echo, run, serve};
use super::{
    CONNECTIONS, assert_closed, assert_none, assert_only, fifty_lines, greetings, job, put,
    run_when_accepted, sustained,
};

const EVERY_TENTH: [u32; 4] = [0, 10, 20, 30];

fn all() -> Vec<u32> {
    (0..CONNECTIONS).collect()
}

/// Runs against such a server on both back ends, with a reply timeout that is reached soon.
fn against(greet: Manner, deliver: Manner, check: impl Fn(&LoadRecord)) {
    for backend in BACKENDS {
        let server = Server::start(greet, deliver);
        let mut job = job(&server.address, backend, |_| {});
        job.fleet.reply_timeout_ns = 400_000_000;
        check(&run(&job));
    }
}

#[test]
fn a_wrong_greeting_is_wrong_bytes_and_no_failed_connect() {
    let wrong: Manner = |_, stream, _| drop(stream.write_all(b"connexted\n"));
    against(wrong, deliver, |record| {
        let acknowledge = greetings(record);
        assert_only(&acknowledge.errors, ErrorKind::WrongBytes, &all());
        assert_eq!((acknowledge.due, acknowledge.received), (CONNECTIONS, 0));
        let connect = record.phases.connect().expect("the connects");
        assert_none(&connect.errors);
        assert_eq!(put(record).speaker, None);
        assert_closed(record, 0);
    });
}

#[test]
fn the_rest_goes_on_where_every_tenth_is_greeted_wrongly() {
    let wrong: Manner = |index, stream, line| match index % 10 {
        0 => drop(stream.write_all(b"connected!\n")),
        _ => greet(index, stream, line),
    };
    against(wrong, deliver, |record| {
        let acknowledge = greetings(record);
        assert_only(&acknowledge.errors, ErrorKind::WrongBytes, &EVERY_TENTH);
        assert_eq!((acknowledge.due, acknowledge.received), (CONNECTIONS, 36));
        let get = &put(record).line;
        assert_eq!((get.due, get.received), (36, 36));
        assert_none(&get.errors);
    });
}

#[test]
fn a_greeting_that_comes_twice_is_told_so() {
    let twice: Manner = |_, stream, _| drop(stream.write_all(b"connected\nconnected\n"));
    against(twice, deliver, |record| {
        let acknowledge = greetings(record);
        assert_only(&acknowledge.errors, ErrorKind::DeliveredTwice, &all());
        assert_eq!((acknowledge.received, acknowledge.latency.count), (0, 0));
    });
}

#[test]
fn greetings_that_never_come_are_not_delivered() {
    against(silent, deliver, |record| {
        let acknowledge = greetings(record);
        assert_only(&acknowledge.errors, ErrorKind::NotDelivered, &all());
        let get = &put(record).line;
        assert_eq!((get.due, get.received), (0, 0));
    });
}

#[test]
fn a_greeting_that_nobody_expects_is_excess() {
    for backend in BACKENDS {
        let server = Server::start(greet, deliver);
        let job = job(&server.address, backend, |spec| spec.greeting = None);
        let (record, _) = run_when_accepted(&server, &job);
        let get = &put(&record).line;
        assert_only(&get.errors, ErrorKind::ExcessBytes, &all());
        assert_eq!(put(&record).put_ns, None);
    }
}

#[test]
fn every_tenth_that_is_left_out_is_named() {
    against(greet, deliver_but_every_tenth, |record| {
        let get = &put(record).line;
        assert_only(&get.errors, ErrorKind::NotDelivered, &EVERY_TENTH);
        assert_eq!((get.due, get.received), (CONNECTIONS, 36));
        assert!(
            get.duration_ns < 400_000_000,
            "the time-out is no part of it"
        );
        assert_closed(record, 36);
    });
}

#[test]
fn a_line_that_never_comes_is_not_delivered_to_anyone() {
    against(greet, silent, |record| {
        let get = &put(record).line;
        assert_only(&get.errors, ErrorKind::NotDelivered, &all());
        assert_eq!((get.received, get.duration_ns), (0, 0));
        assert_eq!(put(record).speaker, Some(13));
    });
}

#[test]
fn a_server_that_only_echoes_delivers_to_the_speaker_alone() {
    for backend in BACKENDS {
        let mut job = job(&serve(echo()), backend, |spec| spec.greeting = None);
        job.fleet.reply_timeout_ns = 400_000_000;
        let record = run(&job);
        let get = &put(&record).line;
        let others: Vec<u32> = all().into_iter().filter(|&index| index != 13).collect();
        assert_only(&get.errors, ErrorKind::NotDelivered, &others);
        assert_eq!((get.received, get.slowest[0].connection), (1, 13));
    }
}

#[test]
fn a_line_that_comes_twice_is_told_so() {
    against(greet, deliver_twice, |record| {
        let get = &put(record).line;
        assert_only(&get.errors, ErrorKind::DeliveredTwice, &all());
        assert_eq!((get.received, get.latency.count), (0, 0));
    });
}

#[test]
fn another_line_is_wrong_bytes() {
    let other: Manner = |_, stream, _| drop(stream.write_all(b"hullo\n"));
    against(greet, other, |record| {
        let get = &put(record).line;
        assert_only(&get.errors, ErrorKind::WrongBytes, &all());
    });
}

#[test]
fn more_than_the_line_is_excess() {
    let more: Manner = |_, stream, line| drop(stream.write_all(&[line, b"!"].concat()));
    against(greet, more, |record| {
        let get = &put(record).line;
        assert_only(&get.errors, ErrorKind::ExcessBytes, &all());
    });
}

#[test]
fn one_that_is_closed_is_named_and_the_others_hear() {
    let close_one: Manner = |index, stream, line| match index {
        7 => drop(stream.shutdown(Shutdown::Both)),
        8 => drop(
            stream
                .write_all(&line[..3])
                .and_then(|()| stream.shutdown(Shutdown::Both)),
        ),
        _ => deliver(index, stream, line),
    };
    against(greet, close_one, |record| {
        let get = &put(record).line;
        assert_eq!(get.received, 38);
        assert_eq!(get.errors.total(), 2, "{:?}", get.errors);
        assert_eq!(get.errors.connections[&ErrorKind::ClosedEarly], [7]);
        assert_eq!(get.errors.connections[&ErrorKind::Truncated], [8]);
    });
}

#[test]
fn the_next_speaks_where_the_speaker_is_not_open() {
    let close_one: Manner = |index, stream, line| match index {
        13 | 14 => drop(stream.shutdown(Shutdown::Both)),
        _ => greet(index, stream, line),
    };
    against(close_one, deliver, |record| {
        assert_eq!(put(record).speaker, Some(15));
        assert_eq!(record.phases.errors().of(ErrorKind::ClosedEarly), 2);
        let get = &put(record).line;
        assert_eq!((get.due, get.received), (38, 38));
    });
}

#[test]
fn the_first_speaks_where_nobody_after_the_speaker_is_open() {
    let close_many: Manner = |index, stream, line| match index {
        13.. | 0 => drop(stream.shutdown(Shutdown::Both)),
        _ => greet(index, stream, line),
    };
    against(close_many, deliver, |record| {
        assert_eq!(put(record).speaker, Some(1));
        assert_eq!(put(record).line.received, 12);
    });
}

#[test]
fn a_numbered_line_that_is_left_out_comes_twice_or_wrong_is_told_apart() {
    let faulty: Manner = |index, stream, line| match (index, line) {
        (3, b"hello 0000000004\n") => {}
        (5, b"hello 0000000004\n") => deliver_twice(index, stream, line),
        (6, b"hello 0000000049\n") => {}
        _ => deliver(index, stream, line),
    };
    for backend in BACKENDS {
        let server = Server::start(greet, faulty);
        let mut job = job(&server.address, backend, fifty_lines);
        job.fleet.reply_timeout_ns = 400_000_000;
        let record = run(&job);
        let sustained = sustained(&record);
        let errors = &sustained.errors;
        assert_eq!(errors.total(), 3, "{errors:?}");
        assert_eq!(errors.connections[&ErrorKind::WrongBytes], [3]);
        assert_eq!(errors.connections[&ErrorKind::DeliveredTwice], [5]);
        assert_eq!(errors.connections[&ErrorKind::NotDelivered], [6]);
        assert_eq!(sustained.sent, 50);
        assert_eq!(sustained.missing, 46 + 45 + 1);
        assert_eq!(sustained.deliveries + sustained.missing, 2000);
    }
}
