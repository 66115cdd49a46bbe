//! A catalogue that is made for a test. The tests of plans, which name servers of one, include this file too.

use std::fs;
use std::path::PathBuf;

use super::{Cache, Catalogue};

/// A catalogue, and a cache that begins empty.
pub(super) struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("catalogue")).expect("made");
        Self { folder }
    }

    pub(super) fn directory(&self, name: &str) -> PathBuf {
        self.folder.path().join("catalogue").join(name)
    }

    pub(super) fn write(&self, name: &str, file: &str, text: &str) {
        let directory = self.directory(name);
        fs::create_dir_all(&directory).expect("made");
        fs::write(directory.join(file), text).expect("written");
    }

    /// A server with version 2.5 of its runtime, and what else is to stand in its declaration.
    pub(super) fn server(&self, name: &str, more: &str) {
        self.declare(name, &["echo", "http", "oneshot"], "echo Thing 2.5.1", more);
    }

    pub(super) fn declare(&self, name: &str, workloads: &[&str], version: &str, more: &str) {
        let text = format!(
            "title = 'T'\nlanguage = 'L'\nmodel = 'tasks'\nworkloads = {workloads:?}\nsource = 'S.'\n\
             run = ['sh', 'server.sh']\n[runtime]\nname = 'Thing'\nversion = ['sh', '-c', '{version}']\n\
             least = '2.5'\ninstall = 'apt-get install thing'\n{more}"
        );
        self.write(name, "server.toml", &text);
    }

    pub(super) fn catalogue(&self) -> Catalogue {
        Catalogue::read(&self.folder.path().join("catalogue")).expect("there")
    }

    pub(super) fn cache(&self) -> Cache {
        Cache::at(self.folder.path().join("cache"))
    }
}
