import { z } from "zod";
import { machineName } from "@/solver/wording/names";

/**
 * Model name under which the emulated judge's server also answers with the label of an answer: a trusted judge, for profiles that need a
 * label.
 */
export const trustedJudgeModel = "weir-trusted-judge";

/** POST `/engines` on the emulator's admin listener: start one emulated engine. 202 with an `emulatedEngineSchema` in state `loading`. */
export const engineRequestSchema = z.object({
  id: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,80}$/),
  model: machineName,
  gpu: machineName,
  tp: z.int().positive(),
  pp: z.int().positive(),
  /** The GPUs it occupies; refused with 409 when another engine holds one of them. */
  placements: z.array(z.object({ node: machineName, gpus: z.array(z.int().nonnegative()).min(1) })).min(1),
});

/**
 * GET `/engines` returns an array of these. DELETE `/engines/<id>?graceSeconds=` (wall seconds, 30 when not given) lets running requests
 * finish, then cuts the rest: 204 once the engine is gone and its GPUs are free, 202 while it still drains (ask again to wait on).
 */
const emulatedEngineSchema = engineRequestSchema.extend({
  url: z.url(),
  state: z.enum(["loading", "ready", "stopping"]),
  running: z.int(),
  waiting: z.int(),
});

/** GET `/cluster`: the hardware that the emulator emulates. `noise` says whether engines deviate from the planner's model. */
export const emulatedClusterSchema = z.object({
  gpu: z.string(),
  nodes: z.array(z.object({ name: z.string(), gpus: z.int().positive() })),
  timeScale: z.number().positive(),
  noise: z.object({ enabled: z.boolean(), seed: z.int() }),
  judge: z.object({ model: z.string(), url: z.url() }),
  dcgmUrl: z.url(),
  outcomes: z.object({ name: z.string(), prompts: z.int() }).nullable(),
  engines: z.array(emulatedEngineSchema),
});

/**
 * PUT `/outcomes`: the prompts whose lengths, answers and judged scores the emulated engines replay. The planner did not use these prompts.
 * Arrays per model are parallel to `promptIds`. 204 once they are kept on disk; ids may not hold `]`.
 */
export const emulatedOutcomesSchema = z.object({
  name: z.string(),
  promptIds: z.array(z.string()).min(1),
  inputTokens: z.array(z.int().positive()),
  models: z.array(
    z.object({
      model: z.string(),
      outputTokens: z.array(z.int().nonnegative()),
      label: z.array(z.number()),
      judged: z.array(z.number()),
      /** The final answer of a text, as `Answer: <answer>`; absent: a letter from A to D, the same from all models that are right. */
      answer: z.array(z.string().max(500)).optional(),
    }),
  ),
});

export type EngineRequest = z.infer<typeof engineRequestSchema>;
export type EmulatedEngine = z.infer<typeof emulatedEngineSchema>;
export type EmulatedCluster = z.infer<typeof emulatedClusterSchema>;
export type EmulatedOutcomes = z.infer<typeof emulatedOutcomesSchema>;
