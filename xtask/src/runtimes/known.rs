//! The runtimes that the servers of the catalogue need.

use super::build::Build;
use super::environment::Environment;
use super::program::Program;
use super::{Own, Runtime};

const VERSION: &[&str] = &["--version"];

/// Each program has the name that stands in the servers' `run` lines.
pub(super) const RUNTIMES: [Runtime; 12] = [
    Runtime {
        name: "c",
        program: program("gcc", VERSION, "12"),
        packages: &["gcc", "libc6-dev", "libuv1-dev"],
        elsewhere: false,
        own: None,
    },
    Runtime {
        name: "cpp",
        program: program("g++", VERSION, "12"),
        packages: &["g++", "libev-dev"],
        elsewhere: false,
        own: None,
    },
    Runtime {
        name: "haskell",
        program: program("ghc", VERSION, "9.0"),
        packages: &["ghc", "libghc-network-dev"],
        elsewhere: false,
        own: None,
    },
    Runtime {
        name: "erlang",
        program: program(
            "erl",
            &[
                "-noshell",
                "-eval",
                "io:put_chars(erlang:system_info(otp_release)), halt().",
            ],
            "25",
        ),
        packages: &["erlang-base"],
        elsewhere: false,
        own: None,
    },
    Runtime {
        name: "go",
        program: program("go", &["version"], "1.19"),
        packages: &["golang-go"],
        elsewhere: true,
        own: None,
    },
    Runtime {
        name: "node",
        program: program("node", VERSION, "18"),
        packages: &["nodejs"],
        elsewhere: true,
        own: None,
    },
    Runtime {
        name: "java",
        program: program("javac", VERSION, "21"),
        // What checks signatures, the JVM's libraries, and what has it use a newer C library.
        packages: &["debian-archive-keyring", "libstdc++6", "patchelf", "zlib1g"],
        elsewhere: true,
        own: Some(Own::Jdk),
    },
    Runtime {
        name: "python",
        program: program("python3", VERSION, "3.11"),
        packages: &["python3", "python3-venv"],
        elsewhere: false,
        own: Some(Own::Environment(Environment {
            interpreter: "/usr/bin/python3",
            requirements: "catalogue/python/requirements.txt",
            tools: None,
            modules: "gevent, tornado, twisted, uvloop",
        })),
    },
    Runtime {
        name: "pypy",
        program: program("pypy3", VERSION, "3.9"),
        packages: &["pypy3", "pypy3-venv"],
        elsewhere: false,
        own: Some(Own::Environment(Environment {
            interpreter: "/usr/bin/pypy3",
            requirements: "catalogue/python/requirements-pypy.txt",
            tools: Some("catalogue/python/requirements-pypy-tools.txt"),
            modules: "tornado, twisted",
        })),
    },
    Runtime {
        name: "python-free-threaded",
        program: program("python3.13t", VERSION, "3.13"),
        packages: &[
            "debian-archive-keyring",
            "dpkg-dev",
            "gcc",
            "libc6-dev",
            "libffi-dev",
            "make",
            "pkg-config",
            "zlib1g-dev",
        ],
        elsewhere: false,
        own: Some(Own::Build(Build {
            source: "python3.13",
            configure: &[
                "--disable-gil",
                "--disable-test-modules",
                "--without-ensurepip",
            ],
            install: &["altinstall"],
            program: &["bin/python3.13t"],
            trial: &[
                "-c",
                "import asyncio, select, socketserver, sys, threading; sys.exit(sys._is_gil_enabled())",
            ],
        })),
    },
    Runtime {
        name: "ruby",
        program: program("ruby", VERSION, "3.1"),
        packages: &["ruby", "ruby-cool.io", "ruby-eventmachine"],
        elsewhere: false,
        own: None,
    },
    Runtime {
        name: "ruby-3.3",
        program: program("ruby3.3", VERSION, "3.3"),
        packages: &[
            "debian-archive-keyring",
            "dpkg-dev",
            "g++",
            "gcc",
            "libc6-dev",
            "make",
            "pkg-config",
            "ruby",
            "zlib1g-dev",
        ],
        elsewhere: false,
        own: Some(Own::Build(Build {
            source: "ruby3.3",
            // What a build would find by chance is left out by name, so that it is the same everywhere.
            configure: &[
                "--disable-dtrace",
                "--disable-install-doc",
                "--disable-rjit",
                "--disable-yjit",
                "--without-gmp",
                "--without-valgrind",
                "--with-out-ext=bigdecimal,dbm,fiddle,gdbm,openssl,psych,readline,syslog",
            ],
            // Not the bundled gems, which would be downloaded; nothing may then ask for gems.
            install: &["install-bin", "install-lib", "install-ext", "install-arch"],
            program: &["bin/ruby", "--disable-gems"],
            trial: &[
                "-e",
                "require 'socket'; require 'io/wait'; Thread.new { Thread::Queue.new << 1 }.join",
            ],
        })),
    },
];

const fn program(
    name: &'static str,
    asked: &'static [&'static str],
    least: &'static str,
) -> Program {
    Program { name, asked, least }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtimes::newer;

    #[test]
    fn every_name_and_every_program_stands_once() {
        for (index, runtime) in RUNTIMES.iter().enumerate() {
            for other in &RUNTIMES[index + 1..] {
                assert_ne!(runtime.name, other.name);
                assert_ne!(runtime.program.name, other.program.name);
            }
        }
    }

    #[test]
    fn what_comes_from_the_newer_release_asks_for_what_checks_its_signatures() {
        for runtime in &RUNTIMES {
            if matches!(runtime.own, Some(Own::Build(_) | Own::Jdk)) {
                assert!(
                    runtime.packages.contains(&newer::KEYS_PACKAGE),
                    "{}",
                    runtime.name
                );
            }
        }
    }
}
