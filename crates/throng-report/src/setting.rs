//! Settings in words: what tells one from the others of its plan.

use throng_record::{Plan, Setting, Stop, SweptValue, TasksSpec};

use crate::format::{ABSENT, exact, plural};

/// The keys that have words of their own.
const CONNECTIONS: [&str; 2] = ["connections", "clients"];

/// What a table of this setting is called: `100 connections`, `100 connections · size 1024 · outstanding 8`. Connections come
/// first; where nothing is swept they are all there is to say. Where each request has a connection of its own, clients and requests stand
/// for them: `32 × 5 requests · backlog 5`.
#[must_use]
pub fn heading(setting: &Setting) -> String {
    if let Some(tasks) = setting.phases.tasks() {
        return of_tasks(setting, tasks);
    }
    if let Some(each) = requests_each(setting) {
        let others = setting.swept.iter();
        let others = others.filter(|swept| !is_of_rows(&swept.key));
        return std::iter::once(format!("{} × {each} requests", setting.connections))
            .chain(others.map(SweptValue::to_string))
            .collect::<Vec<_>>()
            .join(" · ");
    }
    let noun = match setting.phases.is_of_requests() {
        false => "connection",
        true => "client",
    };
    let connections = || plural(setting.connections.into(), noun);
    if setting.swept.is_empty() {
        return connections();
    }
    let are_swept = setting
        .swept
        .iter()
        .any(|swept| CONNECTIONS.contains(&swept.key.as_str()));
    let others = setting
        .swept
        .iter()
        .filter(|swept| !CONNECTIONS.contains(&swept.key.as_str()));
    are_swept
        .then(connections)
        .into_iter()
        .chain(others.map(SweptValue::to_string))
        .collect::<Vec<_>>()
        .join(" · ")
}

/// `reuse true · listeners 10`; where nothing is swept, `20 clients × 20 services`.
fn of_tasks(setting: &Setting, tasks: &TasksSpec) -> String {
    let swept = setting.swept.iter();
    let swept: Vec<String> = swept.map(SweptValue::to_string).collect();
    if !swept.is_empty() {
        return swept.join(" · ");
    }
    let clients = setting.phases.clients(setting.connections);
    format!(
        "{} × {}",
        plural(clients.into(), "client"),
        plural(tasks.services.into(), "service")
    )
}

/// The distinct values of a swept key in their order, as they are shown; `None` where it is not swept.
pub(crate) fn values(plan: &Plan, key: &str) -> Option<Vec<String>> {
    plan.swept.iter().find(|swept| *swept == key)?;
    let all = plan.settings.iter().flat_map(|setting| &setting.swept);
    Some(distinct(all.filter(|swept| swept.key == key).map(shown)))
}

/// The distinct values of a kernel setting in their order, by its dotted name.
pub(crate) fn kernel_values(plan: &Plan, name: &str) -> Vec<String> {
    let settings = plan.settings.iter();
    distinct(settings.filter_map(|setting| setting.kernel.get(name).cloned()))
}

/// Each once, in the order in which they came.
pub(crate) fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut values = Vec::new();
    for value in all {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// A value as tables show it: connections with their thousands set apart.
pub(crate) fn shown(swept: &SweptValue) -> String {
    match swept.value.parse() {
        Ok(number) if CONNECTIONS.contains(&swept.key.as_str()) => exact(number),
        _ => swept.value.clone(),
    }
}

/// What is swept by that key, in words.
pub(crate) fn noun(key: &str) -> String {
    match key {
        _ if CONNECTIONS.contains(&key) => format!("number of {key}"),
        other => other.to_owned(),
    }
}

/// `32 × 5`.
pub(crate) fn clients_by_requests(clients: u32, requests_each: Option<u64>) -> String {
    let each = requests_each.map_or_else(|| ABSENT.to_owned(), |each| each.to_string());
    format!("{clients} × {each}")
}

/// Whether the key is told by the rows, and not by the tables.
pub(crate) fn is_of_rows(key: &str) -> bool {
    matches!(key, "clients" | "connections") || is_requests(key)
}

/// Whether the key says how many requests there are.
pub(crate) fn is_requests(key: &str) -> bool {
    matches!(key, "requests" | "requests-total")
}

/// Requests of each client.
pub(crate) fn requests_each(setting: &Setting) -> Option<u64> {
    match setting.phases.exchange()?.stop {
        Stop::MessagesEach(each) => Some(each),
        Stop::Messages(_) | Stop::DurationNs(_) | Stop::Confidence { .. } => None,
    }
}
