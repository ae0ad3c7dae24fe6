import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { gammaArrivals } from "@/solver/engine/gammaArrivals";
import { gpuCard } from "@/solver/hardware/gpus";
import { modelCard } from "@/solver/hardware/models";
import { feasibleReplicas } from "@/solver/hardware/replicaShapes";
import { mean } from "@/solver/numeric/quantile";
import { modelledScores } from "@/solver/workload/judgeModel";
import { choose } from "../choose/choose";
import { createExplorer } from "../explore/explore";
import type { Explorer } from "../explore/explorer";
import type { PlanningSample } from "./routing";

const FILE = "../shared/data/quality/judge_scores.csv";

const LADDER = [
  { card: "gemma-2b", name: "gemma-2b-it" },
  { card: "gemma-7b", name: "gemma-7b-it" },
];
const GATE = "gpt-4-turbo-2024-04-09";
const LABELS = "gpt-4o-2024-05-13";
const RELEASE = "v2.0522";
const FLOORS = [43.5, 44, 44.5, 45, 45.5, 46, 46.5, 47, 47.5, 48];
const GPUS = 4;

interface Judged {
  readonly score: number;
  readonly outputTokens: number;
  readonly judgeInputTokens: number;
}

/** The answers that both judges scored, per model of the ladder; the two judges' scores mapped to 0..100. */
function twoJudges(): { readonly sample: PlanningSample; readonly gate: readonly Float64Array[] } {
  const rows = new Map<string, Judged>();
  for (const line of readFileSync(FILE, "utf8").trim().split("\n").slice(1)) {
    const [release, judge, session, model, score, , outputTokens, judgeInputTokens] = line.split(",");
    if (release !== RELEASE || score === "") continue;
    const values = {
      score: (100 * (Number(score) - 1)) / 9,
      outputTokens: Number(outputTokens),
      judgeInputTokens: Number(judgeInputTokens),
    };
    rows.set(`${judge} ${model} ${session}`, values);
  }
  const read = (judge: string, name: string, session: string): Judged | undefined => rows.get(`${judge} ${name} ${session}`);
  const sessions = [...rows.keys()]
    .filter((key) => key.startsWith(`${GATE} ${LADDER[0]!.name}`))
    .map((key) => key.split(" ")[2]!)
    .filter((session) => [GATE, LABELS].every((judge) => LADDER.every(({ name }) => read(judge, name, session) !== undefined)));
  const column = (judge: string, name: string, of: (judged: Judged) => number): number[] =>
    sessions.map((session) => of(read(judge, name, session)!));
  // Prompt lengths are absent: estimated as the judge's input beyond the answer and beyond the shortest such remainder, its instructions.
  const rest = column(GATE, LADDER[0]!.name, ({ judgeInputTokens, outputTokens }) => judgeInputTokens - outputTokens);
  const instructions = Math.min(...rest);
  const label = LADDER.map(({ name }) => Float64Array.from(column(LABELS, name, ({ score }) => score)));
  const gate = LADDER.map(({ name }) => Float64Array.from(column(GATE, name, ({ score }) => score)));
  const sample: PlanningSample = {
    models: LADDER.map(({ card }) => card),
    prompts: sessions.length,
    inputTokens: Int32Array.from(rest, (tokens) => Math.max(8, tokens - instructions)),
    outputTokens: LADDER.map(({ name }) => Int32Array.from(column(GATE, name, ({ outputTokens }) => Math.max(1, outputTokens)))),
    label,
    judged: label,
  };
  return { sample, gate };
}

function explorerFor(sample: PlanningSample): Explorer {
  const gpu = gpuCard("l40s")!;
  const explorer = createExplorer({
    sample,
    shapes: sample.models.map((id) => feasibleReplicas(modelCard(id)!, gpu, { gpusPerNode: GPUS, maxGpus: GPUS })),
    arrivalSeconds: gammaArrivals({ requests: 5000, requestsPerSecond: 8, shape: 0.862, seed: 1 }),
    requestsPerSecond: 4,
    maxGpus: GPUS,
    usdPerGpuHour: 1,
    judge: { secondsPerCall: 0.27, usdPerCall: 0 },
    quantile: 0.95,
    qualityConfidence: 0.9,
    seed: 1,
    cancelled: () => false,
  });
  explorer.search();
  return explorer;
}

/** The fastest plan at a floor on the point value, by one judge at the gate. */
function planAt(explorer: Explorer, qualityFloor: number) {
  const { chosen } = choose(explorer.exploration(), {
    kind: "latency-under-quality",
    latency: "end-to-end",
    qualityFloor,
    qualityConfidence: null,
    latencyBudgetSeconds: null,
    maxGpus: GPUS,
  });
  const { stages, thresholds, routed } = explorer.routing(chosen!.routing);
  return { stages, thresholds, escalated: routed.share[1] ?? 0, quality: routed.quality, seconds: chosen!.latencySeconds };
}

test(
  "on WildBench either judge at the gate beats a coin, and kept thresholds lose quality when the judge changes",
  needs(file(FILE)),
  () => {
    const { sample, gate } = twoJudges();
    expect(sample.prompts).toBeGreaterThan(1000);
    const coin = sample.label.map((own, model) => modelledScores(own, { auc: 0.5, seed: model }));
    const explorers = [sample.judged, gate, coin].map((judged) => explorerFor({ ...sample, judged }));
    const plans = explorers.map((explorer) => FLOORS.map((floor) => planAt(explorer, floor)));
    const [own, other, byCoin] = plans.map((at) => mean(at.map(({ seconds }) => seconds)));
    console.log(
      "WildBench, gemma-2b > gemma-7b on 4 L40S, prompt lengths estimated; GPT-4o labels, gated by GPT-4o, by GPT-4-turbo, by a coin:",
    );
    console.table(
      FLOORS.map((floor, at) => {
        const shown = plans.map((of) => of[at]!);
        const cell = ({ escalated, quality, seconds }: (typeof shown)[number]) =>
          `${(100 * escalated).toFixed(0)} % on, quality ${quality.toFixed(1)}, ${seconds.toFixed(1)} s`;
        return { floor, own: cell(shown[0]!), other: cell(shown[1]!), coin: cell(shown[2]!) };
      }),
    );
    // The plan made with the labels' own judge, with its thresholds kept when the other one gates.
    const { stages, thresholds, escalated, quality } = plans[0]![FLOORS.indexOf(46)]!;
    const kept = explorers[1]!.outlook(stages, thresholds).routed;
    console.log(
      `Kept thresholds: ${(100 * escalated).toFixed(0)} -> ${(100 * kept.share[1]!).toFixed(0)} % on, quality ${quality.toFixed(1)} -> ${kept.quality.toFixed(1)}`,
    );
    // The other judge is the more lenient one: it accepts more, and quality falls.
    expect(kept.share[1]).toBeLessThan(escalated);
    expect(kept.quality).toBeLessThan(quality);
    // Which judge costs more at a floor depends on where its ten grades allow a threshold, not on the judge alone.
    expect(byCoin).toBeGreaterThan(Math.max(own!, other!));
  },
);
