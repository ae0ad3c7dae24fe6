import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { connectionSchema, type RayConnection, type RayConnectionInput } from "../connection";
import { createRayHost, type RayHostDeps } from "../rayHost";
import { startTestServe, testImportPaths } from "./testServe";

/** Arguments of a small application in the tests. */
export const smallArgs = { model: "{model}", gpus: "{gpus}", node: "{nodeResource}" };

export const models = { "qwen2.5-3b": { source: "Qwen/Qwen2.5-3B-Instruct" }, "qwen2.5-7b": { source: "Qwen/Qwen2.5-7B-Instruct" } };

/** An engine on some GPUs of a node, in a plan's form. */
export function orderOn(node: string, gpus: readonly number[], model = "qwen2.5-3b"): EngineOrder {
  const id = `${model}-bf16-tp${gpus.length}-pp1-${node}-${gpus.join(".")}`;
  return { id, model, precision: "bf16", gpu: "l40s", tp: gpus.length, pp: 1, placements: [{ node, gpus: [...gpus] }] };
}

/** Options of a step without an observer. */
export const unwatched = () => ({ signal: new AbortController().signal, report: () => undefined });

/** A Ray of two nodes with four L40S each, and hosts over it. */
export async function startTestRay(token?: string) {
  const ips = ["10.0.0.1", "10.0.0.2"] as const;
  const nodes = ips.map((ip, index) => ({ id: `node${index}`, ip, gpus: 4, accelerator: "L40S" }));
  const serve = await startTestServe({ nodes, ...(token === undefined ? {} : { token }) });
  const connection = (change: Partial<RayConnectionInput> = {}): RayConnection =>
    connectionSchema.parse({ kind: "ray", dashboard: serve.url, importPath: testImportPaths.serving, args: smallArgs, models, ...change });
  return {
    serve,
    nodes: ips,
    connection,
    host: (change: Partial<RayConnectionInput> = {}, deps: Partial<RayHostDeps> = {}) =>
      createRayHost(connection(change), { clusterId: "lab", patienceMs: 1_000, everyMs: 20, ...deps }),
  };
}
