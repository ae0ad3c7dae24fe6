import type { UserCards } from "@/solver/hardware/cardSchema";
import { parseHuggingFaceConfig } from "@/solver/hardware/huggingFaceConfig";
import type { LabReplicas } from "@/solver/lab/labSpec";
import type { Workload } from "@/solver/workload/workload";
import { workloadOf } from "../lib/compareData";

/** The races: the source's applications, each alone and all of them at once, in equal shares of the programs. */
export const applications = [
  { name: "QA", workflows: ["qa-router"] },
  { name: "report", workflows: ["report"] },
  { name: "code", workflows: ["code-with-feedback"] },
  { name: "co-located", workflows: ["qa-router", "report", "code-with-feedback"] },
] as const;
export type Application = (typeof applications)[number];
const coLocated = applications.filter(({ name }) => name === "co-located");

const SMALL = "llama-3.1-8b";
const LARGE = "llama-2-13b";

/** Replicas of a model, as many as in the source. */
const engines = (model: string, gpu: string): LabReplicas => ({ model, gpu, precision: "bf16", tp: 1, pp: 1, count: 4 });

/**
 * Engines on which the applications are raced. The source's A40 of 48 GB has no measured kernels here; the L40S has as much memory, and
 * answers here are so short that vLLM's 256 sequences of an 8B model never fill it: fewer are admitted, so that a shorter run suffices
 * until requests queue. Where memory should limit a batch of the 8B model, as in the source, it has GPUs of 24 GB; that is raced co-located
 * only.
 */
export const settings = [
  { name: "8B", replicas: { ...engines(SMALL, "l40s"), maxSequences: 64 }, applications },
  { name: "8B on 24 GB", replicas: engines(SMALL, "a10g"), applications: coLocated },
  { name: "13B", replicas: engines(LARGE, "l40s"), applications },
] as const;
export type Setting = (typeof settings)[number];

/** The shape of Llama-2-13B, from its `config.json`. */
const LARGE_CONFIG = {
  ...{ model_type: "llama", hidden_size: 5120, intermediate_size: 13824, num_hidden_layers: 40, vocab_size: 32000 },
  ...{ num_attention_heads: 40, num_key_value_heads: 40, max_position_embeddings: 4096, tie_word_embeddings: false },
};

/** A card of the 13B model, which is not one of the shipped ones. */
export function ownCards(): UserCards {
  const read = parseHuggingFaceConfig(LARGE_CONFIG);
  if (!read.ok) throw new Error(read.message);
  const { architecture, precision, quantized, maxContextTokens } = read;
  const card = { id: LARGE, huggingFace: null, architecture, precision, quantized, maxContextTokens };
  return { models: [{ ...card, kvBytesPerValue: 2, publishedParamsB: 13, source: "Llama 2's config.json" }], gpus: [], prices: {} };
}

/**
 * Token limit of an answer, as in applications. The few answers without an end were recorded up to 4,096 tokens: as long as the 13B
 * model's whole context, and a quarter of the capacity of one of its engines here.
 */
const MOST_TOKENS = 1024;

/**
 * Answers of the 8B model to maths and code. Those of the 13B model to the same prompts are not available: it is assumed to write as much.
 */
export async function raceWorkload(): Promise<Workload> {
  const workload = await workloadOf({ family: "Llama-3.1-Instruct", tasks: ["gsm", "crux"], judgeAuc: 0.8 });
  const own = workload.outcomes.models.filter(({ model }) => model === SMALL);
  const models = [SMALL, LARGE].flatMap((model) =>
    own.map((answers) => ({ ...answers, model, outputTokens: answers.outputTokens.map((tokens) => Math.min(MOST_TOKENS, tokens)) })),
  );
  return { ...workload, outcomes: { ...workload.outcomes, models } };
}
