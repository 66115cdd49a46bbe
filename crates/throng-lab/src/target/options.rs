//! Options that a built-in model has of its own, behind its name: `thread-per-connection --accept-threads 4`.
//!
//! So several variants of a model stand in one run. They are those of `throng serve` that are a choice between servers; what all
//! servers of a setting are asked for alike (where to listen, the accept queue, the workload) is the plan's.

use throng_record::{HandOver, ServeOptions};

use crate::plan::PlanError;

const WORKERS: &str = "--workers";
const ACCEPT_THREADS: &str = "--accept-threads";
const DELAY_INLINE: &str = "--delay-inline";
const HAND_OVER: &str = "--hand-over";

/// The options behind the first word.
pub(super) fn read(target: &str) -> Result<ServeOptions, PlanError> {
    let mut options = ServeOptions::default();
    let words = shlex::split(target).ok_or_else(|| PlanError::CommandQuoting {
        command: target.to_owned(),
    })?;
    let mut words = words.iter().skip(1).map(String::as_str);
    while let Some(word) = words.next() {
        let (name, given) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        match name {
            WORKERS => {
                let value = number(target, WORKERS, given.or_else(|| words.next()))?;
                once(target, WORKERS, options.workers.replace(value))?;
            }
            ACCEPT_THREADS => {
                let value = number(target, ACCEPT_THREADS, given.or_else(|| words.next()))?;
                once(
                    target,
                    ACCEPT_THREADS,
                    options.accept_threads.replace(value),
                )?;
            }
            HAND_OVER => {
                let value = hand_over(target, given.or_else(|| words.next()))?;
                once(target, HAND_OVER, options.hand_over.replace(value))?;
            }
            DELAY_INLINE if given.is_none() => options.delay_inline = true,
            _ => {
                return Err(PlanError::ModelOption {
                    target: target.to_owned(),
                    option: word.to_owned(),
                });
            }
        }
    }
    Ok(options)
}

fn number(target: &str, option: &'static str, value: Option<&str>) -> Result<u32, PlanError> {
    let refuse = |why| Err(refusal(target, option, why));
    match value.map(|value| (value, value.parse())) {
        Some((_, Ok(0))) => refuse("is 0, and nobody would serve".to_owned()),
        Some((_, Ok(number))) => Ok(number),
        Some((value, Err(_))) => refuse(format!("needs a number, and `{value}` is none")),
        None => refuse("needs a number".to_owned()),
    }
}

fn hand_over(target: &str, value: Option<&str>) -> Result<HandOver, PlanError> {
    let named = |word: &str| HandOver::ALL.into_iter().find(|way| way.name() == word);
    value.and_then(named).ok_or_else(|| {
        let words = HandOver::ALL.map(HandOver::name).join(", ");
        let why = match value {
            Some(value) => format!("is one of {words}, and `{value}` is none of them"),
            None => format!("needs one of {words}"),
        };
        refusal(target, HAND_OVER, why)
    })
}

fn once<T>(target: &str, option: &'static str, before: Option<T>) -> Result<(), PlanError> {
    match before {
        None => Ok(()),
        Some(_) => Err(refusal(target, option, "stands there twice".to_owned())),
    }
}

fn refusal(target: &str, option: &'static str, why: String) -> PlanError {
    PlanError::ModelOptionValue {
        target: target.to_owned(),
        option,
        why,
        example: if option == HAND_OVER { "queues" } else { "4" },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_option_is_read() {
        let options = |text: &str| read(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(options("poll"), ServeOptions::default());
        assert_eq!(options("prefork --workers 8").workers, Some(8));
        assert_eq!(options("prefork  --workers=8 ").workers, Some(8));
        let both = options("thread-per-connection --delay-inline --accept-threads 4");
        assert_eq!(both.accept_threads, Some(4));
        assert!(both.delay_inline);
        for way in HandOver::ALL {
            let read = options(&format!(
                "two-threads-per-connection --hand-over {way}",
                way = way.name()
            ));
            assert_eq!(read.hand_over, Some(way));
        }
    }

    #[test]
    fn what_is_no_option_is_refused_with_those_there_are() {
        for (text, parts) in [
            (
                "poll --worker 8",
                &["`--worker`", "--delay-inline and --hand-over WAY"][..],
            ),
            ("poll 8", &["`8`", "--workers N"]),
            ("poll --delay-inline=yes", &["`--delay-inline=yes`"]),
            ("poll --backlog 5", &["`--backlog`"]),
            ("poll --workers", &["needs a number"]),
            ("poll --workers many", &["`many` is none", "--workers 4"]),
            ("poll --workers -1", &["`-1` is none"]),
            ("poll --accept-threads 0", &["is 0", "--accept-threads 4"]),
            ("poll --workers 1 --workers 2", &["twice"]),
            ("poll --hand-over", &["needs one of condvar, queues"]),
            (
                "poll --hand-over queue",
                &["`queue` is none of them", "--hand-over queues"],
            ),
            ("poll --hand-over queues --hand-over condvar", &["twice"]),
            ("poll --workers '1", &["quote"]),
        ] {
            let error = read(text).expect_err(text).to_string();
            for part in parts {
                assert!(error.contains(part), "{text}: {part} in {error}");
            }
        }
    }
}
