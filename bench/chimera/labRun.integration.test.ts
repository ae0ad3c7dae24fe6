import { expect, test } from "vitest";
import type { LabSystem } from "@/solver/lab/labSpec";
import { generatedWorkload } from "@/solver/workload/generated";
import { ladders } from "../lib/ladders";
import { bySeed } from "../lib/runCells";
import { ORDER_BATCHES, SEEDS } from "./cases";
import { figuresOf, runLab, spanOf } from "./labRun";

const [ladder] = ladders.filter(({ family }) => family.startsWith("Qwen"));
// A batch as small as that of the largest models, for a quick run.
const replicas = (ladder?.replicas.slice(0, 1) ?? []).map((engine) => ({ ...engine, maxSequences: 32 }));
const seeds = SEEDS.slice(0, 3);
const model = replicas[0]?.model ?? "";
const workload = generatedWorkload({ prompts: 1000, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 1 });

const system = (kind: "fcfs" | "stjf"): LabSystem => ({
  name: kind,
  policy: {
    ...{ kind: "fixed", model, place: { kind: "least-load" } },
    order: kind === "fcfs" ? { kind } : { kind, agingThreshold: 1000 },
  },
  ...{ lengths: kind === "fcfs" ? "none" : "oracle", confidence: "none" },
});

test("below saturation arrivals last 20 times what a program takes, and enough waits for an order to matter", {
  timeout: 60_000,
}, async () => {
  if (ladder === undefined) throw new Error("There is no ladder of Qwen");
  const of = {
    ladder,
    workload,
    texts: workload.outcomes.promptIds.map(() => null),
    replicas,
    correlation: 0.5,
    loads: [0.95],
    seeds,
    batches: ORDER_BATCHES,
  };
  const ran = await runLab({ ...of, change: { queue: "engines", aging: null } }, figuresOf(of).capacity, () => [
    system("fcfs"),
    system("stjf"),
  ]);
  const [fcfs, stjf] = [0, 1].map((index) => bySeed(ran, { system: index, rate: 0 }, "meanQueueSeconds"));
  const latency = bySeed(ran, { system: 0, rate: 0 }, "meanSeconds");
  expect(fcfs).toHaveLength(seeds.length);
  for (const [seed, wait] of (fcfs ?? []).entries()) {
    expect(wait).toBeGreaterThan(0.03 * (latency[seed] ?? Number.NaN));
    expect(stjf?.[seed]).toBeLessThan(wait);
  }
  expect(spanOf(ran, { system: 0, rate: 0 })).toBeGreaterThan(20);
});
