import { expect, test } from "vitest";
import { slackChoice } from "../policies/routes/slackChoice";
import type { LabReplicas } from "./labSpec";
import { labSystemSchema } from "./labSpec";
import { MARGINS, SLACKS, suggestedSystems } from "./suggestedSystems";
import { systemRefusal } from "./systemRefusal";

const models = ["small", "middle", "large"].map((model, at) => ({
  ...{ model, quality: 0.3 * (at + 1), engines: 3 - at, maxBatchSize: 64, decodeSecondsPerToken: 0.01 * (at + 1), unloadedSeconds: at + 1 },
}));
const engines = models.map(({ model }): LabReplicas => ({ model, gpu: "l40s", precision: "bf16", tp: 1, pp: 1, count: 1 }));

test("every suggested system may be raced, is described and named after what it is", () => {
  for (const count of [1, 2, 3]) {
    for (const { about, ...system } of suggestedSystems(models.slice(0, count))) {
      expect(systemRefusal(system, engines)).toBeNull();
      expect(labSystemSchema.parse(system)).toEqual(system);
      expect(about).toMatch(/\.$/);
    }
  }
  const names = suggestedSystems(models).map(({ name }) => name);
  expect(names.filter((name) => name === "Chimera")).toHaveLength(SLACKS.length);
  expect(new Set(names)).toEqual(
    new Set([
      ...[
        "vLLM balancing",
        "MLFQ",
        "MLFQ, preempting",
        "LTR",
        "STJF oracle",
        "Chimera",
        "Chimera at slack 2",
        "Chimera, priced",
        "Chimera, oracle lengths",
      ],
      ...["Chimera, oracle router", "Chimera, no router", "small alone", "middle alone", "large alone"],
      ...["Parrot", "Ayo", "Kairos", "Kairos, no priority", "Kairos, no packing", "Kairos, oracle order"],
    ]),
  );
  expect(suggestedSystems(models.slice(0, 1)).some(({ policy }) => policy.kind === "slack")).toBe(false);
  const many = Array.from({ length: 64 }, (_, at) => ({ ...(models[0] as (typeof models)[number]), model: `model ${at}` }));
  expect(suggestedSystems(many)).toHaveLength(40);
});

test("with a margin a router that is always surer of the largest model still chooses by prompt, and without one it does not", () => {
  const routed = suggestedSystems(models.slice(0, 2)).flatMap((system) =>
    system.policy.kind === "slack" && system.confidence === "learnt" && system.policy.tau === 2 ? [system.policy] : [],
  );
  expect(routed.map(({ deltaScore }) => deltaScore)).toEqual([0, ...MARGINS]);
  const chosen = (deltaScore: number, gap: number) =>
    slackChoice(
      [0, gap].map((more) => ({ load: more, confidence: 0.5 + more })),
      { tau: 2, deltaScore, floorSeconds: 1 },
    );
  // As wide as the gaps learnt from real answers, where the larger model always had the higher confidence.
  const gaps = [0.03, 0.07, 0.15, 0.25];
  expect(routed.map(({ deltaScore }) => gaps.map((gap) => chosen(deltaScore, gap)))).toEqual([
    [1, 1, 1, 1],
    [0, 1, 1, 1],
    [0, 0, 1, 1],
    [0, 0, 0, 1],
  ]);
});

test("work in a central queue is let first after ten times what a model's engines hold, however many they are", () => {
  const releases = (engines: number) =>
    new Set(
      suggestedSystems(models.map((model) => ({ ...model, engines }))).flatMap(({ policy }) =>
        policy.order.kind === "fcfs" ? [] : [policy.order.agingThreshold],
      ),
    );
  expect([1, 64].map(releases)).toEqual([new Set([640]), new Set([40_960])]);
});
