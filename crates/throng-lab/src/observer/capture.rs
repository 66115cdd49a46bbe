//! The handshakes of a run as a file for Wireshark (pcapng, draft-ietf-opsawg-pcapng).
//!
//! One file for all trials of a run: each trial is an interface of its own in it, named after the trial, so that
//! `frame.interface_name` tells them apart. Packets begin with their IP header (link type RAW) and have times in nanoseconds.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::{Block, PcapNgBlock as _, PcapNgWriter};
use pcap_file::{DataLink, Endianness, PcapError};
use throng_sys::packet::{SNAP_BYTES, Segment};

/// As a power of ten: nanoseconds.
const RESOLUTION: u8 = 9;

/// A capture that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot write the capture {}: {source}; give --capture a path to a file in a directory that exists, with room on its disk",
    path.display()
)]
pub struct CaptureError {
    path: PathBuf,
    source: io::Error,
}

/// A file of captured handshakes. Clones write to the same one.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    path: Arc<Path>,
    shared: Arc<Mutex<Shared>>,
}

struct Shared {
    writer: PcapNgWriter<BufWriter<File>>,
    interfaces: u32,
    segments: u64,
    /// The first one; nothing is written after it.
    error: Option<io::Error>,
}

/// Writes the segments of one trial.
#[derive(Clone, Debug)]
pub(crate) struct TrialCapture {
    capture: Capture,
    interface: u32,
}

impl Capture {
    /// Makes the file, or empties it. Done before anything is measured, so that a bad path costs no run.
    ///
    /// # Errors
    /// Why it cannot be made or written.
    pub(crate) fn create(path: &Path) -> Result<Self, CaptureError> {
        let writer = || -> Result<_, PcapError> {
            let file = BufWriter::new(File::create(path).map_err(PcapError::IoError)?);
            let section = SectionHeaderBlock {
                endianness: Endianness::native(),
                options: vec![SectionHeaderOption::UserApplication(Cow::Borrowed(
                    concat!("throng ", env!("CARGO_PKG_VERSION")),
                ))],
                ..SectionHeaderBlock::default()
            };
            let mut writer = PcapNgWriter::with_section_header(file, section)?;
            writer.get_mut().flush().map_err(PcapError::IoError)?;
            Ok(writer)
        };
        let writer = writer().map_err(|error| CaptureError {
            path: path.to_owned(),
            source: in_and_out(error),
        })?;
        let shared = Shared {
            writer,
            interfaces: 0,
            segments: 0,
            error: None,
        };
        Ok(Self {
            path: path.into(),
            shared: Arc::new(Mutex::new(shared)),
        })
    }

    /// Begins a trial of this name.
    pub(crate) fn trial(&self, name: &str) -> TrialCapture {
        let mut shared = self.lock();
        let interface = InterfaceDescriptionBlock {
            linktype: DataLink::RAW,
            snaplen: SNAP_BYTES,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Borrowed(name)),
                InterfaceDescriptionOption::IfTsResol(RESOLUTION),
                InterfaceDescriptionOption::Comment(Cow::Borrowed(
                    "segments with SYN or RST of the server's port; others are not captured",
                )),
            ],
        };
        shared.write(&interface.into_block());
        let number = shared.interfaces;
        shared.interfaces += 1;
        TrialCapture {
            capture: self.clone(),
            interface: number,
        }
    }

    /// Writes out what is still in memory, and tells how many segments the file holds.
    ///
    /// # Errors
    /// The first error of any write, the disk being full for example.
    pub(crate) fn finish(&self) -> Result<u64, CaptureError> {
        let mut shared = self.lock();
        let error = match shared.error.take() {
            None => shared.writer.get_mut().flush().err(),
            error => error,
        };
        match error {
            None => Ok(shared.segments),
            Some(source) => Err(CaptureError {
                path: self.path.to_path_buf(),
                source,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TrialCapture {
    /// Writes a segment. An error is told by [`Capture::finish`]: it is no reason to stop observing.
    pub(crate) fn write(&self, segment: &Segment<'_>) {
        let packet = EnhancedPacketBlock {
            interface_id: self.interface,
            timestamp: Duration::from_nanos(segment.realtime_ns),
            original_len: segment.length_bytes,
            data: Cow::Borrowed(segment.bytes),
            options: Vec::new(),
        };
        let mut shared = self.capture.lock();
        shared.write(&packet.into_block());
        shared.segments += 1;
    }
}

impl Shared {
    fn write(&mut self, block: &Block<'_>) {
        if self.error.is_none() {
            self.error = self.writer.write_block(block).err().map(in_and_out);
        }
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = formatter.debug_struct("Shared");
        shown.field("segments", &self.segments);
        shown.finish_non_exhaustive()
    }
}

/// Of writing, the crate's other errors tell of a misuse.
fn in_and_out(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use pcap_file::pcapng::PcapNgReader;
    use throng_sys::packet::SegmentKind;

    use super::*;

    fn segment(realtime_ns: u64, bytes: &[u8]) -> Segment<'_> {
        Segment {
            monotonic_ns: 1,
            realtime_ns,
            source: "127.0.0.1:1000".parse().unwrap(),
            destination: "127.0.0.1:80".parse().unwrap(),
            kind: SegmentKind::Syn,
            sequence: 7,
            acknowledgement: 0,
            length_bytes: 60,
            bytes,
        }
    }

    #[test]
    fn trials_are_interfaces_of_one_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run.pcapng");
        let capture = Capture::create(&path).unwrap();
        let times_ns = [1_700_000_000_123_456_789, 1_700_000_001_000_000_001];
        capture
            .trial("iterative, backlog 5, 1 of 2")
            .write(&segment(times_ns[0], &[0x45, 1, 2]));
        let second = capture.trial("iterative, backlog 5, 2 of 2");
        second.write(&segment(times_ns[1], &[0x45; 60]));
        assert_eq!(capture.finish().unwrap(), 2);

        let mut reader = PcapNgReader::new(File::open(&path).unwrap()).unwrap();
        let mut packets = Vec::new();
        while let Some(block) = reader.next_block() {
            if let Block::EnhancedPacket(packet) = block.unwrap() {
                let time_ns = packet.timestamp.as_nanos() as u64;
                packets.push((
                    packet.interface_id,
                    time_ns,
                    packet.data.len(),
                    packet.original_len,
                ));
            }
        }
        assert_eq!(packets, [(0, times_ns[0], 3, 60), (1, times_ns[1], 60, 60)]);
        let interfaces = reader.interfaces();
        assert_eq!(interfaces.len(), 2);
        let named = InterfaceDescriptionOption::IfName("iterative, backlog 5, 2 of 2".into());
        assert!(interfaces[1].options.contains(&named));
        assert!(
            interfaces[1]
                .options
                .contains(&InterfaceDescriptionOption::IfTsResol(9))
        );
        assert_eq!(interfaces[1].linktype, DataLink::RAW);
    }

    #[test]
    fn a_bad_path_is_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        for path in [directory.path().join("none/run.pcapng"), "/".into()] {
            let error = Capture::create(&path).unwrap_err().to_string();
            assert!(error.contains(&path.display().to_string()), "{error}");
            assert!(error.contains("--capture"), "{error}");
        }
    }

    #[test]
    fn a_full_disk_is_told_at_the_end() {
        let Ok(capture) = Capture::create(Path::new("/dev/full")) else {
            // It is told even earlier.
            return;
        };
        capture.trial("any").write(&segment(1, &[0x45]));
        assert!(capture.finish().is_err());
    }
}
