import { modelledEngine } from "@/server/lab/labEngines";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import type { LabReplicas } from "@/solver/lab/labSpec";
import type { Workload } from "@/solver/workload/workload";
import { promptColumn, workloadOf } from "./compareData";
import { once } from "./once";

/** Models of one family, each on its own engine, and prompts that all have answered. */
export interface Ladder {
  readonly family: string;
  readonly task: "gsm" | "crux";
  readonly replicas: readonly LabReplicas[];
}

/**
 * Tokens of KV cache that an engine is sized for with each of its sequences. The source's programs write 447 to 709 tokens in the mean, with
 * deviations of 534 to 2,587, and each stage reads what the earlier ones wrote. Answers here are shorter.
 */
const TOKENS_A_SEQUENCE = 2400;

/** vLLM's limit where memory allows more. */
const MOST_SEQUENCES = 256;

/** An engine on GPUs of 48 GB. It runs as many sequences as its memory holds: models of one ladder differ by up to five times. */
function engine(model: string, tp: number): LabReplicas {
  const shape: LabReplicas = { model, gpu: "l40s", precision: "bf16", tp, pp: 1, count: 1 };
  const modelled = modelledEngine(shape, { catalogue: catalogueOf(noUserCards), profile: vllmProfile });
  if (!modelled.ok) throw new Error(modelled.message);
  return { ...shape, maxSequences: Math.min(MOST_SEQUENCES, Math.floor(modelled.replica.kvTokens / TOKENS_A_SEQUENCE)) };
}

/** Sequences that all engines of a ladder run at once. */
export const sequencesOf = (replicas: readonly LabReplicas[]): number =>
  replicas.reduce((sum, { count, maxSequences = MOST_SEQUENCES }) => sum + count * maxSequences, 0);

const families: readonly Omit<Ladder, "task">[] = [
  { family: "Llama-3.1-Instruct", replicas: [engine("llama-3.1-8b", 1), engine("llama-3.1-70b", 4)] },
  { family: "Gemma-2-it", replicas: [engine("gemma-2-2b", 1), engine("gemma-2-9b", 1), engine("gemma-2-27b", 2)] },
];

/** Two and three models on maths and code; and two sizes of the source's family, which have no answers to maths here. */
export const ladders: readonly Ladder[] = [
  ...families.flatMap((family) => (["gsm", "crux"] as const).map((task) => ({ ...family, task }))),
  { family: "Qwen2.5-Instruct", task: "crux", replicas: [engine("qwen2.5-3b", 1), engine("qwen2.5-7b", 1)] },
];

/** The workflows that the source runs on a task, in equal shares. */
export const workflowsOf: Readonly<Record<Ladder["task"], readonly string[]>> = {
  gsm: ["planner-solver-verifier-solver", "planner-solver", "solver"],
  crux: ["planner-coder-qa-coder", "planner-coder", "coder"],
};

/** A ladder's answers, and the texts of the prompts by row. */
export async function answersOf({
  family,
  task,
}: Ladder): Promise<{ readonly workload: Workload; readonly texts: readonly (string | null)[] }> {
  const [workload, byId] = await Promise.all([workloadOf({ family, tasks: [task], judgeAuc: 0.8 }), promptTexts()]);
  return { workload, texts: workload.outcomes.promptIds.map((id) => byId.get(id) ?? null) };
}

/** Texts of all prompts, by prompt id. */
export const promptTexts = once(() => promptColumn("prompt"));
