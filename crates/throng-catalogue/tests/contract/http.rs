//! The workload `http` of the server of these tests.

use std::hint::black_box;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use throng_sys::process;

use super::fault::Fault;
use super::server::Shared;

struct Request {
    delay: Duration,
    count: u64,
    closes: bool,
}

pub(crate) fn serve(mut stream: TcpStream, shared: &Shared) {
    let fault = shared.flags.fault;
    let mut input = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count) = stream.read(&mut buffer)
        && count > 0
    {
        input.extend_from_slice(&buffer[..count]);
        while let Some(end) = input.windows(4).position(|window| window == b"\r\n\r\n") {
            let rest = input.split_off(end + 4);
            let request = parse(&input, shared);
            input = rest;
            if fault == Fault::ForgetsThePipelined {
                input.clear();
            }
            let usual = || Request {
                delay: Duration::ZERO,
                count: 0,
                closes: false,
            };
            let Some(request) = request.or_else(|| (fault == Fault::NeverRefuses).then(usual))
            else {
                let _ = stream.write_all(b"HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n");
                return;
            };
            wait(request.delay, shared);
            if fault != Fault::CountsNothing {
                (0..request.count).for_each(|number| {
                    black_box(number);
                });
            }
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
            if stream.write_all(answer).is_err() || request.closes {
                return;
            }
        }
    }
}

fn parse(head: &[u8], shared: &Shared) -> Option<Request> {
    let text = std::str::from_utf8(head).ok()?;
    let mut lines = text.trim_end().split("\r\n");
    let words: Vec<&str> = lines.next()?.split(' ').collect();
    let [method, path, version] = words[..] else {
        return None;
    };
    if method != "GET" || !version.starts_with("HTTP/1.") {
        return None;
    }
    let is_old = version.ends_with(".0");
    let mut request = Request {
        delay: shared.flags.delay,
        count: 0,
        closes: is_old && shared.flags.fault != Fault::KeepsTheOldOpen,
    };
    for line in lines {
        let (name, value) = line.split_once(':')?;
        request.closes |= name.eq_ignore_ascii_case("connection") && value.trim() == "close";
    }
    let query = path.split_once('?').map_or("", |(_, query)| query);
    for (key, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        match key {
            "delay" => {
                request.delay =
                    Duration::try_from_secs_f64(value.parse::<f64>().ok()? / 1e3).ok()?;
            }
            "count" => request.count = value.parse().ok()?,
            _ => {}
        }
    }
    Some(request)
}

/// Waits as the fault has it.
pub(crate) fn wait(delay: Duration, shared: &Shared) {
    match shared.flags.fault {
        Fault::Spins if shared.serves_one() && delay >= Duration::from_secs(1) => burn(delay),
        Fault::DelaysOneAtATime => {
            let _turn = shared.turn.lock();
            thread::sleep(delay);
        }
        Fault::SkipsDelays if shared.serves_one() => {}
        _ => thread::sleep(delay),
    }
}

/// However little of the CPU others leave it.
fn burn(delay: Duration) {
    const BURNT_NS: u64 = 400_000_000;
    let used_ns = || process::cpu_time_ns(std::process::id()).expect("its own clock");
    let (begin, before_ns) = (Instant::now(), used_ns());
    while begin.elapsed() < delay || used_ns() - before_ns < BURNT_NS {
        black_box(());
    }
}
