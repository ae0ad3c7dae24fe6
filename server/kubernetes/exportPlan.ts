import type { Answer } from "@/server/clusters/connector/connector";
import { placeText, targetEngines } from "@/server/clusters/steps/targetEngines";
import { shellLine, variablesNote } from "@/server/lib/gpuCommand";
import { yamlDocuments } from "@/server/lib/yamlText";
import type { Plan } from "@/solver/plan/plan";
import { commentLine } from "@/solver/wording/shellText";
import type { KubernetesConnection } from "./connection";
import { engineCommand } from "./engineCommand";
import { engineObjects, type KubeObject } from "./manifests";
import { enginePort } from "./podTemplate";

/** Ranks of different engines may run on one node. */
const firstRendezvousPort = 29_500;

/**
 * A plan as YAML for `kubectl apply --server-side` or a repository that a cluster follows: exactly the objects that applying it creates,
 * with the plan as a label.
 *
 * @returns a sentence if Kubernetes cannot run the plan.
 */
export function exportManifests(
  plan: Pick<Plan, "id" | "deployment">,
  connection: KubernetesConnection,
  clusterId: string,
): Answer<string> {
  const objects = new Map<string, KubeObject>();
  for (const engine of targetEngines(plan)) {
    const made = engineObjects(engine, { connection, clusterId, planId: plan.id });
    if (!made.ok) return made;
    // Engines of one model share their pool.
    for (const object of made.value) objects.set(`${object.kind}/${object.metadata.name}`, object);
  }
  return { ok: true, value: yamlDocuments([...objects.values()]) };
}

/** A plan as command lines for manual use, a line for each engine and node under the name of the node. */
export function exportCommandLines(
  plan: Pick<Plan, "deployment">,
  connection: Pick<KubernetesConnection, "engine" | "models" | "env">,
): Answer<string> {
  const onNode = new Map<string, number>();
  const lines: string[] = [];
  for (const [index, engine] of targetEngines(plan).entries()) {
    const leader = engine.placements[0]?.node ?? "";
    lines.push("", commentLine(`${engine.id}, ${placeText(engine)}`));
    for (const [rank, { node, gpus }] of engine.placements.entries()) {
      const before = onNode.get(node) ?? 0;
      onNode.set(node, before + 1);
      const nodes = engine.placements.length;
      const group = nodes === 1 ? null : { nodes, rank: `${rank}`, leader, rendezvousPort: firstRendezvousPort + index, first: rank === 0 };
      const command = engineCommand(engine, connection, { port: enginePort + before, group });
      if (command === null)
        return { ok: false, message: `The connection does not say what to load for ${engine.model}: it is not among its models.` };
      lines.push(commentLine(`on ${node}`), ...variablesNote(Object.keys(connection.env)), shellLine(gpus, command));
    }
  }
  return { ok: true, value: `${lines.join("\n")}\n` };
}
