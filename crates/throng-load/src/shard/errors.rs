//! From the kernel's error numbers to the kinds that the record counts.

use std::io;

use throng_record::ErrorKind;

use crate::tls::Refusal;

/// Why a connect failed.
pub(crate) fn of_connect(error: &io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => ErrorKind::ConnectRefused,
        io::ErrorKind::TimedOut => ErrorKind::ConnectTimedOut,
        io::ErrorKind::ConnectionReset => ErrorKind::Reset,
        // EADDRNOTAVAIL stands for two things: with port 0 bound to a foreign address, and no port left. The former
        // fails at bind for every connection, so the latter is what remains to be told apart by its text.
        io::ErrorKind::AddrNotAvailable => ErrorKind::PortsExhausted,
        io::ErrorKind::NotFound
        | io::ErrorKind::PermissionDenied
        | io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable => ErrorKind::ConnectUnreachable,
        _ if is_out_of_descriptors(error) => ErrorKind::DescriptorsExhausted,
        _ => ErrorKind::Other,
    }
}

/// Why an established connection failed.
pub(crate) fn of_connection(error: &io::Error) -> ErrorKind {
    let refusal = error.get_ref().and_then(|inner| inner.downcast_ref());
    if let Some(Refusal { kind, .. }) = refusal {
        return *kind;
    }
    match error.kind() {
        // ENOTCONN: the end of output of a connection whose reset was not read yet.
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::NotConnected => ErrorKind::Reset,
        io::ErrorKind::TimedOut => ErrorKind::ReplyTimedOut,
        _ => ErrorKind::Other,
    }
}

/// EMFILE and ENFILE have no `io::ErrorKind`; their numbers are the same on every Linux architecture.
fn is_out_of_descriptors(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(23 | 24))
}
