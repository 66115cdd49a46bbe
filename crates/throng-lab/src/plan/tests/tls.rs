//! What is said of TLS: whom it concerns, what is trusted, what stands in the phases.

use std::io::Write as _;

use throng_record::{PhaseName, Trust};

use super::ECHO;

fn trusted(text: &str) -> (String, Trust) {
    let plan = ECHO.plan(text);
    let tls = plan.targets[0].tls.clone().expect("TLS");
    (tls.server_name, tls.trust)
}

#[test]
fn a_running_server_is_known_by_its_host_unless_another_name_is_given() {
    for (text, name) in [
        ("targets = ['tls://localhost:8443']", "localhost"),
        ("targets = ['https://[::1]/a']", "::1"),
        (
            "targets = ['https://127.0.0.1/']\nsni = 'one.test'",
            "one.test",
        ),
    ] {
        assert_eq!(trusted(text), (name.to_owned(), Trust::System), "{text}");
    }
    let insecure = "targets = ['tls://127.0.0.1:1']\ninsecure = true";
    assert_eq!(trusted(insecure).1, Trust::Anything);
}

#[test]
fn handshakes_are_a_phase_where_any_target_makes_them() {
    let has = |text: &str| {
        let settings = ECHO.plan(text).settings;
        let has = settings.iter().map(|one| one.phases.has(PhaseName::Tls));
        has.collect::<Vec<_>>()
    };
    assert_eq!(has("targets = ['poll']"), [false]);
    assert_eq!(
        has("targets = ['poll']\ntls = ['off', 'on']"),
        [false, true]
    );
    assert_eq!(has("targets = ['poll', 'tls://127.0.0.1:1']"), [true]);
    let hold = "experiment = 'hold'\ntargets = ['poll']\ntls = 'on'";
    assert_eq!(has(hold), [true]);
}

#[test]
fn what_concerns_nobody_or_cannot_be_is_refused_with_what_to_write() {
    for (text, parts) in [
        (
            "targets = ['poll']\nca = 'a.pem'",
            &["`ca`", "tls://HOST:PORT"][..],
        ),
        (
            "targets = ['tcp://127.0.0.1:1']\ninsecure = true",
            &["`insecure`", "https://"],
        ),
        (
            "targets = ['poll']\ntls-resumption = true",
            &["`tls-resumption`"],
        ),
        (
            "targets = ['tls://127.0.0.1:1']\ntls = 'on'",
            &["`tls`", "tls://HOST:PORT"],
        ),
        (
            "targets = ['poll', { command = './mine {port}' }]\ntls = ['off', 'on']",
            &["`./mine {port}`", "poll, epoll-edge or io-uring"],
        ),
        (
            "targets = ['tls://127.0.0.1:1']\nca = '/nowhere/a.pem'",
            &["/nowhere/a.pem", "No such file", "--insecure"],
        ),
        (
            "targets = ['tls://127.0.0.1:1']\nca = 'a.pem'\ninsecure = true",
            &["`insecure`", "`ca`"],
        ),
        (
            "targets = ['tls://127.0.0.1:1']\nsni = 'a b'",
            &["`sni = a b`"],
        ),
        (
            "experiment = 'churn'\ntargets = ['https://127.0.0.1/']",
            &["TLS handshakes", "throng echo"],
        ),
        (
            "experiment = 'fanout'\ntargets = ['poll']\ntls = 'on'",
            &["`tls`", "echo"],
        ),
    ] {
        let error = ECHO.refusal(text);
        for part in parts {
            assert!(error.contains(part), "{text}: {part} in {error}");
        }
    }
}

#[test]
fn a_file_without_a_certificate_is_none_of_an_authority() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    writeln!(file, "no certificate").expect("written");
    let path = file.path().display();
    let error = ECHO.refusal(&format!("targets = ['tls://127.0.0.1:1']\nca = '{path}'"));
    assert!(error.contains("no certificate in PEM"), "{error}");
}
