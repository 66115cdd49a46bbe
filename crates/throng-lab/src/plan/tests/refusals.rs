//! Plans that cannot be carried out.

use super::ECHO;

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn whatever_cannot_be_carried_out_is_refused_with_what_to_write() {
    for (text, parts) in [
        ("targets = []", &["no target", "--command"][..]),
        ("targets = ['poll', 'poll']", &["`poll`", "name of its own"]),
        ("baseline = 'pol'", &["`pol`", "name one of poll"]),
        (
            "targets = ['thread-per-connection']\nworkers = 4",
            &["thread-per-connection", "no choice of workers", "`workers`"],
        ),
        ("name = '../up'", &["`../up`", "my-plan"]),
        ("name = ''", &["my-plan"]),
        ("repeats = 0", &["`repeats` is 0", "repeats = 6"]),
        (
            "connections = 0",
            &["`connections` is 0", "connections = 100"],
        ),
        ("connections = [10, 0]", &["`connections` is 0"]),
        ("size = 0", &["`size` is 0", "size = 6"]),
        ("size = 1048577", &["1048577", "1 MiB"]),
        ("send = 'a'", &["`send` needs `expect`"]),
        ("expect = 'a'", &["`expect` needs `send`"]),
        (
            "size = 6\nsend = 'a'\nexpect = 'a'",
            &["`size` and `send` contradict"],
        ),
        ("send = ''\nexpect = 'a'", &["`send = `", "empty"]),
        ("send = 'a'\nexpect = 'until '", &["empty"]),
        ("send = 'a'\nexpect = '0 bytes'", &["`expect` is 0"]),
        (r"send = 'a\q'", &["expect"]),
        (
            "send = 'a\\q'\nexpect = 'a'",
            &[r"`\q` is no escape", r"\xNN"],
        ),
        (
            "messages = 5\nduration = '1s'",
            &["`messages` and `duration` contradict"],
        ),
        (
            "duration = '1s'\nconfidence = 0.1",
            &["`duration` and `confidence` contradict"],
        ),
        ("messages = 0", &["`messages` is 0"]),
        ("duration = '0s'", &["`duration` is 0"]),
        (
            "max-duration = '1s'",
            &["`max-duration` needs `confidence`"],
        ),
        ("confidence = 0.0", &["`confidence = 0`", "0.01"]),
        ("confidence = 1.5", &["`confidence = 1.5`"]),
        ("confidence = nan", &["NaN"]),
        ("outstanding = 0", &["`outstanding` is 0"]),
        ("lockstep = 0", &["`lockstep` is 0"]),
        (
            "lockstep = 2\noutstanding = 1",
            &["`lockstep` and `outstanding` contradict"],
        ),
        (
            "lockstep = 2\nrate = 1.0",
            &["`lockstep` and `rate` contradict"],
        ),
        ("lockstep = 2\nspin = true", &["`spin` needs `rate`"]),
        ("arrivals = 'constant'", &["`arrivals` needs `rate`"]),
        ("spin = false", &["`spin` needs `rate`"]),
        ("rate = 0", &["`rate = 0`", "20000"]),
        ("rate = -1.5", &["`rate = -1.5`"]),
        ("rate = nan", &["NaN"]),
        ("rate = inf", &["inf"]),
        ("shards = 0", &["`shards` is 0"]),
        (
            "connections = [8, 3]\nshards = 4",
            &["4 shards for 3 connections", "shards = 3"],
        ),
        (
            "source = '127.0.0.2'\naddresses = 'spread'",
            &["`source` and `addresses` contradict"],
        ),
        ("source = []", &["no address"]),
        ("source = '127.0.0.2'\nfamily = 'unix'", &["Unix socket"]),
        (
            "source = '127.0.0.2'\nfamily = 'ipv6'",
            &["127.0.0.2", "family"],
        ),
        ("source = '127.0.0.2'\ntargets = ['unix:/a']", &["unix:/a"]),
        (
            "source = ['::1']\ntargets = ['tcp://127.0.0.1:1']",
            &["::1", "tcp://127.0.0.1:1"],
        ),
        ("backlog = 0", &["`backlog` is 0"]),
        ("workers = 0", &["`workers` is 0"]),
        ("timeout = '0s'", &["`timeout` is 0"]),
        ("connect-timeout = '0s'", &["`connect-timeout` is 0"]),
        ("ready-timeout = '0s'", &["`ready-timeout` is 0"]),
        ("cpus = '0:2'", &["generator", "CPU 2", "0-1"]),
        ("cpus = '7:'", &["server", "CPU 7", "0-1"]),
        ("cpus = ['0:1', '0:3']", &["generator", "CPU 3", "0-1"]),
        ("[cpus]\nserver = '1,4-5'", &["server", "CPU 4", "0-1"]),
        ("size = [6, 0]", &["`size` is 0"]),
        (
            "size = [1, 2]\nsend = 'a'\nexpect = 'a'",
            &["`size` and `send` contradict"],
        ),
        (
            "messages = [5, 6]\nduration = ['1s', '2s']",
            &["`messages` and `duration` contradict"],
        ),
        (
            "connections = [3, 8]\nshards = [1, 4]",
            &["4 shards for 3 connections"],
        ),
        (
            "targets = [{ command = './mine {path}' }]\nfamily = ['unix', 'ipv4']",
            &["has no {port}"],
        ),
        ("targets = ['all', 'poll']", &["two targets", "`poll`"]),
        (
            "targets = ['http://127.0.0.1:80/']\nsize = 5",
            &["`size` and `http://` contradict", "tcp://HOST:PORT"],
        ),
        (
            "clients = 5",
            &[
                "`clients` is not for the echo experiment",
                "write --connections 1000",
            ],
        ),
        ("requests = 5", &["write --messages 10000 or --duration 2s"]),
        ("requests-total = 5", &["write --messages 10000"]),
        (
            "workload = 'oneshot'",
            &["workload = oneshot", "throng churn"],
        ),
        ("method = 'POST'", &["`method` needs `workload = \"http\"`"]),
        ("service-time = '1s'", &["`service-time`", "throng backlog"]),
        ("delay-inline = true", &["`delay-inline`", "throng backlog"]),
        (
            "targets = ['poll --delay-inline']",
            &["`delay-inline` is not for the echo experiment"],
        ),
        (
            "send = 'a'\nexpect = 'end'",
            &["`expect = end`", "write text end"],
        ),
        (
            "accept-threads = 0\ntargets = ['thread-per-connection']",
            &["`accept-threads` is 0"],
        ),
        (
            "accept-threads = 2",
            &[
                "poll has no threads that do nothing but accept",
                "`accept-threads`",
            ],
        ),
        (
            "targets = ['thread-per-connection --workers 2']",
            &["no choice of workers", "`workers`"],
        ),
        (
            "targets = ['thread-per-connection --hand-over queues']",
            &["hands nothing over", "`hand-over`"],
        ),
        ("[quick.quick]", &["[quick]", "only once"]),
    ] {
        let error = ECHO.refusal(text);
        for part in parts {
            assert!(error.contains(part), "{text}: `{part}` in: {error}");
        }
    }
}

/// A refusal does not know where a value came from.
#[test]
fn what_is_to_be_written_is_told_as_a_flag_and_as_a_key() {
    for (text, hint) in [
        (
            "connections = 0",
            "write --connections 100 (in a plan: connections = 100), for example",
        ),
        (
            "duration = '0s'",
            "write --duration 2s (in a plan: duration = \"2s\"), for example",
        ),
        (
            "send = 'a'\nexpect = '0 bytes'",
            "write --expect '7 bytes' (in a plan: expect = \"7 bytes\"), for example",
        ),
        (
            "rate = 0",
            "write --rate 20000 (in a plan: rate = 20000), for example",
        ),
        (
            "size = 1048577",
            "write --size 1048576 or less (in a plan: size = 1048576)",
        ),
        (
            "confidence = 1.5",
            "write --confidence 0.01 for ± 1 % (in a plan: confidence = 0.01)",
        ),
        (
            "connections = 3\nshards = 4",
            "write --shards 3 or less (in a plan: shards = 3)",
        ),
        (
            "cpus = '0:2'",
            "write CPUs out of those, or --cpus any (in a plan: cpus = \"any\")",
        ),
        (
            "source = '192.0.2.1'",
            "add --net host (in a plan: net = \"host\"), or leave source out",
        ),
        (
            "experiment = 'backlog'\nclients = 3\nrequests-total = 7",
            "write --requests-total 9 (in a plan: requests-total = 9), for example, or other numbers of clients",
        ),
        (
            "experiment = 'hold'\nconnections = 10\npings = 11",
            "write --pings 10 or less, or --pings all (in a plan: pings = 10 or less, or pings = \"all\")",
        ),
    ] {
        let error = ECHO.refusal(text);
        let (_, told) = error.rsplit_once("; ").expect("a hint stands last");
        assert_eq!(told, hint, "{text}");
    }
    let conflict = ECHO.refusal("net = 'host'\n[kernel]\nsomaxconn = 1");
    let both = "`kernel` and --net host (in a plan: net = \"host\") contradict each other";
    assert!(conflict.contains(both), "{conflict}");
}
