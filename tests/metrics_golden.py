"""Writes metrics_golden.json: records of a made-up run and its figures, computed by NumPy 2.4.6.

An oracle for tests/metrics_golden.rs that shares no code with it. To write the file anew:

    pip install numpy==2.4.6 && python3 tests/metrics_golden.py
"""

import json
import pathlib
import random

import numpy as np

OUTCOMES = ["succeeded"] * 7 + ["stream_error", "truncated", "http_error", "cancelled"]
PERCENTILES = {"p50": 50, "p90": 90, "p95": 95, "p99": 99}


def make_record(rng, index, outcome, told):
    """One request. `told`: whether the server says how many tokens each frame brought."""
    scheduled = round(index * 11.3 + rng.random(), 3)
    dispatched = round(scheduled + rng.expovariate(1 / 3), 3)
    frames = 0 if outcome == "http_error" else rng.choice([1, 2, 5, 9, 17, 30])
    at_us, now = [], rng.randrange(20_000, 90_000)
    for _ in range(frames):
        at_us.append(now)
        if rng.random() > 0.2:  # else the next frame shares this read
            now += rng.randrange(4_000, 40_000)
    tokens = [rng.choice([1, 1, 1, 2, 4, 0]) for _ in at_us] if told else []
    if tokens:
        tokens[0] = max(tokens[0], 1)
        tokens[-1] = max(tokens[-1], 1)
    output = sum(tokens) if told else frames
    at = lambda us: dispatched + us / 1000
    times = {
        "scheduled_ms": scheduled,
        "dispatched_ms": dispatched,
        "headers_ms": None,
        "first_byte_ms": None,
        "role_ms": None,
        "first_token_ms": at(at_us[0]) if at_us else None,
        "first_answer_ms": at(at_us[frames // 3]) if at_us and index % 5 else None,
        "last_token_ms": at(at_us[-1]) if at_us else None,
        "done_ms": None,
        "ended_ms": at(at_us[-1] if at_us else 5_000) + round(rng.random() * 2, 3),
    }
    record = {
        "index": index,
        "warmup": False,
        "lane": 0,
        "outcome": outcome,
        "times": times,
        "status": 200,
        "finish_reason": None,
        "marks": {"at_us": at_us, "tokens": tokens},
        "tokens": {
            "output": output,
            "source": "usage" if told else "frames",
            "prompt": rng.randrange(5, 500),
            "reasoning": None,
            "cached": None,
            "usage_output": output if told else None,
            "frames": frames,
        },
        "wire": {"reads": 0, "bytes": 0, "events": 0, "coalesced_frames": 0},
    }
    if outcome not in ("succeeded", "cancelled"):
        record["failure"] = {
            "rule": "error_key",
            "phase": "after_tokens",
            "token_frames_before": frames,
            "message": "made up",
            "at_ms": times["ended_ms"],
        }
    return record


def gaps(record):
    """Per-token gaps: reads are arrivals, the gap before one is shared by its tokens."""
    at_us, tokens = record["marks"]["at_us"], record["marks"]["tokens"]
    reads = {}
    for i, us in enumerate(at_us):
        reads[us] = reads.get(us, 0) + (tokens[i] if tokens else 1)
    arrivals = [(us, k) for us, k in sorted(reads.items()) if k > 0]
    values = []
    for (before, _), (us, k) in zip(arrivals, arrivals[1:]):
        values += [(us - before) / 1000 / k] * k
    return values


def distribution(values):
    if not values:
        return {"n": 0, "mean": None, "std": None, "min": None, "max": None, **dict.fromkeys(PERCENTILES)}
    a = np.array(values, dtype=np.float64)
    figures = {"n": len(values), "mean": a.mean(), "std": a.std(), "min": a.min(), "max": a.max()}
    figures |= {name: np.percentile(a, q) for name, q in PERCENTILES.items()}
    return {k: v if isinstance(v, int) else float(v) for k, v in figures.items()}


def peak(records):
    """Most in flight: at each dispatch, count the requests that are on the wire."""
    spans = [(r["times"]["dispatched_ms"], r["times"]["ended_ms"]) for r in records]
    return max((sum(a <= start < b for a, b in spans) for start, _ in spans), default=0)


def figures(records, duration_ms):
    ok = [r for r in records if r["outcome"] == "succeeded"]
    since = lambda key: [r["times"][key] - r["times"]["dispatched_ms"] for r in ok if r["times"][key] is not None]
    tpot = [
        (r["times"]["last_token_ms"] - r["times"]["first_token_ms"]) / (r["tokens"]["output"] - 1)
        for r in ok
        if r["tokens"]["output"] > 1 and r["times"]["last_token_ms"] > r["times"]["first_token_ms"]
    ]
    seconds = duration_ms / 1000
    output = sum(r["tokens"]["output"] for r in ok)
    prompt = sum(r["tokens"]["prompt"] for r in ok)
    busy = np.sum([r["times"]["ended_ms"] - r["times"]["dispatched_ms"] for r in records])
    names = [r["outcome"] for r in records]
    return {
        "sent": len(records),
        "succeeded": len(ok),
        "failed": sum(n not in ("succeeded", "cancelled") for n in names),
        "cancelled": names.count("cancelled"),
        "outcomes": {n: names.count(n) for n in sorted(set(names))},
        "duration_ms": duration_ms,
        "ttft_ms": distribution(since("first_token_ms")),
        "ttfo_ms": distribution(since("first_answer_ms")),
        "tpot_ms": distribution(tpot),
        "itl_ms": distribution([g for r in ok for g in gaps(r)]),
        "e2e_ms": distribution(since("last_token_ms")),
        "queue_ms": distribution([r["times"]["dispatched_ms"] - r["times"]["scheduled_ms"] for r in ok]),
        "request_throughput": len(ok) / seconds if records else None,
        "output_throughput": output / seconds if ok else None,
        "input_throughput": prompt / seconds if ok else None,
        "output_tokens": output,
        "prompt_tokens": prompt,
        "discarded_frames": sum(r["tokens"]["frames"] for r in records if r["outcome"] != "succeeded"),
        "estimated_token_counts": sum(r["tokens"]["source"] == "frames" for r in ok),
        "suspect_token_counts": 0,
        "mean_concurrency": float(busy / duration_ms) if records else None,
        "peak_concurrency": peak(records),
    }


def case(name, records):
    duration_ms = round(max((r["times"]["ended_ms"] for r in records), default=1000.0) + 1, 3)
    return {"name": name, "duration_ms": duration_ms, "requests": records, "summary": figures(records, duration_ms)}


def main():
    rng = random.Random(20)
    mixed = [make_record(rng, i, rng.choice(OUTCOMES), told=i % 3 == 0) for i in range(60)]
    cases = [
        case("mixed", mixed),
        case("one success", [make_record(rng, 0, "succeeded", told=True)]),
        case("all failed", [make_record(rng, i, "stream_error", told=False) for i in range(5)]),
        case("empty", []),
    ]
    path = pathlib.Path(__file__).with_suffix(".json")
    text = json.dumps({"numpy": np.__version__, "cases": cases}, separators=(",", ":"))
    path.write_text(text.replace('{"index"', '\n{"index"') + "\n")


main()
