//! Text that came or went at one place and waits for its counterpart at another: a list that scrolls.
//!
//! Lines that come at the top of a list and lines that go at its end are one movement. Every place is looked at once and
//! pushed and popped at most once, so time is linear in the places, however many wait.

/// Text that came, or went, and for which nothing went, or came, at the same place.
pub(super) struct Surplus {
    /// Its place, from the top.
    pub(super) hunk: usize,
    /// Whether it came.
    pub(super) came: bool,
    /// Whether it is all of its hunk.
    pub(super) is_pure: bool,
    pub(super) words: f64,
}

/// Text that waits for its counterpart further down: of each kind the nearest last, so that the nearest counterpart is the
/// last of one or two kinds, however much waits.
#[derive(Default)]
pub(super) struct WaitingSurplus {
    /// By whether it came, then by whether it is pure.
    kinds: [[Vec<Surplus>; 2]; 2],
}

impl WaitingSurplus {
    pub(super) fn push(&mut self, surplus: Surplus) {
        if let Some(kind) = self.kind(surplus.came, surplus.is_pure) {
            kind.push(surplus);
        }
    }

    /// The nearest text that went, if this came, or the other way round. Two rewritten places of which one grew and one
    /// shrank are no list.
    pub(super) fn take_counterpart(&mut self, of: &Surplus) -> Option<Surplus> {
        let mut nearest =
            |is_pure: bool| self.kind(!of.came, is_pure).and_then(|kind| kind.last()).map(|last| last.hunk);
        let (pure, rewritten) = (nearest(true), nearest(false).filter(|_| of.is_pure));
        // `None` is before every place.
        self.kind(!of.came, pure >= rewritten)?.pop()
    }

    fn kind(&mut self, came: bool, is_pure: bool) -> Option<&mut Vec<Surplus>> {
        self.kinds.get_mut(usize::from(came))?.get_mut(usize::from(is_pure))
    }
}
