//! Hosts to measure with: network namespaces, on which a real `mpirun` starts `throng-mpi`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use throng::record::RunRecord;

const THRONG_MPI: &str = env!("CARGO_BIN_EXE_throng-mpi");
const CLUSTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/over_hosts/cluster.sh");

/// So many hosts that generate load, and one for the lab; gone with the test.
pub(crate) struct Cluster {
    generators: u32,
    surroundings: Vec<(&'static str, String)>,
    mpirun: Vec<&'static str>,
    beside: Option<String>,
    folder: tempfile::TempDir,
}

/// A command on it that has begun.
pub(crate) struct Running<'a> {
    cluster: &'a Cluster,
    child: Child,
}

/// What came of a command.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Processes that it left on any host.
    pub(crate) left: String,
}

impl Cluster {
    pub(crate) fn of(generators: u32) -> Self {
        Self {
            generators,
            surroundings: vec![],
            mpirun: vec![],
            beside: None,
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    /// All that starts on this host is started by that command.
    pub(crate) fn with(mut self, host: &'static str, command: &str) -> Self {
        self.surroundings.push((host, command.to_owned()));
        self
    }

    /// Options of mpirun.
    pub(crate) fn mpirun(mut self, options: &[&'static str]) -> Self {
        self.mpirun.extend(options);
        self
    }

    /// A built-in server runs on the lab's host already.
    pub(crate) fn serving(mut self, arguments: &str) -> Self {
        self.beside = Some(format!("{THRONG_MPI} serve {arguments} >/dev/null"));
        self
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts `mpirun … throng-mpi ARGUMENTS` on the lab's host.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running<'_> {
        let hosts: Vec<String> = (1..=self.generators + 1)
            .map(|last| format!("10.77.0.{last}"))
            .collect();
        let mut command = Command::new("unshare");
        command.args(["--net", "--mount", "--pid", "--fork", "--kill-child"]);
        command.arg("--mount-proc").arg(CLUSTER);
        command.arg((self.generators + 1).to_string());
        let agent = r#"mpirun --mca plm_rsh_agent "$CLUSTER_AGENT" --bind-to none "$@""#;
        let on_lab = match &self.beside {
            Some(server) => format!("{server} & {agent}; code=$?; kill $!; wait; exit $code"),
            None => format!("exec {agent}"),
        };
        command.args(["bash", "-c", &on_lab, "mpirun"]);
        command.args(&self.mpirun);
        command.args(["--host", &hosts.join(","), THRONG_MPI]);
        command.args(arguments);
        command.envs(self.surroundings.iter().map(|(name, text)| (*name, text)));
        command.env("CLUSTER_LEFT", self.left());
        for variable in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] {
            command.env(variable, "1");
        }
        command.current_dir(self.folder());
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("unshare is there");
        Running {
            cluster: self,
            child,
        }
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        self.start(arguments).end()
    }

    /// Runs to the end and reads what was measured.
    pub(crate) fn record_of(&self, arguments: &[&str]) -> RunRecord {
        let ended = self.run(arguments);
        // 1 where no trial could be ranked: the test looks at it.
        let went_well = matches!(ended.code, Some(0 | 1));
        let is_kept = self.folder().join("throng-runs").exists();
        assert!(went_well && is_kept, "{}\n{}", ended.stdout, ended.stderr);
        assert_eq!(ended.left, "");
        self.record()
    }

    /// The last run that is kept.
    pub(crate) fn record(&self) -> RunRecord {
        let runs = std::fs::read_dir(self.folder().join("throng-runs")).expect("runs");
        let runs = runs.map(|entry| entry.expect("an entry").path());
        let last = runs.max().expect("one run at least");
        let text = std::fs::read_to_string(last.join("run.json")).expect("a record");
        serde_json::from_str(&text).expect("a whole record")
    }

    fn left(&self) -> PathBuf {
        self.folder().join("left")
    }
}

impl Running<'_> {
    /// The process of this rank, or (`is_load`) its generator, as soon as it is there.
    pub(crate) fn process(&self, rank: u32, is_load: bool) -> rustix::process::Pid {
        let within = Instant::now() + Duration::from_secs(20);
        loop {
            let found = processes().find(|&pid| {
                self.is_of_this(pid) && is_of_rank(pid, rank) && is_load == is_generator(pid)
            });
            if let Some(pid) = found {
                return rustix::process::Pid::from_raw(pid).expect("an id");
            }
            assert!(Instant::now() < within, "rank {rank} does not start");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// `mpirun` itself.
    pub(crate) fn mpirun(&self) -> rustix::process::Pid {
        let pid = processes().find(|&pid| self.is_of_this(pid) && word(pid, 0) == "mpirun");
        rustix::process::Pid::from_raw(pid.expect("it runs")).expect("an id")
    }

    fn is_of_this(&self, pid: i32) -> bool {
        let own = format!("CLUSTER_LEFT={}", self.cluster.left().display());
        file(pid, "environ").split('\0').any(|one| one == own)
    }

    pub(crate) fn end(self) -> Ended {
        let Output {
            status,
            stdout,
            stderr,
        } = self.child.wait_with_output().expect("it ends");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ended {
            code: status.code(),
            stdout: text(stdout),
            stderr: text(stderr),
            left: std::fs::read_to_string(self.cluster.left()).unwrap_or_default(),
        }
    }
}

fn processes() -> impl Iterator<Item = i32> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn file(pid: i32, name: &str) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn word(pid: i32, place: usize) -> String {
    let line = file(pid, "cmdline");
    line.split('\0').nth(place).unwrap_or_default().to_owned()
}

fn is_of_rank(pid: i32, rank: u32) -> bool {
    let own = format!("OMPI_COMM_WORLD_RANK={rank}");
    word(pid, 0) == THRONG_MPI && file(pid, "environ").split('\0').any(|one| one == own)
}

fn is_generator(pid: i32) -> bool {
    word(pid, 1) == "load"
}
