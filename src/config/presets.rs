//! Runs that people often want, as links.

use super::{RunConfig, link, workload::Kind};

/// A load and a workload with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name.
    pub title: &'static str,
    /// What it is for, in a sentence.
    pub purpose: &'static str,
    /// What it sets, as in a link.
    pub query: &'static str,
}

/// All presets, in the order in which they are offered.
pub const PRESETS: [Preset; 7] = [
    Preset {
        title: "Quick check",
        purpose: "Whether it works at all, and roughly how fast.",
        query: "n=20&c=4&warmup=1&in=128&out=32",
    },
    Preset {
        title: "Latency",
        purpose: "One request at a time: how fast an idle server answers.",
        query: "n=50&c=1&warmup=3&in=512&out=128",
    },
    Preset {
        title: "Saturation sweep",
        purpose: "1, 2, 4 … 64 requests at a time: where throughput stops growing and latency starts.",
        query: "n=128&c=1&warmup=4&in=512&out=128&series=sweep&loads=1,2,4,8,16,32,64",
    },
    Preset {
        title: "Full load",
        purpose: "64 requests at a time: what the server does when it is busy.",
        query: "n=512&c=64&warmup=8&in=512&out=256",
    },
    Preset {
        title: "Long context",
        purpose: "Long prompts, short answers: the time is in the prefill.",
        query: "n=32&c=2&warmup=1&in=16000&out=128",
    },
    Preset {
        title: "Shared prefix",
        purpose: "8 groups of requests that begin alike: what the server's prefix cache is worth.",
        query: "n=128&c=8&warmup=2&in=128&out=128&workload=shared_prefix&groups=8&system=2048",
    },
    Preset {
        title: "Chat with reasoning",
        purpose: "Answers end where the model ends them, after as much thought as it takes.",
        query: "api=chat&n=64&c=8&warmup=2&in=256&out=4096&ignore_eos=0",
    },
];

impl Preset {
    /// The preset for the server of `current`: load, series and workload are the preset's, all else stays. The API stays
    /// too, if the preset names none; so do prompts that a person brought, unless the preset's are of a special kind.
    pub fn on(&self, current: &RunConfig) -> RunConfig {
        let preset = link::from_query(self.query).0;
        let api = if self.query.starts_with("api=") {
            preset.api
        } else {
            current.api
        };
        let brought = matches!(current.workload.kind, Kind::Typed | Kind::File);
        let workload = if brought && preset.workload.kind == Kind::Random {
            current.workload.clone()
        } else {
            preset.workload
        };
        RunConfig {
            api,
            load: preset.load,
            series: preset.series,
            workload,
            requests: preset.requests,
            concurrency: preset.concurrency,
            warmup: preset.warmup,
            input_tokens: preset.input_tokens,
            output_tokens: preset.output_tokens,
            ignore_eos: preset.ignore_eos,
            ..current.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Api, Endpoint, form::Draft};

    #[test]
    fn each_preset_is_a_link_that_is_understood_and_a_form_that_is_right() {
        for preset in PRESETS {
            let (config, notes) = link::from_query(preset.query);
            assert!(notes.is_empty(), "{}: {notes:?}", preset.title);
            assert_eq!(Draft::from(&config).check().as_ref(), Ok(&config), "{}", preset.title);
            assert_eq!(preset.on(&RunConfig::default()), config, "{}", preset.title);
        }
    }

    #[test]
    fn a_preset_leaves_the_server_as_it_is() {
        let current = RunConfig {
            endpoint: Endpoint::Http {
                base_url: "http://gpu:1".into(),
            },
            api: Api::Generate,
            model: "m".into(),
            seed: 7,
            ..RunConfig::default()
        };
        let latency = PRESETS[1].on(&current);
        assert_eq!((latency.concurrency, latency.api, latency.seed), (1, Api::Generate, 7));
        assert_eq!((&latency.endpoint, &latency.model), (&current.endpoint, &current.model));
        assert_eq!(PRESETS[6].on(&current).api, Api::Chat);
    }
}
