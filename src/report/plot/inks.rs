//! The colours of a picture: those of a file, which are fixed, and those of a page, which follow the page around it.

/// The colours that a picture is drawn with, as SVG takes them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PlotInks {
    /// Letters.
    pub ink: &'static str,
    /// The background.
    pub ground: &'static str,
    /// Lines at the ticks.
    pub grid: &'static str,
    /// The line around the numbers.
    pub frame: &'static str,
    /// What is there to compare with.
    pub grey: &'static str,
    /// For thin lines: many of them are dark enough together.
    pub light: &'static str,
    /// A colour for each series.
    pub colours: [&'static str; 7],
}

impl PlotInks {
    /// The colour of a series; they come again when all are used up.
    pub(crate) fn colour(&self, series: usize) -> &'static str {
        self.colours.get(series % self.colours.len()).copied().unwrap_or(self.grey)
    }
}

/// Colours that readers who confuse some tell apart as well (Okabe & Ito 2008), the lightest left out, on white.
pub(crate) const IN_A_FILE: PlotInks = PlotInks {
    ink: "#222222",
    ground: "#ffffff",
    grid: "#e2e2e2",
    frame: "#888888",
    grey: "#777777",
    light: "#aaaaaa",
    colours: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"],
};

/// The same as CSS variables, which a page sets for light and for dark.
pub(crate) const IN_A_PAGE: PlotInks = PlotInks {
    ink: "var(--plot-ink,#222222)",
    ground: "var(--plot-ground,#ffffff)",
    grid: "var(--plot-grid,#e2e2e2)",
    frame: "var(--plot-frame,#888888)",
    grey: "var(--plot-grey,#777777)",
    light: "var(--plot-light,#aaaaaa)",
    colours: [
        "var(--plot-1,#0072b2)",
        "var(--plot-2,#d55e00)",
        "var(--plot-3,#009e73)",
        "var(--plot-4,#cc79a7)",
        "var(--plot-5,#e69f00)",
        "var(--plot-6,#56b4e9)",
        "var(--plot-7,#000000)",
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_sets_no_colours_has_those_of_a_file() {
        let falls_back_to = |name: &str, colour: &str| {
            assert!(
                name.starts_with("var(--plot-") && name.ends_with(&format!(",{colour})")),
                "{name} {colour}"
            );
        };
        let (file, page) = (IN_A_FILE, IN_A_PAGE);
        falls_back_to(page.ink, file.ink);
        falls_back_to(page.ground, file.ground);
        falls_back_to(page.grid, file.grid);
        falls_back_to(page.frame, file.frame);
        falls_back_to(page.grey, file.grey);
        falls_back_to(page.light, file.light);
        page.colours.iter().zip(file.colours).for_each(|(name, colour)| falls_back_to(name, colour));
        assert_eq!((file.colour(0), file.colour(8)), ("#0072b2", "#d55e00"));
    }
}
