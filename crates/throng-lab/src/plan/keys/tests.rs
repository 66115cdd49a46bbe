use super::*;
use crate::plan::PlanDraft;

#[test]
fn every_key_of_a_plan_file_is_described_once() {
    let mut described: Vec<&str> = all().map(|key| key.name).collect();
    let mut names = PlanDraft::names();
    described.sort_unstable();
    names.sort_unstable();
    assert_eq!(described, names);
    assert!(all().all(|key| !key.help.is_empty()));
}

#[test]
fn every_word_and_every_switch_is_a_value_and_others_are_not() {
    for key in all() {
        for word in key.words {
            let has_flag = !key.value_name.is_empty();
            let quote = if super::BOOL.contains(word) { "" } else { "'" };
            let text = format!("{} = {quote}{word}{quote}", key.name);
            let read = PlanDraft::parse(&text, "plan.toml");
            assert!(read.is_ok(), "{text}: {read:?}");
            assert!(
                !has_flag || key.check(word) == Ok(()),
                "{} {word}",
                key.name
            );
        }
        for switch in key.switches {
            assert_eq!(key.check(switch.value), Ok(()), "{}", key.name);
        }
        if !key.words.is_empty() {
            assert!(key.check("nonsense").is_err(), "{}", key.name);
        }
    }
}

#[test]
fn a_flag_that_is_given_again_adds_to_a_list() {
    let mut draft = PlanDraft::default();
    for (key, text) in [
        ("size", "6,1k"),
        ("size", "7"),
        ("duration", "1s,2s"),
        ("cpus", "0,1:2"),
        ("rate", "0.5"),
        ("nodelay", "false"),
        ("repeats", "2"),
        ("source", "127.0.0.2"),
        ("source", "127.0.0.3"),
        ("kernel", "somaxconn=16,17"),
        ("kernel", "tcp_syncookies=0"),
        ("send", "a,b"),
    ] {
        draft.add(key, text).expect(text);
    }
    let text = "size = [6, 1000, 7]\nduration = ['1s', '2s']\ncpus = '0,1:2'\nrate = 0.5\nnodelay = false\nrepeats = 2
        source = ['127.0.0.2', '127.0.0.3']\nsend = 'a,b'\n[kernel]\nsomaxconn = [16, 17]\ntcp_syncookies = 0";
    assert_eq!(draft, PlanDraft::parse(text, "plan.toml").expect(text));
    for (key, text) in [("targets", "poll"), ("quick", "1"), ("sizes", "1")] {
        assert!(draft.add(key, text).is_err(), "{key}");
    }
}
