//! Which names reach the server, and how many requests each can have on the wire.
//!
//! A browser opens 6 HTTP/1.1 connections per name and port and queues the rest in silence, which then looks like
//! TTFT. So the engine hands it no more than that, and uses more names where the server has more.

use http::{Uri, uri::Authority};

use crate::config::{Endpoint, LanePolicy, RunConfig};

/// Connections a browser opens per name and port with HTTP/1.1.
pub const HTTP1_STREAMS: u32 = 6;
/// Streams of an HTTP/2 connection, unless the server says otherwise.
pub const HTTP2_STREAMS: u32 = 100;
/// Streams that Chromium opens at most over one HTTP/2 connection.
pub const MAX_HTTP2_STREAMS: u32 = 256;
/// HTTP/1.1 connections in all. Chromium's pool has a size between 256 and about 510, shared with other tabs.
const MAX_HTTP1_TOTAL: u32 = 240;
/// Outstanding fetches in all: past 1,350 in one process, Chromium rejects them.
const MAX_TOTAL: u32 = 1_300;

/// What is known about the protocol the browser speaks with the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// `http:`: always HTTP/1.1 in a browser.
    Http1,
    /// Seen in Resource Timing.
    Http2,
    /// `https:` to a server that does not let the page see it.
    Unknown,
}

/// The names to use and the requests each may have on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanePlan {
    /// Base URLs, at least one, without a trailing slash.
    pub base_urls: Vec<String>,
    /// Requests on the wire per base URL.
    pub streams_per_lane: u32,
    /// Requests on the wire in all.
    pub slots: u32,
}

impl LanePlan {
    /// The lanes for a run. `protocol` as far as known; `seen`: what one name was seen to carry.
    pub fn new(config: &RunConfig, protocol: Protocol, seen: Option<u32>) -> Self {
        let Endpoint::Http { base_url } = &config.endpoint else {
            // No socket, no limit but the engine's own.
            let slots = config.most_in_flight().unwrap_or(MAX_TOTAL).min(MAX_TOTAL);
            return Self {
                base_urls: vec!["simulated".into()],
                streams_per_lane: slots,
                slots,
            };
        };
        let streams_per_lane = config.streams_per_lane.or(seen).unwrap_or(match protocol {
            Protocol::Http2 => HTTP2_STREAMS,
            Protocol::Http1 | Protocol::Unknown => HTTP1_STREAMS,
        });
        let base_url = base_url.trim_end_matches('/');
        let mut base_urls = vec![base_url.to_owned()];
        match &config.lanes {
            LanePolicy::Single => {}
            LanePolicy::List { base_urls: more } => {
                for url in more.iter().map(|url| url.trim_end_matches('/')) {
                    if !base_urls.iter().any(|known| known == url) {
                        base_urls.push(url.to_owned());
                    }
                }
            }
            LanePolicy::Auto => {
                if let Some((before, after)) = around_loopback_host(base_url) {
                    let needed = config
                        .most_in_flight()
                        .unwrap_or(MAX_HTTP1_TOTAL)
                        .div_ceil(streams_per_lane)
                        .min(MAX_HTTP1_TOTAL / HTTP1_STREAMS);
                    base_urls.extend((1..needed).map(|i| format!("{before}sg{i}.localhost{after}")));
                }
            }
        }
        let lanes = u32::try_from(base_urls.len()).unwrap_or(u32::MAX);
        let limit = if protocol == Protocol::Http2 {
            MAX_TOTAL
        } else {
            MAX_HTTP1_TOTAL.max(streams_per_lane)
        };
        let possible = streams_per_lane.saturating_mul(lanes).min(limit);
        // A cap holds even where more could be on the wire; a closed loop keeps itself to its concurrency.
        let slots = if config.load.is_open() {
            possible.min(config.most_in_flight().unwrap_or(possible))
        } else {
            possible
        };
        Self {
            base_urls,
            streams_per_lane,
            slots,
        }
    }

    /// Where the server can be asked for its load during the run without taking a place that a request needs: over
    /// HTTP/2; over a name of its own, where the engine makes up names; over the last name, if the load leaves it a
    /// connection. `None` if there is no such place.
    pub fn watch_url(&self, config: &RunConfig, protocol: Protocol) -> Option<String> {
        let Endpoint::Http { base_url } = &config.endpoint else {
            return None;
        };
        if protocol == Protocol::Http2 {
            return Some(base_url.clone());
        }
        if config.lanes == LanePolicy::Auto
            && let Some((before, after)) = around_loopback_host(base_url.trim_end_matches('/'))
        {
            return Some(format!("{before}sgload.localhost{after}"));
        }
        let possible = self
            .streams_per_lane
            .saturating_mul(u32::try_from(self.base_urls.len()).unwrap_or(u32::MAX));
        let spare = config.most_in_flight().is_some_and(|most| most < possible);
        self.base_urls.last().filter(|_| spare).cloned()
    }

    /// The plan without names that do not answer; the first name always stays.
    pub fn without(mut self, silent: &[String]) -> Self {
        let before = self.base_urls.len() as u32;
        let mut first = true;
        self.base_urls
            .retain(|url| std::mem::take(&mut first) || !silent.contains(url));
        let lost = before - self.base_urls.len() as u32;
        let possible = self.streams_per_lane.saturating_mul(before - lost);
        self.slots = self.slots.min(possible);
        self
    }

    /// The plan before anything is known of the server but its URL.
    pub fn before_contact(config: &RunConfig) -> Self {
        Self::new(config, Protocol::of(config), None)
    }
}

impl Protocol {
    /// What the scheme tells.
    pub fn of(config: &RunConfig) -> Self {
        match &config.endpoint {
            Endpoint::Http { base_url } if base_url.trim_start().to_ascii_lowercase().starts_with("https:") => {
                Self::Unknown
            }
            _ => Self::Http1,
        }
    }
}

/// How many requests to send at once to find out what the browser has on the wire to one name: somewhat more than the
/// rule allows.
pub fn burst_size(protocol: Protocol) -> u32 {
    match protocol {
        Protocol::Http1 => 2 * HTTP1_STREAMS,
        Protocol::Http2 | Protocol::Unknown => MAX_HTTP2_STREAMS + 4,
    }
}

/// Of requests that were sent at once at `sent_ms` and held by the server for `hold_ms` each, how many were answered in
/// the first wave. What had to wait for one of them was held after it, and cannot be there before twice that time.
pub fn first_wave(answered_ms: &[f64], sent_ms: f64, hold_ms: f64) -> u32 {
    let wave = answered_ms.iter().filter(|at_ms| **at_ms < sent_ms + 2.0 * hold_ms);
    u32::try_from(wave.count()).unwrap_or(u32::MAX)
}

/// How the asked concurrency stands against the slots, in words; `None` if there is nothing to say.
pub fn advice(config: &RunConfig) -> Option<String> {
    let Endpoint::Http { base_url } = &config.endpoint else {
        return None;
    };
    let plan = LanePlan::before_contact(config);
    let protocol = Protocol::of(config);
    if config.most_in_flight().is_none() {
        return Some(format!(
            "Requests go out by the clock. {} can be on the wire at a time; what finds no place waits here, and that time is \
             shown apart from the server's.",
            plan.slots
        ));
    }
    if config.concurrency <= plan.slots || config.load.is_open() {
        let lanes = plan.base_urls.len();
        return (lanes > 1 && config.lanes == LanePolicy::Auto).then(|| {
            format!(
                "A browser opens 6 connections per name, so this run uses {lanes} names for the one server: \
                 the one given, then sg1.localhost and so on."
            )
        });
    }
    let reason = if protocol == Protocol::Unknown && config.streams_per_lane.is_none() {
        "a browser opens 6 HTTP/1.1 connections per name. If this server speaks HTTP/2, the run finds out where the \
         server lets it (Timing-Allow-Origin); else set \"Streams per name\" to 100"
    } else if around_loopback_host(base_url).is_some() || !matches!(config.lanes, LanePolicy::Auto) {
        "that is what this browser can open to the names in use. Add names under \"Lanes\""
    } else {
        "a browser opens 6 HTTP/1.1 connections per name. Add further names of this server under \"Lanes\", reach it \
         over ssh -L on localhost, or put an HTTP/2 proxy in front"
    };
    Some(format!(
        "{} at a time were asked for, but {} can be on the wire: {reason}.",
        config.concurrency, plan.slots
    ))
}

/// Whether a base URL can be used.
///
/// # Errors
/// One sentence that says what would be right.
pub fn check_base_url(url: &str) -> Result<(), String> {
    if url.is_empty() {
        return Err("Enter the server's base URL, such as http://127.0.0.1:30000.".into());
    }
    let Some((scheme, rest)) = url.split_once("://") else {
        return Err(format!(
            "Start with http:// or https://, such as http://{}.",
            url.trim_start_matches('/')
        ));
    };
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return Err(format!(
            "A browser cannot measure {scheme}:// addresses. Start with http:// or https://."
        ));
    }
    if rest.contains('@') {
        return Err("Leave user and password out of the URL; put the key into its field.".into());
    }
    if rest.contains(['?', '#']) {
        return Err("Leave out what follows ? or #; extra keys of the body go under Advanced.".into());
    }
    match url.parse::<Uri>() {
        Ok(uri) if uri.host().is_some_and(|host| !host.is_empty()) && port_is_right(uri.authority()) => Ok(()),
        _ => Err("This is no URL. It should look like http://127.0.0.1:30000.".into()),
    }
}

fn port_is_right(authority: Option<&Authority>) -> bool {
    authority.is_some_and(|a| {
        let after_host = &a.as_str()[a.host().len()..];
        after_host.is_empty() || a.port_u16().is_some_and(|port| port != 0)
    })
}

/// Whether a base URL points at this machine.
pub fn is_loopback(url: &str) -> bool {
    around_loopback_host(url).is_some()
}

/// Whether a host is on this machine or in a private network, as far as its name tells.
pub fn is_private(host: &str) -> bool {
    if let Ok(ip) = host.parse::<std::net::Ipv4Addr>() {
        return ip.is_loopback() || ip.is_private() || ip.is_link_local();
    }
    if let Ok(ip) = host.parse::<std::net::Ipv6Addr>() {
        return ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local();
    }
    !host.contains('.')
        || ["localhost", "local", "lan", "internal", "home"]
            .iter()
            .any(|end| host.ends_with(&format!(".{end}")))
}

/// The host of a URL, in lower case and without port; `None` if it has none.
pub fn host(url: &str) -> Option<String> {
    Some(
        url.parse::<Uri>()
            .ok()?
            .host()?
            .trim_matches(['[', ']'])
            .to_ascii_lowercase(),
    )
}

/// Splits a URL of this machine around its host: `("http://", ":8000/v1")`. A certificate covers no `*.localhost`
/// names, so `https:` does not count.
fn around_loopback_host(url: &str) -> Option<(&str, &str)> {
    let uri = url.parse::<Uri>().ok()?;
    let host = uri.host()?;
    let loopback = matches!(host, "localhost" | "127.0.0.1" | "[::1]") || host.ends_with(".localhost");
    if !loopback || uri.scheme_str() != Some("http") {
        return None;
    }
    let (scheme, rest) = url.split_once("://")?;
    Some((&url[..scheme.len() + 3], &rest[host.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_outranks_the_rule_and_what_is_set_outranks_both() {
        let mut config = config("https://llm.example", 300);
        let slots = |config: &RunConfig, seen| LanePlan::new(config, Protocol::Unknown, seen).slots;
        assert_eq!((slots(&config, None), slots(&config, Some(128))), (6, 128));
        config.streams_per_lane = Some(20);
        assert_eq!(slots(&config, Some(128)), 20);
    }

    #[test]
    fn the_first_wave_is_what_was_on_the_wire() {
        let waves: Vec<f64> = (0..14)
            .map(|n| 10.0 + f64::from(n / 6 + 1) * 122.0 + f64::from(n % 6))
            .collect();
        assert_eq!(first_wave(&waves, 10.0, 120.0), 6);
        // A busy machine spreads a wave, but the second one keeps its distance.
        assert_eq!(first_wave(&[121.0, 239.0, 240.0, 300.0], 0.0, 120.0), 2);
        assert_eq!(first_wave(&[], 0.0, 120.0), 0);
    }

    fn config(url: &str, concurrency: u32) -> RunConfig {
        RunConfig {
            endpoint: Endpoint::Http { base_url: url.into() },
            concurrency,
            ..RunConfig::default()
        }
    }

    #[test]
    fn a_loopback_server_gets_as_many_names_as_the_concurrency_needs() {
        let plan = LanePlan::before_contact(&config("http://127.0.0.1:8000/v1/", 32));
        assert_eq!(
            plan.base_urls[..2],
            ["http://127.0.0.1:8000/v1", "http://sg1.localhost:8000/v1"]
        );
        assert_eq!((plan.base_urls.len(), plan.streams_per_lane, plan.slots), (6, 6, 36));
    }

    #[test]
    fn the_load_is_asked_for_where_no_request_needs_the_place() {
        let watch = |url: &str, concurrency, change: fn(&mut RunConfig), protocol| {
            let mut config = config(url, concurrency);
            change(&mut config);
            LanePlan::new(&config, protocol, None).watch_url(&config, protocol)
        };
        let (http1, http2) = (Protocol::Http1, Protocol::Http2);
        assert_eq!(
            watch("http://127.0.0.1:8000/", 6, |_| {}, http1).as_deref(),
            Some("http://sgload.localhost:8000")
        );
        let single: fn(&mut RunConfig) = |config| config.lanes = LanePolicy::Single;
        assert_eq!(watch("http://127.0.0.1:8000", 6, single, http1), None);
        assert_eq!(
            watch("http://127.0.0.1:8000", 5, single, http1).as_deref(),
            Some("http://127.0.0.1:8000")
        );
        assert_eq!(watch("http://gpu.lan:30000", 6, |_| {}, http1), None);
        let listed: fn(&mut RunConfig) = |config| {
            config.lanes = LanePolicy::List {
                base_urls: vec!["http://b.lan:30000".into()],
            };
        };
        assert_eq!(
            watch("http://a.lan:30000", 11, listed, http1).as_deref(),
            Some("http://b.lan:30000")
        );
        assert_eq!(watch("http://a.lan:30000", 12, listed, http1), None);
        // An open loop without a cap may need every place.
        let open: fn(&mut RunConfig) = |config| {
            config.lanes = LanePolicy::Single;
            config.load.arrival = crate::config::load::Arrival::Poisson;
            config.load.capped = false;
        };
        assert_eq!(watch("http://a.lan:30000", 1, open, http1), None);
        assert_eq!(
            watch("https://llm.example", 50, |_| {}, http2).as_deref(),
            Some("https://llm.example")
        );
        let simulated = RunConfig::default();
        assert_eq!(LanePlan::before_contact(&simulated).watch_url(&simulated, http1), None);
    }

    #[test]
    fn six_at_a_time_need_no_second_name() {
        assert_eq!(
            LanePlan::before_contact(&config("http://localhost:8000", 6)).base_urls,
            ["http://localhost:8000"]
        );
    }

    #[test]
    fn a_remote_http1_server_has_six_slots_and_this_is_said() {
        let config = config("http://gpu.lan:30000", 16);
        assert_eq!(LanePlan::before_contact(&config).slots, 6);
        assert!(
            advice(&config)
                .expect("advice")
                .contains("16 at a time were asked for, but 6 can be on the wire")
        );
    }

    #[test]
    fn the_browsers_whole_pool_is_not_exceeded() {
        let plan = LanePlan::before_contact(&config("http://localhost:8000", 1000));
        assert_eq!((plan.base_urls.len(), plan.slots), (40, 240));
    }

    #[test]
    fn names_that_do_not_answer_take_their_slots_with_them() {
        let plan = LanePlan::before_contact(&config("http://localhost:8000", 18));
        let silent = plan.base_urls.clone();
        let rest = plan.without(&silent);
        assert_eq!(
            (rest.base_urls, rest.slots),
            (vec!["http://localhost:8000".to_owned()], 6)
        );
    }

    #[test]
    fn http2_has_a_hundred_streams() {
        let plan = LanePlan::new(&config("https://llm.example", 64), Protocol::Http2, None);
        assert_eq!((plan.base_urls.len(), plan.slots), (1, 100));
    }

    #[test]
    fn a_list_of_names_adds_up_without_repeats() {
        let config = RunConfig {
            lanes: LanePolicy::List {
                base_urls: vec!["http://a:1/".into(), "http://b:1".into()],
            },
            ..config("http://a:1", 12)
        };
        assert_eq!(
            LanePlan::before_contact(&config).base_urls,
            ["http://a:1", "http://b:1"]
        );
        assert_eq!(advice(&config), None);
    }

    #[test]
    fn private_hosts_are_told_from_public_ones() {
        for host in [
            "localhost",
            "127.0.0.1",
            "10.1.2.3",
            "192.168.0.9",
            "::1",
            "fd00::1",
            "gpu-box",
            "gpu.lan",
        ] {
            assert!(is_private(host), "{host}");
        }
        for host in ["api.example.com", "8.8.8.8", "2001:4860::1"] {
            assert!(!is_private(host), "{host}");
        }
    }

    #[test]
    fn urls_that_cannot_work_are_refused_with_what_would() {
        for (url, needle) in [
            ("", "such as"),
            ("localhost:8000", "http://localhost:8000"),
            ("ws://x", "ws://"),
            ("http://user:pw@x", "key into its field"),
            ("http://x?k=1", "?"),
            ("http://", "no URL"),
            ("http://x:99999", "no URL"),
            ("http://x:abc", "no URL"),
            ("http://a b", "no URL"),
        ] {
            let message = check_base_url(url).expect_err(url);
            assert!(message.contains(needle), "{url}: {message}");
        }
        for url in [
            "http://127.0.0.1:30000",
            "https://h/v1",
            "HTTP://H",
            "http://[::1]:8000/proxy/v1/",
        ] {
            assert_eq!(check_base_url(url), Ok(()), "{url}");
        }
    }
}
