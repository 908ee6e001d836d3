//! Fills `${name}` in a template.

/// Replaces each `${name}` by its value. What stands alone on a line takes over that line's
/// indentation for all its lines, and an empty value takes the line away. Values are not searched
/// for further names.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() * 2);
    for line in template.lines() {
        let indent = &line[..line.len() - line.trim_start().len()];
        match whole_line(line, values) {
            Some(value) => {
                for inner in value.lines() {
                    if !inner.is_empty() {
                        out.push_str(indent);
                        out.push_str(inner);
                    }
                    out.push('\n');
                }
            }
            None => {
                inline(line, values, &mut out);
                out.push('\n');
            }
        }
    }
    out
}

fn whole_line<'a>(line: &str, values: &[(&str, &'a str)]) -> Option<&'a str> {
    let name = line.trim_start().strip_prefix("${")?.strip_suffix('}')?;
    look_up(name, values)
}

fn inline(line: &str, values: &[(&str, &str)], out: &mut String) {
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let named = after
            .split_once('}')
            .and_then(|(name, tail)| Some((look_up(name, values)?, tail)));
        match named {
            Some((value, tail)) => {
                out.push_str(value);
                rest = tail;
            }
            None => {
                out.push_str("${");
                rest = after;
            }
        }
    }
    out.push_str(rest);
}

fn look_up<'a>(name: &str, values: &[(&str, &'a str)]) -> Option<&'a str> {
    values
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn a_value_alone_on_a_line_is_indented_as_a_whole() {
        assert_eq!(
            fill("a:\n  ${b}\nc", &[("b", "- 1\n\n- ${b}\n")]),
            "a:\n  - 1\n\n  - ${b}\nc\n"
        );
    }

    #[test]
    fn a_value_inside_a_line_stands_where_its_name_stood() {
        assert_eq!(
            fill("${a}: {${b}, ${c}}", &[("a", "x"), ("b", "${a}")]),
            "x: {${a}, ${c}}\n"
        );
    }

    #[test]
    fn an_empty_value_takes_its_line_away() {
        assert_eq!(fill("a\n  ${b}\nc", &[("b", "")]), "a\nc\n");
    }
}
