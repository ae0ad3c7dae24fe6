import { z } from "zod";
import type { RequestFacts } from "@/solver/prediction/predictor";
import type { Sketch } from "@/solver/words/sketch";
import { artefactKinds } from "./artefacts";

/**
 * Trained predictors in a gateway, on its admin listener: `PUT /artefacts/<sha256>` with the bytes as its body, which are checked against
 * the hash (a repetition changes nothing, except for one that fails), `GET /artefacts`, and `DELETE /artefacts/<sha256>`, refused with 409
 * while it is named by a policy that is in force, was in force before, or is being tried. A configuration or a candidate whose policy names
 * a missing one is refused.
 */
export const gatewayArtefactSchema = z.object({
  hash: z.string(),
  kind: z.enum(artefactKinds),
  bytes: z.int(),
  /** Models it was trained for. */
  models: z.array(z.string()),
  /** Whether it is named by a policy that is in force, was in force before, or is being tried. */
  used: z.boolean(),
  /** Whether it is named but does not serve: bytes that are sent again are loaded in place of the present ones. */
  fails: z.literal(true).optional(),
});
export const gatewayArtefactsSchema = z.object({ artefacts: z.array(gatewayArtefactSchema) });
export type GatewayArtefact = z.infer<typeof gatewayArtefactSchema>;

/** Valid names of workflow and stage in a client's `x-weir-workflow` and `x-weir-stage`; others count as absent. */
export const workflowName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/**
 * A program counts as ended this many seconds after its last answer, since no client reports its end. Until then the rest of its output is
 * not known.
 */
export const programQuietSeconds = 600;

/**
 * One line of `GET /learning` (NDJSON, in the order of the answers): an answer of a model with the features of its request that were known
 * at the decision. Of its text it contains the numbers of words, numbers and signs, and the counts of common words: single words, in no
 * order, and only those that occur in at least one in a hundred of the training prompts of the length predictor that a policy names. A
 * guessing attack reveals which of these words were in a prompt, and nothing about its other words, except those whose hash collides with
 * one of these. Names of programs are hashed with a key that stays in the gateway. Which request read which answer is not known: the later
 * output of a request's program is the sum of `outputTokens` over accepted answers that began once its own was complete, without parallel
 * ones.
 */
export const learningLineSchema = z.object({
  /** Unix milliseconds at which the request arrived, and at which its answer was complete. */
  startedAtMs: z.number(),
  finishedAtMs: z.number(),
  /** Equal for the requests of one program; unique for a request that names neither session nor trace. */
  program: z.string(),
  /** Share of the programs that were logged when it was written; absent if there was room for all. */
  share: z.number().optional(),
  model: z.string(),
  /** Whether the client got this answer; otherwise a judge sent the request on to another stage. */
  accepted: z.boolean(),
  outputTokens: z.int(),
  /** The longest answer the client allowed: an answer of that length was cut. */
  mostTokens: z.int().nullable(),
  facts: z.object({
    instructionTokens: z.int(),
    promptTokens: z.int(),
    inputTokens: z.int(),
    workflow: z.string(),
    stage: z.string(),
    /**
     * Buckets, then the same number of counts, 16 bits each with the low byte first, in base64; null if there was no text, or no predictor
     * whose words could be counted.
     */
    sketch: z.string().nullable(),
  }),
});
export type LearningLine = z.infer<typeof learningLineSchema>;

/** The features of a line in the predictors' form. */
export function factsOfLine({ facts }: LearningLine): RequestFacts {
  return { ...facts, sketch: facts.sketch === null ? null : unpackSketch(facts.sketch) };
}

export function packSketch({ buckets, counts }: Sketch): string {
  const bytes = Buffer.alloc(4 * buckets.length);
  for (const [index, bucket] of buckets.entries()) {
    bytes.writeUInt16LE(bucket, 2 * index);
    bytes.writeUInt16LE(counts[index] ?? 0, 2 * (buckets.length + index));
  }
  return bytes.toString("base64");
}

function unpackSketch(packed: string): Sketch {
  const bytes = Buffer.from(packed, "base64");
  const length = Math.floor(bytes.length / 4);
  const read = (first: number) => Uint16Array.from({ length }, (_, index) => bytes.readUInt16LE(2 * (first + index)));
  return { buckets: read(0), counts: read(length) };
}
