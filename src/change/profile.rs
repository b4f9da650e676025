//! Change profiles: (time, divergence) pairs since a base version.
