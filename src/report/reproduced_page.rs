//! Papers that were run again, as one HTML page: the tables, notes and plots of every experiment, beside the files they stand in.
//!
//! Links are relative, so that the folder can be moved or put on a server as it is.

use super::plot::svg::escaped;
use super::reproduced::{cell, figure_file, table_file};
use crate::reproduce::{Effort, Experiment, Numbers, Reproduced};

/// A paper that was run, with its name in file names.
#[derive(Clone, Copy, Debug)]
pub struct ReproducedPaper<'a> {
    /// The name at the start of its files.
    pub name: &'a str,
    /// The seconds that its experiments took.
    pub took_seconds: f64,
    /// Its experiments.
    pub found: &'a Reproduced,
}

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}\
table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}\
th,td{padding:.15rem .7rem;border-bottom:1px solid #ddd;text-align:right;font-variant-numeric:tabular-nums}\
th:first-child,td:first-child{text-align:left}\
figure{display:inline-block;margin:1rem 1rem 1rem 0;max-width:100%;vertical-align:top}img{max-width:100%;height:auto}\
figcaption,.small{font-size:.85rem;color:#555}h3{margin-top:2.5rem}li{max-width:60rem}";

/// The index page of these papers.
pub fn index(papers: &[ReproducedPaper<'_>], effort: Effort) -> String {
    let Effort { runs, seed } = effort;
    let seconds: f64 = papers.iter().map(|paper| paper.took_seconds).sum();
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>The papers' experiments, repeated</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>The papers' experiments, repeated</h1>\n\
         <p>freshet {version}, <code>--runs {runs} --seed {seed}</code>, {took}. Experiments named after a figure, a table or a section of a \
         paper have the paper's parameters, unless their notes say otherwise; those named <em>beyond</em> are ours.</p>\n<ul>\n",
        version = env!("CARGO_PKG_VERSION"),
        took = time(seconds),
    );
    for paper in papers {
        page.push_str(&format!(
            "<li><a href=\"#{name}\">{title}</a> <span class=\"small\">{took}</span>\n<ul>\n",
            name = escaped(paper.name),
            title = escaped(paper.found.paper),
            took = time(paper.took_seconds),
        ));
        for experiment in &paper.found.experiments {
            let (anchor, title) = (anchor(paper, experiment), escaped(&experiment.title));
            page.push_str(&format!("<li><a href=\"#{anchor}\">{title}</a></li>\n"));
        }
        page.push_str("</ul></li>\n");
    }
    page.push_str("</ul>\n");
    for paper in papers {
        page.push_str(&format!("<h2 id=\"{}\">{}</h2>\n", escaped(paper.name), escaped(paper.found.paper)));
        for experiment in &paper.found.experiments {
            page.push_str(&section(paper, experiment));
        }
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn anchor(paper: &ReproducedPaper<'_>, experiment: &Experiment) -> String {
    escaped(&format!("{}-{}", paper.name, experiment.name))
}

/// An experiment: its notes first, which say how to read the numbers.
fn section(paper: &ReproducedPaper<'_>, experiment: &Experiment) -> String {
    let mut html =
        format!("<h3 id=\"{}\">{}</h3>\n<ul>\n", anchor(paper, experiment), escaped(&experiment.title));
    for note in &experiment.notes {
        html.push_str(&format!("<li>{}</li>\n", escaped(note)));
    }
    html.push_str("</ul>\n");
    for (numbers, at) in experiment.tables.iter().zip(1..) {
        let file = escaped(&table_file(paper.name, experiment, at));
        html.push_str(&format!("{}<p class=\"small\"><a href=\"{file}\">{file}</a></p>\n", table(numbers)));
    }
    for figure in &experiment.figures {
        let (file, title) = (escaped(&figure_file(paper.name, figure)), escaped(&figure.title));
        html.push_str(&format!(
            "<figure><img src=\"{file}.svg\" alt=\"{title}\"><figcaption>{title} (<a href=\"{file}.svg\">plot</a>, \
             <a href=\"{file}.csv\">numbers</a>)</figcaption></figure>\n"
        ));
    }
    html
}

fn table(numbers: &Numbers) -> String {
    let heads: String = numbers.heads.iter().map(|head| format!("<th>{}</th>", escaped(head))).collect();
    let row = |(name, values): &(String, Vec<f64>)| {
        let cells: String = values.iter().map(|value| format!("<td>{}</td>", cell(*value))).collect();
        format!("<tr><td>{}</td>{cells}</tr>\n", escaped(name))
    };
    let rows: String = numbers.rows.iter().map(row).collect();
    format!("<table>\n<tr>{heads}</tr>\n{rows}</table>\n")
}

fn time(seconds: f64) -> String {
    if seconds < 99.5 { format!("{seconds:.1} seconds") } else { format!("{:.1} minutes", seconds / 60.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::{CurveKind, Figure, FigureCurve, Scale};

    #[test]
    fn every_experiment_stands_on_the_page_with_its_files() {
        let scale = Scale { label: "k".to_owned(), log: false, from: None, to: None };
        let curve = FigureCurve { name: "LLN".to_owned(), kind: CurveKind::Measured, points: Vec::new() };
        let experiment = Experiment {
            name: "1-one",
            title: "Fig. 1: Δ < 5 & p".to_owned(),
            notes: vec!["a <note>".to_owned()],
            tables: vec![Numbers {
                heads: vec!["of".to_owned(), "mean".to_owned()],
                rows: vec![("LLN".to_owned(), vec![0.5]), ("MLE".to_owned(), vec![f64::NAN])],
            }],
            figures: vec![Figure {
                name: "1a-run",
                title: "one \"run\"".to_owned(),
                across: scale.clone(),
                up: scale,
                curves: vec![curve],
            }],
        };
        let found = Reproduced { paper: "Someone 2020", experiments: vec![experiment] };
        let paper = ReproducedPaper { name: "someone", took_seconds: 1.25, found: &found };
        let page = index(&[paper], Effort { runs: 20, seed: 7 });
        for part in [
            "<a href=\"#someone\">Someone 2020</a>",
            "<a href=\"#someone-1-one\">Fig. 1: Δ &lt; 5 &amp; p</a>",
            "<h3 id=\"someone-1-one\">",
            "<li>a &lt;note&gt;</li>",
            "<tr><td>LLN</td><td>0.5000</td></tr>",
            "<tr><td>MLE</td><td>-</td></tr>",
            "href=\"someone-1-one-table-1.csv\"",
            "<img src=\"someone-1a-run.svg\" alt=\"one &quot;run&quot;\">",
            "--runs 20 --seed 7",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }
}
