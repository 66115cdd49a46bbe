//! What a server of these tests may do wrongly.

/// One fault each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    IgnoresUnknownFlags,
    TakesAnyWorkload,
    ListensUnasked,
    TakesAnyNumber,
    ReadyTwice,
    KeepsItsPath,
    EndsInOrderWhereTaken,
    BacklogOfItsOwn,
    EndsBeforeReady,
    StaysAfterTheEnd,
    ForgetsTheRest,
    KeepsEverything,
    WritesOneAtATime,
    EndsAtAReset,
    ServesFiveHundred,
    IgnoresSigterm,
    LeavesAChild,
    SwapsBytes,
    PassesPiecesOn,
    EndsTheUnfinished,
    EndsLongLines,
    KeepsForTheSlow,
    WaitsForTheSlow,
    ForgetsThePipelined,
    KeepsTheOldOpen,
    NeverRefuses,
    CountsNothing,
    Spins,
    DelaysOneAtATime,
    SkipsDelays,
    IgnoresDelayMs,
    AnswersSilence,
    TakesAnyLength,
    ClosesAfterMalformed,
    ForgetsBeginnings,
    RefusesLongFrames,
    OneRequest,
}

impl Fault {
    const ALL: [Self; 38] = [
        Self::None,
        Self::IgnoresUnknownFlags,
        Self::TakesAnyWorkload,
        Self::ListensUnasked,
        Self::TakesAnyNumber,
        Self::ReadyTwice,
        Self::KeepsItsPath,
        Self::EndsInOrderWhereTaken,
        Self::BacklogOfItsOwn,
        Self::EndsBeforeReady,
        Self::StaysAfterTheEnd,
        Self::ForgetsTheRest,
        Self::KeepsEverything,
        Self::WritesOneAtATime,
        Self::EndsAtAReset,
        Self::ServesFiveHundred,
        Self::IgnoresSigterm,
        Self::LeavesAChild,
        Self::SwapsBytes,
        Self::PassesPiecesOn,
        Self::EndsTheUnfinished,
        Self::EndsLongLines,
        Self::KeepsForTheSlow,
        Self::WaitsForTheSlow,
        Self::ForgetsThePipelined,
        Self::KeepsTheOldOpen,
        Self::NeverRefuses,
        Self::CountsNothing,
        Self::Spins,
        Self::DelaysOneAtATime,
        Self::SkipsDelays,
        Self::IgnoresDelayMs,
        Self::AnswersSilence,
        Self::TakesAnyLength,
        Self::ClosesAfterMalformed,
        Self::ForgetsBeginnings,
        Self::RefusesLongFrames,
        Self::OneRequest,
    ];

    /// As the server's command line has it.
    pub(crate) fn word(self) -> String {
        format!("{self:?}")
    }

    pub(crate) fn of(word: &str) -> Self {
        let fault = Self::ALL.into_iter().find(|fault| fault.word() == word);
        fault.expect("a fault")
    }
}
