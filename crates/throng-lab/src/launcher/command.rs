//! The command lines of servers.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use throng_record::{ServeOptions, Setting};
use throng_sys::address::Address;

use super::LaunchError;

/// `throng serve MODEL …`. Of an option that the target has and the setting asks of all, the target's holds.
pub(super) fn built_in(
    program: &Path,
    model: &str,
    own: &ServeOptions,
    setting: &Setting,
    addresses: &[Address],
) -> Command {
    let mut command = Command::new(program);
    command.args(["serve", model, "--workload", setting.workload.name()]);
    listen(&mut command, addresses)
        .args(["--backlog", &setting.backlog.to_string()])
        .stdin(Stdio::null());
    if let Some(workers) = own.workers.or(setting.workers) {
        command.args(["--workers", &workers.to_string()]);
    }
    if let Some(threads) = own.accept_threads.or(setting.accept_threads) {
        command.args(["--accept-threads", &threads.to_string()]);
    }
    if let Some(hand_over) = own.hand_over {
        command.args(["--hand-over", hand_over.name()]);
    }
    if let Some(service_time_ns) = setting.service_time_ns {
        let delay = humantime::format_duration(Duration::from_nanos(service_time_ns));
        command.args(["--delay", &delay.to_string()]);
    }
    if own.delay_inline || setting.delay_inline {
        command.arg("--delay-inline");
    }
    command
}

/// A catalogued server's own command with the flags of the contract behind it.
pub(super) fn catalogued(
    mut command: Command,
    own: &ServeOptions,
    declared: &BTreeMap<String, String>,
    setting: &Setting,
    addresses: &[Address],
) -> Command {
    listen(&mut command, addresses)
        .args(["--workload", setting.workload.name()])
        .args(["--backlog", &setting.backlog.to_string()]);
    if let Some(workers) = own.workers.or(setting.workers) {
        command.args(["--workers", &workers.to_string()]);
    }
    for (name, value) in declared {
        command.arg(format!("--{name}")).arg(value);
    }
    if let Some(service_time_ns) = setting.service_time_ns {
        let milliseconds = Duration::from_nanos(service_time_ns).as_secs_f64() * 1e3;
        command.args(["--delay-ms", &milliseconds.to_string()]);
    }
    command
}

fn listen<'a>(command: &'a mut Command, addresses: &[Address]) -> &'a mut Command {
    for address in addresses {
        command.arg("--listen").arg(bare(address));
    }
    command
}

/// A user's command line with its placeholders filled in, word by word: an address with a blank in it stays one word.
pub(super) fn users(line: &str, address: &Address) -> Result<Command, LaunchError> {
    let words = shlex::split(line).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| LaunchError::Command(line.to_owned()))?;
    let mut words = words.iter().map(|word| fill_in(word, address));
    let mut command = Command::new(words.next().expect("there is at least one word"));
    command.args(words).stdin(Stdio::null());
    Ok(command)
}

fn fill_in(word: &str, address: &Address) -> String {
    let word = match address {
        Address::Tcp(tcp) => word.replace("{port}", &tcp.port().to_string()),
        Address::Unix(path) => word.replace("{path}", &path.to_string_lossy()),
    };
    let whole = match address {
        Address::Tcp(tcp) => tcp.to_string(),
        Address::Unix(path) => path.to_string_lossy().into_owned(),
    };
    word.replace("{address}", &whole)
}

/// `127.0.0.1:0`, `unix:PATH`: as servers take it.
fn bare(address: &Address) -> String {
    match address {
        Address::Tcp(tcp) => tcp.to_string(),
        Address::Unix(_) => address.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use throng_record::{HandOver, TargetRecord};

    use super::*;
    use crate::plan::{PlanDraft, backlog_test_environment, resolve, test_environment};

    fn words(command: &Command) -> Vec<String> {
        std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    fn served(text: &str) -> Vec<Vec<String>> {
        let draft = PlanDraft::parse(text, "test").expect(text);
        let plan = resolve(draft, &test_environment(2)).expect(text).plan;
        let address: Address = "127.0.0.1:0".parse().expect("an address");
        let of = |target: &TargetRecord| {
            let model = target.model.as_deref().expect("a model");
            let program = Path::new("throng");
            let setting = &plan.settings[0];
            let line = words(&built_in(
                program,
                model,
                &target.options,
                setting,
                std::slice::from_ref(&address),
            ));
            let common = [
                "throng",
                "serve",
                model,
                "--workload",
                setting.workload.name(),
            ];
            assert_eq!(line[..5], common);
            line[5..].to_vec()
        };
        plan.targets.iter().map(of).collect()
    }

    #[test]
    fn a_built_in_server_is_told_what_the_setting_asks_and_its_own_options_win() {
        let plain = ["--listen", "127.0.0.1:0", "--backlog", "1024"];
        assert_eq!(served("targets = ['poll']"), [plain]);
        let lines = served(
            "experiment = 'backlog'\nservice-time = '1500ms'\nworkers = 2\ndelay-inline = true\n\
             targets = ['poll', 'epoll-edge --workers 3']",
        );
        let asked = ["--listen", "127.0.0.1:0", "--backlog", "5", "--workers"];
        let delay = ["--delay", "1s 500ms", "--delay-inline"];
        assert_eq!(lines[0], [&asked[..], &["2"], &delay].concat());
        assert_eq!(lines[1], [&asked[..], &["3"], &delay].concat());
        let lines = served(
            "experiment = 'backlog'\nbacklog = 0\naccept-threads = 2\n\
             targets = ['thread-per-connection', 'thread-per-connection --accept-threads 4 --delay-inline']",
        );
        assert!(
            lines[0].ends_with(&["--accept-threads", "2", "--delay", "40ms"].map(str::to_owned))
        );
        assert_eq!(lines[1][2..6], ["--backlog", "0", "--accept-threads", "4"]);
        assert_eq!(lines[1].last().expect("words"), "--delay-inline");
    }

    #[test]
    fn a_catalogued_server_is_told_the_flags_of_the_contract() {
        let address: Address = "127.0.0.1:0".parse().expect("an address");
        let told = |text: &str, workers| {
            let draft = PlanDraft::parse(text, "test").expect(text);
            let plan = resolve(draft, &backlog_test_environment())
                .expect(text)
                .plan;
            let own = ServeOptions {
                workers,
                ..ServeOptions::default()
            };
            let run = Command::new("./run");
            let declared = BTreeMap::from([("poll".to_owned(), "single".to_owned())]);
            words(&catalogued(
                run,
                &own,
                &declared,
                &plan.settings[0],
                std::slice::from_ref(&address),
            ))
            .join(" ")
        };
        assert_eq!(
            told("targets = ['poll']", None),
            "./run --listen 127.0.0.1:0 --workload echo --backlog 1024 --poll single"
        );
        assert_eq!(
            told(
                "experiment = 'backlog'\nservice-time = '1500us'\nworkers = 2\ntargets = ['poll']",
                Some(3)
            ),
            "./run --listen 127.0.0.1:0 --workload oneshot --backlog 5 --workers 3 --poll single --delay-ms 1.5"
        );
    }

    #[test]
    fn a_servers_own_hand_over_is_asked_of_it_alone() {
        let draft = PlanDraft::parse("targets = ['poll']", "test").expect("a plan");
        let setting = &resolve(draft, &test_environment(2))
            .expect("a plan")
            .plan
            .settings[0];
        let address: Address = "127.0.0.1:0".parse().expect("an address");
        let asked = |hand_over| {
            let own = ServeOptions {
                hand_over,
                ..ServeOptions::default()
            };
            let model = "two-threads-per-connection";
            words(&built_in(
                Path::new("throng"),
                model,
                &own,
                setting,
                std::slice::from_ref(&address),
            ))
        };
        assert!(!asked(None).contains(&"--hand-over".to_owned()));
        assert!(
            asked(Some(HandOver::Queues)).ends_with(&["--hand-over", "queues"].map(str::to_owned))
        );
    }

    #[test]
    fn placeholders_are_filled_in_word_by_word() {
        let tcp: Address = "[::1]:4000".parse().expect("an address");
        let command = users("./mine '--on={address}' -p {port} 'a b'", &tcp).expect("words");
        assert_eq!(
            words(&command),
            ["./mine", "--on=[::1]:4000", "-p", "4000", "a b"]
        );
        let unix: Address = "unix:/tmp/with blank.sock".parse().expect("an address");
        let command = users("./mine {path} {address}", &unix).expect("words");
        assert_eq!(
            words(&command),
            ["./mine", "/tmp/with blank.sock", "/tmp/with blank.sock"]
        );
    }

    #[test]
    fn a_command_line_that_cannot_be_split_is_refused() {
        let tcp: Address = "127.0.0.1:1".parse().expect("an address");
        assert!(users("./mine 'open", &tcp).is_err());
        assert!(users("  ", &tcp).is_err());
    }
}
