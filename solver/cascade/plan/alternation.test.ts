import { describe, expect, it } from "vitest";
import { gpuCard } from "@/solver/hardware/gpus";
import { modelCard } from "@/solver/hardware/models";
import { feasibleReplicas } from "@/solver/hardware/replicaShapes";
import { seededRandom } from "@/solver/numeric/random";
import { choose } from "../choose/choose";
import type { Knobs } from "../explore/exploration";
import { createExplorer } from "../explore/explore";
import type { Explorer } from "../explore/explorer";
import { routePrompts } from "../routing/routing";
import { lateBursts, testSample } from "../testing/testSample";
import { alternate, bothWays } from "./alternation";

const LADDER = ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-32b"];

interface Instance {
  readonly models: number;
  readonly gpus: number;
  readonly requestsPerSecond: number;
  readonly seed: number;
}

function explorerOf({ models, gpus, requestsPerSecond, seed }: Instance): Explorer {
  const ladder = LADDER.slice(-models);
  const sample = { ...testSample({ prompts: 300, skills: [0.45, 0.65, 0.9].slice(-models), seed }), models: ladder };
  return createExplorer({
    sample,
    shapes: ladder.map((id) => feasibleReplicas(modelCard(id)!, gpuCard("h100-sxm")!, { gpusPerNode: 8, maxGpus: gpus })),
    arrivalSeconds: lateBursts(2000, seed),
    requestsPerSecond,
    maxGpus: gpus,
    usdPerGpuHour: 3,
    judge: { secondsPerCall: 0.25, usdPerCall: 0 },
    quantile: 0.95,
    qualityConfidence: 0.9,
    seed,
    cancelled: () => false,
  });
}

const underFloor = (qualityFloor: number, latency: Knobs["latency"]): Knobs => ({
  kind: "latency-under-quality",
  latency,
  qualityFloor,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: 16,
});

describe("alternate", () => {
  const explorer = explorerOf({ models: 3, gpus: 16, requestsPerSecond: 120, seed: 5 });
  const ladder = [0, 1, 2];

  it.each(["largest-stage", "end-to-end"] as const)(
    "starts proportionally, never lets J rise and ends when it is stable (%s)",
    (latency) => {
      const { iterates, candidate } = alternate(explorer, underFloor(70, latency), ladder);
      const first = iterates[0]!;
      const { share } = routePrompts(explorer.input.sample, first.stages, first.thresholds);
      expect(share[1]).toBeCloseTo(1 / 2, 1);
      expect(share[2]).toBeCloseTo(1 / 3, 1);
      const scores = iterates.map(({ score }) => score);
      for (const [index, score] of scores.entries()) expect(score).toBeLessThanOrEqual((scores[index - 1] ?? score) + 1e-6);
      expect(scores.at(-1)).toBeLessThan(scores[0]!);
      for (const score of scores.slice(-4)) expect(score).toBeCloseTo(scores.at(-1)!, 5);
      expect(candidate!.qualityLow).toBeGreaterThanOrEqual(70);
      expect(candidate!.latencySeconds).toBeCloseTo(iterates.at(-1)!.latencySeconds, 5);
    },
  );

  it("drops the largest models when the floor is low, as the source's rows (80, 3) and (70, 3)", () => {
    const { candidate } = alternate(explorer, underFloor(30, "largest-stage"), ladder);
    expect(explorer.routing(candidate!.routing).stages).toEqual([0]);
  });

  it("raises quality up to a latency budget", () => {
    const budgeted = (latencyBudgetSeconds: number) => {
      const knobs: Knobs = { ...underFloor(0, "largest-stage"), kind: "quality-under-latency", qualityFloor: null, latencyBudgetSeconds };
      return alternate(explorer, knobs, ladder).candidate!;
    };
    expect(budgeted(2).latencySeconds).toBeLessThanOrEqual(2);
    expect(budgeted(4).latencySeconds).toBeLessThanOrEqual(4);
    expect(budgeted(4).qualityLow).toBeGreaterThan(budgeted(2).qualityLow);
  });

  it("starts lower where the proportional start does not keep up, and gives up where nothing does", () => {
    const busy = explorerOf({ models: 2, gpus: 4, requestsPerSecond: 120, seed: 2 });
    expect(alternate(busy, underFloor(60, "largest-stage"), [0, 1]).iterates.length).toBeGreaterThan(0);
    const drowned = explorerOf({ models: 2, gpus: 4, requestsPerSecond: 20_000, seed: 2 });
    expect(alternate(drowned, underFloor(60, "largest-stage"), [0, 1])).toEqual({ iterates: [], candidate: null });
  });
});

describe("bothWays", () => {
  it("keeps the better on random instances, and the explorer holds both", () => {
    const random = seededRandom(3);
    for (let seed = 1; seed <= 4; seed += 1) {
      const gpus = 4 + random.int(9);
      const explorer = explorerOf({ models: 2 + (seed % 2), gpus, requestsPerSecond: gpus * (8 + 22 * random.next()), seed });
      for (const latency of ["largest-stage", "end-to-end"] as const) {
        const knobs = { ...underFloor(60 + random.int(15), latency), maxGpus: gpus };
        explorer.search();
        explorer.focus({ floor: knobs.qualityFloor, budgetSeconds: null });
        const { direct, alternated, better, difference } = bothWays(explorer, knobs);
        const kept = choose(explorer.exploration(), knobs).chosen;
        const seconds = [direct, alternated].flatMap((found) => (found === null ? [] : [found.latencySeconds]));
        expect(kept?.latencySeconds ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(Math.min(...seconds, Number.POSITIVE_INFINITY) + 1e-6);
        if (difference === null) expect(direct === null || alternated === null).toBe(true);
        else
          expect(Math.sign(difference.latencySeconds) * (better === "same" ? 0 : 1)).toBe({ direct: 1, alternation: -1, same: 0 }[better!]);
      }
    }
  });
});
