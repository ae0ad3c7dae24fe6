import type { BalancedPolicy } from "@/solver/plan/policySchema";
import type { PolicyEvent, StartingRequest } from "../core/policy";
import type { Route } from "../core/policyParts";

/** A waiting request counts as so many running ones. */
const WAITING_WEIGHT = 4;

/**
 * vLLM's balancing over engines (`DPLBAsyncMPClient.get_core_engine_for_request`, vllm/v1/engine/core_client.py: the least
 * `waiting * 4 + running`) over different models, whatever their answers: the baseline of Chimera's comparisons. Each request goes to the
 * model with the least of that per replica that takes work. Waiting are the central queue and all requests that a replica has in flight
 * above `maxBatchSize`; every count is the driver's own and exact, whereas vLLM's is up to 100 ms old. Ties go to the model that was sent
 * the fewest so far: vLLM begins at the same engine each time, so that the first of different models would get all light load. Answers are
 * not judged.
 */
export function balancedRoute({ models }: BalancedPolicy): Route {
  const queued = models.map(() => 0);
  const sent = models.map(() => 0);
  const stageOf = new Map<string, number>();

  function leave(workId: string): void {
    const stage = stageOf.get(workId);
    if (stage === undefined) return;
    stageOf.delete(workId);
    queued[stage] = (queued[stage] ?? 0) - 1;
  }

  function observe(event: PolicyEvent): void {
    if (event.kind === "queued") {
      const { id, stage } = event.work;
      leave(id);
      stageOf.set(id, stage);
      queued[stage] = (queued[stage] ?? 0) + 1;
      sent[stage] = (sent[stage] ?? 0) + 1;
    } else if (event.kind === "dispatched" || event.kind === "left") leave(event.workId);
  }

  function load(stage: number, { replicas }: StartingRequest): number {
    const { model, maxBatchSize } = models[stage] ?? { model: "", maxBatchSize: 1 };
    let taking = 0;
    let running = 0;
    let waiting = queued[stage] ?? 0;
    for (const replica of replicas) {
      if (replica.model !== model || !replica.accepting) continue;
      taking += 1;
      running += Math.min(replica.inFlight, maxBatchSize);
      waiting += Math.max(0, replica.inFlight - maxBatchSize);
    }
    return taking === 0 ? Number.POSITIVE_INFINITY : (WAITING_WEIGHT * waiting + running) / taking;
  }

  return {
    kind: "balanced",
    needs: [],
    models: models.map(({ model }) => model),
    unordered: true,
    start(request) {
      let best = 0;
      let least = load(0, request);
      for (let stage = 1; stage < models.length; stage += 1) {
        const own = load(stage, request);
        if (own > least || (own === least && (sent[stage] ?? 0) >= (sent[best] ?? 0))) continue;
        best = stage;
        least = own;
      }
      return { stage: best, reason: "least-waiting-and-running" };
    },
    judges: () => false,
    verdict: () => ({ kind: "accept", reason: "not-judged" }),
    observe,
  };
}
