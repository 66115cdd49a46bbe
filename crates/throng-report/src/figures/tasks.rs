//! Clients that have a task with each of several services: how long each client took, what of that was connecting, and what each service cost.

use throng_record::{SideRecord, TaskTarget, TasksRecord};

use crate::figure::{Figure, OneTrial};
use crate::unit::Unit;

fn tasks<'a>(one: &OneTrial<'a>) -> Option<&'a TasksRecord> {
    one.trial.phases.tasks()
}

fn server<'a>(one: &OneTrial<'a>) -> Option<&'a SideRecord> {
    one.trial.server.as_ref()
}

/// Of the clients that had every reply.
fn completions(one: &OneTrial<'_>) -> Option<Vec<f64>> {
    let all: Vec<f64> = tasks(one)?.completion_ns().map(|ns| ns as f64).collect();
    (!all.is_empty()).then_some(all)
}

/// The mean time of a request at each that answered any.
fn means(targets: &[TaskTarget]) -> Option<Vec<f64>> {
    let targets = targets.iter();
    let all: Vec<f64> = targets.filter_map(TaskTarget::request_ns_mean).collect();
    (!all.is_empty()).then_some(all)
}

/// The same at each listener, where services have several.
fn means_of_listeners(one: &OneTrial<'_>) -> Option<Vec<f64>> {
    let listeners = &tasks(one)?.listeners;
    means(listeners).filter(|_| listeners.len() > 1)
}

fn mean(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / all.len() as f64
}

fn least(all: &[f64]) -> f64 {
    all.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(all: &[f64]) -> f64 {
    all.iter().copied().fold(0.0, f64::max)
}

fn times(all: &[f64]) -> Option<f64> {
    let least = least(all);
    (all.len() > 1 && least > 0.0).then(|| most(all) / least)
}

/// Connecting, and all that requests took, in nanoseconds: means times numbers, so that both are of the same requests.
fn connecting(one: &OneTrial<'_>) -> Option<(u64, u64)> {
    tasks(one)?;
    let phase = one.trial.phases.connections()?;
    let (connects, requests) = (&phase.connect_latency, &phase.request_latency);
    Some((connects.total_ns() as u64, requests.total_ns() as u64))
}

fn per_service(one: &OneTrial<'_>, whole: Option<u64>) -> Option<f64> {
    let services = tasks(one)?.services.len();
    (services > 0).then_some(whole? as f64 / services as f64)
}

pub(super) fn figures() -> Vec<Figure> {
    [of_clients(), of_services()].concat()
}

fn of_clients() -> Vec<Figure> {
    vec![
        Figure::number(
            "completion_ns_mean",
            "client done,\nmean",
            Unit::Nanoseconds,
            "From the begin, which all clients share, to a client's last reply: the mean over the clients that had every reply.",
            |one| Some(mean(&completions(one)?)),
        ),
        Figure::number(
            "completion_ns_min",
            "first\nclient",
            Unit::Nanoseconds,
            "The same of the client that was done first.",
            |one| Some(least(&completions(one)?)),
        ),
        Figure::number(
            "completion_ns_max",
            "last\nclient",
            Unit::Nanoseconds,
            "The same of the client that was done last.",
            |one| Some(most(&completions(one)?)),
        ),
        Figure::count(
            "clients_done",
            "clients\ndone",
            "Clients that had every reply; of a row the fewest of its trials.",
            |one| Some(tasks(one)?.completion_ns().count() as f64),
        )
        .least(),
        Figure::share(
            "connecting_share",
            "of it\nconnecting",
            "Part of the time of all requests that their connects took, waiting for a full queue included.",
            connecting,
        ),
    ]
}

fn of_services() -> Vec<Figure> {
    vec![
        Figure::failures(
            "services_failed",
            "services\nfailed",
            "Services at which a task ended because a request failed.",
            |one| Some(tasks(one)?.failed_services().count() as f64),
        ),
        Figure::number(
            "service_request_ns_min",
            "fastest\nservice",
            Unit::Nanoseconds,
            "Mean time of a request, its connect included where it has one, at the service where that is least.",
            |one| Some(least(&means(&tasks(one)?.services)?)),
        ),
        Figure::number(
            "service_request_ns_max",
            "slowest\nservice",
            Unit::Nanoseconds,
            "The same at the service where it is most.",
            |one| Some(most(&means(&tasks(one)?.services)?)),
        ),
        Figure::number(
            "listener_request_ns_min",
            "fastest\nlistener",
            Unit::Nanoseconds,
            "Mean time of a request at the listener where that is least, all of one number together; told where services have several.",
            |one| Some(least(&means_of_listeners(one)?)),
        ),
        Figure::number(
            "listener_request_ns_max",
            "slowest\nlistener",
            Unit::Nanoseconds,
            "The same at the listener where it is most.",
            |one| Some(most(&means_of_listeners(one)?)),
        ),
        Figure::number(
            "server_cpu_per_service_ns",
            "CPU\n/service",
            Unit::Nanoseconds,
            "CPU time of the server's processes in the window ÷ services.",
            |one| per_service(one, Some(server(one)?.cpu_ns)),
        ),
        Figure::number(
            "server_cpu_of_services_ratio",
            "most CPU\n÷ least",
            Unit::Times,
            "CPU time in the window of the service that used most ÷ that of the one that used least.",
            |one| {
                let each = &server(one)?.cpu_ns_each;
                times(&each.iter().map(|&ns| ns as f64).collect::<Vec<_>>())
            },
        ),
        Figure::number(
            "server_memory_per_service_bytes",
            "memory\n/service",
            Unit::Bytes,
            "Memory of the server's processes that is no file's, at the end of the window ÷ services.",
            |one| per_service(one, server(one)?.memory_measured.anonymous_pss_bytes),
        ),
    ]
}
