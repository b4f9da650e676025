//! `[serve]`: the server of the dashboard, declared like the other sections.
//!
//! Its flags belong to `freshet serve` alone. The token itself is no setting of the file: a file of its own has it, the flag, or
//! the environment.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, ValueHint};
use serde::{Deserialize, Serialize};

use super::values::{FromText, Written};

/// Port of the dashboard, unless another is chosen: the usual one of servers that are not for everyone.
const PORT: u16 = 8080;

section! {
    /// `[serve]`: where the dashboard listens, and who may look at it.
    ServeGiven, ServeSection {
        /// Address and port to listen on; port 0 takes a free one. Any address but a loopback one needs a token [default:
        /// 127.0.0.1:8080]
        #[arg(long, value_name = "ADDRESS", env = "FRESHET_LISTEN")]
        listen: Written<SocketAddr> = Written::new(SocketAddr::from((Ipv4Addr::LOCALHOST, PORT))),
        /// Name by which browsers reach the server, besides its own address: for a proxy or a name in your network (repeatable)
        #[arg(long, value_name = "NAME", env = "FRESHET_HOST", value_delimiter = ',')]
        host: Vec<String> = Vec::new(),
        /// File whose first line is the token that opens the dashboard
        #[arg(long, value_name = "FILE", env = "FRESHET_TOKEN_FILE", value_hint = ValueHint::FilePath)]
        token_file: PathBuf,
    }
}

impl FromText for SocketAddr {
    fn from_text(text: &str) -> Result<Self, String> {
        // `localhost:8080` is what people write; a name is not looked up.
        let number = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        let address = number.as_deref().unwrap_or(text).parse();
        address
            .map_err(|_| "write an IP address and a port: 127.0.0.1:8080, [::1]:8080, 0.0.0.0:80".to_owned())
    }

    fn to_text(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_port() {
        let read = |text| SocketAddr::from_text(text).ok().map(|address| address.to_text());
        assert_eq!(read("127.0.0.1:80").as_deref(), Some("127.0.0.1:80"));
        assert_eq!(read("localhost:0").as_deref(), Some("127.0.0.1:0"));
        assert_eq!(read("[::1]:8080").as_deref(), Some("[::1]:8080"));
        for wrong in ["", "8080", "127.0.0.1", "example.org:80", "localhost:99999"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
