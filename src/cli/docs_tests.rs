//! Commands that documents and help show, against the command line: each of them must be understood as it is written.
//!
//! Words in capitals (`DATASET`, `DIR`) and `$names` stand for a value of the reader's; they are taken as they are, or as 1.

use std::path::{Path, PathBuf};

use clap::{CommandFactory as _, Parser as _};

use freshet::policy::registry;
use freshet::quality::measure::MeasureId;
use freshet::simulate::compare;

use super::{Cli, Command};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The Markdown files of the repository that users read.
fn documents() -> Vec<PathBuf> {
    let in_folder = |folder: PathBuf| std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let all = in_folder(root().to_owned()).chain(in_folder(root().join("docs")));
    let mut all: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    all.sort();
    all
}

/// The shell blocks of a document: each line that is complete, with its number. A line that ends in `\` goes on in the next.
fn shell_lines(text: &str) -> Vec<(usize, String)> {
    let (mut lines, mut block, mut open) = (Vec::new(), false, None::<(usize, String)>);
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            block = !block && ["sh", "bash", "shell", "console"].contains(&language.trim());
            continue;
        }
        if !block {
            continue;
        }
        let (first, mut whole) = open.take().unwrap_or((number, String::new()));
        match line.strip_suffix('\\') {
            Some(part) => open = Some((first, whole + part)),
            None => {
                whole += line;
                lines.push((first, whole));
            }
        }
    }
    lines
}

/// The commands of a line as words: quotes are taken off, and comments and redirections left out.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::<String>::new()];
    let mut letters = line.chars().peekable();
    let mut skips_next = false;
    while let Some(letter) = letters.peek().copied() {
        match letter {
            ' ' => drop(letters.next()),
            '#' => break,
            '|' | '&' | ';' => {
                letters.next();
                commands.push(Vec::new());
            }
            '>' | '<' => {
                letters.next();
                skips_next = true;
            }
            _ => {
                let (mut word, mut quote) = (String::new(), None);
                while let Some(letter) = letters.peek().copied() {
                    match (quote, letter) {
                        (None, ' ' | '|' | '&' | ';' | '>' | '<') => break,
                        (None, '\'' | '"') => quote = Some(letter),
                        (Some(end), _) if end == letter => quote = None,
                        _ => word.push(letter),
                    }
                    letters.next();
                }
                if !std::mem::take(&mut skips_next) {
                    let word = if word.starts_with('$') { "1".to_owned() } else { word };
                    commands.last_mut().unwrap().push(word);
                }
            }
        }
    }
    commands
}

/// The words from `freshet` on, if the command is one of ours.
fn ours(words: &[String]) -> Option<Vec<String>> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let arguments = match &words[..] {
        ["freshet", rest @ ..] | ["do", "freshet", rest @ ..] => rest,
        ["cargo", "run", "--release", "--", rest @ ..] => rest,
        _ => return None,
    };
    Some(["freshet"].iter().chain(arguments).map(|word| (*word).to_owned()).collect())
}

/// What is wrong with a command, if anything.
fn mistake(words: &[String]) -> Option<String> {
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return Some(error.to_string()),
    };
    let policies = match &cli.command {
        Command::Simulate(arguments) => arguments.policy.clone(),
        Command::Demo(arguments) => arguments.policy.clone(),
        _ => Vec::new(),
    };
    let names = policies.iter().flat_map(|list| registry::split_names(list));
    let known = |name: &&str| ["all", "oracles"].contains(name) || name.starts_with("evolved:");
    names.filter(|name| !known(name)).find_map(|name| compare::check(name, Some(MeasureId(0))).err())
}

#[test]
fn every_command_in_a_shell_block_is_understood() {
    let (mut count, mut wrong) = (0, Vec::new());
    for path in documents() {
        let text = std::fs::read_to_string(&path).unwrap();
        for (number, line) in shell_lines(&text) {
            for words in commands(&line).iter().filter_map(|words| ours(words)) {
                count += 1;
                let place = || path.strip_prefix(root()).unwrap().display();
                wrong.extend(mistake(&words).map(|said| format!("{}:{number}: {line}\n{said}", place())));
            }
        }
    }
    assert!(count > 50, "only {count} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The examples below the help of a command and of those below it: two blanks, the command, two blanks or more, a remark.
fn examples(command: &clap::Command) -> Vec<String> {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let own = help.lines().filter_map(|line| line.strip_prefix("  ")).map(|line| {
        let end = line.find("  ").unwrap_or(line.len());
        line.get(..end).unwrap_or(line).to_owned()
    });
    own.chain(command.get_subcommands().flat_map(examples)).collect()
}

#[test]
fn every_example_of_the_help_is_understood() {
    let examples = examples(&Cli::command());
    let own: Vec<_> =
        examples.iter().flat_map(|line| commands(line)).filter_map(|words| ours(&words)).collect();
    assert!(own.len() > 40, "only {} examples were found", own.len());
    let wrong: Vec<String> =
        own.iter().filter_map(|words| mistake(words).map(|said| format!("{words:?}\n{said}"))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_line_is_read_as_a_shell_reads_it() {
    let words = |line: &str| commands(line).iter().filter_map(|words| ours(words)).collect::<Vec<_>>();
    assert_eq!(
        words("freshet crawl --on-change 'jq -r .url >> a'  # hook"),
        [["freshet", "crawl", "--on-change", "jq -r .url >> a"]]
    );
    assert_eq!(
        words("freshet web > seeds.txt & freshet crawl"),
        [vec!["freshet", "web"], vec!["freshet", "crawl"]]
    );
    assert_eq!(words("cargo run --release -- demo | less"), [["freshet", "demo"]]);
    assert!(mistake(&["freshet".into(), "demo".into(), "--policy".into(), "a,b".into()]).is_some());
    assert!(mistake(&["freshet".into(), "crawl".into(), "--no-such-flag".into()]).is_some());
}
