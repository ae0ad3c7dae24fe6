import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { prepareRealModels } from "@/server/realModels/prepareRealModels";
import { type GateComparison, type MeasuredGates, measureGates } from "../../lib/gateSplits";
import { meanText } from "../../lib/gateTables";
import { table } from "../../lib/tables";
import { LARGE, SMALL } from "../connections";
import type { Answering } from "../questions";
import { orderOn, RealEngines } from "../realEngine";
import { type AskedAnswers, askedAnswers } from "./askedAnswers";
import type { GateCases } from "./cases";
import type { RolePorts } from "./coreUse";
import { controls, realSignals, samplesScores } from "./realSignals";
import type { WeightSet } from "./weightSets";

/** Engines of one set of weights, one on a core each, and their judge. */
export interface ServingWeights {
  readonly small: Answering;
  readonly large: Answering;
  readonly judge: Answering;
  readonly ports: RolePorts;
}

/** Starts the engines of a set of weights as the product starts them, and ends them after the work. */
export async function withEngines<Result>(
  { name, folder: weights }: WeightSet,
  folder: string,
  work: (serving: ServingWeights) => Promise<Result>,
): Promise<Result> {
  const own = join(folder, name.replaceAll(" ", "-"));
  mkdirSync(own, { recursive: true });
  const prepared = await prepareRealModels(join(own, "models"), ["gguf"], weights);
  if (!prepared.ok) throw new Error(prepared.message);
  const engines = await RealEngines.open("llama", prepared.models, join(own, "engines", "llama"));
  try {
    const judge = await engines.judge();
    const [small, large] = (await engines.ensure([orderOn(SMALL, 0), orderOn(LARGE, 1)])).engines;
    if (small === undefined || large === undefined) throw new Error("an engine was not started");
    const port = (url: string): string => new URL(url).port;
    return await work({ small, large, judge, ports: { small: [port(small.url)], large: [port(large.url)], judge: engines.portsBeside } });
  } finally {
    await engines.end();
  }
}

/** What the models of a set of weights answer to the questions that gates learn from. */
export const answersOf = ({ small, large, judge }: ServingWeights, count: number, { samples }: GateCases): Promise<AskedAnswers> =>
  askedAnswers({ small, large, judge, count, samples });

/** One set of weights with its answers. */
export interface SeedAnswers {
  readonly weights: WeightSet;
  readonly answers: AskedAnswers;
}

/** The gates of every set of weights over all splits; the peer of each is the small model of the next one. */
export const measuredSeeds = (seeds: readonly SeedAnswers[]): readonly MeasuredGates[] =>
  seeds.map(({ weights, answers }, index) => {
    const peer = seeds.length < 2 ? null : (seeds[(index + 1) % seeds.length]?.answers ?? null);
    const unanimous = samplesScores(answers);
    const compared: GateComparison = {
      name: weights.name,
      stage: { model: SMALL, next: LARGE, label: answers.label, nextLabel: answers.nextLabel },
      floors: [],
      signals: (drawn) => realSignals(answers, peer, drawn),
      share: (planning) => planning.reduce((sum, row) => sum + (unanimous[row] === 100 ? 0 : 1), 0) / planning.length,
      competes: ({ name }) => !controls.has(name),
    };
    return measureGates(compared);
  });

/** The sets of weights with their models' qualities. */
export const seedTable = (seeds: readonly SeedAnswers[], measured: readonly MeasuredGates[]): string =>
  table(
    ["weights", "larger model", "questions", "right %: small, large", "questions with samples that differ %"],
    measured.map(({ name, questions, quality, nextQuality, shares }, index) => [
      ...[name, seeds[index]?.weights.isLargeOwn ? "own" : "the committed one", String(questions)],
      ...[`${quality.toFixed(1)}, ${nextQuality.toFixed(1)}`, meanText(shares.map((share) => 100 * share))],
    ]),
  );
