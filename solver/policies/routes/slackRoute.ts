import { BoundedMap } from "@/solver/collections/boundedMap";
import type { SlackPolicy } from "@/solver/plan/policySchema";
import type { PolicyEvent, ReplicaView, StartingRequest, WaitingWork } from "../core/policy";
import type { Route } from "../core/policyParts";
import { remainingTokens } from "../orders/shortestOrders";
import { type Candidate, mostLoadWithin, slackChoice } from "./slackChoice";
import { slackPrices } from "./slackPrice";

/** The confidence that a model solves a request, 0..1: the source's semantic router. */
export interface Scorer {
  confidence(model: string, request: StartingRequest): number;
}

/** The expectation for one request that waits or runs. */
interface Expected {
  /** Its model and program. */
  readonly at: string;
  readonly stage: number;
  readonly ownTokens: number;
  /** Expected tokens of everything after it in its program. */
  readonly laterTokens: number;
}

/** The router's confidence for the request; without one, the confidence that the policy states for the model. */
function statedConfidence({ models }: Pick<SlackPolicy, "models">): Scorer {
  const stated = new Map(models.map(({ model, confidence }) => [model, confidence]));
  return {
    confidence(model, { routerScores }) {
      const score = routerScores(model);
      return score === undefined ? (stated.get(model) ?? 0) : score / 100;
    },
  };
}

/**
 * Slack dispatch (Chimera, algorithm 1): each model is one stage, and a request starts at the model of highest confidence that is not much
 * more loaded than the least loaded. Its program keeps that model for all later requests; one that arrives while no replica of it takes
 * work goes elsewhere. With `changesModel`, a model is chosen again for a request that arrives while the model's load is beyond the slack,
 * (1 + tau) times the least or the floor, and the program keeps the new model. A model's load is the tokens still expected of all programs
 * with requests that wait for it or run on it, times its decode time, divided by the total number of requests that its available replicas
 * hold at once. These tokens are the output of each of those requests plus, once per program, the output of what comes after them: the
 * largest value that any of them predicts. Where only a total is predicted for parallel requests, it counts in each. With `price`, a
 * model's confidence counts less its price (`slackPrice.ts`). Answers are not judged.
 */
export function slackRoute(policy: SlackPolicy, scorer: Scorer = statedConfidence(policy)): Route {
  const names = policy.models.map(({ model }) => model);
  const stageOf = new BoundedMap<number>();
  const expected = new Map<string, Expected>();
  const programs = new Map<string, Set<Expected>>();
  const tokensOf = names.map(() => 0);
  const prices = slackPrices(policy);

  /**
   * Without a predictor of lengths all that is known of a request is the client's own limit on its answer: it counts with the mean that the
   * policy states for its model, or the limit where that is less.
   */
  function expectedTokens(work: WaitingWork): number {
    const mean = policy.models[work.stage]?.meanOutputTokens;
    if (mean === undefined || work.predictedProgramTokens !== undefined) return remainingTokens(work);
    if (policy.learnt?.lengths !== undefined) return work.predictedTokens ?? mean;
    return Math.min(mean, work.predictedTokens ?? mean);
  }

  /** Adds or removes a request of its program at its model; this may change the expected tokens after them. */
  function change(one: Expected, by: 1 | -1): void {
    const known = programs.get(one.at) ?? new Set();
    const before = laterTokens(known);
    if (by === 1) known.add(one);
    else known.delete(one);
    if (known.size === 0) programs.delete(one.at);
    else programs.set(one.at, known);
    tokensOf[one.stage] = (tokensOf[one.stage] ?? 0) + by * one.ownTokens + laterTokens(known) - before;
  }

  function add(work: WaitingWork): void {
    remove(work.id);
    // Whole tokens: sums of them leave no rounding residue once all is done, which would decide ties.
    const tokens = Math.round(expectedTokens(work));
    const ownTokens = Math.min(Math.round(work.predictedTokens ?? tokens), tokens);
    const one = { at: `${work.stage} ${work.programId}`, stage: work.stage, ownTokens, laterTokens: tokens - ownTokens };
    expected.set(work.id, one);
    change(one, 1);
  }

  function remove(workId: string): void {
    const known = expected.get(workId);
    if (known === undefined) return;
    expected.delete(workId);
    change(known, -1);
  }

  function observe(event: PolicyEvent): void {
    count(event);
    if (prices === null) return;
    if (event.kind === "queued") prices.observe(event.work.queuedSinceSeconds, tokensOf);
    else if (event.kind === "finished") prices.observe(event.nowSeconds, tokensOf);
  }

  function count(event: PolicyEvent): void {
    if (event.kind === "queued") {
      add(event.work);
      const { programId, stage } = event.work;
      stageOf.put(programId, policy.changesModel ? stage : (stageOf.get(programId) ?? stage));
    } else if (event.kind === "finished" || event.kind === "left") remove(event.workId);
    else if (event.kind === "ended") stageOf.delete(event.programId);
  }

  /** Candidates with their confidence less their price; as they are without prices. */
  function priced(candidates: readonly Candidate[], replicas: readonly number[]): readonly Candidate[] {
    if (prices === null) return candidates;
    const each = prices.of(
      policy.models.map(({ decodeSecondsPerToken, maxBatchSize, meanOutputTokens }, stage) => ({
        secondsPerToken: decodeSecondsPerToken / (maxBatchSize * (replicas[stage] ?? 0)),
        meanOutputTokens,
      })),
    );
    return candidates.map(({ load, confidence }, stage) => ({ load, confidence: confidence - (each[stage] ?? 0) }));
  }

  /** The highest load with which a model keeps its programs, where the least loaded has `least`. */
  const mostKept = (least: number): number => (policy.changesModel ? mostLoadWithin(least, policy) : Number.MAX_VALUE);

  return {
    kind: "slack",
    needs: ["lengths", "confidence", "identifiers"],
    models: names,
    unordered: true,
    start(request) {
      const replicas = names.map((model) => taking(model, request.replicas));
      const candidates = policy.models.map(({ model, decodeSecondsPerToken, maxBatchSize }, stage) => {
        const load = ((tokensOf[stage] ?? 0) * decodeSecondsPerToken) / (maxBatchSize * (replicas[stage] ?? 0));
        return { load: replicas[stage] === 0 ? Number.POSITIVE_INFINITY : load, confidence: scorer.confidence(model, request) };
      });
      const least = Math.min(...candidates.map(({ load }) => load));
      const kept = stageOf.get(request.programId);
      if (kept !== undefined && (least === Number.POSITIVE_INFINITY || (candidates[kept]?.load ?? 0) <= mostKept(least)))
        return { stage: kept, reason: "program-keeps-its-model" };
      const stage = slackChoice(priced(candidates, replicas), policy);
      return { stage, reason: candidates[stage]?.load === least ? "least-loaded" : "surer-within-slack" };
    },
    judges: () => false,
    verdict: () => ({ kind: "accept", reason: "not-judged" }),
    observe,
  };
}

function laterTokens(requests: ReadonlySet<Expected>): number {
  let most = 0;
  for (const { laterTokens: own } of requests) most = Math.max(most, own);
  return most;
}

const taking = (model: string, replicas: readonly ReplicaView[]): number =>
  replicas.reduce((sum, replica) => sum + (replica.model === model && replica.accepting ? 1 : 0), 0);
