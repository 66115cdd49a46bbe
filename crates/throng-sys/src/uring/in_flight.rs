//! The vectors that the kernel is sending from, kept until their completion.

/// A slab: freed places are used again, so that it is as long as the most sends in flight at once.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    sends: Vec<Option<(u64, Vec<u8>)>>,
    free: Vec<usize>,
}

impl InFlight {
    /// Keeps a send; the number is to be given back on completion.
    pub(super) fn insert(&mut self, token: u64, bytes: Vec<u8>) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.sends.push(None);
            self.sends.len() - 1
        });
        self.sends[index] = Some((token, bytes));
        index as u64
    }

    /// The number of a send with that token. It looks at each: only whoever closes while it sends asks.
    pub(super) fn number_of(&self, token: u64) -> Option<u64> {
        let has = |send: &Option<(u64, Vec<u8>)>| send.as_ref().is_some_and(|own| own.0 == token);
        Some(self.sends.iter().position(has)? as u64)
    }

    /// The send of that number, which is over.
    pub(super) fn remove(&mut self, index: u64) -> (u64, Option<Vec<u8>>) {
        let index = usize::try_from(index).expect("numbers come from insert");
        let (token, bytes) = self.sends[index].take().expect("a send completes once");
        self.free.push(index);
        (token, Some(bytes))
    }
}
