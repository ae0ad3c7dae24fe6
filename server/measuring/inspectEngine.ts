import { z } from "zod";
import { jsonOf } from "@/server/engineClient/askEndpoint";
import { modelListSchema } from "@/server/engineClient/checkEndpoint";
import { engineVersion, versionPaths } from "@/server/engines/engineVersion";
import { type EngineCounters, engineCounters } from "./engineCounters";
import { askTarget, type MeasuredTarget } from "./measuredTarget";

/** An engine as it describes itself. */
export interface InspectedEngine {
  /** Its own word, such as "vllm"; "openai" where it does not say. */
  readonly engine: string;
  /** Whether it is Weir's emulator. */
  readonly emulated: boolean;
  readonly version: string | null;
  /** The model that is asked, as the engine calls it, and the weights that it loaded, where it says. */
  readonly served: string;
  readonly root: string | null;
  /** null: it does not say. */
  readonly contextTokens: number | null;
  readonly maxSequences: number | null;
  readonly maxBatchedTokens: number | null;
  readonly counters: EngineCounters;
}

export type InspectEngine =
  | { readonly kind: "inspected"; readonly inspected: InspectedEngine }
  | { readonly kind: "refused"; readonly reason: "no-access" | "unreachable" | "no-model" | "which-model"; readonly message: string };

const countSchema = z.number().int().positive().optional().catch(undefined);
/** What engines say of their settings, under one of these paths: Weir's own engine, and llama.cpp's server. */
const settingsSchema = z.object({
  engine: z.string().optional().catch(undefined),
  max_sequences: countSchema,
  max_batched_tokens: countSchema,
  max_model_len: countSchema,
  total_slots: countSchema,
  default_generation_settings: z.object({ n_ctx: countSchema }).optional().catch(undefined),
});
const SETTINGS_PATHS = ["/server_info", "/props"] as const;

/**
 * Asks an engine which model it serves, and for its limits.
 *
 * @param model the model to measure; undefined: the only one that it serves, adapters aside.
 */
export async function inspectEngine(target: MeasuredTarget, model: string | undefined): Promise<InspectEngine> {
  const listed = await askTarget(target, "/v1/models");
  const list = modelListSchema.safeParse(jsonOf(listed));
  if (!list.success) {
    if (listed.kind === "no-access") return { kind: "refused", reason: "no-access", message: `${listed.error.message}.` };
    const why = listed.kind === "answered" ? `answers /v1/models with status ${listed.status} and no list of models` : "does not answer";
    return { kind: "refused", reason: "unreachable", message: `${target.url} ${why}.` };
  }
  const all = list.data.data;
  const own = all.filter(({ parent }) => parent === undefined || parent === null);
  const names = all.map(({ id }) => id).join(", ");
  const [only] = own;
  const chosen = model === undefined ? (own.length === 1 ? only : undefined) : all.find(({ id }) => id === model);
  if (chosen === undefined)
    return model === undefined && own.length > 1
      ? { kind: "refused", reason: "which-model", message: `${target.url} serves ${names}: name one of them.` }
      : {
          kind: "refused",
          reason: "no-model",
          message: `${target.url} does not serve ${model ?? "a model"}${names === "" ? "" : `, but ${names}`}.`,
        };
  const version = await versionOf(target);
  const settings = await settingsOf(target);
  const counters = await engineCounters(target, version);
  return {
    kind: "inspected",
    inspected: {
      engine: counters.engine ?? settings.engine ?? "openai",
      emulated: counters.engine === "weir-emulator",
      version,
      served: chosen.id,
      root: chosen.root ?? null,
      contextTokens:
        chosen.max_model_len ?? settings.max_model_len ?? settings.default_generation_settings?.n_ctx ?? chosen.meta?.n_ctx ?? null,
      maxSequences: settings.max_sequences ?? settings.total_slots ?? null,
      maxBatchedTokens: settings.max_batched_tokens ?? null,
      counters,
    },
  };
}

async function versionOf(target: MeasuredTarget): Promise<string | null> {
  for (const path of versionPaths) {
    const answer = await askTarget(target, path);
    const version = answer.kind === "answered" && answer.status === 200 ? engineVersion(answer.text) : null;
    if (version !== null) return version;
  }
  return null;
}

async function settingsOf(target: MeasuredTarget): Promise<z.infer<typeof settingsSchema>> {
  for (const path of SETTINGS_PATHS) {
    const read = settingsSchema.safeParse(jsonOf(await askTarget(target, path)));
    if (read.success) return read.data;
  }
  return {};
}
