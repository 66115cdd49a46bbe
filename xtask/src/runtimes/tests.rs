use super::*;

/// Anything with this program is there if what is in the cache is.
fn runtime(own: Option<Own>, elsewhere: bool) -> Runtime {
    Runtime {
        name: "shell",
        program: Program {
            name: "sh",
            asked: &["-c", "echo 2.5"],
            least: "2",
        },
        packages: &["a-package-that-nobody-made"],
        elsewhere,
        own,
    }
}

fn is_present(runtime: &Runtime, place: &Place) -> bool {
    matches!(runtime.state(place).expect("a state"), State::Present(_))
}

#[test]
fn a_program_in_the_path_will_do_only_where_nothing_else_is_needed() {
    let cache = tempfile::tempdir().expect("a directory");
    let place = Place::in_cache(cache.path());
    assert!(is_present(&runtime(None, true), &place));
    assert!(is_present(&runtime(Some(Own::Jdk), true), &place));
    let lacks_its_packages = runtime(None, false);
    let lacks_its_cache = runtime(Some(Own::Jdk), false);
    assert!(!is_present(&lacks_its_packages, &place));
    assert!(!is_present(&lacks_its_cache, &place));
    let line = |runtime: &Runtime| runtime.line(&place).expect("a line");
    assert_eq!(
        line(&lacks_its_packages),
        "missing  shell                 apt-get install --no-install-recommends a-package-that-nobody-made"
    );
    assert!(
        line(&lacks_its_cache)
            .starts_with("missing  shell                 cargo xtask runtimes shell (")
    );
}

#[test]
fn one_that_is_too_old_will_not_do() {
    let cache = tempfile::tempdir().expect("a directory");
    let mut old = runtime(None, true);
    old.program.least = "2.6";
    assert!(!is_present(&old, &Place::in_cache(cache.path())));
}

#[test]
fn what_was_not_installed_wholly_or_by_another_recipe_is_installed_again() {
    let cache = tempfile::tempdir().expect("a directory");
    let place = Place::in_cache(cache.path());
    let runtime = runtime(Some(Own::Jdk), false);
    place.wrap("sh", &["/bin/sh"]).expect("writable");
    assert!(!is_present(&runtime, &place), "no recipe: not whole");
    fs::write(place.recipe("shell"), "another").expect("writable");
    assert!(!is_present(&runtime, &place), "another recipe");
    fs::write(place.recipe("shell"), jdk::recipe()).expect("writable");
    assert!(is_present(&runtime, &place));
}

#[test]
fn an_unknown_name_is_told_with_those_that_there_are() {
    let error = asked(&["ruby-3.3".to_owned(), "perl".to_owned()])
        .expect_err("there is none")
        .to_string();
    assert!(
        error.starts_with("there is no runtime 'perl': c, cpp, "),
        "{error}"
    );
}

#[test]
fn a_name_stands_for_its_variants_and_no_name_for_all() {
    let names = |asked_for: &[&str]| -> Vec<&str> {
        let asked_for: Vec<String> = asked_for.iter().map(|&name| name.to_owned()).collect();
        let found = asked(&asked_for).expect("they are there");
        found.iter().map(|runtime| runtime.name).collect()
    };
    assert_eq!(names(&["ruby", "go"]), ["go", "ruby", "ruby-3.3"]);
    assert_eq!(names(&["ruby-3.3"]), ["ruby-3.3"]);
    assert_eq!(names(&["c"]), ["c"]);
    assert_eq!(names(&[]).len(), RUNTIMES.len());
}

#[test]
fn every_requirement_is_at_one_version_with_a_digest() {
    for runtime in &RUNTIMES {
        if let Some(Own::Environment(environment)) = &runtime.own {
            let recipe = environment.recipe().expect("readable files");
            let locked = recipe.replace("\\\n", " ");
            let requirements = locked.lines().filter(|line| line.contains("=="));
            let mut count = 0;
            for requirement in requirements {
                assert!(requirement.contains(" --hash=sha256:"), "{requirement}");
                count += 1;
            }
            assert!(count > environment.modules.split(", ").count());
        }
    }
}
