import type { ShapedReplica } from "@/solver/hardware/replicaShapes";
import { mixSeed } from "@/solver/numeric/random";
import { type PlanningSample, promptsScored, type Routed } from "../routing/routing";
import { createLatencyTables, type LatencyTables, type LatencyTablesInput } from "./latencyTables";
import type { Mix } from "./mix";

/** A judge that runs as a separate engine in the deployment. */
export interface JudgeEngine {
  readonly model: string;
  /** The replica shapes that fit, ascending by GPUs. */
  readonly shapes: readonly ShapedReplica[];
  /** Tokens that a judgement reads in addition to the prompt and the answer, and tokens that it writes. */
  readonly rubricTokens: number;
  readonly outputTokens: number;
}

type Judged = { readonly stages: readonly number[]; readonly routed: Pick<Routed, "start" | "exit" | "visits" | "judged" | "scored"> };

/** Latency tables of a judge's engine: its requests are the judgements of a cascade. */
export interface JudgeTables {
  readonly tables: LatencyTables;
  /** The judgements of a cascade, as a mix of the tables. */
  mix(of: Judged): Mix;
  /** Per prompt, the total latency of its judgements relative to others. */
  relativeLatency(of: Judged): Float64Array;
}

/**
 * Tables over every possible judgement: of the answer of each model except the largest to each prompt. Judgements arrive like
 * the requests of the trace, as often as the largest cascade could request them, thinned to those of a given cascade.
 */
export function createJudgeTables(input: LatencyTablesInput, { model, shapes, rubricTokens, outputTokens }: JudgeEngine): JudgeTables {
  const { sample } = input;
  const judged = sample.outputTokens.slice(0, Math.max(1, sample.models.length - 1));
  const tables = createLatencyTables({
    ...input,
    sample: {
      models: [model],
      prompts: judged.length * sample.prompts,
      inputTokens: Int32Array.from(
        judged.flatMap((answers) => [...answers].map((answer, prompt) => (sample.inputTokens[prompt] ?? 0) + answer + rubricTokens)),
      ),
      outputTokens: [new Int32Array(judged.length * sample.prompts).fill(outputTokens)],
      label: [],
      judged: [],
    },
    shapes: [shapes],
    requestsPerSecond: input.requestsPerSecond * judged.length,
    seed: mixSeed(input.seed, "judge"),
  });
  return {
    tables,
    mix(of) {
      const calls = judgedVisits(of, sample).flatMap(({ model: ladder, prompts }) =>
        [...prompts].map((prompt) => ladder * sample.prompts + prompt),
      );
      return { prompts: Int32Array.from(calls), share: calls.length / sample.prompts / judged.length };
    },
    relativeLatency(of) {
      const own = tables.relativeLatency(0);
      const sums = new Float64Array(sample.prompts);
      for (const { model: ladder, prompts } of judgedVisits(of, sample))
        for (const prompt of prompts) sums[prompt] = (sums[prompt] ?? 0) + (own[ladder * sample.prompts + prompt] ?? 0);
      return sums;
    },
  };
}

/** The models of a cascade whose answers are judged, with the prompts that they answer, less those whose gates leave the judge out. */
export const judgedVisits = (
  { stages, routed }: Judged,
  { asksJudge }: Pick<PlanningSample, "asksJudge">,
): readonly { readonly model: number; readonly prompts: Int32Array }[] =>
  stages.slice(0, -1).flatMap((model, stage) => {
    if (!routed.judged[stage]) return [];
    const scored = promptsScored(routed, stage);
    const asks = asksJudge?.[model];
    return [{ model, prompts: asks === undefined ? scored : scored.filter((prompt) => asks[prompt] === 1) }];
  });
