/** What one quantity of a subject is. */
export interface Quantity {
  readonly unit:
    | "requests"
    | "share"
    | "tokens"
    | "tokens/s"
    | "requests/s"
    | "preemptions/s"
    | "s"
    | "bytes"
    | "W"
    | "°C"
    | "points"
    | "USD/h";
  readonly meaning: string;
}

/** Percentiles of one latency, named as all others: `ttftP95Seconds`. */
const percentiles = <Name extends string>(name: Name, what: string) => {
  const row = (percent: number): Quantity => ({ unit: "s", meaning: `${what}: ${percent} % of requests kept below it` });
  return { [`${name}P50Seconds`]: row(50), [`${name}P95Seconds`]: row(95), [`${name}P99Seconds`]: row(99) } as Readonly<
    Record<`${Name}P${50 | 95 | 99}Seconds`, Quantity>
  >;
};

/** Of which window the gateway's records are summed up. */
const lately = "over the last 30 s";

/**
 * Every quantity that is stored over time, by kind of subject, with its unit and meaning. Rates and durations are in engine seconds; on
 * real engines those are wall seconds.
 */
export const quantities = {
  engine: {
    running: { unit: "requests", meaning: "in the engine's batch" },
    waiting: { unit: "requests", meaning: "in the engine's own queue" },
    kvUse: { unit: "share", meaning: "of the KV cache in use, 0 to 1, by the fullest rank" },
    kvUseMean: { unit: "share", meaning: "of the KV cache in use, 0 to 1, the mean of the ranks" },
    kvCapacityTokens: { unit: "tokens", meaning: "room of the KV cache" },
    preemptionsPerSecond: { unit: "preemptions/s", meaning: "requests thrown out of the batch for want of KV cache" },
    requestsPerSecond: { unit: "requests/s", meaning: "answered" },
    promptTokensPerSecond: { unit: "tokens/s", meaning: "read" },
    generationTokensPerSecond: { unit: "tokens/s", meaning: "written" },
    prefixHitShare: { unit: "share", meaning: "of prompt tokens found in the prefix cache, 0 to 1" },
    ttftMeanSeconds: { unit: "s", meaning: "time to first token: mean" },
    ...percentiles("ttft", "time to first token"),
    tpotMeanSeconds: { unit: "s", meaning: "mean time per output token of a request: mean" },
    ...percentiles("tpot", "mean time per output token of a request"),
    ...percentiles("itl", "time between two tokens"),
    endToEndMeanSeconds: { unit: "s", meaning: "from arrival at the engine to the last token: mean" },
    ...percentiles("endToEnd", "from arrival at the engine to the last token"),
    ...percentiles("queue", "in the engine's own queue"),
  },
  gpu: {
    activity: { unit: "share", meaning: "of the time it computed, 0 to 1" },
    memoryUsedBytes: { unit: "bytes", meaning: "memory in use" },
    memoryTotalBytes: { unit: "bytes", meaning: "memory there is, the driver's part included" },
    powerWatts: { unit: "W", meaning: "power draw" },
    temperatureCelsius: { unit: "°C", meaning: "temperature" },
  },
  stage: {
    queued: { unit: "requests", meaning: "in the gateway's queue of the model" },
    inFlight: { unit: "requests", meaning: "sent to an engine and not finished" },
    share: { unit: "share", meaning: `of requests that reached the stage, 0 to 1; ${lately}` },
    escalatedShare: { unit: "share", meaning: `of the stage's requests sent on to the next, 0 to 1; ${lately}` },
    p50Seconds: { unit: "s", meaning: `queue and engine call: 50 % of requests kept below it; ${lately}` },
    p95Seconds: { unit: "s", meaning: `queue and engine call: 95 % of requests kept below it; ${lately}` },
    p99Seconds: { unit: "s", meaning: `queue and engine call: 99 % of requests kept below it; ${lately}` },
    meanJudgedScore: { unit: "points", meaning: `mean of the judge's scores, 0 to 100; ${lately}` },
    ...percentiles("ttft", "time to first token at the stage's engines together"),
    ...percentiles("tpot", "mean time per output token of a request, at the stage's engines together"),
    tokensPerSecond: { unit: "tokens/s", meaning: "written by the stage's engines" },
    preemptionsPerSecond: { unit: "preemptions/s", meaning: "requests thrown out of the batch by the stage's engines" },
    kvUse: { unit: "share", meaning: "of the KV cache in use, 0 to 1, at the stage's fullest engine" },
    usdPerHour: { unit: "USD/h", meaning: "cost of the GPUs that hold the stage's engines" },
  },
  gateway: {
    requestsPerSecond: { unit: "requests/s", meaning: "answered without an error" },
    errorsPerSecond: { unit: "requests/s", meaning: "taken in and answered with an error: timed out or broken" },
    refusedPerSecond: { unit: "requests/s", meaning: "rejected on arrival for what they are: no key, an unserved model, a bad body" },
    shedPerSecond: { unit: "requests/s", meaning: "there was no room or no engine for" },
    unjudgedPerSecond: { unit: "requests/s", meaning: "accepted without a judged score" },
    queuedForAny: { unit: "requests", meaning: "in the gateway, for whichever model has room first" },
    endToEndP50Seconds: { unit: "s", meaning: `from arrival to the last byte: 50 % of requests kept below it; ${lately}` },
    endToEndP95Seconds: { unit: "s", meaning: `from arrival to the last byte: 95 % of requests kept below it; ${lately}` },
    endToEndP99Seconds: { unit: "s", meaning: `from arrival to the last byte: 99 % of requests kept below it; ${lately}` },
    meanQuality: { unit: "points", meaning: `mean of the answers' labels, 0 to 100, where they are known; ${lately}` },
    ttftP95Seconds: { unit: "s", meaning: `time to first token at the client: 95 % of requests kept below it; ${lately}` },
    overheadP95Seconds: { unit: "s", meaning: `the gateway's own time: 95 % of requests kept below it; ${lately}` },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Quantity>>>>;

export type SubjectKind = keyof typeof quantities;
export type EngineQuantity = keyof (typeof quantities)["engine"];
export type GpuQuantity = keyof (typeof quantities)["gpu"];
export type StageQuantity = keyof (typeof quantities)["stage"];
export type GatewayQuantity = keyof (typeof quantities)["gateway"];

/** What a subject is: `engine:<id>`, `gpu:<node>/<index>`, `stage:<model>` or `gateway`; null for anything else. */
export function kindOf(subject: string): SubjectKind | null {
  const kind = subject.split(":", 1)[0] ?? "";
  return Object.hasOwn(quantities, kind) ? (kind as SubjectKind) : null;
}
