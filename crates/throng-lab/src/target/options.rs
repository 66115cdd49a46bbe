//! Options that a server has of its own, behind its name: `thread-per-connection --accept-threads 4`, and of the catalogue what it declares.
//!
//! So several variants of a model stand in one run. They are those of `throng serve` that are a choice between servers; what all
//! servers of a setting are asked for alike (where to listen, the accept queue, the workload) is the plan's.

use std::collections::BTreeMap;

use throng_catalogue::catalogue::OptionValues;
use throng_catalogue::suggest::or_list;
use throng_record::{HandOver, ServeOptions};

use crate::plan::PlanError;

const WORKERS: &str = "--workers";
const ACCEPT_THREADS: &str = "--accept-threads";
const DELAY_INLINE: &str = "--delay-inline";
const HAND_OVER: &str = "--hand-over";

/// The options behind the first word of a model.
pub(super) fn read(target: &str) -> Result<ServeOptions, PlanError> {
    read_with(target, &BTreeMap::new()).map(|(options, _)| options)
}

/// The same of a catalogued server, which has declared these as its own, and the values of those.
pub(super) fn read_with(
    target: &str,
    declared: &BTreeMap<String, OptionValues>,
) -> Result<(ServeOptions, BTreeMap<String, String>), PlanError> {
    let mut options = ServeOptions::default();
    let mut own = BTreeMap::new();
    let words = shlex::split(target).ok_or_else(|| PlanError::CommandQuoting {
        command: target.to_owned(),
    })?;
    let mut words = words.iter().skip(1).map(String::as_str);
    while let Some(word) = words.next() {
        let (name, given) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let bare = name.strip_prefix("--").unwrap_or_default();
        if let Some((bare, values)) = declared.get_key_value(bare) {
            let value = given.or_else(|| words.next());
            let value = declared_value(target, name, values, value)?;
            once(target, name, own.insert(bare.clone(), value))?;
            continue;
        }
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
                    there_are: there_are(declared),
                });
            }
        }
    }
    Ok((options, own))
}

/// The options in a list. Of those of built-in models a catalogued server takes the workers only.
fn there_are(declared: &BTreeMap<String, OptionValues>) -> String {
    let own = declared
        .iter()
        .map(|(name, values)| format!("--{name} {}", values.in_words()));
    let of_all = [
        "--workers N",
        "--accept-threads N",
        "--delay-inline",
        "--hand-over WAY",
    ];
    let of_all = match declared.is_empty() {
        true => &of_all[..],
        false => &of_all[..1],
    };
    let mut all: Vec<String> = of_all
        .iter()
        .map(|&one| one.to_owned())
        .chain(own)
        .collect();
    let last = all.pop().unwrap_or_default();
    format!("{} and {last}", all.join(", "))
}

fn declared_value(
    target: &str,
    option: &str,
    values: &OptionValues,
    value: Option<&str>,
) -> Result<String, PlanError> {
    let (takes, example) = match values {
        OptionValues::Words(words) => (or_list(words), words[0].clone()),
        OptionValues::Number(()) => ("a number from 1".to_owned(), "4".to_owned()),
    };
    let why = match value {
        Some(value) if values.take(value) => return Ok(value.to_owned()),
        Some(value) => format!("takes {takes}, and `{value}` is none"),
        None => format!("takes {takes}"),
    };
    Err(PlanError::ModelOptionValue {
        target: target.to_owned(),
        option: option.to_owned(),
        why,
        example,
    })
}

fn number(target: &str, option: &str, value: Option<&str>) -> Result<u32, PlanError> {
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

fn once<T>(target: &str, option: &str, before: Option<T>) -> Result<(), PlanError> {
    match before {
        None => Ok(()),
        Some(_) => Err(refusal(target, option, "stands there twice".to_owned())),
    }
}

fn refusal(target: &str, option: &str, why: String) -> PlanError {
    PlanError::ModelOptionValue {
        target: target.to_owned(),
        option: option.to_owned(),
        why,
        example: if option == HAND_OVER { "queues" } else { "4" }.to_owned(),
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
    fn options_that_a_catalogued_server_declares_are_its_own() {
        let words = vec!["all".to_owned(), "single".to_owned()];
        let declared = BTreeMap::from([
            ("max-conns".to_owned(), OptionValues::Number(())),
            ("poll".to_owned(), OptionValues::Words(words)),
        ]);
        let text = "python/system-4 --poll single --workers 3 --max-conns=9";
        let (options, own) = read_with(text, &declared).expect(text);
        assert_eq!(options.workers, Some(3));
        assert_eq!((&*own["poll"], &*own["max-conns"]), ("single", "9"));
        for (text, part) in [
            (
                "s --poll both",
                "`--poll` takes all or single, and `both` is none",
            ),
            (
                "s --poll",
                "`--poll` takes all or single; write for example --poll all",
            ),
            ("s --max-conns 0", "takes a number from 1, and `0` is none"),
            ("s --poll all --poll all", "twice"),
            (
                "s --pol all",
                "there are --workers N, --max-conns N and --poll all|single",
            ),
        ] {
            let error = read_with(text, &declared).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
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
