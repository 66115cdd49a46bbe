//! Handing a namespace over: its descriptors as ancillary data of one message on a Unix socket (`SCM_RIGHTS`, `unix(7)`).
//!
//! The bytes of the message say which of them are there that need not be.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

use super::network::Private;
use super::{Entered, Network};
use crate::kernel_file::with_context;
use crate::packet::PacketSocket;
use crate::sock_diag::SocketDiagnostics;

/// What is opened inside, in the order of the message. After it come the netlink socket, the packet socket where one can be
/// opened, and the user namespace where there is one.
const FILES: [&str; 5] = [
    "ns/net",
    "net/snmp",
    "net/netstat",
    "net/sockstat",
    "net/unix",
];
/// All of them.
const DESCRIPTORS_MAX: usize = FILES.len() + 3;

impl Entered {
    /// Opens what is needed to use this namespace from outside, and sends it through a Unix stream socket: two bytes, and
    /// the descriptors with them. The process may then end.
    ///
    /// # Errors
    /// What opening or sending answers.
    pub fn hand_over(&self, socket: impl AsFd) -> io::Result<()> {
        let open = |file: &str| -> io::Result<OwnedFd> {
            let path = format!("/proc/thread-self/{file}");
            let file = File::open(&path)
                .map_err(|error| with_context(&error, format_args!("cannot open {path}")))?;
            Ok(file.into())
        };
        let mut descriptors = FILES
            .into_iter()
            .map(open)
            .collect::<io::Result<Vec<OwnedFd>>>()?;
        descriptors.push(SocketDiagnostics::open()?.into());
        // Without it all but the handshakes can be observed.
        let packet_refusal = match PacketSocket::open() {
            Ok(socket) => {
                descriptors.push(socket.into());
                0
            }
            Err(error) => errno_byte(&error),
        };
        if self.in_user_namespace {
            descriptors.push(open("ns/user")?);
        }
        let borrowed: Vec<BorrowedFd<'_>> = descriptors.iter().map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&borrowed));
        rustix::net::sendmsg(
            socket,
            &[IoSlice::new(&[
                packet_refusal,
                u8::from(self.in_user_namespace),
            ])],
            &mut ancillary,
            SendFlags::NOSIGNAL,
        )
        .map_err(|error| with_context(&error.into(), "cannot hand the namespace over"))?;
        Ok(())
    }
}

impl Network {
    /// Takes what [`Entered::hand_over`] has sent; it must have been sent already.
    ///
    /// # Errors
    /// What receiving answers; `InvalidData` if the descriptors are not there.
    pub fn receive(socket: impl AsFd) -> io::Result<Self> {
        let mut bytes = [0; 2];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        rustix::net::recvmsg(
            socket,
            &mut [IoSliceMut::new(&mut bytes)],
            &mut ancillary,
            RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT,
        )
        .map_err(|error| with_context(&error.into(), "cannot take the namespace over"))?;
        let mut descriptors = ancillary
            .drain()
            .filter_map(|message| match message {
                RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
                _ => None,
            })
            .flatten();
        let mut next = || {
            descriptors.next().ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    "cannot take the namespace over: descriptors are missing (is the limit on open files reached?)",
                )
            })
        };
        let [packet_refusal, in_user_namespace] = bytes;
        let private = Private {
            net: next()?,
            snmp: next()?.into(),
            netstat: next()?.into(),
            sockstat: next()?.into(),
            unix: next()?.into(),
            diagnostics: Arc::new(next()?.into()),
            packets: match packet_refusal {
                0 => Ok(Arc::new(next()?.into())),
                errno => Err(i32::from(errno)),
            },
            user: match in_user_namespace {
                0 => None,
                _ => Some(next()?),
            },
        };
        Ok(Self {
            private: Some(Arc::new(private)),
        })
    }
}

/// Why, in a byte that is not 0. (The kernel's numbers end at 133.)
fn errno_byte(error: &io::Error) -> u8 {
    let number = error.raw_os_error().unwrap_or(libc::EIO);
    u8::try_from(number).unwrap_or(libc::EIO as u8)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;
    use std::process::Command;

    use super::*;
    use crate::packet::{Interfaces, SegmentKind, TapError};

    /// A network made on a thread that ends, or why there is none. (Only a user namespace needs a process of one thread.)
    fn made() -> Result<Network, String> {
        let (inside, outside) = UnixStream::pair().unwrap();
        std::thread::spawn(move || {
            let entered = Entered::enter().map_err(|obstacle| obstacle.to_string())?;
            entered
                .bring_loopback_up()
                .map_err(|obstacle| obstacle.to_string())?;
            entered
                .set("net.core.somaxconn", "17")
                .and_then(|()| entered.hand_over(&inside))
                .map_err(|error| error.to_string())
        })
        .join()
        .unwrap()?;
        Network::receive(&outside).map_err(|error| error.to_string())
    }

    #[test]
    fn a_network_outlives_its_maker_and_is_seen_from_outside() {
        let network = match made() {
            Ok(network) => network,
            Err(reason) => {
                assert!(
                    !crate::capability_probe::network_namespace().is_usable(),
                    "{reason}"
                );
                return;
            }
        };
        assert!(network.is_private());
        assert_eq!(network.listeners().unwrap(), []);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = listener.local_addr().unwrap();
        assert_eq!(network.find_listener(ours).unwrap(), None, "ours");
        assert!(Network::own().find_listener(ours).unwrap().is_some());

        let _client = TcpStream::connect(ours).unwrap();
        let opened = |network: &Network| network.counters().unwrap().get("Tcp.ActiveOpens");
        assert_eq!(opened(&network), Some(0), "nobody has connected there");
        assert!(opened(&Network::own()) > Some(0));

        let mut command = Command::new("cat");
        command.arg("/proc/sys/net/core/somaxconn");
        network.join(&mut command);
        assert_eq!(command.output().unwrap().stdout, b"17\n");
        assert_ne!(crate::sysctl::read("net.core.somaxconn").unwrap(), "17");
    }

    #[test]
    fn handshakes_of_a_network_are_seen_from_outside() {
        let Ok(network) = made() else {
            return;
        };
        let mut tap = network.handshakes(80, Interfaces::Loopback).unwrap();
        let again = network.clone().handshakes(80, Interfaces::Loopback);
        assert!(matches!(again.unwrap_err(), TapError::InUse));

        let mut command = Command::new("bash");
        command.args(["-c", "echo > /dev/tcp/127.0.0.1/80"]);
        network.join(&mut command);
        assert!(!command.output().unwrap().status.success(), "refused");
        let mut seen = Vec::new();
        tap.read(|segment| seen.push(segment.kind));
        assert_eq!(seen, [SegmentKind::Syn, SegmentKind::Reset]);
    }
}
