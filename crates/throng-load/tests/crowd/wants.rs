//! Descriptors that run out: in a process of its own, since the limit is one of whole processes.

use std::process::Command;

use crate::connects;
use crate::support::{BACKENDS, job};
use throng_load::{Interrupt, run_job};
use throng_record::{ErrorKind, LoadEvent, PhaseName, Sequence};

/// Told to the child, which is this very test once more.
const LIMITED: &str = "THRONG_TEST_LIMITED";

#[test]
fn a_shard_without_descriptors_soon_gives_up_and_says_what_it_left_out() {
    if std::env::var_os(LIMITED).is_some() {
        return with_few_descriptors();
    }
    let child = Command::new("sh")
        .args(["-c", "ulimit -n 64 && exec \"$@\"", "sh"])
        .arg(std::env::current_exe().expect("this test"))
        .args(["--exact", "--test-threads=1"])
        .arg("wants::a_shard_without_descriptors_soon_gives_up_and_says_what_it_left_out")
        .env(LIMITED, "1")
        .output()
        .expect("a shell");
    let told = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{told}");
    assert!(told.contains("1 passed"), "{told}");
}

fn with_few_descriptors() {
    for backend in BACKENDS {
        let any = "127.0.0.1:0".parse().expect("an address");
        // Nobody accepts: the descriptors are all the generator's.
        let (listener, address) = throng_sys::socket::listen(&any, 1024).expect("listening");
        let mut job = job(&address.to_string(), backend);
        job.fleet.connections = 401;
        job.fleet.shards = 2;
        job.fleet.connect_concurrency = 1;
        job.phases = Sequence::on_open_connections([]);
        let mut listener = Some(listener);
        let record = run_job(&job, &Interrupt::default(), &mut |event| {
            let phase = PhaseName::Close;
            if event == (LoadEvent::Phase { phase }) {
                listener = None;
            }
        })
        .expect("it ends in order");
        let connect = connects(&record);
        let stop = connect.stop.as_ref().expect("not all can open");
        assert_eq!(stop.kind, ErrorKind::DescriptorsExhausted, "{stop:?}");
        assert_eq!((stop.connection, stop.open), (stop.open, stop.connection));
        assert!((32..64).contains(&stop.open), "{stop:?}");
        // Each of the two tables has room for as many.
        assert_eq!(connect.connected, 2 * stop.open);
        assert_eq!(connect.errors.of(ErrorKind::DescriptorsExhausted), 32);
        assert_eq!(connect.not_begun, 401 - connect.connected - 32);
        let words = format!("{} further connects were not begun", connect.not_begun);
        assert!(stop.message.contains(&words), "{stop:?}");
    }
}
