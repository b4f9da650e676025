use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn parsed(text: &str) -> Expression {
    text.parse().unwrap_or_else(|error| panic!("`{text}`: {error}"))
}

fn wrong(text: &str) -> String {
    text.parse::<Expression>().expect_err(text).to_string()
}

fn at(n: f64, x: f64, t: f64) -> impl Fn(Terminal) -> f64 {
    move |terminal| match terminal {
        Terminal::Visits => n,
        Terminal::Changes => x,
        Terminal::Waiting => t,
        _ => 0.5,
    }
}

/// A formula as the golden file has it.
fn written(value: &Value) -> Vec<Symbol> {
    match value {
        Value::String(name) => vec![Symbol::Fact(Terminal::from_name(name).expect("a terminal"))],
        Value::Number(number) => vec![Symbol::Number(number.as_f64().expect("a number"))],
        Value::Array(call) => {
            let function = match call[0].as_str().expect("a function") {
                "+" => Function::Add,
                "-" => Function::Subtract,
                "*" => Function::Multiply,
                "/" => Function::Divide,
                "pow" => Function::Power,
                "log" => Function::Log,
                "exp" => Function::Exp,
                other => panic!("{other}"),
            };
            std::iter::once(Symbol::Call(function)).chain(call[1..].iter().flat_map(written)).collect()
        }
        other => panic!("{other}"),
    }
}

#[test]
fn values_are_the_golden_ones() {
    let golden: Value =
        serde_json::from_str(include_str!("../../../tests/golden/gp_eval.json")).expect("golden values");
    let cases = golden["cases"].as_array().expect("cases");
    assert!(cases.len() > 30);
    for case in cases {
        let expression = Expression::new(written(&case["expr"])).expect("a formula");
        let of = |name: &str| case["env"][name].as_f64().expect("a number");
        let (n, x, t) = (of("n"), of("X"), of("t"));
        let expected = case["value"].as_f64().expect("a value");
        let found = expression.value(at(n, x, t));
        assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{expression}: {found}, not {expected}");
        let (values, again) = (columns_of(&expression, &[(n, x, t)]), parsed(&expression.to_string()));
        assert_eq!(values, [found], "{expression} in columns");
        assert_eq!(again, expression);
    }
}

fn columns_of(expression: &Expression, places: &[(f64, f64, f64)]) -> Vec<f64> {
    let mut columns = Columns::default();
    for terminal in Terminal::ALL {
        let values = places.iter().map(|(n, x, t)| at(*n, *x, *t)(terminal));
        columns.of_mut(terminal).extend(values);
    }
    let mut values = vec![f64::NAN; places.len()];
    expression.values(&columns, &mut Scratch::default(), &mut values);
    values
}

#[test]
fn formulas_are_read_as_one_means_them() {
    for (text, value) in [
        ("t * X / n", 3.0 * 2.0 / 4.0),
        ("1 + 2 * 3 ^ 2", 19.0),
        ("2 ^ 3 ^ 0", 2.0),
        ("10 - 4 - 3", 3.0),
        ("-t + 1", -2.0),
        ("- 2 ^ 2", -4.0),
        ("t ^ -1", 1.0 / 3.0),
        ("pow(t, n - X)", 9.0),
        ("ln(exp(x))", 2.0),
        ("8 ÷ 2 × 3 − 1", 11.0),
        ("1e-1 * 5E+1", 5.0),
        ("t / (X - X)", 1.0),
    ] {
        let found = parsed(text).value(at(4.0, 2.0, 3.0));
        assert!((found - value).abs() < 1e-12, "{text}: {found}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    assert_eq!(wrong("t * (X + 1"), "column 11: the formula ends where `)` or a sign was expected");
    assert_eq!(wrong("t X"), "column 3: there is `X` where `+`, `-`, `*`, `/`, `^` or the end was expected");
    assert_eq!(wrong("t * * X"), "column 5: there is `*` where a number, a name or `(` was expected");
    assert_eq!(wrong(""), "column 1: the formula ends where a number, a name or `(` was expected");
    assert_eq!(wrong("log t"), "column 5: there is `t` where `(` behind `log` was expected");
    assert_eq!(wrong("pow(t)"), "column 6: there is `)` where `,` and the exponent was expected");
    assert_eq!(wrong("1.2.3"), "column 1: `1.2.3` is not a number");
    assert!(wrong("t $ 2").starts_with("column 3: `$` has no meaning"));
    assert!(wrong("wibble + 1").starts_with("column 1: there is no `wibble`; there is `n`, `X`, `t`"));
    assert!(wrong(&"(".repeat(10_000)).contains("more than 100 times"));
    assert!(wrong(&"t^-".repeat(10_000)).contains("more than 100 times"));
    assert!(wrong(&format!("t{}", "+t".repeat(15_000))).contains("10000 are the most"));
    assert!(wrong(&format!("t{}", "+t".repeat(200_000))).starts_with("column 40001: the formula goes on"));
}

#[test]
fn simpler_forms() {
    for (text, simple) in [
        ("t * 1 + 0", "t"),
        ("X * t", "X * t"),
        ("t * X", "X * t"),
        ("(n - n) * exp(t) + X", "X"),
        ("log(0.5 + 0.5) + t", "t"),
        ("(t + 1) + 10", "t + 11"),
        ("t - (0 - X)", "X + t"),
        ("(t / 10) * 100", "t * 10"),
        ("log(exp(nad))", "nad"),
        ("(t * (n + 1)) / (n + 1)", "(t * (n + 1)) / (n + 1)"),
        ("(nad * (aad + 1)) / (1 + aad)", "nad"),
        ("n / n", "1"),
        // No number is above 10¹², also where the whole is small.
        ("exp(cg - 100) * 1000000000000 * 1000", "exp(cg - 100) * 1000000000000 * 1000"),
        // 0 / n is 1 where n is 0.
        ("0 / n", "0 / n"),
    ] {
        let simplified = parsed(text).simplified();
        assert_eq!(simplified.symbols().len(), parsed(simple).symbols().len(), "{text}: {simplified}");
        assert_eq!(simplified.canonical(), parsed(simple).canonical(), "{text}: {simplified}");
    }
    assert_eq!(parsed("log(1 + 3 * nad) - 7").ranking(), parsed("nad"));
    assert_eq!(parsed("10 - t").ranking().to_string(), "10 - t", "less is not more");
}

/// Any formula.
pub(crate) fn formula() -> impl Strategy<Value = Expression> {
    let leaf = prop_oneof![
        prop_oneof![Just(0.0), Just(1.0), Just(0.001), Just(1000.0), Just(-3.5), -1e12..1e12_f64]
            .prop_map(|value| vec![Symbol::Number(value)]),
        prop::sample::select(Terminal::ALL.to_vec()).prop_map(|terminal| vec![Symbol::Fact(terminal)]),
    ];
    let whole = leaf.prop_recursive(6, 60, 2, |inner| {
        (prop::sample::select(Function::ALL.to_vec()), inner.clone(), inner).prop_map(|(function, a, b)| {
            let b = if function.operands() == 2 { b } else { Vec::new() };
            [vec![Symbol::Call(function)], a, b].concat()
        })
    });
    whole.prop_map(|symbols| Expression::new(symbols).expect("whole"))
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(formula in formula()) {
        for form in [formula.simplified(), formula.canonical(), formula.ranking(), formula] {
            prop_assert_eq!(parsed(&form.to_string()), form);
        }
    }

    #[test]
    fn no_text_is_too_odd(text in "[-nXt0-9+*/^(),. loge\\PC]{0,40}") {
        let _ = text.parse::<Expression>().map(|formula| formula.value(at(1.0, 1.0, 1.0)));
    }

    #[test]
    fn values_are_numbers_within_bounds(formula in formula(), n in any::<f64>(), x in any::<f64>(), t in any::<f64>()) {
        let value = formula.value(at(n, x, t));
        prop_assert!(value.abs() <= 1e12, "{}", value);
    }

    #[test]
    fn columns_say_what_single_values_say(formula in formula(), places in prop::collection::vec((0.0..50.0, 0.0..50.0, 0.0..50.0), 1..600)) {
        let values = columns_of(&formula, &places);
        for ((n, x, t), found) in places.into_iter().zip(values) {
            prop_assert_eq!(found.to_bits(), formula.value(at(n, x, t)).to_bits());
        }
    }

    #[test]
    fn the_canonical_form_has_the_same_values(formula in formula(), n in 0u32..60, x in 0u32..60, t in 0u32..60) {
        let of = at(f64::from(n), f64::from(x), f64::from(t));
        let canonical = formula.canonical();
        prop_assert!(canonical.symbols().len() <= formula.symbols().len());
        prop_assert_eq!(canonical.value(&of) + 0.0, formula.value(&of) + 0.0, "{} and {}", formula, canonical);
        prop_assert_eq!(canonical.canonical(), canonical);
    }
}

#[test]
fn parts_and_depths() {
    let formula = parsed("t * (X + log(n))");
    assert_eq!((formula.depth(), formula.symbols().len()), (4, 6));
    assert_eq!(formula.part(0), 0..6);
    assert_eq!(formula.part(2), 2..6);
    assert_eq!(formula.with(formula.part(2), parsed("1").symbols()).to_string(), "t * 1");
    assert_eq!(formula.terminals(), Terminal::PAPERS);
    assert!(
        Expression::new(vec![Symbol::Call(Function::Add)]).is_none() && Expression::new(vec![]).is_none()
    );
    assert!((parsed("exp(1)").value(|_| 0.0) - std::f64::consts::E).abs() < 1e-12);
}
