//! Clients with tasks at several services, asked in frames, against echoes of as many bytes on as many connections to as many servers: CPU time of the generator.

use std::error::Error;

use throng_record::{Amount, Backend, Expect, LoadJob, Pacing, Protocol, Stop, TasksSpec};

use super::Bench;
use super::peers::{Server, generate, job};
use super::ratios::{Measured, compare};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// As published.
const SERVICES: u32 = 20;
const CLIENTS: u32 = 20;
const REQUESTS: u64 = 1_000;
/// A frame of 19 bytes.
const REQUEST: &[u8; 19] = b"\0\0\0\x0f{\"count\": 1000}";

pub(super) fn run(bench: &Bench) -> Result<()> {
    for backend in [Backend::Epoll, Backend::IoUring] {
        let measured: [Measured<'_>; 2] = [
            ("echo of 19 bytes", Box::new(|| echo(bench, backend))),
            (
                "framed, clients with tasks",
                Box::new(|| framed(bench, backend)),
            ),
        ];
        let title = format!(
            "generator's CPU time, 400,000 requests over 400 connections to 20 epoll-edge, {} (bound: 1.25)",
            backend.name()
        );
        compare(bench, &title, "ns/request", &measured)?;
    }
    Ok(())
}

fn echo(bench: &Bench, backend: Backend) -> Result<f64> {
    of_servers(bench, backend, "echo", |job| {
        let spec = job.phases.exchange_mut().expect("one");
        spec.protocol = Protocol::Echo {
            size_bytes: REQUEST.len() as u32,
        };
        spec.stop = Stop::Messages(REQUESTS * u64::from(SERVICES * CLIENTS));
    })
}

fn framed(bench: &Bench, backend: Backend) -> Result<f64> {
    of_servers(bench, backend, "framed", |job| {
        let spec = job.phases.exchange_mut().expect("one");
        spec.protocol = Protocol::Request {
            send: REQUEST.to_vec(),
            expect: Expect::Frame,
        };
        spec.pacing = Pacing::Tasks(TasksSpec {
            services: SERVICES,
            choices: 1,
            at_once: SERVICES,
        });
        spec.stop = Stop::MessagesEach(REQUESTS);
    })
}

fn of_servers(
    bench: &Bench,
    backend: Backend,
    workload: &str,
    change: impl Fn(&mut LoadJob),
) -> Result<f64> {
    let servers: Result<Vec<Server>> = (0..SERVICES)
        .map(|_| Server::serving("epoll-edge", workload))
        .collect();
    let servers = servers?;
    let mut job = job(bench, &servers[0].address, backend);
    job.fleet.addresses = servers.iter().map(|one| one.address.clone()).collect();
    job.fleet.connections = SERVICES * CLIENTS;
    job.phases.exchange_mut().expect("one").warmup = Amount::Messages(0);
    change(&mut job);
    let generated = generate(&job)?;
    Ok(generated.cpu_ns as f64 / generated.exchange()?.replies as f64)
}
