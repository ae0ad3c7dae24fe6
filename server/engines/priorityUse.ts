import { z } from "zod";

/** What an engine does with the field `priority` of a request, as far as it says. */
export type PriorityUse =
  /** It orders by it: lower first or higher first. */
  | {
      readonly kind: "ordered";
      readonly lowerFirst: boolean;
      /** Requests without the field come last, instead of counting as 0. */
      readonly unsetLast: boolean;
    }
  /** It takes the field and does not tell whether it orders by it. */
  | { readonly kind: "taken" }
  /** It refuses the field, or would read it without any effect. */
  | { readonly kind: "unused" };

const unused: PriorityUse = { kind: "unused" };

const sglangSchema = z.object({
  enable_priority_scheduling: z.boolean(),
  schedule_low_priority_values_first: z.boolean().optional(),
  default_priority_value: z.number().nullish(),
});
const vllmSchema = z.object({ vllm_config: z.object({ scheduler_config: z.object({ policy: z.string() }) }) });

/**
 * Where engines tell their settings. SGLang: `/server_info`, `/get_server_info` in releases before it had that. vLLM: `/server_info` in its
 * development mode only.
 */
export const settingsPaths = ["/server_info?config_format=json", "/get_server_info"] as const;

/**
 * Reads it from an engine's settings. SGLang orders higher first unless told otherwise, gives requests without a priority the last place
 * unless it has a default, and reads the field without effect while its priority scheduling is off. vLLM orders lower first.
 *
 * @returns null where the answer is of no engine that is known.
 */
export function readPriorityUse(settings: unknown): PriorityUse | null {
  const sglang = sglangSchema.safeParse(settings);
  if (sglang.success) {
    const { enable_priority_scheduling: on, schedule_low_priority_values_first: lowerFirst, default_priority_value: unset } = sglang.data;
    return on ? { kind: "ordered", lowerFirst: lowerFirst === true, unsetLast: unset === undefined || unset === null } : unused;
  }
  const vllm = vllmSchema.safeParse(settings);
  if (!vllm.success) return null;
  return vllm.data.vllm_config.scheduler_config.policy === "priority" ? { kind: "ordered", lowerFirst: true, unsetLast: false } : unused;
}

/**
 * Reads it from how an engine answered a request with a priority other than 0. vLLM's first engine refuses such a request unless it orders
 * by priority; its present one, and others after its pattern, take it and say nothing of it (read in vLLM's source; its documentation says
 * otherwise, and vllm-project/vllm PR 23043, which would have refused it, was closed).
 *
 * @returns null where the answer tells nothing, as that of an engine that is overloaded or wants a key.
 */
export function priorityUseOfAnswer(status: number): PriorityUse | null {
  if (status === 200) return { kind: "taken" };
  return status === 400 || status === 422 ? unused : null;
}

/** What becomes of a request's priority, lower being earlier: how the record calls it, and the number for this engine; null for none. */
export interface EnginePriority {
  readonly priority: "passed" | "negated" | "offered" | "stripped" | null;
  readonly value: number | null;
}

const none: EnginePriority = { priority: null, value: null };
const stripped: EnginePriority = { priority: "stripped", value: null };

/** Says an engine a priority in its own polarity. `use` null: nothing is known of it, and the field is not sent. */
export function priorityFor(asked: number | null, use: PriorityUse | null): EnginePriority {
  if (use?.kind === "ordered") {
    const { lowerFirst, unsetLast } = use;
    // As 0, which is what no priority means to a client.
    if (asked === null) return unsetLast ? { priority: null, value: 0 } : none;
    return lowerFirst ? { priority: "passed", value: asked } : { priority: "negated", value: asked === 0 ? 0 : -asked };
  }
  if (asked === null) return none;
  return use?.kind === "taken" ? { priority: "offered", value: asked } : stripped;
}
