use super::*;

/// A child's end.
fn join(hub: &mut Hub) -> OwnedFd {
    hub.prepare().expect("descriptors");
    let (near, far) = hub.channel().expect("prepared");
    hub.admit(near).expect("admitted");
    far
}

fn say(hub: &mut Hub, speaker: &OwnedFd, said: &[u8]) {
    socket::send(speaker, said).expect("sent");
    hub.turn().expect("turned");
}

/// What is there, in whichever packets, and whether it has been hung up on.
fn hears(member: &OwnedFd) -> (Vec<u8>, bool) {
    let mut heard = Vec::new();
    let mut packet = vec![0; PACKET_BYTES];
    while throng_sys::poll::wait_readable(member, 0).expect("asked") {
        match socket::receive(member, &mut packet).expect("received") {
            0 => return (heard, true),
            received => heard.extend_from_slice(&packet[..received]),
        }
    }
    (heard, false)
}

#[test]
fn everybody_hears_what_is_said_while_being_a_member() {
    let mut hub = Hub::new().expect("made");
    let one = join(&mut hub);
    say(&mut hub, &one, b"a\n");
    let two = join(&mut hub);
    socket::send(&one, b"b\n").expect("sent");
    say(&mut hub, &one, b"c\n");
    hub.turn().expect("turned");
    assert_eq!(hears(&one), (b"a\nb\nc\n".to_vec(), false));
    assert_eq!(hears(&two), (b"b\nc\n".to_vec(), false));
}

#[test]
fn who_ends_hears_its_own_last_words_and_then_the_end() {
    let mut hub = Hub::new().expect("made");
    let (leaver, other) = (join(&mut hub), join(&mut hub));
    say(&mut hub, &leaver, b"last words\n");
    socket::end_output(&leaver).expect("ended");
    hub.turn().expect("turned");
    say(&mut hub, &other, b"among us\n");
    assert_eq!(hears(&leaver), (b"last words\n".to_vec(), true));
    assert_eq!(hears(&other), (b"last words\namong us\n".to_vec(), false));
    assert_eq!(hub.members.len(), 1);
}

#[test]
fn what_somebody_said_who_left_without_hearing_is_passed_on() {
    let mut hub = Hub::new().expect("made");
    let (leaver, other) = (join(&mut hub), join(&mut hub));
    say(&mut hub, &other, b"unheard\n");
    socket::send(&leaver, b"last words\n").expect("sent");
    drop(leaver);
    for _ in 0..4 {
        hub.turn().expect("turned");
    }
    assert_eq!(hears(&other), (b"unheard\nlast words\n".to_vec(), false));
    assert_eq!(hub.members.len(), 1);
}

#[test]
fn who_takes_nothing_is_hung_up_on_and_holds_nobody_up() {
    const LINES: usize = 4 * UNSENT_BYTES_MAX / 4096;
    let mut hub = Hub::new().expect("made");
    let (slow, quick) = (join(&mut hub), join(&mut hub));
    let line = vec![b'x'; 4096];
    for _ in 0..LINES {
        say(&mut hub, &quick, &line);
        assert_eq!(hears(&quick), (line.clone(), false));
    }
    assert_eq!(hub.members.len(), 1);
    let (heard, is_over) = hears(&slow);
    assert!(is_over && heard.len() < LINES * line.len());
}

#[test]
fn who_is_late_hears_all_in_order_once_it_takes_it() {
    let mut hub = Hub::new().expect("made");
    let (late, quick) = (join(&mut hub), join(&mut hub));
    let mut said = Vec::new();
    // More than its channel holds, and less than the bound beyond that.
    while hub.members[0].unsent.len() < UNSENT_BYTES_MAX / 2 {
        let line = format!("{:4095}\n", said.len());
        say(&mut hub, &quick, line.as_bytes());
        hears(&quick);
        said.extend_from_slice(line.as_bytes());
    }
    socket::end_output(&late).expect("ended");
    let mut heard = Vec::new();
    let mut is_over = false;
    while !is_over {
        hub.turn().expect("turned");
        let (more, over) = hears(&late);
        heard.extend(more);
        is_over = over;
    }
    assert!(heard == said, "{} bytes of {}", heard.len(), said.len());
}
