//! What a user should know about how a plan came out.

/// Once, however many settings it holds for.
pub(super) fn tell(notes: &mut Vec<String>, note: String) {
    if !notes.contains(&note) {
        notes.push(note);
    }
}
