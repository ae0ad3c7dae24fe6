import { type ClusterConnection, readConnection } from "@/server/fleet/connection";
import { llmImportPath } from "@/server/ray/connection";
import type { ClusterRow } from "@/server/store/clusterRepository";
import type { EngineIdentity } from "@/server/store/engineIdentityRepository";

/** The engine software that the built-in command lines of local processes start, as its own metrics name it. */
const ofTemplates: Readonly<Record<string, string>> = { vllm: "vllm", sglang: "sglang", "llama.cpp": "llama.cpp", weir: "weir-engine" };

/**
 * The engine software that serves a model on a cluster, by the word of its own metrics, such as "vllm": as the connection says, else as the
 * engines of the model that were seen there reported.
 *
 * @param seen identities of the cluster's engines.
 * @returns null where it is not known, or engines of the model differ.
 */
export function engineSoftware(
  { spec, connection }: Pick<ClusterRow, "spec" | "connection">,
  seen: readonly Pick<EngineIdentity, "model" | "type">[],
  model: string,
): string | null {
  if (spec.kind === "embedded") return "weir-emulator";
  if (spec.kind === "described") return null;
  const read = readConnection(connection);
  const stated = read.ok ? statedSoftware(read.value, model) : null;
  if (stated !== null) return stated;
  const types = new Set(seen.filter((one) => one.model === model).map(({ type }) => type));
  const [only = null] = types;
  return types.size === 1 ? only : null;
}

/** The software with which a connection starts engines of a model; null where it does not say, or does not start the model. */
function statedSoftware(connection: ClusterConnection, model: string): string | null {
  switch (connection.kind) {
    case "endpoints":
      return null;
    case "processes": {
      const own = Object.hasOwn(connection.models, model) ? connection.models[model] : undefined;
      const template = own === undefined ? "" : (own.engine ?? connection.engine);
      return Object.hasOwn(ofTemplates, template) ? (ofTemplates[template] ?? null) : null;
    }
    case "kubernetes":
      return Object.hasOwn(connection.models, model) ? (connection.models[model]?.engine ?? connection.engine).kind : null;
    case "ray":
      return connection.importPath === llmImportPath && Object.hasOwn(connection.models, model) ? "vllm" : null;
  }
}
