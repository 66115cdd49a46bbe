//! Which HTTP responses are right, by their status, and what is said of one that is not.

use std::rc::Rc;

use throng_record::StatusRange;

/// So much of a body is shown of a response that is not right.
const SHOWN_BYTES: usize = 60;

/// Which statuses are right.
#[derive(Clone, Debug)]
pub(super) enum Right {
    Any,
    Of(Rc<[StatusRange]>),
}

impl Right {
    /// Success and redirection, or any status where nothing is verified.
    pub(super) fn usual(verify: bool) -> Self {
        Self::of(&[], verify)
    }

    /// These, or the usual ones where there are none.
    pub(super) fn of(statuses: &[StatusRange], verify: bool) -> Self {
        match (verify, statuses) {
            (false, _) => Self::Any,
            (true, []) => Self::Of([StatusRange::USUAL].into()),
            (true, some) => Self::Of(some.into()),
        }
    }

    pub(super) fn has(&self, status: u16) -> bool {
        match self {
            Self::Any => true,
            Self::Of(ranges) => ranges.iter().any(|range| range.contains(status)),
        }
    }

    /// The status line of a response that is not right, and the begin of its body.
    #[cold]
    pub(super) fn refusal(response: &httparse::Response<'_, '_>, body: &[u8]) -> String {
        let (status, reason) = (response.code.unwrap_or(0), response.reason.unwrap_or(""));
        let minor = response.version.unwrap_or(1);
        let line = format!("the response was HTTP/1.{minor} {status} {reason}");
        match &body[..body.len().min(SHOWN_BYTES)] {
            [] => line,
            shown => format!("{line}, with the body \"{}\"", shown.escape_ascii()),
        }
    }
}
