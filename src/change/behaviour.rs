//! Static, churn or scroll: how a page moves, read off two texts and off its fragments' lives.
