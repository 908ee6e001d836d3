use std::ffi::OsString;
use std::path::PathBuf;

use host_sim_scenario::explain::Answer;
use host_sim_server::gateway;
use host_sim_server::logs::Level;
use host_sim_server::source::Source;

use crate::commands::{Command, bench, keys, render, run, serve, trace};
use crate::{HELP, parse};

fn parsed(line: &str) -> Result<Command, String> {
    parse(line.split_whitespace().map(OsString::from))
}

fn served(line: &str) -> gateway::Options {
    match parsed(line) {
        Ok(Command::Serve(serve)) => serve,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn envoys_own_flags_are_taken() {
    let serve = served(
        "serve -c e.yaml --concurrency 2 --admin-address-path a --file-flush-interval-msec 50 --disable-hot-restart -l warning",
    );
    assert_eq!(serve.source, Source::Envoy(PathBuf::from("e.yaml")));
    assert_eq!(serve.concurrency, Some(2));
    assert_eq!(serve.admin_address_path, Some(PathBuf::from("a")));
    assert_eq!(serve.log_level, Level::Warning);
    assert_eq!(
        served("serve --config-path=e.yaml --log-level off --seed 9").seed,
        Some(9)
    );
}

#[test]
fn a_gateway_is_served_with_the_flags_of_render() {
    let serve = served(
        "serve --gateway g.json --listen 127.0.0.1:1 --modules m --access-log - --no-watch --drain-time-s 3",
    );
    let Source::Gateway { path, options } = serve.source else {
        panic!("{:?}", serve.source)
    };
    assert_eq!(path, PathBuf::from("g.json"));
    assert_eq!(options.listen, ([127, 0, 0, 1], 1).into());
    assert_eq!(options.admin, ([127, 0, 0, 1], 9901).into());
    assert_eq!(options.modules, "m");
    assert_eq!(serve.access_log.as_deref(), Some("/dev/stdout"));
    assert_eq!((serve.watch, serve.drain_time.as_secs()), (false, 3));
}

#[test]
fn render_takes_its_file_and_addresses() {
    let Ok(Command::Render(render)) =
        parsed("render g.json --listen 127.0.0.1:1 --modules m --access-log /dev/null")
    else {
        panic!("not taken")
    };
    assert_eq!(render.gateway, PathBuf::from("g.json"));
    assert_eq!(render.listen, Some(([127, 0, 0, 1], 1).into()));
    assert_eq!(render.admin, None);
}

#[test]
fn run_takes_files_folders_and_what_is_to_be_done_with_them() {
    let line = "run a.yaml b --filter x --format json --junit j.xml --record t --check-golden --seed 9 --modules m --cache-dir c";
    let Ok(Command::Run(run)) = parsed(line) else {
        panic!("not taken")
    };
    assert_eq!(run.paths, ["a.yaml", "b"].map(PathBuf::from));
    assert_eq!(
        (run.filter.as_deref(), run.format),
        (Some("x"), run::Format::Json)
    );
    assert_eq!((run.seed, run.check_golden), (Some(9), true));
    let paths = [&run.junit, &run.record, &run.modules, &run.cache];
    assert_eq!(
        paths.map(|path| path.as_deref().map(|path| path.display().to_string())),
        ["j.xml", "t", "m", "c"].map(|name| Some(name.to_owned()))
    );
}

#[test]
fn trace_takes_a_request_in_the_words_of_curl() {
    let Ok(Command::Trace(trace)) = parsed(
        "trace -c e.yaml -X PUT -H X-One:1 --header two:2 -d @body --path /p --worker-answers 503 hang --seed 4",
    ) else {
        panic!("not taken")
    };
    assert_eq!(trace.source, trace::Source::Envoy("e.yaml".into()));
    assert_eq!(trace.data_file, Some(PathBuf::from("body")));
    let sent = &trace.question.sent;
    assert_eq!(sent.method.as_deref(), Some("PUT"));
    assert_eq!(sent.path.as_deref(), Some("/p"));
    let headers = [("x-one", "1"), ("two", "2")];
    assert_eq!(
        sent.headers,
        headers.map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
    assert_eq!(trace.question.answers, [Answer::Status(503), Answer::Hang]);
    assert_eq!(trace.question.seed, 4);
}

#[test]
fn help_is_at_every_level() {
    assert_eq!(parsed("--help"), Ok(Command::Print(HELP)));
    assert_eq!(parsed("serve --help"), Ok(Command::Print(serve::HELP)));
    assert_eq!(parsed("run --help"), Ok(Command::Print(run::HELP)));
    assert_eq!(parsed("render -h"), Ok(Command::Print(render::HELP)));
    assert_eq!(parsed("bench --help"), Ok(Command::Print(bench::HELP)));
    assert_eq!(parsed("trace --help"), Ok(Command::Print(trace::HELP)));
    for line in ["keys --help", "keys new --help", "keys digest -h"] {
        assert_eq!(parsed(line), Ok(Command::Print(keys::HELP)), "{line}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    for (line, expected) in [
        ("", "a command is missing"),
        ("fly", "no command \"fly\""),
        ("serve", "-c FILE is missing"),
        ("serve -c e.yaml --gateway g.json", "one of the two"),
        ("serve -c e.yaml --listen 127.0.0.1:1", "go with --gateway"),
        ("serve -g g.json --admin nowhere", "nowhere"),
        ("serve -c e.yaml --concurrency 0", "must be 1 to 64"),
        ("serve -c e.yaml -l loud", "must be trace"),
        ("serve -c e.yaml --unknown", "--unknown"),
        ("run", "a scenario is missing"),
        ("run a.yaml --format xml", "must be text or json"),
        ("run a.yaml --seed x", "x"),
        ("render", "gateway.json to render is missing"),
        ("render a.json b.json", "b.json"),
        ("render a.json --listen nowhere", "nowhere"),
        ("check", "files to check are missing"),
        ("check e.yaml --format xml", "must be text or json"),
        ("check e.yaml --envoy 1.50", "must be 1.30 to 1.40"),
        ("bench --check --update", "not both"),
        ("bench table.tsv", "table.tsv"),
        ("trace --gateway a -c b", "one configuration"),
        ("trace --path v1", "must begin with /"),
        ("trace -H authorization", "NAME: VALUE"),
        ("trace --times 0", "must be 1 to 10000"),
        ("trace --worker-answers 200 maybe", "reset, cut or hang"),
        ("trace --worker-answers 199", "from 200 to 599"),
        ("trace --format xml", "text or json"),
        ("trace envoy.yaml", "envoy.yaml"),
        ("keys", "new or digest"),
        ("keys list", "keys has no \"list\""),
        ("keys new", "--id is missing"),
        ("keys new --id k --tenant t", "--app is missing"),
        ("keys new --id k --id l", "--id is given twice"),
        ("keys new --sha256 0", "--sha256"),
        (
            "keys new --generation x",
            "--generation \"x\": must be a whole",
        ),
        (
            "keys new --id k --tenant t --app a --expires-at tomorrow",
            "--expires-at: must be a time in UTC",
        ),
        (
            "keys new --id k --tenant t --app a --scope chat --scope chats",
            "--scope[1]: must be one of",
        ),
        ("keys new --format xml", "must be text or json"),
        ("keys digest sk-1", "from standard input"),
    ] {
        let error = parsed(line).expect_err(line);
        assert!(error.contains(expected), "{line}: {error}");
    }
}
