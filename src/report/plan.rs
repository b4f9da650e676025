//! The plan of the next cycle, drawn as a table.

use crate::look::plan::NextPlan;

use super::diff::harmless;
use super::{Align, Screen, Shorten, Table, counted, number, rate};

/// The plan, with its first `most` visits.
pub fn plan(plan: &NextPlan, most: usize, screen: &Screen) -> String {
    let mut table = Table::new(&[
        ("rank", Align::Right),
        ("score", Align::Right),
        ("page", Align::Left),
        ("why", Align::Left),
    ])
    .shorten("page", Shorten::Middle)
    .shorten("why", Shorten::End);
    for visit in plan.visits.iter().take(most) {
        table.row([number(visit.rank as u64), rate(visit.score), visit.page.clone(), visit.why.clone()]);
    }
    let mut text = table.fitted(screen.width);
    let rest = plan.visits.len().saturating_sub(most);
    if rest > 0 {
        text += &format!("(+{} more: --limit 0)\n", number(rest as u64));
    }
    let budget = match plan.budget {
        Some(budget) => format!("a budget of {}", number(budget)),
        None => "no budget".to_owned(),
    };
    let resumed = if plan.resumed { "; an interrupted cycle is resumed" } else { "" };
    let least = match plan.threshold {
        Some(least) if plan.budget.is_some() => format!("; a threshold of {} would do the same", rate(least)),
        _ => String::new(),
    };
    text + &format!(
        "\n{} by `{}` with {budget}, of {} that may be visited ({} new){least}{resumed}\n",
        counted(plan.visits.len(), "visit"),
        harmless(&plan.policy),
        counted(plan.candidates, "page"),
        number(plan.new as u64),
    )
}
