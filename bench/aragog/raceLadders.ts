import type { LabReplicas } from "@/solver/lab/labSpec";
import type { Workload } from "@/solver/workload/workload";
import { answersOf } from "../lib/ladders";

/** Two or three models, smallest first, and the prompts that all of them answered. */
export interface RaceLadder {
  readonly name: string;
  /** Owner of the answers: models of several families may have answered the same prompts. */
  readonly families: readonly string[];
  readonly task: "gsm" | "crux";
  readonly models: readonly [string, string, ...string[]];
  /** The source's models that they represent. */
  readonly standsFor: string;
}

const QWEN = {
  ...{ name: "Qwen2.5 3B, 7B, 32B", families: ["Qwen2.5-Instruct"], task: "crux" },
  ...{ models: ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-32b"], standsFor: "Qwen 2.5 7B, 14B, 32B" },
} as const satisfies RaceLadder;

const GEMMA = { families: ["Gemma-2-it"], models: ["gemma-2-2b", "gemma-2-9b", "gemma-2-27b"], standsFor: "Llama 3 3B, 8B, 70B" } as const;

/** The ladders of the whole race: there is no third size of Llama 3 with available answers, and none of Qwen's 14B. */
export const mainLadders: readonly RaceLadder[] = [QWEN, { ...GEMMA, name: "Gemma 2 2B, 9B, 27B", task: "gsm" }];

export const qwenLadder: RaceLadder = QWEN;

export const mixedLadder: RaceLadder = {
  ...{ name: "Llama 3.1 8B, Gemma 2 27B, Qwen2.5 32B", families: ["Llama-3.1-Instruct", "Gemma-2-it", "Qwen2.5-Instruct"], task: "crux" },
  ...{ models: ["llama-3.1-8b", "gemma-2-27b", "qwen2.5-32b"], standsFor: "Llama 3 8B, Phi 4 14B, Qwen 2.5 32B" },
};

/** Larger throughout, and more similar in the prompts they solve. */
export const largerLadder: RaceLadder = { ...QWEN, name: "Qwen2.5 7B, 32B, 72B", models: ["qwen2.5-7b", "qwen2.5-32b", "qwen2.5-72b"] };

/** Two models: there is no third size of the family. The ladder with the best heads among the available ones. */
export const pairLadder: RaceLadder = {
  ...{ name: "Llama 3.1 8B, 70B", families: ["Llama-3.1-Instruct"], task: "gsm" },
  ...{ models: ["llama-3.1-8b", "llama-3.1-70b"], standsFor: "Llama 3 8B, 70B" },
};

/** Sequences that an engine runs at once: a quarter of vLLM's, so that a shorter run suffices until engines have long been full. */
const BATCH = 64;

const engine = (model: string, tp: number): LabReplicas => ({
  ...{ model, gpu: "h100-sxm", precision: "bf16", tp, pp: 1, count: 1 },
  maxSequences: BATCH,
});

/**
 * One engine per model on seven of eight GPUs, as in the source; or on four, with the parallelism of the larger ones halved. With two
 * models the smaller also has the GPUs of the middle one, an engine on each.
 */
export function enginesOf({ models: [small, ...others] }: RaceLadder, gpus: 8 | 4): readonly LabReplicas[] {
  const parallel = gpus === 8 ? [2, 4] : [1, 2];
  const larger = others.map((model, at) => engine(model, parallel[at + parallel.length - others.length] ?? 1));
  const used = larger.reduce((sum, { tp }) => sum + tp, 0);
  return [{ ...engine(small, 1), count: gpus - (gpus === 8 ? 1 : 0) - used }, ...larger];
}

/** One more engine of the smallest model: it has the router's GPU in systems without a router. */
export const withSmall = (replicas: readonly LabReplicas[]): LabReplicas[] =>
  replicas.map((each, at) => (at === 0 ? { ...each, count: each.count + 1 } : each));

export interface RaceAnswers {
  readonly workload: Workload;
  /** By row of the outcome table; null where a prompt's text is not available. */
  readonly texts: readonly (string | null)[];
}

/** Token limit of an answer, as in applications: the few answers without an end were recorded up to 4,096 tokens. */
const MOST_TOKENS = 1024;

const read = new Map<string, Promise<RaceAnswers>>();

/** A ladder's answers to the prompts that all its models have, and the texts of these by row. */
export function raceAnswers(ladder: RaceLadder): Promise<RaceAnswers> {
  const known = read.get(ladder.name) ?? readAnswers(ladder);
  read.set(ladder.name, known);
  return known;
}

async function readAnswers({ families, task, models }: RaceLadder): Promise<RaceAnswers> {
  const all = await Promise.all(families.map((family) => answersOf({ family, task, replicas: [] })));
  const [first, ...others] = all;
  if (first === undefined) throw new Error("A ladder has no family");
  const { outcomes } = first.workload;
  for (const { workload } of others) {
    if (workload.outcomes.promptIds.join() !== outcomes.promptIds.join()) throw new Error("Families answered other prompts");
  }
  const columns = all.flatMap(({ workload }) => workload.outcomes.models);
  const own = models.map((name) => {
    const column = columns.find(({ model }) => model === name);
    if (column === undefined) throw new Error(`Nobody has answers of ${name}`);
    return column;
  });
  const cut = own.map((answers) => ({ ...answers, outputTokens: answers.outputTokens.map((tokens) => Math.min(MOST_TOKENS, tokens)) }));
  return { workload: { ...first.workload, outcomes: { ...outcomes, models: cut } }, texts: first.texts };
}
