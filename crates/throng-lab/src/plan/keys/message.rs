//! What is said: the lines of a fan-out, and the messages of all others.

use throng_record::plan::Experiment;

use super::instead::Instead;
use super::{Key, flag, key, switch};

const NO_PAGE: &str = "it asks for no page";
const NO_KEPT_PAGE: &str = "it asks for no page on connections that are kept";
const NO_LINE: &str = "no line is passed on to others";

pub(super) const LINE: &[Key] = &[
    flag("line", "TEXT", "Line that one client sends and all receive, without its newline; \\t and other escapes work")
        .takes_hyphen()
        .usually("hello")
        .of_some(NO_LINE, Instead::Take(Experiment::Fanout)),
    flag("greeting", "TEXT", "Line that the server greets each connection with")
        .takes_hyphen()
        .switches(&[switch("no-greeting", "", "The server sends no greeting")])
        // As published.
        .usually("connected")
        .of_some(NO_LINE, Instead::Take(Experiment::Fanout)),
];

pub(super) const KEYS: &[Key] = &[
    flag("size", "BYTES,…", "Bytes of a message, 1 to 1048576")
        // Those of the published echo measurements.
        .usually("6"),
    flag("send", "TEXT", "Send this request instead; \\r \\n \\t \\0 \\\\ \\xNN are escapes"),
    flag("expect", "REPLY", "Where the reply to --send ends: a text, 'N bytes', 'until DELIMITER' or, in backlog and churn, 'end'; same escapes")
        .takes_hyphen(),
    flag("method", "METHOD", "Method of the request for a page (http://)")
        .usually("GET")
        .of_some(NO_PAGE, Instead::Take(Experiment::Echo)),
    flag("header", "NAME: VALUE…", "Line of that request's head; repeatable")
        .of_some(NO_PAGE, Instead::Take(Experiment::Echo)),
    flag("body", "TEXT", "Body of that request; same escapes")
        .takes_hyphen()
        .of_some(NO_PAGE, Instead::Take(Experiment::Echo)),
    flag("body-file", "FILE", "File with the body of that request")
        .of_some(NO_PAGE, Instead::Take(Experiment::Echo)),
    flag("status", "STATUS,…", "Statuses of a page that are right: one such as 200, or a class such as 2xx")
        .by_rule("200 to 399")
        .of_some(NO_KEPT_PAGE, Instead::Take(Experiment::Echo)),
    key("verify", "Whether the returned bytes are compared with the expected ones")
        .switches(&[switch("no-verify", "false", "Do not compare the returned bytes with the expected ones")])
        .usually("true"),
];
