//! Names of inputs in messages, and in commands that are printed for the user.

use std::borrow::Cow;
use std::path::Path;

/// The name of standard input in messages.
pub const STDIN: &str = "standard input";

/// Characters with no meaning for shells, besides letters and digits.
const PLAIN: &str = "/._-:,+@%";

/// Returns a path as one argument of a command of `b2`. For a POSIX shell, other characters than
/// letters, digits and [`PLAIN`] follow a backslash; quotes would end those around the command. For
/// Windows, a path with blanks has double quotes. Standard input is `-`.
pub fn argument(path: &Path) -> String {
    if path == Path::new(STDIN) {
        return "-".to_owned();
    }
    let text = path.to_string_lossy();
    // It would be an option.
    let text = if text.starts_with('-') { Cow::Owned(format!("./{text}")) } else { text };
    if cfg!(windows) {
        return if text.contains(' ') { format!("\"{text}\"") } else { text.into_owned() };
    }
    let mut quoted = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_alphanumeric() && !PLAIN.contains(c) {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_shell_passes_the_argument_unchanged() {
        let names = [
            "plain.b2nd",
            "a/b-c_d.e:/f,g+h@i%j",
            "two words",
            "it's",
            "\"$(x)`y`\"",
            "a;b|c&d>e<f",
            "*?[a]{b,c}~!#=^\\ ",
            "~user",
            "#comment",
            "é漢🦀\u{a0}",
            "\t",
        ];
        for name in names {
            let script = format!("printf %s {}", argument(Path::new(name)));
            let output = Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), name);
        }
        assert_eq!(argument(Path::new("a/plain-name_1.b2nd")), "a/plain-name_1.b2nd");
        assert_eq!(argument(Path::new("-n")), "./-n");
        assert_eq!(argument(Path::new(STDIN)), "-");
    }
}
