//! The lives of a page's fragments as stripes over time, for a terminal (after Olston & Pandey 2008, Fig. 1).
//!
//! A row is a group of fragments that came and went together: their number, and a bar from their birth to
//! their death, the thicker the more they are. [`super::stripe_bars`] groups them.
//! Churn shows as short bars, each beginning where the one above ends; scroll as bars that overlap like roof
//! tiles.

use jiff::tz::TimeZone;

use super::number;
use super::stripe_bars::StripeBars;

use crate::change::lifetime::FragmentLife;
use crate::time::Timestamp;

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stripes {
    /// Columns of the terminal.
    pub width: usize,
    /// Most rows, the line of dates not counted; at least 2.
    pub rows: usize,
    /// Whether only ASCII is drawn.
    pub ascii: bool,
}

impl Default for Stripes {
    fn default() -> Self {
        Self { width: 80, rows: 20, ascii: false }
    }
}

/// A chart narrower than this shows nothing.
const FEWEST_COLUMNS: usize = 10;
/// Bars from the thinnest to the thickest.
const BLOCKS: [&str; 4] = ["▂", "▄", "▆", "█"];
const ASCII_BLOCKS: [&str; 4] = ["-", "=", "%", "#"];

impl Stripes {
    /// The chart, a newline at the end of each line, no blanks before it; empty if there is nothing to show.
    /// Groups that are nearest in birth and death share a row, at their mean, where there are more than rows.
    pub(crate) fn draw(&self, lives: &[FragmentLife], times: &[Timestamp], zone: &TimeZone) -> String {
        let all: usize = lives.iter().map(|life| life.fragments).sum();
        let label = number(all as u64).len();
        let columns = self.width.saturating_sub(label + 1).max(FEWEST_COLUMNS);
        let Some(StripeBars { bars, first, last }) = StripeBars::of(lives, times, columns, self.rows) else {
            return String::new();
        };
        let most = bars.iter().map(|bar| bar.fragments).max().unwrap_or(1);
        let mut chart = String::new();
        for bar in &bars {
            let (start, end) = bar.cells(columns);
            let fragments = number(bar.fragments as u64);
            let (gap, stripe) = (" ".repeat(start), self.block(bar.fragments, most).repeat(end - start));
            chart.push_str(&format!("{fragments:>label$} {gap}{stripe}\n"));
        }
        chart.push_str(&axis([first, last].map(|at| at.in_zone(zone)), label, columns));
        chart
    }

    /// Thickness goes with the square root, so that a few fragments still show beside thousands.
    fn block(&self, fragments: usize, most: usize) -> &'static str {
        let blocks = if self.ascii { ASCII_BLOCKS } else { BLOCKS };
        let share = (fragments as f64 / most.max(1) as f64).sqrt();
        let step = (share * blocks.len() as f64).ceil() as usize;
        blocks.get(step.saturating_sub(1).min(blocks.len() - 1)).copied().unwrap_or("-")
    }
}

/// The first and the last date, below the ends of the bars; with the time of day where the day is the same.
fn axis([first, last]: [String; 2], label: usize, columns: usize) -> String {
    let day = |time: &str| time.split(' ').next().unwrap_or_default().to_owned();
    let (first, last) = if day(&first) == day(&last) { (first, last) } else { (day(&first), day(&last)) };
    let gutter = " ".repeat(label + 1);
    let gap = columns.saturating_sub(first.len() + last.len());
    if gap == 0 || first == last {
        return format!("{gutter}{first}\n");
    }
    format!("{gutter}{first}{}{last}\n", " ".repeat(gap))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::lifetime::Lifetimes;

    const SMALL: Stripes = Stripes { width: 26, rows: 8, ascii: true };

    /// Snapshots two days apart.
    fn history(pages: &[Vec<u64>]) -> Lifetimes {
        let mut lives = Lifetimes::default();
        for (at, page) in pages.iter().enumerate() {
            lives.see(Timestamp::from_seconds(1_794_800_714 + at as i64 * 172_800), page);
        }
        lives
    }

    fn drawn(stripes: Stripes, lives: &Lifetimes) -> String {
        stripes.draw(&lives.lives(), lives.times(), &TimeZone::UTC)
    }

    #[test]
    fn churn_is_short_bars_one_after_another() {
        let page = |version: u64| (0..9).chain([100 + version, 200 + version]).collect::<Vec<u64>>();
        let lives = history(&[page(0), page(1), page(2), page(3)]);
        let rows = [
            " 2 =======",
            " 2        =======",
            " 2               ========",
            " 2                       =",
            " 9 #######################",
            "   2026-11-16   2026-11-22\n",
        ];
        assert_eq!(drawn(SMALL, &lives), rows.join("\n"));
    }

    #[test]
    fn scroll_is_bars_that_overlap() {
        let pages: Vec<Vec<u64>> = (0..5).map(|first| (first..first + 3).collect()).collect();
        let lives = history(&pages);
        let rows = [
            "1 █████",
            "1 ██████████",
            "1 ███████████████",
            "1      ███████████████",
            "1           ███████████",
            "1                ██████",
            "1                     █",
            "  2026-11-16 2026-11-24\n",
        ];
        assert_eq!(drawn(Stripes { width: 23, ascii: false, ..SMALL }, &lives), rows.join("\n"));
    }

    #[test]
    fn neighbours_share_rows_and_no_fragment_is_lost() {
        let pages: Vec<Vec<u64>> = (0..60).map(|first| (first..first + 10).chain([1000]).collect()).collect();
        let lives = history(&pages);
        for rows in [2, 3, 7, 20, 200] {
            let chart = drawn(Stripes { rows, ..Stripes::default() }, &lives);
            assert!(chart.lines().count() <= rows + 1, "{chart}");
            assert!(chart.lines().all(|line| line.chars().count() <= 80), "{chart}");
            let counts = chart.lines().take(chart.lines().count() - 1);
            let shown: u64 =
                counts.map(|line| line.split_whitespace().next().unwrap().parse::<u64>().unwrap()).sum();
            assert_eq!(shown, 70, "{chart}");
        }
    }

    #[test]
    fn nothing_and_a_single_moment_can_be_drawn() {
        assert_eq!(drawn(SMALL, &Lifetimes::default()), "");
        assert_eq!(drawn(SMALL, &history(&[vec![]])), "");
        let once = drawn(Stripes { width: 0, ..SMALL }, &history(&[vec![1, 2]]));
        assert_eq!(once, "2 ##########\n  2026-11-16 03:45:14 UTC\n");
    }
}
