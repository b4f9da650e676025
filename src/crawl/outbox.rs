//! The cycle's side of the writer: orders that were sent, and which of them are not answered yet.

use super::CrawlError;
use super::recorder::Recorder;
use super::writer::{Order, Reply, Writer};
use crate::schedule::Plan;

/// Orders on their way to the store.
pub(super) struct Outbox {
    writer: Writer,
    /// Orders that are not answered, a plan aside.
    unanswered: usize,
    /// A wave was sent to be planned.
    is_planning: bool,
}

impl Outbox {
    pub(super) fn new(writer: Writer) -> Self {
        Self { writer, unanswered: 0, is_planning: false }
    }

    /// Sends an order. It waits while the writer has too much to do.
    pub(super) async fn order(&mut self, order: Order) {
        self.unanswered += 1;
        self.writer.send(order).await;
    }

    /// Sends a wave to be noted in the store.
    pub(super) async fn plan(&mut self, plan: Plan) {
        self.is_planning = true;
        self.writer.send(Order::Plan(plan)).await;
    }

    /// The next answer. Safe to drop and call again.
    pub(super) async fn reply(&mut self) -> Result<Reply, CrawlError> {
        let reply = self.writer.reply().await.ok_or(CrawlError::WriterLost)?;
        match reply {
            Reply::Recorded { orders, .. } => self.unanswered = self.unanswered.saturating_sub(orders),
            Reply::Robots(..) | Reply::LookedAgain(_) => self.unanswered = self.unanswered.saturating_sub(1),
            Reply::Planned(_) => self.is_planning = false,
            Reply::Failed(error) => return Err(error.into()),
        }
        Ok(reply)
    }

    /// Is a wave being planned?
    pub(super) fn is_planning(&self) -> bool {
        self.is_planning
    }

    /// Is everything answered?
    pub(super) fn is_quiet(&self) -> bool {
        self.unanswered == 0 && !self.is_planning
    }

    /// Lets the writer finish, and gives the recorder back. `None` only if the writer panicked.
    pub(super) async fn finish(self) -> Option<Recorder> {
        self.writer.finish().await
    }
}
