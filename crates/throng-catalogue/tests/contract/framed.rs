//! The workload `framed` of the server of these tests.

use std::hint::black_box;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

use serde::Deserialize;

use super::fault::Fault;
use super::server::Shared;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Counting {
    count: u64,
}

pub(crate) fn serve(mut stream: TcpStream, shared: &Shared) {
    let fault = shared.flags.fault;
    let mut input = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(read) = stream.read(&mut buffer)
        && read > 0
    {
        input.extend_from_slice(&buffer[..read]);
        let mut answered = false;
        while let Some((prefix, rest)) = input.split_first_chunk::<4>() {
            let length = u32::from_be_bytes(*prefix) as usize;
            if length > 65_536 && fault != Fault::TakesAnyLength {
                return refuse_and_drop(&mut stream, &mut buffer);
            }
            let Some(frame) = rest.get(..length) else {
                break;
            };
            let code = match fault {
                Fault::RefusesLongFrames if length > 1024 => 400,
                _ => answer(frame, fault),
            };
            answered = true;
            input.drain(..4 + length);
            let is_last =
                fault == Fault::OneRequest || code == 400 && fault == Fault::ClosesAfterMalformed;
            if reply(&mut stream, code).is_err() || is_last {
                return;
            }
            if fault == Fault::ForgetsThePipelined {
                input.clear();
            }
        }
        if fault == Fault::ForgetsBeginnings && answered {
            input.clear();
        }
    }
}

/// Does what is asked for; the code of the reply.
fn answer(frame: &[u8], fault: Fault) -> u16 {
    let read: Result<serde_json::Map<String, serde_json::Value>, _> = serde_json::from_slice(frame);
    let count = read.map(|mut object| object.remove("count"));
    let count = match count {
        Ok(None) => Ok(0),
        Ok(Some(count)) => {
            let counting = serde_json::json!({ "count": count });
            serde_json::from_value(counting).map(|Counting { count }| count)
        }
        Err(error) => Err(error),
    };
    match count {
        Ok(count) if fault != Fault::CountsNothing => {
            (0..count).for_each(|number| {
                black_box(number);
            });
            200
        }
        Err(_) if fault != Fault::NeverRefuses => 400,
        _ => 200,
    }
}

fn reply(stream: &mut TcpStream, code: u16) -> std::io::Result<()> {
    let text = format!("{{\"msg\": \"\", \"code\": {code}}}");
    let length = text.len() as u32;
    stream.write_all(&[&length.to_be_bytes(), text.as_bytes()].concat())
}

fn refuse_and_drop(stream: &mut TcpStream, buffer: &mut [u8]) {
    if reply(stream, 400).is_ok() && stream.shutdown(Shutdown::Write).is_ok() {
        while stream.read(buffer).is_ok_and(|read| read > 0) {}
    }
}
