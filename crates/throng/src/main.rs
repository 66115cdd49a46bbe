//! The program `throng`: its command line, on this machine alone.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    throng::main(None)
}
