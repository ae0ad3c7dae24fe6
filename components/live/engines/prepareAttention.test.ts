import { describe, expect, it } from "vitest";
import type { EngineFrame, EngineReadings, LiveFrame, TargetEvent } from "@/server/contracts/studio";
import { testEngine, testFrame, testReadings } from "../testing/testFrame";
import { prepareAttention } from "./prepareAttention";

const NOW = 1_000_000;
const { gateway } = testFrame();
const frameOf = (engines: readonly EngineFrame[], change: Partial<LiveFrame> = {}) => testFrame({ atMs: NOW, engines, ...change });
const problemsOf = (engine: Partial<EngineFrame>) => prepareAttention([frameOf([testEngine("e1", engine)])]);
const wordsOf = (engine: Partial<EngineFrame>) => problemsOf(engine).map((each) => each.word);
const failing = { kind: "timeout", sinceMs: NOW - 120_000, nextTryAtMs: NOW + 8_000 } as const;

/** One frame a second up to now; `ago` is in seconds. */
const minute = (at: (ago: number) => Partial<LiveFrame>): readonly LiveFrame[] =>
  Array.from({ length: 61 }, (_, index) => testFrame({ atMs: NOW - (60 - index) * 1000, ...at(60 - index) }));
const minuteOf = (engine: (ago: number) => Partial<EngineFrame>) => minute((ago) => ({ engines: [testEngine("e1", engine(ago))] }));

describe("prepareAttention", () => {
  it("says nothing when all is well, and nothing of engines that load, drain or were not scraped yet", () => {
    expect(wordsOf({})).toEqual([]);
    expect(wordsOf({ health: "draining", state: "stale", failing })).toEqual([]);
    expect(wordsOf({ health: "unknown", state: "unreachable", failing })).toEqual([]);
    expect(wordsOf({ state: "unreachable", reason: "not scraped yet" })).toEqual([]);
    expect(prepareAttention([])).toEqual([]);
  });

  it("does not count one failed scrape while the sample before it is still fresh", () => {
    expect(wordsOf({ failing })).toEqual([]);
  });

  it("tells how telemetry of a serving engine fails, since when and when it is tried again", () => {
    const [problem] = problemsOf({ state: "unreachable", reason: "no answer within 2 s", failing });
    expect(problem).toMatchObject({ subject: "e1", word: "no answer in time", tone: "warn", nextTry: "next try in 8\u00a0s" });
    expect(problem?.when).toMatchObject({ text: "for 2\u00a0min", title: expect.stringMatching(/^since \d\d:\d\d:\d\d$/) });
    expect(problem?.text).toMatch(/^no answer within 2 s\. The gateway still sends requests to it/);
  });

  it("puts engines that fail in the same way into one line, with the earliest beginning, the soonest try and each one's own reason", () => {
    const engines = Array.from({ length: 12 }, (_, index) =>
      testEngine(`e${index}`, {
        state: "stale",
        reason: `http://e${index}/metrics: no answer`,
        failing: { kind: "timeout", sinceMs: NOW - (index + 1) * 60_000, nextTryAtMs: NOW + (index + 2) * 1000 },
      }),
    );
    const refused = testEngine("other", { state: "unreachable", reason: "refused", failing: { ...failing, kind: "unreachable" } });
    const [many, one, ...rest] = prepareAttention([frameOf([...engines, refused])]);
    expect(many).toMatchObject({ subject: "12 engines", when: { text: "for 12\u00a0min" }, nextTry: "next try in 2\u00a0s" });
    expect(many?.members).toHaveLength(12);
    expect(many?.members[3]).toMatchObject({ subject: "e3", reason: "http://e3/metrics: no answer", when: { text: "for 4\u00a0min" } });
    expect(many?.text).not.toContain("http://");
    expect(one).toMatchObject({ subject: "other", word: "not reachable", members: [] });
    expect(rest).toEqual([]);
  });

  it("names an engine the gateway calls unhealthy even when its telemetry is fresh, since before the page's own frames", () => {
    const [problem] = prepareAttention(minuteOf(() => ({ health: "unhealthy", healthSinceMs: NOW - 161_000 }))).filter(
      ({ word }) => word === "unhealthy",
    );
    expect(problem).toMatchObject({ tone: "bad", when: { text: "for 3\u00a0min" } });
    expect(problem?.text).toContain("its process runs");
  });

  const stage = {
    model: "small-8b",
    queued: 0,
    inFlight: 0,
    share: 1,
    escalated: 0,
    p50Seconds: 1,
    p95Seconds: 1,
    p99Seconds: 1,
    meanJudgedScore: null,
  };

  it("says that no engine of a model in force takes work when all are unhealthy or gone, not while they load or drain", () => {
    const after = (seconds: number, healths: readonly EngineFrame["health"][], queued = 0) =>
      prepareAttention(
        minute((ago) => ({
          engines: (ago <= seconds ? healths : ["serving" as const]).map((health, at) => testEngine(`e${at}`, { health })),
          gateway: { ...gateway, stages: [{ ...stage, queued }] },
        })),
      ).find(({ word }) => word === "no engine takes work");
    expect(after(10, ["unhealthy", "unknown"])).toMatchObject({ subject: "small-8b", tone: "bad", when: { text: "for 10\u00a0s" } });
    expect(after(10, [], 209)?.text).toMatch(/^It has no engine; 209 wait\. /);
    expect(after(4, [])).toBeUndefined();
    expect(after(10, ["unhealthy", "serving"])).toBeUndefined();
    expect(after(10, ["unknown", "draining"])).toBeUndefined();
  });

  it("does not miss engines of a model that are not watched while requests go through them", () => {
    const unwatched = (queued: number, inFlight: number) =>
      prepareAttention(minute(() => ({ gateway: { ...gateway, stages: [{ ...stage, queued, inFlight }] } }))).map((each) => each.word);
    expect([unwatched(0, 0), unwatched(5, 8), unwatched(5, 0)]).toEqual([[], [], ["no engine takes work"]]);
  });

  it("goes by what a silent gateway said last of an engine", () => {
    const silent = { gateway: { ...gateway, state: "unreachable", reason: "refused" } as const };
    const gone = frameOf([testEngine("e1", { health: "unknown", state: "unreachable", reason: "refused", failing })], silent);
    expect(prepareAttention([frameOf([testEngine("e1")]), gone]).map((each) => each.subject)).toEqual(["gateway", "e1"]);
    expect(prepareAttention([frameOf([testEngine("e1", { health: "unknown" })]), gone]).map((each) => each.subject)).toEqual(["gateway"]);
  });

  it("puts a gateway that does not answer first, with the reason and since when, however few frames the page has", () => {
    const problems = prepareAttention([
      frameOf([testEngine("e1", { health: "unhealthy" })], {
        gateway: { ...gateway, state: "unreachable", sinceMs: NOW - 161_000, reason: "refused" },
      }),
    ]);
    expect(problems.map((each) => each.subject)).toEqual(["gateway", "e1"]);
    expect(problems[0]).toMatchObject({ tone: "bad", word: "not answering", when: { text: "for 3\u00a0min" } });
    expect(problems[0]?.text).toMatch(/^refused\. /);
  });

  it("tells requests there was no room for from those that were refused for what they are", () => {
    const [shed, ...rest] = prepareAttention([frameOf([], { gateway: { ...gateway, shedPerSecond: 3 } })]);
    expect([shed?.word, shed?.tone, rest]).toEqual(["shed", "bad", []]);
    expect(shed?.text).toMatch(/^3\/s\. There was no capacity or no engine for them/);
  });

  it("counts failed and refused requests and answers without a judge, and takes an absent rate for no problem", () => {
    const rates = { requestsPerSecond: 10, errorsPerSecond: 0.05, refusedPerSecond: 2.5, unjudgedPerSecond: 0.5 };
    const busy = prepareAttention([frameOf([], { gateway: { ...gateway, ...rates } })]);
    expect(busy.map((each) => [each.word, each.tone])).toEqual([
      ["refused", "bad"],
      ["failed", "warn"],
      ["accepted without a score", "warn"],
    ]);
    expect(busy[0]?.text).toMatch(/^2\.5\/s\. They have no valid key, name a model that is not served/);
    const worse = prepareAttention([frameOf([], { gateway: { ...gateway, ...rates, errorsPerSecond: 0.2 } })]);
    expect(worse[0]).toMatchObject({ word: "failed", tone: "bad" });
    expect(prepareAttention([frameOf([], { gateway: { ...gateway, refusedPerSecond: null, unjudgedPerSecond: null } })])).toEqual([]);
  });

  it("says of what all its frames show only that it lasts longer than they do", () => {
    const refusing = (seconds: number) =>
      prepareAttention(minute((ago) => ({ gateway: { ...gateway, refusedPerSecond: ago <= seconds ? 1 : 0 } })))[0]?.when;
    expect(refusing(20)).toMatchObject({ text: "for 20\u00a0s", title: expect.stringMatching(/^since /) });
    expect(refusing(60)).toMatchObject({ text: "for more than 60\u00a0s", title: expect.stringMatching(/^before /) });
    expect(prepareAttention([frameOf([], { gateway: { ...gateway, refusedPerSecond: 1 } })])[0]?.when?.text).toBe("since before now");
  });

  it("tells a queue near the gateway's bound from a long one", () => {
    const wordsAt = (queued: number) =>
      prepareAttention([frameOf([], { gateway: { ...gateway, stages: [{ ...stage, queued }] } })]).map((each) => each.word);
    expect([wordsAt(1599), wordsAt(1600)]).toEqual([[], ["queue nearly full"]]);
    const lineAt = (queuedForAny: number) => prepareAttention([frameOf([], { gateway: { ...gateway, queuedForAny } })]);
    expect([lineAt(1599), lineAt(1600)]).toMatchObject([[], [{ subject: "requests for any model", word: "queue nearly full" }]]);
  });

  it("says that a KV cache is full only when requests have waited for it for half a minute", () => {
    const full = (seconds: number) =>
      prepareAttention(minuteOf((ago) => ({ kvUse: ago <= seconds ? 0.99 : 0.5, waiting: 3 }))).map((each) => each.word);
    expect([full(29), full(30)]).toEqual([[], ["KV cache full"]]);
    expect(prepareAttention(minuteOf(() => ({ kvUse: 0.99, waiting: 0 })))).toEqual([]);
    expect(prepareAttention(minuteOf((ago) => ({ kvUse: ago === 5 ? null : 0.99, waiting: 3 })))[0]?.when?.text).toBe(
      "for more than 60\u00a0s",
    );
  });

  it("tells preemptions that go on from one that happened", () => {
    const rateOf = (value: number | null): EngineReadings => testReadings({ preemptionsPerSecond: { state: "value", value } });
    const preempting = (seconds: number) =>
      prepareAttention(minuteOf((ago) => ({ readings: rateOf(ago <= seconds ? 0.4 : 0) }))).map((each) => each.word);
    expect([preempting(15), preempting(45)]).toEqual([[], ["preempting"]]);
  });

  it("says of a serving engine that it sleeps, in its words, and nothing of one that is awake", () => {
    const stateOf = (value: string) => ({ readings: testReadings({ sleepState: { state: "value", value } }) });
    expect(wordsOf(stateOf("awake"))).toEqual([]);
    const [asleep] = problemsOf(stateOf("weights_offloaded"));
    expect(asleep).toMatchObject({ word: "asleep", tone: "bad" });
    expect(asleep?.text).toContain("weights offloaded");
  });

  it("tells what befell an engine for five minutes, the last of each kind", () => {
    const event = (kind: TargetEvent["kind"], ago: number, text: string): TargetEvent => ({ atMs: NOW - ago * 1000, kind, text });
    const problems = problemsOf({
      events: [
        event("counters-reset", 200, "first"),
        event("counters-reset", 90, "Its counters were reset: running fell."),
        event("version-changed", 60, "Its version was 0.9.2 and is 0.10.0."),
        event("answers", 30, "It answers again"),
      ],
    });
    expect(problems.map(({ word, when }) => [word, when?.text])).toEqual([
      ["restarted or reset", "2\u00a0min ago"],
      ["version changed", "60\u00a0s ago"],
    ]);
    expect(problems[0]?.text).toContain("Rates and percentiles skip that step");
    expect(problems[1]?.text).toContain("was 0.9.2 and is 0.10.0");
    expect(problemsOf({ events: [event("counters-reset", 301, "old")] })).toEqual([]);
  });

  it("names metrics that are absent once for all engines of a type and version, with the names looked for", () => {
    const lacking = { readings: testReadings({ kvUse: { state: "absent", lookedFor: "vllm:kv_cache_usage_perc" } }) };
    const newer = { ...lacking, engine: { type: "vllm", version: "0.31.0" } };
    const problems = prepareAttention([
      frameOf([
        testEngine("e1", lacking),
        testEngine("e2", lacking),
        testEngine("e3", newer),
        testEngine("e4", { ...lacking, health: "unknown" }),
      ]),
    ]);
    expect(problems.map(({ subject, word, tone }) => [subject, word, tone])).toEqual([
      ["vllm 0.30.0", "1 metric absent", "neutral"],
      ["vllm 0.31.0", "1 metric absent", "neutral"],
    ]);
    expect(problems[0]?.text).toContain("Looked for vllm:kv_cache_usage_perc");
  });

  it("tells lines that could not be read apart from names that are absent", () => {
    expect(problemsOf({ reason: "absent: vllm:x" })).toEqual([]);
    const [problem] = problemsOf({ reason: "2 of its lines could not be read, the first is line 5: no value; absent: vllm:x" });
    expect(problem).toMatchObject({ word: "lines not read", tone: "neutral" });
    expect(problem?.text).toMatch(/^2 of its lines could not be read, the first is line 5: no value\. /);
  });

  it("says what of GPUs is missing once their source was tried and failed", () => {
    const source = {
      state: "stale",
      sinceMs: NOW,
      ageSeconds: 5,
      reason: "connection refused",
      events: [],
      kind: "dcgm-exporter",
      name: "http://gpu-1:9400/metrics",
    } as const;
    const silent = { ...source, failing: { ...failing, kind: "unreachable" } } as const;
    expect(prepareAttention([frameOf([], { gpuSources: [silent] })])[0]).toMatchObject({ subject: "dcgm-exporter", word: "not reachable" });
    expect(prepareAttention([frameOf([], { gpuSources: [{ ...source, state: "unreachable", failing: null }] })])).toEqual([]);
    const other = { ...source, name: "http://gpu-2:9400/metrics", state: "fresh", failing: null } as const;
    const found = prepareAttention([frameOf([], { gpuSources: [other, silent] })]);
    expect(found.map(({ subject }) => subject)).toEqual(["http://gpu-1:9400/metrics"]);
  });

  it("puts a panic among the worst, with who began it, why and since when", () => {
    const panic = { model: "small-8b", by: "ann", reason: "answers are wrong", sinceMs: NOW - 300_000 };
    const routing = { policy: { kind: "fixed", model: "m" }, controls: { panic } } as unknown as LiveFrame["gateway"]["routing"];
    const [problem] = prepareAttention([frameOf([], { gateway: { ...gateway, routing } })]);
    expect(problem).toMatchObject({ word: "panic", subject: "small-8b", tone: "bad", when: { text: "for 5\u00a0min" } });
    expect(problem?.text).toMatch(/^ann: answers are wrong\. /);
  });

  it("says the same to a screen reader while only ages, counts and rates change", () => {
    const at = (atMs: number, refusedPerSecond: number) =>
      prepareAttention([
        testFrame({
          atMs,
          gateway: { ...gateway, refusedPerSecond },
          engines: [testEngine("e1", { state: "stale", failing })],
        }),
      ]).map(({ said, key }) => [said, key]);
    expect(at(NOW, 1)).toEqual(at(NOW + 9_000, 2.5));
  });
});
