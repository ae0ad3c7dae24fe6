import type { SlackPolicy } from "../plan/policySchema";
import type { PolicyEvent, ReplicaView, StartingRequest, WaitingWork } from "./policy";
import type { Route } from "./policyParts";
import { RecentMap } from "./recentMap";
import { remainingTokens } from "./shortestOrders";
import { slackChoice } from "./slackChoice";

/** How sure one may be that a model solves a request, 0..1: the source's semantic router. */
export interface Scorer {
  confidence(model: string, request: StartingRequest): number;
}

/** What a router has said of the request with it; where it said nothing, the confidence that the policy states for the model. */
export function statedConfidence({ models }: Pick<SlackPolicy, "models">): Scorer {
  const stated = new Map(models.map(({ model, confidence }) => [model, confidence]));
  return {
    confidence(model, { routerScores }) {
      const score = routerScores(model);
      return score === undefined ? (stated.get(model) ?? 0) : score / 100;
    },
  };
}

/**
 * Slack dispatch (Chimera, algorithm 1): each model stands for one stage, and a request starts at the surest model that is not much more
 * loaded than the least loaded. Its program keeps that model for all later requests; one that comes while no replica of it takes work goes
 * elsewhere. A model's load is the tokens still expected of all
 * requests that wait for it or run on it, times its decode time, over what its replicas that take work hold at once. Answers are not judged.
 */
export function slackRoute(policy: SlackPolicy, scorer: Scorer = statedConfidence(policy)): Route {
  const names = policy.models.map(({ model }) => model);
  const stageOf = new RecentMap<number>();
  const tokens = new Map<string, { readonly stage: number; readonly tokens: number }>();
  const tokensOf = names.map(() => 0);

  function add(work: WaitingWork): void {
    remove(work.id);
    const expected = { stage: work.stage, tokens: remainingTokens(work) };
    tokens.set(work.id, expected);
    tokensOf[work.stage] = (tokensOf[work.stage] ?? 0) + expected.tokens;
  }

  function remove(workId: string): void {
    const known = tokens.get(workId);
    if (known === undefined) return;
    tokens.delete(workId);
    tokensOf[known.stage] = (tokensOf[known.stage] ?? 0) - known.tokens;
  }

  function observe(event: PolicyEvent): void {
    if (event.kind === "queued") {
      add(event.work);
      stageOf.set(event.work.programId, stageOf.get(event.work.programId) ?? event.work.stage);
    } else if (event.kind === "finished" || event.kind === "left") remove(event.workId);
    else if (event.kind === "ended") stageOf.delete(event.programId);
  }

  return {
    kind: "slack",
    needs: ["predictions", "identifiers"],
    models: names,
    start(request) {
      const candidates = policy.models.map(({ model, decodeSecondsPerToken, maxBatchSize }, stage) => {
        const replicas = taking(model, request.replicas);
        const load = ((tokensOf[stage] ?? 0) * decodeSecondsPerToken) / (maxBatchSize * replicas);
        return { load: replicas === 0 ? Number.POSITIVE_INFINITY : load, confidence: scorer.confidence(model, request) };
      });
      const least = Math.min(...candidates.map(({ load }) => load));
      const kept = stageOf.get(request.programId);
      const keptTakesWork = kept !== undefined && candidates[kept]?.load !== Number.POSITIVE_INFINITY;
      if (kept !== undefined && (keptTakesWork || least === Number.POSITIVE_INFINITY))
        return { stage: kept, reason: "program-keeps-its-model" };
      const stage = slackChoice(candidates, policy);
      return { stage, reason: candidates[stage]?.load === least ? "least-loaded" : "surer-within-slack" };
    },
    judges: () => false,
    verdict: () => ({ kind: "accept", reason: "not-judged" }),
    observe,
  };
}

const taking = (model: string, replicas: readonly ReplicaView[]): number =>
  replicas.reduce((sum, replica) => sum + (replica.model === model && replica.accepting ? 1 : 0), 0);
