use super::*;
use crate::plan::test_model;

fn models() -> Vec<BuiltInModel> {
    ["thread-per-connection", "poll", "epoll-edge", "io-uring"]
        .map(test_model)
        .to_vec()
}

fn resolve(target: TargetDraft) -> Result<TargetRecord, String> {
    target
        .resolve(&models(), &Catalogue::default(), ListenFamily::Ipv4)
        .map_err(|error| error.to_string())
}

#[test]
fn every_kind_of_target_is_recognised() {
    let model = resolve("epoll-edge".into()).unwrap();
    assert_eq!(
        (model.kind, model.model.as_deref()),
        (TargetKind::BuiltIn, Some("epoll-edge"))
    );
    let tcp = resolve("tcp://localhost:6379".into()).unwrap();
    assert_eq!(
        (tcp.kind, tcp.name.as_str()),
        (TargetKind::Running, "tcp://localhost:6379")
    );
    assert_eq!(tcp.addresses, ["tcp://127.0.0.1:6379"]);
    let unix = resolve("unix:/run/echo.sock".into()).unwrap();
    assert_eq!(unix.addresses, ["unix:/run/echo.sock"]);
    let page = resolve("http://localhost:8080/slow?n=1".into()).unwrap();
    assert_eq!(
        (page.kind, page.name.as_str(), &page.addresses[..]),
        (
            TargetKind::Running,
            "http://localhost:8080/slow?n=1",
            &["tcp://127.0.0.1:8080".to_owned()][..]
        )
    );
    let asked = page.http.expect("a page");
    assert_eq!(
        (asked.host.as_str(), asked.path.as_str()),
        ("localhost:8080", "/slow?n=1")
    );
    let variant = resolve("poll --workers 8".into()).unwrap();
    assert_eq!(
        (variant.name.as_str(), variant.model.as_deref()),
        ("poll --workers 8", Some("poll"))
    );
    assert_eq!(variant.options.workers, Some(8));
    let command = resolve(TargetDraft::command("./mine --port {port}")).unwrap();
    assert_eq!(
        (command.kind, command.name.as_str()),
        (TargetKind::Command, "./mine --port {port}")
    );
    let script = resolve(TargetDraft::command("sh -c 'a\n  b' {port}")).unwrap();
    assert_eq!(script.name, "sh -c 'a b' {port}");
    let named = TargetDraft::Command {
        command: "./mine {address}".to_owned(),
        name: Some("mine".to_owned()),
    };
    assert_eq!(resolve(named).unwrap().name, "mine");
}

#[test]
fn what_is_no_target_is_refused_with_what_to_write() {
    for (text, parts) in [
        (
            "epol-edge",
            &[
                "`epol-edge`",
                "did you mean `epoll-edge`?",
                "poll, epoll-edge or io-uring",
            ][..],
        ),
        (
            "nginx",
            &["`nginx`.", "thread-per-connection", "tcp://HOST:PORT"],
        ),
        ("http://127.0.0.1:0/", &["port 0"]),
        ("http://127.0.0.1:http/", &["HOST:PORT"]),
        ("poll --worker 8", &["`--worker`", "--workers N"]),
        ("pol --workers 8", &["--command"]),
        ("127.0.0.1:80", &["tcp://127.0.0.1:80"]),
        ("tcp://127.0.0.1", &["HOST:PORT"]),
        ("tcp://127.0.0.1:0", &["port 0"]),
        ("unix:", &["path"]),
        ("./mine --port 80", &["--command"]),
        ("", &["no model ``"]),
    ] {
        let error = resolve(text.into()).expect_err(text);
        for part in parts {
            assert!(error.contains(part), "{text}: {part} in {error}");
        }
    }
}

#[test]
fn a_command_must_be_told_where_to_listen() {
    for (command, family, part) in [
        ("./mine", ListenFamily::Ipv4, "has no {port}"),
        ("./mine {path}", ListenFamily::Ipv6, "has no {port}"),
        ("./mine {port}", ListenFamily::Unix, "has no {path}"),
        ("./mine 'open {port}", ListenFamily::Ipv4, "quote"),
        ("  ", ListenFamily::Ipv4, "empty"),
    ] {
        let error = TargetDraft::command(command)
            .resolve(&models(), &Catalogue::default(), family)
            .expect_err(command)
            .to_string();
        assert!(error.contains(part), "{command}: {error}");
    }
    for family in [ListenFamily::Ipv4, ListenFamily::Ipv6, ListenFamily::Unix] {
        assert!(
            TargetDraft::command("./mine {address}")
                .resolve(&models(), &Catalogue::default(), family)
                .is_ok()
        );
    }
}
