import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { addonsFolder } from "@/server/addons/addonFolder";
import { judgePorts, judgePrograms, noJudgePorts } from "@/server/confidenceJudge/judgePrograms";
import type { ProcessConnection } from "@/server/processes/processConnection";
import type { PreparedModel } from "@/server/realModels/prepareRealModels";
import { realConnection } from "@/server/realSetup/realConnection";
import { vllmConnection } from "@/server/realVllm/vllmConnection";
import { PROCESSOR_CARD } from "@/solver/hardware/processorCard";

export const engineKinds = ["vllm", "llama"] as const;
export type EngineKind = (typeof engineKinds)[number];

export const SMALL = "arith-small";
export const LARGE = "arith-large";

/** This host's name in plans of the bench. */
export const NODE = "node1";

/** Cores that plans may use; a cascade has two engines, each on a core of its own. */
export const CORES = Math.max(2, availableParallelism());

/** vLLM's program: `WEIR_VLLM` names it or the virtual environment that holds it; null without one. */
export function vllmProgram(environment: NodeJS.ProcessEnv = process.env): string | null {
  const given = environment.WEIR_VLLM;
  if (given === undefined || given === "") return null;
  const within = join(given, "bin", "vllm");
  return existsSync(within) ? within : given;
}

/** Whether an engine of a kind can be started here, or how it can be had. */
export function isEngineThere(kind: EngineKind): { readonly ok: true } | { readonly ok: false; readonly message: string } {
  if (kind === "vllm") {
    const program = vllmProgram();
    if (program === null) return { ok: false, message: "WEIR_VLLM names no vLLM." };
    return existsSync(program) ? { ok: true } : { ok: false, message: `WEIR_VLLM names ${program}, which is not there.` };
  }
  const addon = join(addonsFolder(process.env), "real-engine", "addon.json");
  return existsSync(addon) ? { ok: true } : { ok: false, message: "install it with weir add real-engine." };
}

/**
 * The connection with which the product starts engines of a kind, its judge's programs included: the bench measures the placement that a plan
 * makes.
 *
 * @param models with files in both formats.
 * @throws Error when a model was not prepared, or no port is free for the judge.
 */
export async function connectionOf(kind: EngineKind, models: readonly PreparedModel[]): Promise<ProcessConnection> {
  const root = process.env.WEIR_ROOT ?? process.cwd();
  const folder = addonsFolder(process.env);
  const file = (model: string, form: "gguf" | "trainedGguf" | "huggingFace"): string => {
    const found = models.find(({ name }) => name === model)?.[form];
    if (found == null) throw new Error(`${model} was not prepared`);
    return found;
  };
  const ports = await judgePorts(null, []);
  if (ports === null) throw new Error(`${noJudgePorts}.`);
  if (kind === "vllm") {
    const folders = { [SMALL]: file(SMALL, "huggingFace"), [LARGE]: file(LARGE, "huggingFace") };
    const judge = isEngineThere("llama").ok
      ? judgePrograms({ root, node: process.execPath, addonsFolder: folder, file: file(SMALL, "trainedGguf"), ports })
      : {};
    return vllmConnection({ program: vllmProgram() ?? "", folders, cores: CORES, node: NODE, ...judge });
  }
  const connection = realConnection({
    ...{ places: { root, node: process.execPath, addonsFolder: folder }, card: PROCESSOR_CARD, cores: CORES },
    files: { "arith-small": file(SMALL, "gguf"), "arith-large": file(LARGE, "gguf") },
    ...{ judgeFile: file(SMALL, "trainedGguf"), ports },
  });
  if (connection.kind !== "processes") throw new Error("the real models are not a cluster of processes");
  return { ...connection, node: NODE };
}
