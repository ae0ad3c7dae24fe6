import { expect, it } from "vitest";
import type { MeasuredSessions } from "@/server/contracts/studio";
import { testPlacement } from "../testing/testEnsembles";
import { measuredRows, measuredSays, unmeasuredSays } from "./prepareMeasured";

const measured = (change: Partial<MeasuredSessions> = {}): MeasuredSessions => ({
  ...{
    model: "gemma-2-9b",
    gpu: "h100-sxm",
    gpus: 1,
    rows: 14,
    sessions: 12,
    emulated: 0,
    loads: 4,
    fewestPrompts: 100,
    mostPrompts: 1600,
  },
  ...{ meanOutputTokens: 200.4, maxOutputTokens: 900, leastSeconds: 27, mostSeconds: 327, meanLoadSeconds: 11 },
  ...{ latestAt: "2026-03-01T10:00:00.000Z", ...change },
});

it("tells of measured sessions by model and engine what there is, and what the placement makes of them", () => {
  const groups = [measured(), measured({ gpus: 2 }), measured({ model: "other" }), measured({ model: "llama-3.1-70b", gpus: 2 })];
  const [own, wider, other, aggregator] = measuredRows(groups, testPlacement());
  expect(own).toMatchObject({
    ...{ engine: "1 x h100-sxm", sessions: "12", emulated: "", prompts: "100 to 1,600", output: "200 mean, 900 at most" },
    ...{ seconds: "27.0\u00a0s to 327\u00a0s", load: "11.0\u00a0s, mean of 4", use: "Sessions 12 sessions. Loads: 16 GiB at 3 GB/s." },
  });
  expect([wider?.use, other?.use, aggregator?.use]).toEqual([
    "Other GPUs than workers have here.",
    "No expert here.",
    "Loads of the aggregator.",
  ]);
  expect(measuredRows(groups, null)[0]?.use).toBe("–");
  expect(new Set(measuredRows(groups, null).map(({ key }) => key)).size).toBe(4);
});

it("tells loads alone, and rows of emulated engines", () => {
  const none = {
    fewestPrompts: null,
    mostPrompts: null,
    meanOutputTokens: null,
    maxOutputTokens: null,
    leastSeconds: null,
    mostSeconds: null,
  };
  const [load] = measuredRows([measured({ ...none, rows: 4, sessions: 0, emulated: 4 })], null);
  expect(load).toMatchObject({ sessions: "0", emulated: "emulated", prompts: "–", output: "–", seconds: "–" });
  expect(measuredRows([measured({ emulated: 3, meanLoadSeconds: null, loads: 0 })], null)[0]).toMatchObject({
    emulated: "3 emulated",
    load: "–",
  });
});

it("counts them, and names the experts of which nothing was measured", () => {
  expect(measuredSays([])).toBe("none yet");
  expect(measuredSays([measured(), measured({ gpus: 2, sessions: 1 }), measured({ model: "other", sessions: 0 })])).toBe(
    "13 sessions of 2 models",
  );
  expect(unmeasuredSays([measured()], testPlacement())).toBe(
    "Nothing was measured on 1 x h100-sxm of qwen2.5-7b: sessions are simulated, loads estimated.",
  );
  expect(unmeasuredSays([measured(), measured({ model: "qwen2.5-7b" })], testPlacement())).toBeNull();
  expect(unmeasuredSays([], null)).toBeNull();
});
