import { CAUTION_UTILISATION } from "@/solver/engine/saturation";
import type { MilpEngine } from "@/solver/milp/engine";
import { mixGround } from "@/solver/mix/mixGround";
import { solveMix } from "@/solver/mix/solveMix";
import { gpuCount, gpuOfNode, gpuPrices } from "@/solver/plan/clusterGpus";
import { noConstraints } from "@/solver/plan/constraints";
import { policyRefusal } from "@/solver/policies/policyRefusal";
import { mixDeployment, mixedReplicas } from "./mixDeployment";
import { mixDraft } from "./mixDraft";
import { mixPolicy, mixRoutes } from "./mixPolicy";
import { mixSituation } from "./mixSituation";
import type { MixPhase, MixReply, MixTask } from "./mixTask";
import { noMixText } from "./noMix";
import { simulateMix } from "./simulateMix";
import { onStandingEngines } from "./standingEngines";

/** From this load on waiting grows so fast that a forecast is no longer reliable. */
const LOAD_FACTOR = CAUTION_UTILISATION;
/** Share of the highest factor that is given up for shorter times. */
const SLACK = 0.1;
/** Rates may rise by half before times stop being preferred to it. */
const ENOUGH = 1.5;
const TIME_LIMIT_SECONDS = 40;

interface Planning {
  readonly engine: MilpEngine;
  nowSeconds(): number;
  progress(phase: MixPhase): void;
}

/**
 * Engines and policy for a mix of single requests, workflows and ensembles: candidates of every class from planning prompts, engines and
 * shares by MILP, the policy that chooses just in time over these engines, and its figures by simulating that policy under the mix.
 */
export function planMix(task: MixTask, { engine, nowSeconds, progress }: Planning): MixReply {
  const startedSeconds = nowSeconds();
  const mixed = mixSituation(task);
  if (typeof mixed === "string") return { ok: false, kind: "malformed", message: mixed };
  const { cluster, constraints = noConstraints, running = [] } = task.situation;
  progress("candidates");
  try {
    const ground = mixGround(mixed.traffic);
    progress("engines");
    const problem = {
      ...{ classes: ground.classes, models: ground.models, running, constraints, loadFactor: LOAD_FACTOR, slack: SLACK, enough: ENOUGH },
      nodes: cluster.nodes.map((node) => ({ name: node.name, gpus: node.gpus, gpu: gpuOfNode(cluster, node) })),
      usdPerGpuHour: gpuPrices(cluster),
    };
    const solving = { engine, nowSeconds, timeLimitSeconds: TIME_LIMIT_SECONDS };
    const solved = solveMix(problem, solving);
    if (solved.outcome === "none") {
      const message = noMixText(solved, { gpus: gpuCount(cluster), cluster: cluster.name, loadFactor: LOAD_FACTOR });
      return { ok: false, kind: solved.kind, message, ...(solved.kind === "overloaded" ? { factor: solved.factor } : {}) };
    }
    progress("simulation");
    const replicas = mixedReplicas(mixed, solved);
    const routes = mixRoutes(task.mix, mixed, ground, solved);
    const policy = mixPolicy({ situation: task.situation, mixed, ground, replicas, routes, solved, selection: task.mix.selection });
    const refusal = policyRefusal(policy);
    if (refusal !== null) return { ok: false, kind: "malformed", message: refusal };
    const simulated = simulateMix({ traffic: mixed.traffic, policy, replicas, arrivalSeconds: task.situation.workload.arrivalSeconds });
    if (simulated === null)
      return {
        ok: false,
        kind: "no-room",
        message: "No program of the mix was completely served in the simulation: its requests have no room in the engines.",
      };
    const deployment = mixDeployment(task, ground, solved);
    const seconds = nowSeconds() - startedSeconds;
    const draft = mixDraft({ task, mixed, ground, solved, deployment, policy, simulated, loadFactor: LOAD_FACTOR, seconds });
    const beside = running.length === 0 ? null : onStandingEngines({ task, mixed, running, loadFactor: LOAD_FACTOR, solving });
    return { ok: true, draft, beside };
  } catch (problem) {
    if (problem instanceof RangeError) return { ok: false, kind: "malformed", message: `${problem.message}.`.replace(/\.\.$/, ".") };
    throw problem;
  }
}
