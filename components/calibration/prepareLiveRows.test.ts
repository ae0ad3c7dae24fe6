import { describe, expect, it } from "vitest";
import type { EngineRows, LiveRows } from "@/server/contracts/studio";
import { engineLines, fileStem, liveSentences } from "./prepareLiveRows";

const engine: EngineRows = {
  id: "a",
  model: "llama-3.1-8b",
  engine: { type: "vllm", version: "0.30.0" },
  windows: 12,
  rows: 12,
  seconds: 1260,
  leftOut: [
    { reason: "the load changed", seconds: 1800 },
    { reason: "nothing was answered", seconds: 3 },
  ],
  refusal: null,
};
const live: LiveRows = {
  clusterName: "prod",
  fromMs: 0,
  toMs: 3_600_000,
  emulated: false,
  engines: [engine],
  spread: { concurrency: [2, 24], inputTokens: [200, 1500], outputTokens: [150, 150] },
  problems: [],
};

describe("rows taken from a cluster", () => {
  it("say by engine how much is rows, and of the rest the most of it first", () => {
    expect(engineLines(live)).toEqual([
      { id: "a", engine: "vllm 0.30.0", rows: "12", steady: "21\u00a0min", leftOut: ["30\u00a0min: the load changed"] },
    ]);
    const [alike] = engineLines({ ...live, engines: [{ ...engine, windows: 900 }] });
    expect(alike?.rows).toBe("12 of 900 alike");
    const [gone] = engineLines({
      ...live,
      engines: [{ ...engine, engine: null, windows: 0, rows: 0, seconds: 0, refusal: "It is gone." }],
    });
    expect(gone).toMatchObject({ engine: "not known", steady: "none", leftOut: ["It is gone."] });
  });

  it("say what they span, and no more where that is wide and measured", () => {
    expect(liveSentences(live)).toEqual(["12 rows from 1 engine: 2 to 24 requests in flight, 200 to 1,500 prompt and 150 answer tokens."]);
  });

  it("say what a fit cannot tell where they are alike", () => {
    const spread = { concurrency: [8, 10], inputTokens: [200, 1500], outputTokens: [150, 150] } as const;
    expect(liveSentences({ ...live, spread })[1]).toMatch(/^With so narrow a range of requests in flight a fit tells only/);
  });

  it("say that they are emulated, what could not be read, and when there is none", () => {
    expect(liveSentences({ ...live, emulated: true })[1]).toContain("not real engines");
    expect(liveSentences({ ...live, problems: ["Roll-ups of a cannot be read."] }).at(-1)).toBe("Roll-ups of a cannot be read.");
    expect(liveSentences({ ...live, spread: null })).toEqual([expect.stringContaining("No steady load on prod")]);
  });

  it("have a file name that any system takes", () => {
    expect(fileStem("embedded (emulated), hour to 2026-11-21 22:45 UTC")).toBe("embedded-emulated-hour-to-2026-11-21-22-45-UTC");
  });
});
