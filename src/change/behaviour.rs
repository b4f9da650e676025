//! Static, churn or scroll: how a page moves, read off two texts and off its fragments' lives.
//!
//! Comes in: the texts of consecutive versions of a page, one block of the page on a line, and the share of
//! its fragments that never changed. Goes out: [`Moves`], which add up visit by visit in bounded memory, and
//! what they say of the page: a [`Behaviour`], and [`BehaviourShares`] of its fragments (Olston & Pandey 2008, §3.3,
//! who read them off lifetimes).
//!
//! Lifetimes alone can't tell a slow churn region beside a fast one from scroll: its fragments survive many
//! updates, too. Here position decides. What goes and comes at the same place is churn. What comes at one
//! place while something goes at another, with text between them that stays, is scroll; so is what comes and
//! makes nothing go, and what goes and leaves nothing in its place. A list that turned over as a whole
//! between two visits looks like churn; so each region of a page is known again by the lines above and below
//! it, and one that was seen to scroll often enough is a list at all times.
//!
//! What must stay true: time is that of sorting the lines, whatever they say, and nothing here looks at a
//! clock.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::alignment::{TextLine, align, gaps, lines};
use super::surplus::{Surplus, WaitingSurplus};

/// How a page behaves, by the larger part of its changing fragments.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Behaviour {
    /// Next to nothing changes.
    Static,
    /// Text is replaced by other text at the same place.
    Churn,
    /// New text pushes old text away, as on a list of news.
    Scroll,
    /// Both, and neither by far.
    Mixed,
}

impl Behaviour {
    /// The word that is printed and stored.
    pub const fn name(self) -> &'static str {
        match self {
            Behaviour::Static => "static",
            Behaviour::Churn => "churn",
            Behaviour::Scroll => "scroll",
            Behaviour::Mixed => "mixed",
        }
    }
}

impl std::fmt::Display for Behaviour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// How the fragments of a page behave; the three sum to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct BehaviourShares {
    pub static_share: f64,
    pub churn: f64,
    pub scroll: f64,
}

/// With so large a share of lasting fragments a page is called static: the rest is a date or a counter. A
/// changed word is four fragments, so 2 % are two words of a page of 400.
pub(crate) const STATIC_SHARE: f64 = 0.98;
/// The larger kind of change names the page if it has so large a share of the changing fragments.
pub(crate) const CLEAR_SHARE: f64 = 0.75;
/// A region is a list if it was seen to scroll in at least this share of its moves. Text that is replaced as a whole does
/// not look like scroll by chance, so little is enough; above 0 because pages repeat lines, and the same
/// lines may mislead.
const LIST_EVIDENCE: f64 = 0.1;
/// Regions that are told apart; those that moved least often are lumped together.
const MOST_REGIONS: usize = 6;

/// The moves between versions of a page, added up: words, and where. At most [`MOST_REGIONS`] places are
/// kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Moves {
    /// Pairs of versions that differ.
    updates: u32,
    /// Words of the newer versions, summed.
    words: f64,
    regions: Vec<MovedRegion>,
    /// The moves in all other places, as if they were one region; its extent is a sum over them.
    elsewhere: MovedRegion,
}

/// A place of a page where text moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct MovedRegion {
    /// The lines above and below it, hashed; 0 where that is not known.
    above: u64,
    below: u64,
    churns: u32,
    scrolls: u32,
    /// Words that went and words that came.
    churned: f64,
    scrolled: f64,
    /// Words that the region shows, summed over its moves.
    extent: f64,
}

/// Says how a page behaves. `static_share` is that of [`super::lifetime::Lifetimes::static_share`], or where
/// no history is kept that of [`Moves::static_share`].
///
/// A page is static if at least [`STATIC_SHARE`] of it is; otherwise it is what at least [`CLEAR_SHARE`] of
/// its changing words are, or else mixed. Each region counts with the words it shows, however often it moves.
/// Where fragments changed but no move was seen, which of the two it was is open, and the page is mixed.
pub(crate) fn classify(static_share: f64, moves: &Moves) -> (Behaviour, BehaviourShares) {
    let static_share = if static_share.is_nan() { 1.0 } else { static_share.clamp(0.0, 1.0) };
    let changing = 1.0 - static_share;
    let (churn, scroll) = moves.extents();
    let scrolling = if churn + scroll > 0.0 { scroll / (churn + scroll) } else { 0.5 };
    let shares =
        BehaviourShares { static_share, churn: changing * (1.0 - scrolling), scroll: changing * scrolling };
    let behaviour = if static_share >= STATIC_SHARE {
        Behaviour::Static
    } else if scrolling >= CLEAR_SHARE {
        Behaviour::Scroll
    } else if scrolling <= 1.0 - CLEAR_SHARE {
        Behaviour::Churn
    } else {
        Behaviour::Mixed
    };
    (behaviour, shares)
}

impl Moves {
    /// The moves from one version to the next.
    pub(crate) fn between(old: &str, new: &str) -> Self {
        if old == new {
            return Self::default();
        }
        let (old, new) = (lines(old), lines(new));
        let alignment = align(&old, &new);
        let words = new.iter().map(|line| line.words as f64).sum();
        let mut moves = Self { words, ..Self::default() };
        for region in edits(&old, &new, &alignment).into_iter().chain(shifts(&old, &new, &alignment)) {
            moves.add_region(region);
        }
        moves.updates = u32::from(moves.moved() > 0.0);
        if moves.updates == 0 { Self::default() } else { moves }
    }

    /// The moves in a whole history, its texts in order.
    #[cfg(test)]
    pub(crate) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut moves = Self::default();
        let mut before: Option<&str> = None;
        for text in texts {
            if let Some(before) = before {
                moves.add(&Self::between(before, text));
            }
            before = Some(text);
        }
        moves
    }

    /// Adds later moves.
    pub(crate) fn add(&mut self, later: &Moves) {
        self.updates = self.updates.saturating_add(later.updates);
        self.words += later.words;
        self.elsewhere.absorb(&later.elsewhere);
        for region in &later.regions {
            self.add_region(*region);
        }
    }

    /// Pairs of versions that differ in more than the order of their lines.
    #[cfg(test)]
    pub(crate) fn updates(&self) -> u32 {
        self.updates
    }

    /// Words that went and came at the same place.
    pub(crate) fn churned(&self) -> f64 {
        self.all().map(|region| region.churned).sum()
    }

    /// Words that pushed others away, or were.
    pub(crate) fn scrolled(&self) -> f64 {
        self.all().map(|region| region.scrolled).sum()
    }

    /// The share of a page that no region that moved reaches, in [0, 1]: an estimate for pages of which no
    /// history is kept.
    #[cfg(test)]
    pub(crate) fn static_share(&self) -> f64 {
        let (churn, scroll) = self.extents();
        if self.words > 0.0 {
            (1.0 - (churn + scroll) / self.page_words()).clamp(0.0, 1.0)
        } else if self.updates > 0 {
            0.0
        } else {
            1.0
        }
    }

    /// Words of a page that churn and that scroll.
    fn extents(&self) -> (f64, f64) {
        let (mut churn, mut scroll) = (0.0, 0.0);
        for region in &self.regions {
            let extent = region.extent / f64::from(region.times().max(1));
            *(if region.is_list() { &mut scroll } else { &mut churn }) += extent;
        }
        // Many small places: at random ones, so that some are hit twice, they would cover this much of the
        // page.
        let page = self.page_words().max(1.0);
        let covered = page * -(-self.elsewhere.extent / page).exp_m1();
        let moved = self.elsewhere.churned + self.elsewhere.scrolled;
        if moved > 0.0 {
            churn += covered * self.elsewhere.churned / moved;
            scroll += covered * self.elsewhere.scrolled / moved;
        }
        (churn, scroll)
    }

    fn page_words(&self) -> f64 {
        self.words / f64::from(self.updates.max(1))
    }

    fn moved(&self) -> f64 {
        self.churned() + self.scrolled()
    }

    fn all(&self) -> impl Iterator<Item = &MovedRegion> {
        self.regions.iter().chain([&self.elsewhere])
    }

    fn add_region(&mut self, region: MovedRegion) {
        if let Some(known) = self.regions.iter_mut().find(|known| known.is_where(&region)) {
            known.absorb(&region);
            // The latest lines around it are the likeliest to be there next time.
            known.above = if region.above == 0 { known.above } else { region.above };
            known.below = if region.below == 0 { known.below } else { region.below };
            return;
        }
        self.regions.push(region);
        if self.regions.len() > MOST_REGIONS {
            let rarest =
                self.regions.iter().enumerate().min_by_key(|(place, region)| (region.times(), *place));
            if let Some(rarest) = rarest.map(|(place, _)| place) {
                let mut rarest = self.regions.remove(rarest);
                rarest.extent /= f64::from(rarest.times().max(1));
                self.elsewhere.absorb(&rarest);
            }
        }
    }
}

impl MovedRegion {
    fn times(&self) -> u32 {
        self.churns.saturating_add(self.scrolls)
    }

    fn is_list(&self) -> bool {
        self.scrolls > 0 && f64::from(self.scrolls) >= LIST_EVIDENCE * f64::from(self.times())
    }

    /// Whether the two are the same place, at two times.
    fn is_where(&self, other: &MovedRegion) -> bool {
        let same = |one: u64, other: u64| one != 0 && one == other;
        same(self.above, other.above) || same(self.below, other.below)
    }

    fn absorb(&mut self, other: &MovedRegion) {
        self.churns = self.churns.saturating_add(other.churns);
        self.scrolls = self.scrolls.saturating_add(other.scrolls);
        self.churned += other.churned;
        self.scrolled += other.scrolled;
        self.extent += other.extent;
    }
}

/// The place of numbers that changed within lines that stayed: a place of its own, all over the page.
const EDITS: u64 = 1;
/// The line before the first and the one after the last.
const TOP: u64 = 2;
const BOTTOM: u64 = 3;

/// Words that changed in lines that stayed, as one region: counters and dates, all over the page.
fn edits(old: &[TextLine<'_>], new: &[TextLine<'_>], kept: &[(usize, usize)]) -> Option<MovedRegion> {
    let mut words = 0_usize;
    for (left, right) in kept {
        if let (Some(left), Some(right)) = (old.get(*left), new.get(*right))
            && left.exact != right.exact
        {
            let both = left.text.split_whitespace().zip(right.text.split_whitespace());
            words += both.filter(|(left, right)| left != right).count() + left.words.abs_diff(right.words);
        }
    }
    let words = words as f64;
    (words > 0.0).then_some(MovedRegion {
        above: EDITS,
        churns: 1,
        churned: 2.0 * words,
        extent: words,
        ..MovedRegion::default()
    })
}

/// A gap between lines that stayed, without the lines that only moved elsewhere.
struct LineHunk {
    above: u64,
    below: u64,
    /// Lines and words that went, and that came.
    went: (usize, f64),
    came: (usize, f64),
    /// Words that stayed before it, from the top.
    stayed: f64,
}

/// The regions in which text came or went between two versions.
fn shifts(old: &[TextLine<'_>], new: &[TextLine<'_>], kept: &[(usize, usize)]) -> Vec<MovedRegion> {
    let hunks = hunks(old, new, kept);
    let mut regions = Vec::new();
    let mut waiting = WaitingSurplus::default();
    // Words of each hunk that scroll accounts for.
    let mut scrolled = vec![0.0; hunks.len()];
    for (place, hunk) in hunks.iter().enumerate() {
        let Some(surplus) = hunk.surplus(place) else { continue };
        let Some(other) = waiting.take_counterpart(&surplus) else {
            waiting.push(surplus);
            continue;
        };
        let Some(first) = hunks.get(other.hunk) else { continue };
        regions.push(MovedRegion {
            above: if other.is_pure { first.above } else { 0 },
            below: if surplus.is_pure { hunk.below } else { 0 },
            scrolls: 1,
            scrolled: other.words + surplus.words,
            extent: hunk.stayed - first.stayed + other.words.max(surplus.words),
            ..MovedRegion::default()
        });
        for part in [&other, &surplus] {
            if let Some(scrolled) = scrolled.get_mut(part.hunk) {
                *scrolled += part.words;
            }
        }
    }
    for (hunk, scrolled) in hunks.iter().zip(&scrolled) {
        let rest = hunk.went.1 + hunk.came.1 - scrolled;
        if rest <= 0.0 {
            continue;
        }
        let place = MovedRegion { above: hunk.above, below: hunk.below, ..MovedRegion::default() };
        regions.push(if hunk.is_replacement() {
            // Lines that scrolled off or in beside it are not part of it.
            let extent = if *scrolled > 0.0 { rest / 2.0 } else { hunk.went.1.max(hunk.came.1) };
            MovedRegion { churns: 1, churned: rest, extent, ..place }
        } else {
            MovedRegion { scrolls: 1, scrolled: rest, extent: rest, ..place }
        });
    }
    regions
}

impl LineHunk {
    fn is_replacement(&self) -> bool {
        self.went.0 > 0 && self.came.0 > 0
    }

    /// Where one side has more lines than the other, the words it has more: text was replaced, and beside it
    /// a line came or went. Where only the words are more, the text was replaced by longer or shorter one.
    fn surplus(&self, place: usize) -> Option<Surplus> {
        let (went, came) = (self.went, self.came);
        let more = came.1 - went.1;
        let grew = came.0 > went.0 && more > 0.0;
        let shrank = came.0 < went.0 && more < 0.0;
        (grew || shrank).then(|| Surplus {
            hunk: place,
            came: grew,
            is_pure: !self.is_replacement(),
            words: more.abs(),
        })
    }
}

fn hunks(old: &[TextLine<'_>], new: &[TextLine<'_>], kept: &[(usize, usize)]) -> Vec<LineHunk> {
    let count = |lines: &[TextLine<'_>], hash: fn(&TextLine<'_>) -> u64| {
        let mut counts: HashMap<u64, usize> = HashMap::with_capacity(lines.len());
        for line in lines {
            *counts.entry(hash(line)).or_default() += 1;
        }
        counts
    };
    let often = count(new, |line| line.loose);
    // A line that stands more than once on the page marks no place.
    let mark = |line: Option<&TextLine<'_>>, edge: u64| match line {
        Some(line) if often.get(&line.loose) == Some(&1) => line.loose,
        Some(_) => 0,
        None => edge,
    };
    let gaps: Vec<_> = gaps(kept, old.len(), new.len()).collect();
    // Lines that went at one place and came at another only moved.
    let (mut gone, mut come): (HashMap<u64, usize>, HashMap<u64, usize>) = Default::default();
    for (left, right) in &gaps {
        for line in old.get(left.clone()).unwrap_or_default() {
            *gone.entry(line.exact).or_default() += 1;
        }
        for line in new.get(right.clone()).unwrap_or_default() {
            *come.entry(line.exact).or_default() += 1;
        }
    }
    let is_news =
        |line: &TextLine<'_>, elsewhere: &mut HashMap<u64, usize>| match elsewhere.get_mut(&line.exact) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        };
    let mut hunks = Vec::new();
    let mut stayed = 0.0;
    for (place, (left, right)) in gaps.iter().enumerate() {
        if let Some(line) =
            place.checked_sub(1).and_then(|place| kept.get(place)).and_then(|pair| new.get(pair.1))
        {
            stayed += line.words as f64;
        }
        let went: Vec<&TextLine<'_>> = old
            .get(left.clone())
            .unwrap_or_default()
            .iter()
            .filter(|line| is_news(line, &mut come))
            .collect();
        let came: Vec<&TextLine<'_>> = new
            .get(right.clone())
            .unwrap_or_default()
            .iter()
            .filter(|line| is_news(line, &mut gone))
            .collect();
        if went.is_empty() && came.is_empty() {
            continue;
        }
        let (went_words, came_words) = changed_words(&went, &came);
        hunks.push(LineHunk {
            above: mark(right.start.checked_sub(1).and_then(|above| new.get(above)), TOP),
            below: mark(new.get(right.end), BOTTOM),
            went: (went.len(), went_words as f64),
            came: (came.len(), came_words as f64),
            stayed,
        });
    }
    hunks
}

/// Words of either side, without those that both begin with or end with.
fn changed_words(went: &[&TextLine<'_>], came: &[&TextLine<'_>]) -> (usize, usize) {
    fn words<'a>(lines: &[&TextLine<'a>]) -> Vec<&'a str> {
        lines.iter().flat_map(|line| line.text.split_whitespace()).collect()
    }
    let (went, came) = (words(went), words(came));
    let first = went.iter().zip(&came).take_while(|(went, came)| went == came).count();
    let rest = went.len().min(came.len()) - first;
    let last =
        went.iter().rev().zip(came.iter().rev()).take(rest).take_while(|(went, came)| went == came).count();
    (went.len() - first - last, came.len() - first - last)
}

#[cfg(test)]
#[path = "behaviour_tests.rs"]
mod tests;
