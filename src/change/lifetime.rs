//! When fragments came and went over a page's history, and what that says of it.
