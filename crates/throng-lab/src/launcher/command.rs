//! The command lines of servers.

use std::path::Path;
use std::process::{Command, Stdio};

use throng_record::Setting;
use throng_sys::address::Address;

use super::LaunchError;

/// `throng serve MODEL …`.
pub(super) fn built_in(
    program: &Path,
    model: &str,
    setting: &Setting,
    address: &Address,
) -> Command {
    let mut command = Command::new(program);
    command
        .args(["serve", model, "--workload", "echo", "--listen"])
        .arg(bare(address))
        .args(["--backlog", &setting.backlog.to_string()])
        .stdin(Stdio::null());
    if let Some(workers) = setting.workers {
        command.args(["--workers", &workers.to_string()]);
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
    use super::*;

    fn words(command: &Command) -> Vec<String> {
        std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
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
