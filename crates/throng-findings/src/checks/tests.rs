use super::*;
use crate::hand_made::{Case, host};

/// A second of one CPU, as the case's window.
fn with_hosts() -> Case {
    let mut case = Case::echo();
    case.exchange().duration_ns = 1_000_000_000;
    case.server_used(Some(0.5));
    case.trial.hosts = vec![host(1, "gen1"), host(2, "gen2")];
    for host in &mut case.trial.hosts {
        (host.stolen_share, host.others_share) = (Some(0.0), Some(0.0));
    }
    case
}

fn found(case: &Case, kind: CheckKind) -> Check {
    let mut all = all(&case.evidence()).into_iter();
    all.find(|check| check.kind == kind).expect("made")
}

#[test]
fn the_machine_of_each_generator_is_judged() {
    let mut case = with_hosts();
    for kind in [CheckKind::Steal, CheckKind::OtherPrograms] {
        let check = found(&case, kind);
        assert_eq!(check.result, CheckResult::Passed, "{}", check.detail);
    }
    case.trial.hosts[0].stolen_share = Some(0.05);
    case.trial.hosts[1].stolen_share = Some(0.3);
    let stolen = found(&case, CheckKind::Steal);
    assert_eq!(stolen.result, CheckResult::Disturbed);
    assert!(stolen.detail.contains("host gen2"), "{}", stolen.detail);
    case.trial.hosts[0].others_share = Some(0.2);
    let others = found(&case, CheckKind::OtherPrograms);
    assert_eq!(others.result, CheckResult::Disturbed);
    assert!(others.detail.contains("host gen1"), "{}", others.detail);
    case.trial.hosts[1].throttled_share = Some(0.34);
    let throttled = found(&case, CheckKind::OtherPrograms);
    assert_eq!(throttled.measured, Some(0.34));
    assert!(
        throttled.detail.contains("host gen2"),
        "{}",
        throttled.detail
    );
}

#[test]
fn what_the_lab_cannot_tell_of_the_server_it_can_of_the_generators() {
    let mut case = with_hosts();
    case.trial.server = None;
    let others = found(&case, CheckKind::OtherPrograms);
    assert_eq!(others.result, CheckResult::Passed, "{}", others.detail);
    case.trial.hosts.clear();
    let others = found(&case, CheckKind::OtherPrograms);
    assert_eq!(others.result, CheckResult::NotApplicable);
}

#[test]
fn one_generator_that_is_bound_makes_the_figure_a_lower_bound() {
    let mut case = with_hosts();
    let kind = CheckKind::GeneratorBound;
    assert_eq!(found(&case, kind).result, CheckResult::Passed);
    let side = case.trial.hosts[1].generator.as_mut().expect("seen");
    side.cpu_ns = side.window_ns;
    let bound = found(&case, kind);
    assert_eq!(bound.result, CheckResult::Qualified);
    assert!(bound.detail.contains("host gen2"), "{}", bound.detail);
    case.server_used(Some(0.95));
    assert_eq!(found(&case, kind).result, CheckResult::Passed);
}

#[test]
fn only_several_hosts_have_a_start_skew() {
    let has_skew = |case: &Case| {
        let all = all(&case.evidence());
        all.iter().any(|check| check.kind == CheckKind::StartSkew)
    };
    let mut case = with_hosts();
    assert!(has_skew(&case));
    case.trial.hosts.clear();
    assert!(!has_skew(&case));
}

#[test]
fn every_check_has_a_section_and_a_row_of_the_page() {
    for kind in KINDS {
        let (page, name) = (kind.page(), kind.name);
        for part in ["**Definition.**", "**Bound.**", "**Why.**", "**Remedy.**"] {
            assert!(page.contains(part), "{name} lacks {part}");
        }
        let in_record = format!("| `{}` |", name.replace('-', "_"));
        assert!(PAGE.contains(&in_record), "no row for {name}");
    }
    let sections = PAGE.matches("**Definition.**").count();
    assert_eq!(sections, KINDS.len(), "a section for each check");
}
