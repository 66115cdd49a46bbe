//! Built-in servers: the concurrency models that throng compares, each in one file.
//!
//! *Method.* A model knows concurrency only: who waits for what, and who runs then. A workload knows bytes only:
//! what comes back for what has come. They compose. A file under `models/` holds what makes its model another one: read two
//! of them side by side, and the difference is the lesson. What is equal by definition stands once: opening and closing
//! listeners, what a failed accept means, how long a drain lasts, what a connection does in its turn, the books of a loop's
//! connections, starting and ending several loops.
//!
//! *Left out on purpose.* No event loop is shared, neither between the models nor with the load generator: one bug
//! cannot flatter two sides. Nothing is printed and nothing parsed here; the binary does both.
#![forbid(unsafe_code)]

mod accept;
mod at_once;
mod bell;
mod blocking;
mod connection;
mod connections;
mod deadlines;
mod delay;
mod drain;
mod linger;
mod listener;
mod loops;
mod mailbox;
mod model;
mod models;
mod note;
mod opening;
mod passing;
mod places;
mod room;
mod serve;
mod served;
mod threads;
mod tls;
mod workload;

pub use model::{Model, UnknownModel};
pub use note::Note;
pub use opening::{Announcement, Options};
pub use serve::{ServeError, serve};
pub use served::{ModelError, Served};
pub use tls::{Identity, IdentityError};
