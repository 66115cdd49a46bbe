//! A client of any address family, whose every wait is bounded.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use throng_sys::address::Address;
use throng_sys::sysctl;

use super::server::PATIENCE;

pub(crate) enum Client {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Client {
    pub(crate) fn connect(address: &Address) -> io::Result<Self> {
        let client = match address {
            Address::Tcp(address) => Self::Tcp(TcpStream::connect(address)?),
            Address::Unix(path) => Self::Unix(UnixStream::connect(path)?),
        };
        match &client {
            Self::Tcp(stream) => {
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
            }
            Self::Unix(stream) => {
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
            }
        }
        Ok(client)
    }

    pub(crate) fn try_clone(&self) -> Self {
        match self {
            Self::Tcp(stream) => Self::Tcp(stream.try_clone().expect("cloned")),
            Self::Unix(stream) => Self::Unix(stream.try_clone().expect("cloned")),
        }
    }

    pub(crate) fn set_nonblocking(&self, nonblocking: bool) {
        match self {
            Self::Tcp(stream) => stream.set_nonblocking(nonblocking),
            Self::Unix(stream) => stream.set_nonblocking(nonblocking),
        }
        .expect("set");
    }

    /// Sends and reads the same bytes back.
    pub(crate) fn echo(&mut self, message: &[u8]) {
        self.write_all(message).expect("sent");
        self.expect(message);
    }

    /// Sends while it reads the same bytes back, which more than the kernel's buffers hold needs.
    pub(crate) fn echo_while_reading(&mut self, message: &[u8]) {
        let mut writer = self.try_clone();
        thread::scope(|scope| {
            scope.spawn(move || writer.write_all(message).expect("sent"));
            self.expect(message);
        });
    }

    pub(crate) fn expect(&mut self, message: &[u8]) {
        let mut echoed = vec![0; message.len()];
        self.read_exact(&mut echoed).expect("echoed in time");
        assert!(echoed == message, "the same bytes come back");
    }

    pub(crate) fn expect_end(&mut self) {
        assert_eq!(self.read(&mut [0; 16]).expect("the end of output"), 0);
    }

    /// Whoever has not been accepted before the server left is reset, or reads an end.
    pub(crate) fn expect_to_be_turned_away(&mut self) {
        match self.read(&mut [0; 16]) {
            Ok(0) => {}
            Ok(length) => panic!("{length} bytes of answer"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}"),
        }
    }

    /// That nothing has come by now.
    pub(crate) fn expect_nothing(&mut self) {
        self.set_nonblocking(true);
        let read = self.read(&mut [0; 16]);
        self.set_nonblocking(false);
        match read {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => panic!("{error}"),
            Ok(length) => panic!("{length} bytes of answer, too early"),
        }
    }

    /// Sends without reading until nothing has been taken for that long. `message` gives what comes after so many bytes.
    /// How many were taken: never more than buffers may hold.
    pub(crate) fn push_until_full<'a>(
        &mut self,
        message: impl Fn(usize) -> &'a [u8],
        quiet: Duration,
    ) -> usize {
        const NAP: Duration = Duration::from_millis(5);
        let bytes_max = taken_bytes_max();
        self.set_nonblocking(true);
        let (mut pushed, mut waited) = (0, Duration::ZERO);
        loop {
            assert!(pushed <= bytes_max, "{pushed} bytes were taken");
            match self.write(message(pushed)) {
                Ok(taken) => (pushed, waited) = (pushed + taken, Duration::ZERO),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if waited >= quiet {
                        break;
                    }
                    thread::sleep(NAP);
                    waited += NAP;
                }
                Err(error) => panic!("{error}"),
            }
        }
        self.set_nonblocking(false);
        pushed
    }
}

impl Read for Client {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Client {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

/// What the kernel may hold (two send and two receive buffers), and the most that a model says it keeps of one
/// connection.
fn taken_bytes_max() -> usize {
    const MODEL_BYTES_MAX: usize = 2 * (2 * 1024 * 1024 + 64 * 1024);
    let largest = |name| -> usize {
        let sizes = sysctl::read_values(name).expect("readable");
        *sizes.last().expect("least, usual, largest")
    };
    2 * (largest("net.ipv4.tcp_wmem") + largest("net.ipv4.tcp_rmem")) + MODEL_BYTES_MAX
}

/// Bytes whose order shows: a period that is prime to every buffer's length.
pub(crate) fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index % 251) as u8).collect()
}
