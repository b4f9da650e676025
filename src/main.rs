//! Arguments in, exit code out: 0 done, 1 failed, 2 wrongly called, 130/143 stopped by a signal.

mod cli;
mod commands;
mod histories;
mod indexed;
mod interrupts;
mod on_change;
mod queries;
mod set_up;
mod settings;
mod terminal;
mod threads;
mod voice;

use std::process::ExitCode;

use cli::Command;
use freshet::look::LookError;
use freshet::report::diff::harmless;
use settings::Usage;

fn main() -> ExitCode {
    let cli = cli::parse();
    let talk = terminal::Talk::new(&cli.global);
    if cli.command.crawl_flags().is_some_and(|flags| flags.crawl.policy.as_deref() == Some("help")) {
        return commands::policies::run();
    }
    let present = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for warning in settings::unknown_variables(&cli.global, &cli::variables(), present) {
        talk.warn(&warning);
    }
    let done = match cli.command {
        Command::Crawl(arguments) => commands::crawl::run(&cli.global, &arguments, &talk),
        Command::Monitor(arguments) => commands::monitor::run(&cli.global, &arguments, &talk),
        Command::Plan(arguments) => commands::plan::run(&cli.global, &arguments, &talk),
        Command::Why(arguments) => commands::why::run(&cli.global, &arguments),
        Command::Status(arguments) => commands::status::run(&cli.global, &arguments),
        Command::Report(arguments) => commands::report::run(&cli.global, &arguments, &talk),
        Command::Pages(arguments) => commands::pages::run(&cli.global, &arguments),
        Command::Signals(arguments) => commands::signals::run(&cli.global, &arguments),
        Command::Ping(arguments) => commands::ping::run(&cli.global, &arguments, &talk),
        Command::Changes(arguments) => commands::changes::run(&cli.global, &arguments, &talk),
        Command::Log(arguments) => commands::log::run(&cli.global, &arguments, &talk),
        Command::Links(arguments) => commands::links::run(&cli.global, &arguments, &talk),
        Command::Diff(arguments) => commands::diff::run(&cli.global, &arguments, &talk),
        Command::Show(arguments) => commands::show::run(&cli.global, &arguments, &talk),
        Command::Search(arguments) => commands::search::run(&cli.global, &arguments, &talk),
        Command::Serve(arguments) => commands::serve::run(&cli.global, &arguments, &talk),
        Command::Check(arguments) => commands::check::run(&cli.global, &arguments, &talk),
        Command::Compare(arguments) => commands::compare::run(&cli.global, &arguments, &talk),
        Command::History(arguments) => commands::history::run(&cli.global, &arguments),
        Command::Estimate(arguments) => commands::estimate::run(&cli.global, &arguments, &talk),
        Command::Quality(arguments) => commands::quality::run(&cli.global, &arguments, &talk),
        Command::Rates(arguments) => commands::rates::run(&cli.global, &arguments),
        Command::Simulate(arguments) => commands::simulate::run(&cli.global, &arguments, &talk),
        Command::Evolve(arguments) => commands::evolve::run(&cli.global, &arguments, &talk),
        Command::Reproduce(arguments) => commands::reproduce::run(&cli.global, &arguments, &talk),
        Command::Export(arguments) => commands::export::run(&cli.global, &arguments, &talk),
        Command::Import(arguments) => commands::import::run(&cli.global, &arguments, &talk),
        Command::Seeds(arguments) => commands::seeds::run(&cli.global, &arguments, &talk),
        Command::Forget(arguments) => commands::forget::run(&cli.global, &arguments, &talk),
        Command::Store(command) => commands::store::run(&cli.global, &command, &talk),
        Command::Demo(arguments) => commands::demo::run(&cli.global, &arguments, &talk),
        Command::Web(arguments) => commands::web::run(&cli.global, &arguments, &talk),
        Command::Score(arguments) => commands::score::run(&cli.global, &arguments, &talk),
        Command::Init(arguments) => commands::init::run(&cli.global, &arguments, &talk),
        Command::Config(arguments) => commands::config::run(&cli.global, &arguments, &talk),
        Command::Completions { shell } => commands::completions::run(shell),
        Command::Man(arguments) => commands::man::run(&arguments, &talk),
    };
    match done {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Many of our errors say their cause themselves; it is not said twice.
            let mut said = error.to_string();
            for cause in error.chain().skip(1).map(ToString::to_string) {
                if !said.contains(&cause) {
                    said = format!("{said}: {cause}");
                }
            }
            // An error may quote a stranger's store.
            let said: Vec<String> = said.split('\n').map(harmless).collect();
            eprintln!("error: {}", said.join("\n"));
            ExitCode::from(if is_misuse(&error) { 2 } else { 1 })
        }
    }
}

/// Was the command called wrongly?
fn is_misuse(error: &anyhow::Error) -> bool {
    error.is::<Usage>() || error.downcast_ref::<LookError>().is_some_and(LookError::is_misuse)
}

/// `freshet pages | head` is no failure.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(closed)
            || cause
                .downcast_ref::<csv::Error>()
                .is_some_and(|error| matches!(error.kind(), csv::ErrorKind::Io(io) if closed(io)))
            || cause
                .downcast_ref::<serde_json::Error>()
                .is_some_and(|error| error.io_error_kind() == Some(std::io::ErrorKind::BrokenPipe))
    })
}
