"""Writes metrics_golden.json: records of a made-up run, its figures and its objectives, computed by NumPy 2.4.6.

An oracle for tests/metrics_golden.rs that shares no code with it. To write the file anew:

    pip install numpy==2.4.6 && python3 tests/metrics_golden.py
"""

import json
import pathlib
import random

import numpy as np

OUTCOMES = ["succeeded"] * 7 + ["stream_error", "truncated", "http_error", "cancelled"]
PERCENTILES = {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "p999": 99.9}
SLO = {"ttft_ms": 60.0, "tpot_ms": 25.0, "e2e_ms": 400.0}


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
        "done_ms": at(at_us[-1]) + round(rng.random(), 3) if at_us and index % 4 else None,
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
            "cached": rng.randrange(0, 5) if index % 2 else None,
            "usage_output": output if told else None,
            "frames": frames,
        },
        "wire": {"reads": 0, "bytes": 0, "events": 0, "coalesced_frames": 0},
    }
    if index % 3 == 1:
        record["tokens"]["spec_accept_length"] = round(1 + rng.random() * 3, 3)
    if outcome not in ("succeeded", "cancelled"):
        record["failure"] = {
            "rule": "error_key",
            "phase": "after_tokens",
            "token_frames_before": frames,
            "message": "made up",
            "at_ms": times["ended_ms"],
        }
    return record


def arrivals(record):
    """Reads that brought tokens, as (µs after dispatch, tokens)."""
    at_us, tokens = record["marks"]["at_us"], record["marks"]["tokens"]
    reads = {}
    for i, us in enumerate(at_us):
        reads[us] = reads.get(us, 0) + (tokens[i] if tokens else 1)
    return [(us, k) for us, k in sorted(reads.items()) if k > 0]


def read_gaps(record):
    """(ms, tokens of the later read)"""
    reads = arrivals(record)
    return [((us - before) / 1000, k) for (before, _), (us, k) in zip(reads, reads[1:])]


def gaps(record):
    """Per-token gaps: reads are arrivals, the gap before one is shared by its tokens."""
    return [gap / k for gap, k in read_gaps(record) for _ in range(k)]


def frame_tokens(record):
    """(arrival, tokens): the output laid out over the frames, as told or in equal shares."""
    at_us, tokens, output = record["marks"]["at_us"], record["marks"]["tokens"], record["tokens"]["output"]
    told = sum(tokens)
    for i, us in enumerate(at_us):
        yield record["times"]["dispatched_ms"] + us / 1000, output * (tokens[i] / told if told else 1 / len(at_us))


def distribution(values):
    if not values:
        return {"n": 0, "mean": None, "std": None, "min": None, "max": None, **dict.fromkeys(PERCENTILES)}
    a = np.array(values, dtype=np.float64)
    figures = {"n": len(values), "mean": a.mean(), "std": a.std(), "min": a.min(), "max": a.max()}
    figures |= {name: np.percentile(a, q) for name, q in PERCENTILES.items()}
    return {k: v if isinstance(v, int) else float(v) for k, v in figures.items()}


def in_flight(records, at):
    return sum(r["times"]["dispatched_ms"] <= at < r["times"]["ended_ms"] for r in records)


def peak(records, window):
    """Most in flight: looked at each dispatch in the window, and at its start."""
    lo, hi = window or (-np.inf, np.inf)
    moments = [lo] + [r["times"]["dispatched_ms"] for r in records]
    return max((in_flight(records, at) for at in moments if lo <= at < hi), default=0)


def most_in_a_second(tokens):
    return float(max((sum(k for at, k in tokens if at <= end and end - at < 1000) for end, _ in tokens), default=0))


def steady(records, share):
    """The longest stretch between neighbouring moments with enough in flight in each."""
    moments = sorted({r["times"][k] for r in records for k in ("dispatched_ms", "ended_ms")})
    levels = [in_flight(records, at) for at in moments]
    need = int(np.ceil(share * max(levels)))
    best, i = (0.0, 0.0), 0
    while i < len(moments):
        j = i
        while j < len(moments) and levels[j] >= need:
            j += 1
        if j > i and moments[j] - moments[i] > best[1] - best[0]:
            best = (moments[i], moments[j])
        i = j + 1
    return best


def figures(every, duration_ms, window=None):
    lo, hi = window or (-np.inf, np.inf)
    records = [r for r in every if lo <= r["times"]["ended_ms"] < hi]
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
    spans = [(max(r["times"]["dispatched_ms"], lo), min(r["times"]["ended_ms"], hi)) for r in every]
    busy = np.sum([max(b - a, 0) for a, b in spans])
    arrived = [(at, k) for r in every if r["outcome"] == "succeeded" for at, k in frame_tokens(r) if lo <= at < hi]
    out_rate = (np.sum([k for _, k in arrived]) if window else output) / seconds if ok else None
    told = [r["tokens"] for r in ok if r["tokens"]["cached"] is not None]
    names = [r["outcome"] for r in records]
    reads = sum(len(arrivals(r)) for r in ok)
    return {
        "sent": len(records),
        "succeeded": len(ok),
        "failed": sum(n not in ("succeeded", "cancelled") for n in names),
        "cancelled": names.count("cancelled"),
        "outcomes": {n: names.count(n) for n in sorted(set(names))},
        "duration_ms": duration_ms,
        "ttft_ms": distribution(since("first_token_ms")),
        "ttfo_ms": distribution(since("first_answer_ms")),
        "ttst_ms": distribution([(a[1][0] - a[0][0]) / 1000 for a in map(arrivals, ok) if len(a) > 1]),
        "tpot_ms": distribution(tpot),
        "itl_ms": distribution([g for r in ok for g in gaps(r)]),
        "read_gap_ms": distribution([g for r in ok for g, _ in read_gaps(r)]),
        "e2e_ms": distribution(since("last_token_ms")),
        "tail_ms": distribution(
            [r["times"]["done_ms"] - r["times"]["last_token_ms"] for r in ok if r["times"]["done_ms"] is not None]
        ),
        "queue_ms": distribution([r["times"]["dispatched_ms"] - r["times"]["scheduled_ms"] for r in ok]),
        "user_speed": distribution([1000 / t for t in tpot]),
        "request_throughput": len(ok) / seconds if records else None,
        "output_throughput": out_rate,
        "input_throughput": prompt / seconds if ok else None,
        "total_throughput": out_rate + prompt / seconds if ok else None,
        "peak_output_throughput": most_in_a_second(arrived) if ok and duration_ms >= 1000 else None,
        "tokens_per_read": output / reads if reads else None,
        "output_tokens": output,
        "prompt_tokens": prompt,
        "cached_tokens": sum(t["cached"] for t in told) if told else None,
        "cache_hit_rate": sum(t["cached"] for t in told) / sum(t["prompt"] for t in told) if told else None,
        "spec_accept_length": distribution(
            [r["tokens"]["spec_accept_length"] for r in ok if "spec_accept_length" in r["tokens"]]
        ),
        "discarded_frames": sum(r["tokens"]["frames"] for r in records if r["outcome"] != "succeeded"),
        "estimated_token_counts": sum(r["tokens"]["source"] == "frames" for r in ok),
        "suspect_token_counts": 0,
        "disagreeing_token_counts": 0,
        "mean_concurrency": float(busy / duration_ms) if every else None,
        "peak_concurrency": peak(every, window),
    }


def goodput(records, duration_ms):
    ended = [r for r in records if r["outcome"] != "cancelled"]
    if not ended:
        return {"good": 0, "of": 0, **dict.fromkeys(
            ["request_goodput", "output_goodput", "attainment", "ttft_attainment", "tpot_attainment", "e2e_attainment"])}
    kept = {"ttft": [], "tpot": [], "e2e": []}
    for r in ended:
        t, n, ok = r["times"], r["tokens"]["output"], r["outcome"] == "succeeded"
        span = t["last_token_ms"] - t["first_token_ms"] if ok else 0
        tpot = span / (n - 1) if ok and n > 1 and span > 0 else 0 if n == 1 else np.inf
        kept["ttft"].append(ok and t["first_token_ms"] - t["dispatched_ms"] <= SLO["ttft_ms"])
        kept["tpot"].append(ok and tpot <= SLO["tpot_ms"])
        kept["e2e"].append(ok and t["last_token_ms"] - t["dispatched_ms"] <= SLO["e2e_ms"])
    good = [all(k) for k in zip(*kept.values())]
    return {
        "good": sum(good),
        "of": len(ended),
        "request_goodput": sum(good) / (duration_ms / 1000),
        "output_goodput": sum(r["tokens"]["output"] for r, g in zip(ended, good) if g) / (duration_ms / 1000),
        "attainment": float(np.mean(good)),
        **{f"{name}_attainment": float(np.mean(values)) for name, values in kept.items()},
    }


def adjusted(records, latency):
    """p50, p90 and p99: raw, with failures at infinity, from the schedule."""
    ok = [r["times"] for r in records if r["outcome"] == "succeeded"]
    raw = [t[latency] - t["dispatched_ms"] for t in ok]
    failed = sum(r["outcome"] not in ("succeeded", "cancelled") for r in records)
    readings = {
        "raw": raw,
        "error_adjusted": raw + [np.inf] * failed if raw else [],
        "co_adjusted": [t[latency] - t["scheduled_ms"] for t in ok],
    }
    def at(values, q):
        value = float(np.percentile(values, q, method="linear")) if values else np.inf
        return value if np.isfinite(value) else None
    with np.errstate(invalid="ignore"):
        return {f"p{q}": {name: at(values, q) for name, values in readings.items()} for q in (50, 90, 99)}


def sglang(records, duration_ms, native):
    """The figures of sglang.benchmark.serving (its calculate_metrics and goodput), from the same records."""
    outputs = []
    for r in (r for r in records if r["outcome"] == "succeeded"):
        t, at_us, told = r["times"], r["marks"]["at_us"], r["marks"]["tokens"]
        steps = [(us, told[i] if native and told else 1) for i, us in enumerate(at_us)]
        steps = [(us, k) for us, k in steps if k]
        itl = [(us - before) / 1e6 / k for (before, _), (us, k) in zip(steps, steps[1:]) for _ in range(k)]
        start = t["dispatched_ms"] / 1000
        latency = (t["done_ms"] or t["ended_ms"]) / 1000 - start
        outputs.append((start, t["first_token_ms"] / 1000 - start, latency, itl, r["tokens"]["output"], r["tokens"]["prompt"]))
    seconds = duration_ms / 1000
    tpots = [(latency - ttft) / (n - 1) for _, ttft, latency, _, n, _ in outputs if n > 1]

    def six(values):
        a = np.array(values or [0.0]) * 1000
        return {"n": len(values), "mean": a.mean(), "median": np.median(a), "std": a.std(), "max": a.max()} | {
            f"p{q}": np.percentile(a, q) for q in (90, 95, 99)
        }

    tokens, requests = {}, {}
    first = min((o[0] for o in outputs), default=0)
    for start, ttft, latency, itl, _, _ in outputs:
        at = start + ttft
        tokens[int(at - first)] = tokens.get(int(at - first), 0) + 1
        for gap in itl:
            at += gap
            tokens[int(at - first)] = tokens.get(int(at - first), 0) + 1
        for second in range(int(start - first), int(start + latency - first) + 1):
            requests[second] = requests.get(second, 0) + 1
    inputs, out = sum(o[5] for o in outputs), sum(o[4] for o in outputs)
    met = []
    for _, ttft, latency, _, n, _ in outputs:
        tpot = (latency - ttft) / (n - 1) if n > 1 else 0.0
        met.append([ttft * 1000 <= SLO["ttft_ms"], tpot * 1000 <= SLO["tpot_ms"], latency * 1000 <= SLO["e2e_ms"]])
    good = None
    if records:
        by = [sum(m[i] for m in met) / len(records) for i in range(3)]
        n_good = sum(all(m) for m in met)
        good = {"request_goodput": n_good / seconds, "slo_attainment": n_good / len(records), "ttft": by[0], "tpot": by[1], "e2el": by[2]}
    numbers = {
        "completed": len(outputs),
        "duration": seconds,
        "total_input_tokens": inputs,
        "total_output_tokens": out,
        "request_throughput": len(outputs) / seconds,
        "input_throughput": inputs / seconds,
        "output_throughput": out / seconds,
        "total_throughput": (inputs + out) / seconds,
        "e2e_latency_ms": six([o[2] for o in outputs]),
        "ttft_ms": six([o[1] for o in outputs]),
        "tpot_ms": six(tpots),
        "itl_ms": six([g for o in outputs for g in o[3]]),
        "concurrency": sum(o[2] for o in outputs) / seconds,
        "max_output_tokens_per_s": max(tokens.values(), default=0),
        "max_concurrent_requests": max(requests.values(), default=0),
        "goodput": good,
    }
    return json.loads(json.dumps(numbers, default=float))


def case(name, records):
    duration_ms = round(max((r["times"]["ended_ms"] for r in records), default=1000.0) + 1, 3)
    made = {
        "name": name,
        "duration_ms": duration_ms,
        "requests": records,
        "summary": figures(records, duration_ms),
        "goodput": goodput(records, duration_ms),
        "adjusted": {"ttft": adjusted(records, "first_token_ms"), "e2e": adjusted(records, "last_token_ms")},
        "sglang": {"chat": sglang(records, duration_ms, False), "generate": sglang(records, duration_ms, True)},
        "window": None,
    }
    if records:
        lo, hi = steady(records, 0.8)
        made["window"] = {"from_ms": lo, "to_ms": hi, "summary": figures(records, hi - lo, (lo, hi))}
    return made


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
    text = json.dumps({"numpy": np.__version__, "slo": SLO, "cases": cases}, separators=(",", ":"))
    path.write_text(text.replace('{"index"', '\n{"index"') + "\n")


main()
