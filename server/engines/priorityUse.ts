import { z } from "zod";

/** How an engine handles the field `priority` of a request, as far as it reports it. */
export type PriorityUse =
  /** It orders by it: lower first or higher first. */
  | {
      readonly kind: "ordered";
      readonly lowerFirst: boolean;
      /** Requests without the field come last, instead of counting as 0. */
      readonly unsetLast: boolean;
    }
  /** It accepts the field and does not report whether it orders by it. */
  | { readonly kind: "taken" }
  /** It refuses the field, or would ignore it. */
  | { readonly kind: "unused" };

const unused: PriorityUse = { kind: "unused" };

const sglangSchema = z.object({
  enable_priority_scheduling: z.boolean(),
  schedule_low_priority_values_first: z.boolean().optional(),
  default_priority_value: z.number().nullish(),
});
/** Weir's real engine (`server/llamaEngine`). */
const weirSchema = z.object({ engine: z.literal("weir-engine"), priority: z.literal("ignored") });
const vllmSchema = z.object({ vllm_config: z.object({ scheduler_config: z.object({ policy: z.string() }) }) });

/**
 * Paths of engines' settings. SGLang: `/server_info`, `/get_server_info` in releases before it had that. vLLM: `/server_info` in its
 * development mode only.
 */
export const settingsPaths = ["/server_info?config_format=json", "/get_server_info"] as const;

/**
 * Reads it from an engine's settings. SGLang orders higher first by default, puts requests without a priority last unless it has a default,
 * and ignores the field while its priority scheduling is off. vLLM orders lower first.
 *
 * @returns null if the answer is of no known engine.
 */
export function readPriorityUse(settings: unknown): PriorityUse | null {
  const sglang = sglangSchema.safeParse(settings);
  if (sglang.success) {
    const { enable_priority_scheduling: on, schedule_low_priority_values_first: lowerFirst, default_priority_value: unset } = sglang.data;
    return on ? { kind: "ordered", lowerFirst: lowerFirst === true, unsetLast: unset === undefined || unset === null } : unused;
  }
  if (weirSchema.safeParse(settings).success) return unused;
  const vllm = vllmSchema.safeParse(settings);
  if (!vllm.success) return null;
  return vllm.data.vllm_config.scheduler_config.policy === "priority" ? { kind: "ordered", lowerFirst: true, unsetLast: false } : unused;
}

/**
 * Reads it from how an engine answered a request with a priority other than 0. vLLM's first engine refuses such a request unless it orders
 * by priority; its present one, and others modelled on it, accept it without a statement (read in vLLM's source; its documentation says
 * otherwise, and vllm-project/vllm PR 23043, which would have refused it, was closed).
 *
 * @returns null if the answer is inconclusive, as that of an engine that is overloaded or requires a key.
 */
export function priorityUseOfAnswer(status: number): PriorityUse | null {
  if (status === 200) return { kind: "taken" };
  return status === 400 || status === 422 ? unused : null;
}

/** How a request's priority, lower being earlier, is handled: its name in the record, and the number for this engine; null for none. */
export interface EnginePriority {
  readonly priority: "passed" | "negated" | "offered" | "stripped" | null;
  readonly value: number | null;
}

const none: EnginePriority = { priority: null, value: null };
const stripped: EnginePriority = { priority: "stripped", value: null };

/** Converts a priority to an engine's own polarity. `use` null: unknown, and the field is not sent. */
export function priorityFor(asked: number | null, use: PriorityUse | null): EnginePriority {
  if (use?.kind === "ordered") {
    const { lowerFirst, unsetLast } = use;
    // As 0, the meaning of a missing priority for a client.
    if (asked === null) return unsetLast ? { priority: null, value: 0 } : none;
    return lowerFirst ? { priority: "passed", value: asked } : { priority: "negated", value: asked === 0 ? 0 : -asked };
  }
  if (asked === null) return none;
  return use?.kind === "taken" ? { priority: "offered", value: asked } : stripped;
}
