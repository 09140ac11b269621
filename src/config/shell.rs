//! Words for a POSIX shell.

/// A word that the shell takes as it stands, whatever is in it.
pub fn quote(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn nothing_in_a_word_is_left_to_the_shell() {
        assert_eq!(quote("http://localhost:30000/v1"), "http://localhost:30000/v1");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("it's $(rm -rf) `x`\n!*"), "'it'\\''s $(rm -rf) `x`\n!*'");
        assert_eq!(quote("~"), "'~'");
    }

    #[cfg(unix)]
    #[test]
    fn a_real_shell_hands_the_word_on_unchanged() {
        for word in [
            "it's",
            "$HOME `id` \"x\" \\ !",
            "{\"a\": [1, 'b']}",
            "ü\u{2028}",
            "-n",
            "a\nb",
        ] {
            let script = format!("printf %s {}", quote(&format!("x{word}")));
            let out = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(out.stdout).unwrap(), format!("x{word}"));
        }
    }
}
