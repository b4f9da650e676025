//! Bounds on what a visit may cost and on which addresses it may reach.
//!
//! An address is judged when it is about to be dialled, after the name was resolved, so a name that points at a
//! private network (or starts to, between two look-ups) reaches nothing.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use std::time::Duration;

/// Bounds on the time of one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Name resolution is inside this too.
    pub connect: Duration,
    /// From the request to the end of the answer's head; also the longest silence within a body.
    pub idle: Duration,
    /// From the request to the last byte.
    pub total: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(15),
            total: Duration::from_secs(60),
        }
    }
}

/// Which addresses may be dialled: public ones always, others only if the operator opened them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddressRules {
    allow_all: bool,
    allowed: Vec<AddressRange>,
}

impl AddressRules {
    /// Public addresses only.
    pub fn public() -> Self {
        Self::default()
    }

    /// Every address.
    pub fn everything() -> Self {
        Self { allow_all: true, allowed: Vec::new() }
    }

    /// Public addresses, and these ranges.
    pub fn and_ranges(ranges: Vec<AddressRange>) -> Self {
        Self { allow_all: false, allowed: ranges }
    }

    pub(crate) fn permits(&self, address: IpAddr) -> bool {
        let address = unmapped(address);
        self.allow_all || is_public(address) || self.allowed.iter().any(|range| range.contains(address))
    }
}

/// A range of addresses such as `10.0.0.0/8`; a bare address is a range of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    network: IpAddr,
    prefix: u8,
}

impl AddressRange {
    /// Is this address in the block? An IPv4 address is in no IPv6 block, and the other way round.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.network, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                same_prefix(u128::from(u32::from(network)), u128::from(u32::from(address)), 32, self.prefix)
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                same_prefix(u128::from(network), u128::from(address), 128, self.prefix)
            }
            _ => false,
        }
    }
}

fn same_prefix(a: u128, b: u128, width: u32, prefix: u8) -> bool {
    // A shift by the whole width is undefined for the type, and a prefix of 0 matches everything.
    let shift = width - u32::from(prefix);
    prefix == 0 || (a >> shift) == (b >> shift)
}

impl FromStr for AddressRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, prefix) = text.split_once('/').map_or((text, None), |(a, p)| (a, Some(p)));
        let network: IpAddr = address
            .trim()
            .parse()
            .map_err(|_| format!("`{text}` is not an address range such as `10.0.0.0/8`"))?;
        let width = if network.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => width,
            Some(prefix) => prefix
                .trim()
                .parse::<u8>()
                .ok()
                .filter(|prefix| *prefix <= width)
                .ok_or_else(|| format!("`{text}`: the prefix length must be between 0 and {width}"))?,
        };
        Ok(Self { network, prefix })
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.network, self.prefix)
    }
}

/// An IPv4 address in IPv6 clothes counts as what it reaches.
fn unmapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// Can this address belong to somebody on the public internet? (IANA's special-purpose registries.)
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(a == 0
        || address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || (a == 100 && (64..128).contains(&b))      // shared address space, RFC 6598
        || (a == 192 && b == 0 && c == 0)            // protocol assignments
        || (a == 192 && b == 88 && c == 99)          // 6to4 relays
        || (a == 198 && (b == 18 || b == 19))        // benchmarking
        || a >= 224) // multicast, reserved
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    // Translation prefixes reach the IPv4 address inside: judge that one.
    if segments[..6] == [0x64, 0xff9b, 0, 0, 0, 0] {
        return is_public_v4(embedded_v4(segments[6], segments[7]));
    }
    if segments[0] == 0x2002 {
        return is_public_v4(embedded_v4(segments[1], segments[2]));
    }
    // Protocol assignments (Teredo among them), and two ranges for documentation.
    let reserved = match (segments[0], segments[1]) {
        (0x2001, second) => second < 0x200 || second == 0xdb8,
        (0x3fff, second) => second < 0x1000,
        _ => false,
    };
    // Only 2000::/3 was ever given out as global unicast.
    (segments[0] & 0xe000) == 0x2000 && !reserved
}

fn embedded_v4(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn public(text: &str) -> bool {
        AddressRules::public().permits(text.parse().unwrap())
    }

    #[test]
    fn special_addresses_are_refused_however_they_are_dressed() {
        for address in [
            "127.0.0.1",
            "127.255.0.3",
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.8",
            "198.18.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "203.0.113.9",
            "::1",
            "::",
            "::ffff:127.0.0.1",
            "::ffff:10.1.2.3",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:0a00:0001::1",
            "fe80::1",
            "fec0::1",
            "fc00::1",
            "fd12:3456::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "100::1",
            "::ffff:0:127.0.0.1",
            "4000::1",
        ] {
            assert!(!public(address), "{address}");
        }
    }

    #[test]
    fn public_addresses_pass() {
        for address in [
            "1.1.1.1",
            "93.184.216.34",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1111",
            "2002:0101:0101::1",
            "64:ff9b::101:101",
        ] {
            assert!(public(address), "{address}");
        }
    }

    #[test]
    fn ranges_open_what_they_name_and_nothing_else() {
        let rules =
            AddressRules::and_ranges(vec!["127.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()]);
        assert!(rules.permits("127.9.9.9".parse().unwrap()));
        assert!(rules.permits("::ffff:127.9.9.9".parse().unwrap()));
        assert!(rules.permits("fd00::5".parse().unwrap()));
        assert!(!rules.permits("10.0.0.1".parse().unwrap()));
        assert!(AddressRules::everything().permits("10.0.0.1".parse().unwrap()));
        assert!("0.0.0.0/0".parse::<AddressRange>().unwrap().contains("8.8.8.8".parse().unwrap()));
        assert!("::/0".parse::<AddressRange>().unwrap().contains("::1".parse().unwrap()));
    }

    #[test]
    fn a_bad_range_says_what_is_wrong() {
        assert!("10.0.0.0/33".parse::<AddressRange>().unwrap_err().contains("between 0 and 32"));
        assert!("loopback".parse::<AddressRange>().unwrap_err().contains("not an address range"));
        assert_eq!("10.0.0.7".parse::<AddressRange>().unwrap().to_string(), "10.0.0.7/32");
    }
}
