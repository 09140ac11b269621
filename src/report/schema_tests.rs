//! The schema that `docs/` publishes describes the documents that are written: all of each, and no others.

use boon::{Compiler, SchemaIndex, Schemas};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    Document, LoadSample, ServerDetails,
    tests::{any_record, document, record, small},
};
use crate::{
    config::{
        LanePolicy,
        link::tests::unusual,
        load::{Arrival, Rate},
    },
    protocol::ServerLoad,
    request::{Asked, Evidence, Outcome, ReadEvidence},
};

const SCHEMA: &str = include_str!("../../docs/result.schema.json");
const NAME: &str = "result.schema.json";

struct Checker {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Checker {
    fn new() -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource(NAME, schema()).expect("a resource");
        let index = compiler.compile(NAME, &mut schemas).expect("the schema is a schema");
        Self { schemas, index }
    }

    fn check(&self, value: &Value) -> Result<(), String> {
        self.schemas
            .validate(value, self.index)
            .map_err(|error| format!("{error:#}"))
    }
}

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("the schema is JSON")
}

fn json_of(document: &Document) -> Value {
    serde_json::from_str(&document.to_json()).expect("a document is JSON")
}

/// A document in which every optional part is there.
fn full() -> Document {
    let mut document = small();
    document.simulated = false;
    document.config = unusual();
    document.notes = vec!["a note".to_owned()];
    document.server.demo = true;
    document.server.owned_by = Some("sglang".to_owned());
    document.server.details = ServerDetails::new(
        Some(json!({"model_path": "org/model"})),
        Some(json!({"version": "0.5.23", "tp_size": 2})),
    )
    .map(Box::new);
    document.server_load = vec![LoadSample {
        at_ms: 1000.5,
        load: ServerLoad {
            running: 3,
            waiting: 1,
            cache_used: Some(0.25),
        },
    }];
    document.client.streams_seen = Some(6);
    document.client.options_ms = Some(1.5);
    let failed = &mut document.requests[1];
    failed.failure.as_mut().unwrap().kind = Some("BUSY".to_owned());
    failed.asked = Some(Asked {
        input_tokens: Some(8),
        output_tokens: 9,
        conversation: Some(1),
        turn: Some(2),
    });
    failed.response_id = Some("id".to_owned());
    failed.finish_reason = Some("length".to_owned());
    failed.tokens.retokenized = Some(3);
    failed.tokens.spec_accept_length = Some(2.5);
    failed.tokens.spec_accept_rate = Some(0.5);
    failed.tokens.suspect = Some("more tokens than bytes".to_owned());
    failed.evidence = Some(Evidence {
        headers: vec![("retry-after".to_owned(), "1".to_owned())],
        reads: vec![ReadEvidence {
            at_ms: 1.0,
            bytes: vec![0, 255],
        }],
        ..Evidence::default()
    });
    let mut warmup = record(0, Outcome::Timeout);
    warmup.warmup = true;
    document.warmup = vec![warmup];
    document
}

#[test]
fn what_is_written_fits_the_schema() {
    let checker = Checker::new();
    let mut documents = vec![small(), full(), document(Vec::new())];
    for arrival in [Arrival::Closed, Arrival::Constant, Arrival::Poisson, Arrival::Trace] {
        let mut other = small();
        other.config.load.arrival = arrival;
        other.config.load.rate = Rate::Ramp {
            from_per_s: 1.0,
            to_per_s: 2.0,
            over_s: 3.0,
            exponential: true,
        };
        other.config.lanes = LanePolicy::Single;
        documents.push(other);
    }
    for document in documents {
        assert_eq!(checker.check(&json_of(&document)), Ok(()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn any_requests_fit_the_schema(requests in prop::collection::vec(any_record(), 0..6)) {
        prop_assert_eq!(Checker::new().check(&json_of(&document(requests))), Ok(()));
    }
}

#[test]
fn what_is_no_document_does_not_fit() {
    let checker = Checker::new();
    for (pointer, value) in [
        ("/format/name", json!("other")),
        ("/format/version", json!(2)),
        ("/simulated", json!("yes")),
        ("/ending", json!("done")),
        ("/requests/0/outcome", json!("fine")),
        ("/requests/0/outcome", json!("timeout")),
        ("/requests/1/outcome", json!("succeeded")),
        ("/requests/0/times/ended_ms", json!(null)),
        ("/requests/0/tokens/output", json!(-1)),
        ("/config/api", json!("grpc")),
        ("/client/verdict", json!("fine")),
        ("/summary/ttft_ms/n", json!(null)),
    ] {
        let mut json = json_of(&small());
        *json.pointer_mut(pointer).expect(pointer) = value.clone();
        assert!(checker.check(&json).is_err(), "{pointer} {value}");
    }
}

#[test]
fn the_schema_names_every_field_that_is_written() {
    let (schema, written) = (schema(), json_of(&full()));
    let mut missing = Vec::new();
    undescribed(&schema, &schema, &written, "", &mut missing);
    assert_eq!(missing, Vec::<String>::new());
}

/// Collects the fields of a value that its schema does not name.
fn undescribed(root: &Value, schema: &Value, value: &Value, path: &str, missing: &mut Vec<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        let schema = root.pointer(name.trim_start_matches('#')).expect("a definition");
        return undescribed(root, schema, value, path, missing);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        // The one whose field it has.
        let fits = |choice: &&Value| {
            value
                .as_object()
                .is_some_and(|v| v.keys().all(|k| !choice["properties"][k].is_null()))
        };
        if let Some(choice) = choices.iter().find(fits) {
            return undescribed(root, choice, value, path, missing);
        }
        if value.is_object() {
            missing.push(path.to_owned());
        }
        return;
    }
    match value {
        Value::Object(fields) if schema["properties"].is_object() => {
            for (key, value) in fields {
                let path = format!("{path}/{key}");
                match &schema["properties"][key] {
                    Value::Null => missing.push(path),
                    schema => undescribed(root, schema, value, &path, missing),
                }
            }
        }
        Value::Array(items) if !schema["items"].is_null() => {
            for (i, item) in items.iter().enumerate() {
                undescribed(root, &schema["items"], item, &format!("{path}/{i}"), missing);
            }
        }
        _ => {}
    }
}
