import { describe, expect, it } from "vitest";
import { testReadings } from "../testing/testFrame";
import { prepareReadings, type readingCell } from "./prepareReadings";

const figuresOf = (change: Parameters<typeof testReadings>[0]) =>
  new Map(prepareReadings(testReadings(change)).figures.map(({ name, cell }) => [name, cell]));

describe("prepareReadings", () => {
  it("tells zero, nothing yet, absent with the name looked for, and not applicable apart", () => {
    const figures = figuresOf({
      running: { state: "value", value: 0 },
      kvUse: { state: "absent", lookedFor: "vllm:kv_cache_usage_perc" },
      preemptionsPerSecond: { state: "not-applicable" },
    });
    expect(figures.get("Running")).toEqual({ kind: "value", text: "0" });
    expect(figures.get("Waiting")).toEqual({ kind: "nothing yet" });
    expect(figures.get("KV cache in use, fullest rank")).toEqual({ kind: "absent", lookedFor: "vllm:kv_cache_usage_perc" });
    expect(figures.get("Preemptions")).toEqual({ kind: "not applicable" });
  });

  it("gives every value its unit, and how the engine sleeps in its words", () => {
    const figures = figuresOf({
      kvUse: { state: "value", value: 0.414 },
      kvCapacityTokens: { state: "value", value: 61_440 },
      generationTokensPerSecond: { state: "value", value: 1234 },
      sleepState: { state: "value", value: "weights_offloaded" },
    });
    const textOf = (name: string) => readText(figures.get(name));
    expect(textOf("KV cache in use, fullest rank")).toBe("41\u00a0%");
    expect(textOf("KV cache holds")).toBe("61,440\u00a0tokens");
    expect(textOf("Tokens written")).toBe("1,234/s");
    expect(textOf("Sleep")).toBe("weights offloaded");
  });

  it("puts the percentiles of a latency into one row, with the mean where one is kept", () => {
    const { latencies } = prepareReadings(
      testReadings({ ttftMeanSeconds: { state: "value", value: 0.2 }, ttftP99Seconds: { state: "value", value: 1.5 } }),
    );
    expect(latencies[0]).toEqual({
      name: "Time to first token",
      mean: { kind: "value", text: "200\u00a0ms" },
      percentiles: [{ kind: "nothing yet" }, { kind: "nothing yet" }, { kind: "value", text: "1.50\u00a0s" }],
    });
    expect(latencies.map(({ mean }) => mean !== null)).toEqual([true, true, false, true, false]);
  });

  it("shows every reading of an engine, so that none is forgotten", () => {
    const { figures, latencies } = prepareReadings(testReadings());
    const shown = figures.length + latencies.reduce((sum, { mean }) => sum + 3 + (mean === null ? 0 : 1), 0);
    expect(shown).toBe(Object.keys(testReadings()).length);
  });
});

const readText = (cell: ReturnType<typeof readingCell> | undefined): string => (cell?.kind === "value" ? cell.text : `${cell?.kind}`);
