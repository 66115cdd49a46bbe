//! A server in a thread, and clients of every address family.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use throng_servers::{Model, Options, ServeError, Served, Workload, serve_until};
use throng_sys::address::Address;

/// A client that waits longer than this has not been served.
const PATIENCE: Duration = Duration::from_secs(10);

/// The one list: every model on every family.
pub(crate) fn for_each_model_and_family(test: impl Fn(Model, Address)) {
    for model in Model::ALL {
        for address in ["127.0.0.1:0", "[::1]:0", "unix"] {
            let address = match address {
                "unix" => unix_address(),
                numeric => numeric.parse().expect("an address"),
            };
            println!("{model} on {address}");
            test(model, address);
        }
    }
}

pub(crate) fn unix_address() -> Address {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("throng-servers-{}-{number}.sock", std::process::id());
    Address::Unix(std::env::temp_dir().join(name))
}

pub(crate) struct Server {
    pub(crate) address: Address,
    /// All of them; `address` is the first.
    pub(crate) addresses: Vec<Address>,
    stop: UnixStream,
    thread: JoinHandle<Result<Served, ServeError>>,
}

impl Server {
    pub(crate) fn start(model: Model, address: Address) -> Self {
        Self::start_on(model, vec![address])
    }

    pub(crate) fn start_on(model: Model, listen: Vec<Address>) -> Self {
        let (stop, stopped) = UnixStream::pair().expect("a pair");
        let (ready, became_ready) = mpsc::channel();
        let listeners = listen.len();
        let options = Options {
            listen,
            backlog: 512,
            workers: None,
        };
        let thread = thread::spawn(move || {
            let mut ready = |address: &Address| ready.send(address.clone()).expect("waited for");
            serve_until(model, Workload::Echo, &options, stopped.as_fd(), &mut ready)
        });
        let addresses: Vec<Address> = (0..listeners)
            .map(|_| became_ready.recv().expect("a listener"))
            .collect();
        Self {
            address: addresses[0].clone(),
            addresses,
            stop,
            thread,
        }
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(&self.address).expect("connected")
    }

    /// Tells it to stop: its totals, and how long it took to leave.
    pub(crate) fn stop(self) -> (Served, Duration) {
        let begin = Instant::now();
        drop(self.stop);
        let served = self.thread.join().expect("no panic").expect("no error");
        (served, begin.elapsed())
    }

    /// Tells it to stop, and compares the totals.
    pub(crate) fn stop_expecting(self, connections: u64, bytes: u64) {
        let addresses = self.addresses.clone();
        let (served, _) = self.stop();
        assert_eq!((served.connections, served.bytes), (connections, bytes));
        assert!(served.notes.is_empty(), "{:?}", served.notes);
        for address in addresses {
            if let Address::Unix(path) = address {
                assert!(!path.exists(), "the socket's path is removed");
            }
        }
    }
}

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

/// Bytes whose order shows: a period that is prime to every buffer's length.
pub(crate) fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index % 251) as u8).collect()
}
