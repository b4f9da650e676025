//! Comments, raw text and scripts: bytes from the start of one in, its length out.
//!
//! These are the states of the WHATWG tokenizer in which tags are not tags (HTML Standard, 13.2.5.9 to 13.2.5.31 and
//! 13.2.5.43 to 13.2.5.52), seen from outside: only where they end matters. What must stay true: each is one walk
//! forward, and what has no end lasts to the end of the page.

use memchr::{memchr, memchr2};

/// White space between attributes. CR is among them since the standard makes it LF before it looks.
#[inline(always)]
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | b'\x0c')
}

/// The length of a comment after its `<!--`, end included.
pub(super) fn comment_length(comment: &[u8]) -> usize {
    if comment.starts_with(b">") {
        return 1;
    }
    if comment.starts_with(b"->") {
        return 2;
    }
    let ends = memchr::memchr_iter(b'>', comment);
    let before_end = |end: &usize| {
        let body = comment.get(..*end).unwrap_or_default();
        body.ends_with(b"--") || body.ends_with(b"--!")
    };
    ends.into_iter().find(before_end).map_or(comment.len(), |end| end + 1)
}

/// The length of the text in front of the end tag called `name`, or of all if there is none.
pub(super) fn raw_length(rest: &[u8], name: &[u8]) -> usize {
    memchr::memchr_iter(b'<', rest)
        .find(|start| rest.get(start + 1) == Some(&b'/') && is_name(rest, start + 2, name))
        .unwrap_or(rest.len())
}

/// Whether `name` in any case stands at `start` and ends there as a tag's name ends.
fn is_name(rest: &[u8], start: usize, name: &[u8]) -> bool {
    let end = start + name.len();
    rest.get(start..end).is_some_and(|written| written.eq_ignore_ascii_case(name))
        && rest.get(end).is_some_and(|byte| is_space(*byte) || matches!(byte, b'/' | b'>'))
}

/// The length of a script in front of its end tag, or of all if there is none.
///
/// An old page may hide its script in `<!--`, and a script inside that `<!--` may write a script: in there
/// `<script>` opens a level at which `</script>` is not the end (HTML Standard, 13.2.5.15 to 13.2.5.31).
pub(super) fn script_length(rest: &[u8]) -> usize {
    let mut position = 0;
    let mut in_comment = false;
    let mut in_inner_script = false;
    loop {
        let from = rest.get(position..).unwrap_or_default();
        let found = if in_comment { memchr2(b'<', b'-', from) } else { memchr(b'<', from) };
        let Some(found) = found else { return rest.len() };
        position += found;
        let from = rest.get(position..).unwrap_or_default();
        if from.starts_with(b"-") {
            let dashes = from.iter().take_while(|byte| **byte == b'-').count();
            position += dashes;
            if dashes >= 2 && rest.get(position) == Some(&b'>') {
                in_comment = false;
                in_inner_script = false;
            }
        } else if from.starts_with(b"</") {
            if is_name(rest, position + 2, b"script") {
                if !in_inner_script {
                    return position;
                }
                in_inner_script = false;
            }
            position += 2;
        } else if in_comment && is_name(rest, position + 1, b"script") {
            in_inner_script = true;
            position += 1;
        } else if !in_comment && from.starts_with(b"<!--") {
            // The dashes that open it may be those that close it, so they are left to be read again.
            in_comment = true;
            position += 2;
        } else {
            position += 1;
        }
    }
}
