import type { Plan } from "@/solver/plan/plan";
import { asksJudge, gatePeersOf, judgeEngineOf, modelsOf } from "@/solver/plan/policySchema";
import type { Observation } from "../connector/connector";
import { gpuKeys, placeText, targetEngines } from "../steps/targetEngines";

type Ground = Pick<Observation, "gpu" | "nodes"> & Partial<Pick<Observation, "engines" | "topology" | "isJudged">>;

/**
 * Why a plan cannot run on a cluster, in a sentence that names the first mismatch; null if it can. Plans can be imported, and a cluster may
 * have been started with other GPUs than it was planned for.
 */
export function planMismatch(observation: Ground, plan: Plan): string | null {
  const missing = notAttached(observation, plan);
  if (missing !== null) return missing;
  const taken = new Set<string>();
  for (const engine of targetEngines(plan)) {
    for (const { node: name, gpus } of engine.placements) {
      const node = observation.nodes.find((one) => one.name === name);
      if (node === undefined) return `The plan places ${engine.model} on ${name}, which this cluster does not have.`;
      const stands = observation.engines?.some(({ id }) => id === engine.id) === true;
      if (node.closed != null && !stands)
        return `The plan places ${engine.model} on ${name}, which ${node.closed}: it takes no new engines.`;
      const found = node.gpu ?? observation.gpu;
      if (engine.gpu !== found) return `The plan wants ${engine.gpu} for ${engine.model}; ${name} has ${found}.`;
      const beyond = gpus.find((index) => index >= node.gpus);
      if (beyond !== undefined) return `The plan places ${engine.model} on GPU ${beyond} of ${name}, which has ${node.gpus}.`;
      const held = stands ? undefined : node.heldGpus?.find(({ gpu }) => gpus.includes(gpu));
      if (held !== undefined) return `The plan places ${engine.model} on GPU ${held.gpu} of ${name}, which ${held.by}.`;
    }
    for (const key of gpuKeys(engine)) {
      if (taken.has(key)) return `The plan gives GPU ${key} to two engines.`;
      taken.add(key);
    }
  }
  for (const { name, gpus, othersGpus = 0 } of observation.nodes) {
    const wanted = [...taken].filter((key) => key.slice(0, key.lastIndexOf("/")) === name).length;
    if (wanted > gpus - othersGpus) return `The plan wants ${wanted} GPUs of ${name}; others use ${othersGpus} of its ${gpus}.`;
  }
  const deployed = (model: string): boolean => plan.deployment.some((one) => one.model === model);
  const hosted = plan.inputs.cluster.hosted ?? [];
  const unserved = modelsOf(plan.policy).find((model) => !deployed(model) && hosted.every((one) => one.model !== model));
  if (unserved !== undefined) return `The plan routes to ${unserved} but deploys no engine of it.`;
  const peer = gatePeersOf(plan.policy).find((model) => !deployed(model));
  if (peer !== undefined) return `A gate of the plan compares answers with those of ${peer}, of which it deploys no engine.`;
  const judge = judgeEngineOf(plan.policy);
  if (judge !== null) return deployed(judge) ? null : `The plan is judged by ${judge} but deploys no engine of it.`;
  return observation.isJudged === false && asksJudge(plan.policy)
    ? "The plan uses judged scores, and this cluster has no judge: plan with a judge that is an engine, or name one in the cluster's connection."
    : null;
}

/** With a given topology, missing engines of the plan cannot be started. */
function notAttached({ topology, engines = [] }: Ground, plan: Plan): string | null {
  if (topology !== "given") return null;
  const missing = targetEngines(plan).find(({ id }) => !engines.some((engine) => engine.id === id));
  if (missing === undefined) return null;
  const { model, tp, pp, precision } = missing;
  const wanted = `${model} in ${precision} with tp ${tp}, pp ${pp} on ${placeText(missing)}`;
  return `The plan wants ${wanted}, which is not among the engines attached to this cluster: plan with the topology frozen.`;
}
