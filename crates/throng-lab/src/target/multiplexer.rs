//! Multiplexers as targets: no server, but a way to wait, which is timed in the generator's own process.

use throng_record::{AcceptSpec, Multiplexer, TargetKind, TargetRecord};

use super::TargetDraft;
use crate::plan::PlanError;
use throng_catalogue::suggest::{nearest, or_list};

/// `poll(2)` called as the published program calls it, with room for every connection that there will ever be.
pub(crate) const POLL_PUBLISHED: &str = "poll-published";

/// Every word for a multiplexer, the published form of `poll` behind its own.
pub(crate) fn words() -> Vec<&'static str> {
    let with_forms = |one: Multiplexer| {
        let published = (one == Multiplexer::Poll).then_some(POLL_PUBLISHED);
        std::iter::once(one.name()).chain(published)
    };
    Multiplexer::ALL.into_iter().flat_map(with_forms).collect()
}

/// The target as it stands in the record.
///
/// # Errors
/// [`PlanError::NotAMultiplexer`] for whatever is none: a server, of which this experiment has none, or a slip.
pub(crate) fn resolve(target: &TargetDraft) -> Result<TargetRecord, PlanError> {
    match target {
        TargetDraft::Text(text) => named(text).ok_or_else(|| none(text)),
        TargetDraft::Command { command, name } => Err(none(name.as_ref().unwrap_or(command))),
    }
}

/// The target of that name, if it is a multiplexer's.
pub(crate) fn named(text: &str) -> Option<TargetRecord> {
    let (multiplexer, _) = read(text)?;
    Some(TargetRecord {
        model: Some(multiplexer.name().to_owned()),
        ..TargetRecord::named(text, TargetKind::Multiplexer)
    })
}

/// What a target asks of the generator; `None` where it is a server.
pub(crate) fn spec(target: &TargetRecord, connections: u32) -> Option<AcceptSpec> {
    if target.kind != TargetKind::Multiplexer {
        return None;
    }
    let (multiplexer, published) = read(&target.name)?;
    Some(AcceptSpec {
        multiplexer,
        published,
        connections,
    })
}

/// The refusal of `text`, which is no multiplexer, with those there are.
#[must_use]
pub fn none(text: &str) -> PlanError {
    let words = words();
    PlanError::NotAMultiplexer {
        target: text.split_whitespace().collect::<Vec<_>>().join(" "),
        instead: match nearest(text, words.iter().copied()) {
            Some(meant) => format!("did you mean `{meant}`? There are {}", or_list(&words)),
            None => format!("name {}, or `all`", or_list(&words)),
        },
    }
}

fn read(text: &str) -> Option<(Multiplexer, bool)> {
    if text == POLL_PUBLISHED {
        return Some((Multiplexer::Poll, true));
    }
    let mut all = Multiplexer::ALL.into_iter();
    let found = all.find(|one| one.name() == text)?;
    Some((found, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_a_multiplexer_and_poll_has_two_forms() {
        assert_eq!(
            words(),
            [
                "select",
                "poll",
                "poll-published",
                "epoll-level",
                "epoll-edge",
                "io-uring"
            ]
        );
        for word in words() {
            let target = named(word).expect(word);
            assert_eq!(
                (target.name.as_str(), target.kind),
                (word, TargetKind::Multiplexer)
            );
            let spec = spec(&target, 7).expect(word);
            assert_eq!(spec.published, word == POLL_PUBLISHED);
            assert_eq!(target.model.as_deref(), Some(spec.multiplexer.name()));
            assert_eq!(spec.connections, 7);
        }
    }

    #[test]
    fn a_server_asks_for_no_multiplexer_whatever_its_model_is_called() {
        let server = TargetRecord::named("poll", TargetKind::BuiltIn);
        assert_eq!(spec(&server, 7), None);
    }

    #[test]
    fn whatever_is_none_is_refused_with_all_there_are() {
        for (text, part) in [
            (
                "tokio",
                "name select, poll, poll-published, epoll-level, epoll-edge or io-uring",
            ),
            ("tcp://127.0.0.1:80", "has no server"),
            ("epol-edge", "did you mean `epoll-edge`?"),
            ("poll --workers 2", "`poll --workers 2` is no multiplexer"),
        ] {
            let error = resolve(&text.into()).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        let command = TargetDraft::command("./mine\n{port}");
        let error = resolve(&command).expect_err("a server").to_string();
        assert!(
            error.contains("`./mine {port}` is no multiplexer"),
            "{error}"
        );
    }
}
