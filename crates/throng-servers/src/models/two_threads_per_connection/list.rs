//! The hand-over by one list of messages, one mutex and one condition variable, as in the published server (inferred): who
//! speaks appends to the list and wakes all writers, and each of these remembers how far it has come.
//!
//! *Cost.* Speaking is one append, however many connections there are. Then every writer wakes and wants the same mutex,
//! once for each message: a thundering herd, which is what this one is here to show. Ends would be such a herd each, and closing all
//! connections quadratic: those that come within [`ENDS_APART`] wake the writers together.
//!
//! *Bounds.* A message leaves the list when the last writer that it is for has taken it. It is driven out before that when the
//! list has grown too heavy, and who has not had it by then is given up.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use slab::Slab;

use super::member::{AHEAD_BYTES, Member, Message, shut_down, weight};
use crate::workload::UNSENT_BYTES_MAX;

/// All writers are woken for ends no more often,
const ENDS_APART: Duration = Duration::from_millis(10);
/// nor before those that were woken last have been through the mutex and left the readers some time: so long for each.
const HERD: Duration = Duration::from_micros(20);

/// The one list.
#[derive(Debug, Default)]
pub(super) struct List {
    state: Mutex<Messages>,
    /// That there is a message more, or an end: every writer waits here.
    said: Condvar,
    /// That a writer has caught up: readers that are too far ahead of theirs wait here.
    caught_up: Condvar,
}

/// Messages have numbers from the server's start on, and so have the weights of all that was said before them.
#[derive(Debug, Default)]
struct Messages {
    messages: VecDeque<Entry>,
    /// The number of the first one that is still there.
    first: u64,
    /// Of all that was ever said.
    weight: u64,
    places: Slab<Place>,
    /// Places that hear what is said next.
    listening: usize,
    /// When all were last woken for an end.
    woken_for_ends: Option<Instant>,
    /// Somebody waits to wake all for the ends until then.
    is_waking: bool,
}

#[derive(Debug)]
struct Entry {
    message: Message,
    /// Of all that was said before it.
    weight_before: u64,
    /// Writers that have not taken it.
    left: usize,
}

#[derive(Debug)]
struct Place {
    connection: Arc<OwnedFd>,
    greeting: Option<Message>,
    /// The number of the message that its writer takes next.
    next: u64,
    /// Of all that was said before that one.
    weight: u64,
    /// The number at which it ends.
    until: Option<u64>,
    is_given_up: bool,
    /// Its reader waits for its writer.
    is_waited_for: bool,
}

#[derive(Debug)]
pub(super) struct Listed {
    list: Arc<List>,
    key: usize,
}

impl List {
    pub(super) fn join(
        self: &Arc<Self>,
        connection: &Arc<OwnedFd>,
        greeting: Option<Message>,
    ) -> Listed {
        let mut state = self.state();
        let place = Place {
            connection: Arc::clone(connection),
            greeting,
            next: state.end(),
            weight: state.weight,
            until: None,
            is_given_up: false,
            is_waited_for: false,
        };
        state.listening += 1;
        Listed {
            list: Arc::clone(self),
            key: state.places.insert(place),
        }
    }

    /// Wakes all writers for an end that the state has in it: at once, or together with those of the ends that come just before and
    /// after it.
    fn wake_for_end<'a>(&'a self, mut state: MutexGuard<'a, Messages>) {
        if state.is_waking {
            return;
        }
        let since = state.woken_for_ends.map(|woken| woken.elapsed());
        let apart = ENDS_APART + HERD * state.places.len() as u32;
        let early = since.and_then(|since| apart.checked_sub(since));
        if let Some(early) = early {
            state.is_waking = true;
            drop(state);
            thread::sleep(early);
            state = self.state();
            state.is_waking = false;
        }
        state.woken_for_ends = Some(Instant::now());
        drop(state);
        self.said.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, Messages> {
        // Every change under the lock is complete in itself.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member for Listed {
    fn say(&self, message: Message) {
        let mut state = self.list.state();
        while state.is_far_ahead(self.key) {
            state.places[self.key].is_waited_for = true;
            let waited = self.list.caught_up.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        if state.append(message) {
            self.list.caught_up.notify_all();
        }
        drop(state);
        self.list.said.notify_all();
    }

    fn end(&self) {
        let mut state = self.list.state();
        state.end_place(self.key);
        self.list.wake_for_end(state);
    }

    fn next(&self) -> Option<Message> {
        let state = self.list.state();
        let nothing = |state: &mut Messages| state.has_nothing_for(self.key);
        let waited = self.list.said.wait_while(state, nothing);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let message = state.take(self.key);
        if state.places[self.key].is_waited_for && !state.is_far_ahead(self.key) {
            state.places[self.key].is_waited_for = false;
            self.list.caught_up.notify_all();
        }
        message
    }

    fn give_up(&self) {
        let mut state = self.list.state();
        state.give_up(self.key);
        self.list.caught_up.notify_all();
        self.list.wake_for_end(state);
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        let mut state = self.list.state();
        state.stop_listening(self.key);
        state.places.remove(self.key);
    }
}

impl Messages {
    /// The number of the message that is said next.
    fn end(&self) -> u64 {
        self.first + self.messages.len() as u64
    }

    fn is_far_ahead(&self, key: usize) -> bool {
        let place = &self.places[key];
        !place.is_given_up && self.weight - place.weight > AHEAD_BYTES as u64
    }

    /// Whether anybody was given up for it.
    fn append(&mut self, message: Message) -> bool {
        let weight_before = self.weight;
        self.weight += weight(&message) as u64;
        self.messages.push_back(Entry {
            message,
            weight_before,
            left: self.listening,
        });
        let mut anybody = false;
        while let Some(entry) = self.messages.front()
            && self.weight - entry.weight_before > UNSENT_BYTES_MAX as u64
        {
            anybody = true;
            self.give_up_those_before(self.first + 1);
        }
        self.drop_what_all_have_had();
        anybody
    }

    fn give_up_those_before(&mut self, number: u64) {
        let is_late = |place: &Place| place.next < number && !place.has_ended();
        let late = self.places.iter().filter(|(_, place)| is_late(place));
        let late: Vec<usize> = late.map(|(key, _)| key).collect();
        late.into_iter().for_each(|key| self.give_up(key));
    }

    fn give_up(&mut self, key: usize) {
        self.stop_listening(key);
        let place = &mut self.places[key];
        if !place.is_given_up {
            place.is_given_up = true;
            shut_down(&place.connection);
        }
    }

    /// Nothing that is said from now on is for it.
    fn end_place(&mut self, key: usize) {
        let end = self.end();
        let place = &mut self.places[key];
        if place.until.is_none() {
            place.until = Some(end);
            self.listening -= 1;
        }
    }

    /// Nothing at all is for it any more.
    fn stop_listening(&mut self, key: usize) {
        self.end_place(key);
        let first = self.first;
        let place = &mut self.places[key];
        // What it has had may be gone, what it has not had is there.
        while place.until.is_some_and(|until| place.next < until) {
            self.messages[(place.next - first) as usize].left -= 1;
            place.next += 1;
        }
        self.drop_what_all_have_had();
    }

    fn has_nothing_for(&self, key: usize) -> bool {
        let place = &self.places[key];
        let is_over = place.is_given_up || place.has_ended();
        place.greeting.is_none() && !is_over && place.next == self.end()
    }

    fn take(&mut self, key: usize) -> Option<Message> {
        let place = &mut self.places[key];
        if place.is_given_up {
            return None;
        }
        if place.greeting.is_some() {
            return place.greeting.take();
        }
        if place.has_ended() {
            return None;
        }
        let entry = self.messages.get_mut((place.next - self.first) as usize)?;
        let message = Arc::clone(&entry.message);
        entry.left -= 1;
        place.next += 1;
        place.weight = entry.weight_before + weight(&message) as u64;
        self.drop_what_all_have_had();
        Some(message)
    }

    fn drop_what_all_have_had(&mut self) {
        while let Some(Entry { left: 0, .. }) = self.messages.front() {
            self.messages.pop_front();
            self.first += 1;
        }
    }
}

impl Place {
    fn has_ended(&self) -> bool {
        self.until == Some(self.next)
    }
}
