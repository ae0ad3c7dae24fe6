import { existsSync } from "node:fs";
import { join } from "node:path";
import { addonsFolder } from "@/server/addons/addonFolder";
import { createAddonKeeper } from "@/server/addons/addonKeeper";
import { connectionSchema, type ProcessConnection } from "@/server/processes/processConnection";
import { vllmConnection } from "@/server/realVllm/vllmConnection";
import { PROCESSOR_CARD } from "@/solver/hardware/processorCard";

export const realModels = { small: "arith-small", large: "arith-large" } as const;

export type EngineKind = "vllm" | "weir";

/** Cores of the bench's cluster, one an engine. */
const cores = 2;

/** Flags of Weir's own engine: a thread for each, as each has a core. */
const weirArgs = ["--sequences", "16", "--threads", "1"] as const;

export interface ConnectionNeeds {
  readonly ports: ProcessConnection["ports"];
  readonly judge: ProcessConnection["judge"];
}

/** Folders or files of the two models. */
export type ModelPaths = Readonly<Record<string, string>>;

/**
 * How the engines of a kind are started here, or why they cannot be.
 *
 * vLLM: its program is in `WEIR_VLLM` (a virtual environment). Weir's own engine: the add-on `real-engine`.
 */
export function connectionOf(
  kind: EngineKind,
  paths: ModelPaths,
): { readonly connect: (needs: ConnectionNeeds) => ProcessConnection } | { readonly missing: string } {
  if (kind === "weir") {
    if (createAddonKeeper(addonsFolder(process.env)).state("real-engine").kind !== "ready")
      return { missing: "the add-on real-engine is not installed: weir add real-engine" };
    return {
      connect: ({ ports, judge }) =>
        connectionSchema.parse({
          ...{ kind: "processes", node: "node1", gpus: { card: PROCESSOR_CARD, count: cores, processor: true }, ports, judge },
          engine: "weir",
          models: Object.fromEntries(Object.entries(paths).map(([model, source]) => [model, { source, args: [...weirArgs] }])),
        }),
    };
  }
  const environment = process.env.WEIR_VLLM;
  if (environment === undefined) return { missing: "WEIR_VLLM names no virtual environment of vLLM" };
  const program = join(environment, "bin", "vllm");
  if (!existsSync(program)) return { missing: `there is no ${program}` };
  return { connect: (needs) => vllmConnection({ program, folders: paths, cores, node: "node1", ...needs }) };
}
