import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Observation } from "@/server/clusters/connector/connector";
import type { GatewayStatus } from "@/server/contracts/gateway/gatewayAdmin";
import type { EngineFrame, LiveFrame } from "@/server/contracts/studio";
import { type AttentionGround, attentionOf, isSilent } from "./attention";
import { clusterConnectionSchema } from "./connection";

const nowMs = 1_000_000;
const engineId = "small-bf16-tp1-pp1-e0-0";

const spec: AttentionGround["spec"] = {
  id: "c",
  name: "c",
  kind: "endpoints",
  gpu: "l40s",
  nodes: [{ name: "e0", gpus: 1 }],
  usdPerGpuHour: 1,
};

const connectionWith = (...guessed: readonly (readonly string[])[]) =>
  clusterConnectionSchema.parse({
    kind: "endpoints",
    endpoints: guessed.map((fields, index) => ({
      ...{ name: `e${index}`, url: `http://e${index}:8000`, model: "small", gpu: "l40s", precision: "bf16", guessed: fields },
    })),
  });

const observation: Observation = {
  ...{ gpu: "l40s", nodes: [{ name: "e0", gpus: 1 }], policyModels: ["small"], outcomes: null, timeScale: 1, deviates: null, dcgmUrls: [] },
  engines: [
    {
      id: engineId,
      model: "small",
      gpu: "l40s",
      tp: 1,
      pp: 1,
      placements: [{ node: "e0", gpus: [0] }],
      url: "http://e0:8000",
      stopping: false,
    },
  ],
  routing: { planId: "p", active: [engineId], cordoned: [] },
};

const engine: EngineFrame = {
  ...{ id: engineId, model: "small", engine: { type: "vllm", version: "0.11.0" }, health: "serving", healthSinceMs: 0 },
  ...{ running: 0, waiting: 0, kvUse: 0, requestsPerSecond: 0, ttftP95Seconds: null, readings: null, gpus: [] },
  ...{ state: "fresh", sinceMs: 0, ageSeconds: 0, reason: "", failing: null, events: [] },
};

/** The parts of a frame that attention reads; the rest does not matter. */
const frameOf = (engines: readonly EngineFrame[], gateway: Partial<LiveFrame["gateway"]> = {}) =>
  ({ engines, gpus: [], gateway: { state: "fresh", sinceMs: 0, reason: "", routing: null, ...gateway } }) as unknown as LiveFrame;

const status = (reason: string, reasonKind: "access" | "unhealthy" = "unhealthy"): GatewayStatus => ({
  ...{ version: "1", uptimeSeconds: 1, configEtag: "e", planId: "p", queued: {}, lastDecision: 0, refused: 0, unjudged: 0 },
  replicas: [{ id: engineId, model: "small", state: "unhealthy", inFlight: 0, reason, reasonKind }],
});

/** A cluster without problems. */
const fine: AttentionGround = {
  ...{ nowMs, spec, connection: connectionWith([]), gatewayRunBy: "studio", problem: null, gateway: null, drift: null },
  ...{ seen: { atMs: nowMs, answer: { ok: true, value: observation } }, frame: frameOf([engine]), isPriced: () => true },
};

const panic = { model: "small", by: "ann", reason: "scores are odd", sinceMs: 0 };
const routing = {
  etag: "e",
  planId: "p",
  policyHash: "h",
  policy: {},
  controls: { panic, canary: null, shadow: null, mirror: null },
} as unknown as LiveFrame["gateway"]["routing"];
const drift = (subject: string, of: "policy" | "engine") => ({
  planId: "p",
  checkedAt: "",
  lines: [{ of, subject, desired: "", generated: "", actual: "", says: "It differs." }],
});

/** Each problem, its message, and the remedy. */
const faults: readonly (readonly [
  string,
  Partial<AttentionGround>,
  { readonly level: string; readonly sentence: string; readonly next: string | null },
])[] = [
  [
    "a connection that cannot be used",
    { problem: "It is broken." },
    { level: "bad", sentence: "It is broken.", next: "Change the connection" },
  ],
  ["one that is not connected", { seen: null }, { level: "bad", sentence: "not connected", next: "Test" }],
  [
    "one that cannot be reached",
    { seen: { atMs: 1, answer: { ok: false, message: "Nobody answers." } } },
    { level: "bad", sentence: "Nobody answers.", next: "Test" },
  ],
  [
    "a gateway beside the studio that is away",
    { frame: frameOf([], { state: "unreachable", sinceMs: nowMs - 60_000 }) },
    { level: "bad", sentence: "not answered for 60 s", next: "started again" },
  ],
  [
    "an operator's gateway that is away",
    { gatewayRunBy: "operator", frame: frameOf([], { state: "unreachable", sinceMs: nowMs - 600_000, reason: "refused" }) },
    { level: "bad", sentence: "not answered for 10 min: refused.", next: "Start it" },
  ],
  [
    "an engine that should serve and is gone",
    { seen: { atMs: 1, answer: { ok: true, value: { ...observation, engines: [] } } } },
    { level: "bad", sentence: "should serve and is gone", next: "Apply" },
  ],
  [
    "a panic",
    { frame: frameOf([engine], { routing }) },
    { level: "bad", sentence: "All requests go to small, as ann asked: scores are odd.", next: "Clear" },
  ],
  [
    "a predictor in force that does not serve",
    { gateway: { ...status(""), replicas: [], lackingPredictors: [{ hash: "ab".repeat(32), reason: "not-loaded" }] } },
    {
      level: "warn",
      sentence: "without what the predictor abababababab says: the gateway could not load it (not-loaded)",
      next: "uploads",
    },
  ],
  [
    "an engine that the gateway finds unhealthy",
    { frame: frameOf([{ ...engine, health: "unhealthy", healthSinceMs: nowMs - 30_000 }]), gateway: status("/health answered 503") },
    { level: "bad", sentence: "for 30 s: /health answered 503.", next: "log" },
  ],
  [
    "a key that the gateway lacks",
    {
      frame: frameOf([{ ...engine, health: "unhealthy" }]),
      gateway: status("The key's variable WEIR_ENGINE_A is not set", "access"),
    },
    { level: "bad", sentence: "ask small-bf16-tp1-pp1-e0-0: The key's variable WEIR_ENGINE_A is not set.", next: "where the gateway runs" },
  ],
  [
    "a key that the studio lacks",
    {
      frame: frameOf([
        {
          ...engine,
          state: "unreachable",
          reason: "The key's variable WEIR_ENGINE_A is not set",
          failing: { kind: "access", sinceMs: 0, nextTryAtMs: 0 },
        },
      ]),
    },
    {
      level: "warn",
      sentence: "read small-bf16-tp1-pp1-e0-0: The key's variable WEIR_ENGINE_A is not set.",
      next: "where the studio runs",
    },
  ],
  [
    "an engine that does not answer",
    { frame: frameOf([{ ...engine, state: "unreachable", sinceMs: nowMs - 20_000, reason: "refused" }]) },
    { level: "bad", sentence: "not answered for 20 s: refused.", next: "runs" },
  ],
  [
    "an engine without metrics",
    {
      frame: frameOf([
        { ...engine, state: "unreachable", reason: "/metrics answered 404", failing: { kind: "status", sinceMs: 0, nextTryAtMs: 0 } },
      ]),
    },
    { level: "warn", sentence: "shows no metrics that can be read: /metrics answered 404.", next: "mapping" },
  ],
  [
    "a figure that metrics lack",
    {
      frame: frameOf([
        {
          ...engine,
          readings: { kvUse: { state: "absent", lookedFor: "vllm:kv_cache_usage_perc" } } as unknown as NonNullable<
            EngineFrame["readings"]
          >,
        },
      ]),
    },
    { level: "warn", sentence: "lack vllm:kv_cache_usage_perc.", next: null },
  ],
  [
    "a guess that nobody confirmed",
    { connection: connectionWith(["gpu", "tp"]) },
    { level: "warn", sentence: "Guessed of e0: GPU type, tensor parallel.", next: "Confirm" },
  ],
  [
    "guesses of several engines, in one line",
    { connection: connectionWith(["tp"], [], ["gpu", "tp"]) },
    { level: "warn", sentence: "Guessed of 2 engines: tensor parallel, GPU type.", next: "Confirm" },
  ],
  [
    "GPUs without a price",
    { spec: { ...spec, usdPerGpuHour: 0 }, isPriced: () => false },
    { level: "warn", sentence: "no price of l40s", next: "Cards" },
  ],
  ["drift", { drift: drift("e0", "engine") }, { level: "warn", sentence: "It differs.", next: "apply the plan" }],
  ["turned knobs", { drift: drift("policy", "policy") }, { level: "warn", sentence: "It differs.", next: "Turn the knobs back" }],
];

describe("attentionOf", () => {
  it("says nothing of a cluster of which nothing is wrong, and of one that is only described", () => {
    expect(attentionOf(fine)).toEqual([]);
    expect(attentionOf({ ...fine, spec: { ...spec, kind: "described" }, problem: "It is broken.", seen: null })).toEqual([]);
  });

  it.each(faults)("says of %s what it is, and what to do", (_, ground, { level, sentence, next }) => {
    const [only, ...rest] = attentionOf({ ...fine, ...ground });
    expect(rest).toEqual([]);
    expect(only).toMatchObject({
      level,
      sentence: expect.stringContaining(sentence),
      next: next === null ? null : expect.stringContaining(next),
    });
  });

  it("says once that the gateway is away, also where the cluster cannot be looked at for want of it", () => {
    const message = "The gateway at http://127.0.0.1:4702 cannot be reached (ECONNREFUSED).";
    const answer = { ok: false, message, kind: "gateway-away" } as const;
    const frame = frameOf([], { state: "unreachable", sinceMs: nowMs - 60_000 });
    expect(attentionOf({ ...fine, seen: { atMs: 1, answer }, frame }).map(({ subject }) => subject)).toEqual(["gateway"]);
    expect(attentionOf({ ...fine, seen: { atMs: 1, answer } })).toMatchObject([{ sentence: answer.message }]);
  });

  it("names a judge that gives no scores, why, and what to do; not one whose last call failed", () => {
    const judge = { model: "j", circuitOpen: false, unavailable: null, scored: 1, failed: 3, lastScoreMs: 1 };
    const lastFailure = { atMs: 2, outcome: "failed", reason: "the judge answered 500" } as const;
    const saidOf = (more: object) => attentionOf({ ...fine, gateway: { ...status(""), judge: { ...judge, lastFailure, ...more } } });
    const ofJudge = (more: object) => saidOf(more).filter(({ subject }) => subject === "j");
    expect(ofJudge({})).toEqual([]);
    expect(ofJudge({ circuitOpen: true })).toMatchObject([
      {
        level: "bad",
        sentence: expect.stringContaining("gives no scores: the judge answered 500."),
        next: expect.stringContaining("Test it"),
      },
    ]);
    expect(ofJudge({ unavailable: "its key K is not set" })[0]?.sentence).toContain("its key K is not set");
  });

  it("says where a guessed type of GPU is not among those that are watched", () => {
    const watching = (name: string) => ({ ...frameOf([engine]), gpus: [{ name }] }) as unknown as LiveFrame;
    const said = (name: string) => attentionOf({ ...fine, connection: connectionWith(["gpu"]), frame: watching(name) })[0]?.sentence;
    expect(said("NVIDIA H100 80GB HBM3")).toBe("Guessed of e0: GPU type. e0 is taken for l40s, but the GPUs watched here are h100-sxm.");
    expect([said("NVIDIA L40S"), said("something new")]).toEqual(Array(2).fill("Guessed of e0: GPU type."));
  });

  it("says nothing of a target that missed a scrape or two", () => {
    const sinceMs = nowMs - 3_000;
    expect(
      attentionOf({ ...fine, frame: frameOf([{ ...engine, state: "unreachable", sinceMs }], { state: "unreachable", sinceMs }) }),
    ).toEqual([]);
  });

  it("says nothing of a batch's engine, which comes and goes and of which the batch tells", () => {
    const silent = { ...engine, state: "unreachable" as const, sinceMs: nowMs - 60_000 };
    const saidOf = (id: string) => attentionOf({ ...fine, frame: frameOf([engine, { ...silent, id }]) }).length;
    expect([saidOf("small-bf16-tp1-pp1-e0-1"), saidOf("batch-0a1b2c3d-experts-w0-1")]).toEqual([1, 0]);
  });

  it("leaves nothing out where several things are wrong, and puts what is bad first", () => {
    // Faults in the same part of the ground exclude one another.
    const apart = faults.filter(([, ground]) => ["problem", "connection", "spec", "drift"].some((name) => name in ground));
    fc.assert(
      fc.property(fc.subarray([...apart, ...faults.filter(([what]) => what === "a panic")]), (chosen) => {
        const ground: AttentionGround = Object.assign({}, fine, ...chosen.map(([, part]) => part));
        const keys = new Set(chosen.flatMap(([, part]) => Object.keys(part)));
        const wanted = [...keys].filter((key) => key !== "isPriced" && key !== "gateway").length;
        const levels = attentionOf(ground).map(({ level }) => level);
        expect(levels).toHaveLength(wanted);
        expect(levels).toEqual([...levels].sort());
      }),
    );
  });
});

describe("an engine that is silent", () => {
  const failing = { kind: "unreachable", sinceMs: 0, nextTryAtMs: 0 } as const;
  const mute: EngineFrame = { ...engine, state: "unreachable", reason: "refused", failing };

  it("was asked and gives no answer: not one that was not asked yet, refuses, or wants a key that is not here", () => {
    expect(isSilent(mute)).toBe(true);
    expect(isSilent({ ...mute, state: "stale" })).toBe(false);
    expect(isSilent({ ...mute, failing: null, reason: "not scraped yet" })).toBe(false);
    expect(isSilent({ ...mute, failing: { ...failing, kind: "status" } })).toBe(false);
    expect(isSilent({ ...mute, reason: "The key file a is empty", failing: { ...failing, kind: "access" } })).toBe(false);
  });
});
