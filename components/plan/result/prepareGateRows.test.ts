import { describe, expect, it } from "vitest";
import type { ComparedGate } from "@/solver/plan/planGates";
import { prepareGateRows } from "./prepareGateRows";

const gate = (of: Partial<ComparedGate> & Pick<ComparedGate, "kind">): ComparedGate => ({
  ...{ modelled: false, models: ["small", "large"], thresholds: [60], quality: 90, qualityLow: 88, gpus: 8, costUsdPerRequest: 0.001 },
  ...{ p95Seconds: 4, chosen: false },
  ...of,
});

describe("rows of compared gates", () => {
  it("begin with the plan's own gate and continue with the fastest", () => {
    const rows = prepareGateRows([
      gate({ kind: "judge", p95Seconds: 4.6, modelled: true }),
      gate({ kind: "scorer", p95Seconds: 3.9 }),
      gate({ kind: "confidence", p95Seconds: 3.1, chosen: true }),
    ]);
    expect(rows.map(({ name, p95 }) => `${name} ${p95.replace("\u00a0", " ")}`)).toEqual([
      "confidence 3.10 s",
      "scorer 3.90 s",
      "judge (modelled) 4.60 s",
    ]);
  });

  it("say why a gate gives no plan, after all that give one", () => {
    const none = { models: [], thresholds: [], quality: null, qualityLow: null, p95Seconds: null, gpus: null, costUsdPerRequest: null };
    const rows = prepareGateRows([gate({ kind: "agreement", ...none, noPlan: "quality-floor" }), gate({ kind: "judge", chosen: true })]);
    expect(rows.map(({ kind, reason }) => [kind, reason])).toEqual([
      ["judge", ""],
      ["agreement", "no cascade with it reaches the floor"],
    ]);
  });
});
