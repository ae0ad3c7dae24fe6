import { z } from "zod";
import type { Finding } from "@/server/contracts/studio";
import type { Precision } from "@/solver/hardware/modelCard";
import type { ServedModel } from "../engineClient/checkEndpoint";
import { ok, warn } from "../engineClient/finding";
import { ggufPrecision } from "./ggufNames";

const propsSchema = z.object({
  total_slots: z.int().positive(),
  default_generation_settings: z.object({ n_ctx: z.int().positive() }).nullish().catch(null),
  model_ftype: z.string().nullish(),
  is_sleeping: z.boolean().nullish(),
});

/** A router starts a server for each model. */
const routerSchema = z.object({ role: z.literal("router"), max_instances: z.int().nonnegative() });

/** llama.cpp's own statements about itself. */
type LlamaServer =
  | {
      readonly role: "server";
      /** Requests that it runs at once. */
      readonly slots: number;
      /** Of one slot: of a prompt and its answer; null: not reported. */
      readonly contextTokens: number | null;
      readonly precision: Precision | null;
      /** Its weights are out of memory until the next request. */
      readonly sleeping: boolean;
    }
  | { readonly role: "router"; readonly maxModels: number };

/** Reads llama.cpp's `/props`; null if the page is not from it. */
export function readLlamaProps(page: unknown): LlamaServer | null {
  const router = routerSchema.safeParse(page);
  if (router.success) return { role: "router", maxModels: router.data.max_instances };
  const { success, data } = propsSchema.safeParse(page);
  if (!success) return null;
  return {
    role: "server",
    slots: data.total_slots,
    contextTokens: data.default_generation_settings?.n_ctx ?? null,
    precision: ggufPrecision(data.model_ftype ?? ""),
    sleeping: data.is_sleeping === true,
  };
}

/** What an operator should know about a llama.cpp server before it is attached. */
export function llamaFindings(llama: LlamaServer, served: readonly ServedModel[]): readonly Finding[] {
  if (llama.role === "router") {
    const loaded = served.filter((one) => one.loaded).map(({ id }) => id);
    return [
      warn(
        "engine",
        `It is a router: it starts a server for each model at its first request, which takes seconds to minutes${llama.maxModels > 0 ? `, and runs at most ${llama.maxModels} at once` : ""}. Loaded now: ${loaded.join(", ") || "none"}. It does not report their slots.`,
        "Attach one llama-server for each model of a plan, or load the models before traffic comes and enter their requests at once.",
      ),
    ];
  }
  const { slots, contextTokens, sleeping } = llama;
  const each = contextTokens === null ? "" : `, each of up to ${contextTokens} tokens; it refuses longer ones`;
  return [
    ok("engine", `It runs ${slots} ${slots === 1 ? "request" : "requests"} at once${each}.`),
    ...(sleeping
      ? [
          warn(
            "engine",
            "It sleeps: the next request loads its model again, which takes seconds.",
            "Start it without --sleep-idle-seconds.",
          ),
        ]
      : []),
  ];
}
