import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import { BoundedMap } from "@/solver/collections/boundedMap";
import type { JustInTimePolicy, PolicyDocument } from "@/solver/plan/policySchema";
import { confidencePredictorOf, modelsOf } from "@/solver/plan/policySchema";
import type { Policy, WaitingWork } from "@/solver/policies/core/policy";
import type { GatewayLimits } from "../http/limits";
import { callOf, type ModelRequest } from "../http/modelRequest";
import type { FeatureLog } from "./featureLog";
import type { Absence, Answer, FoundConfigurations, ModelPrediction, Predictions, PredictorQuery, Question, Wanted } from "./prediction";
import type { PredictionCounts } from "./predictionCounts";
import type { PredictionService } from "./predictionService";
import { ProgramSearch } from "./programSearch";
import { ProgramSearches, type SearchedRequest } from "./programSearches";
import { questionOf } from "./questionOf";
import { RecentWaits } from "./recentWaits";

/** Models of one policy with predictions; this keeps records small. */
const mostModels = 16;

/** Share of requests for which an engine may have room before their search ends. */
const lateShare = 0.2;

/** What a policy asks of predictors; null if it reads no predictions. If it names no predictor, its requests are still logged. */
export function wantedBy(document: PolicyDocument, { needs, scoresCallsFrom }: Pick<Policy, "needs" | "scoresCallsFrom">): Wanted | null {
  const { lengths = null } = document.learnt ?? {};
  const confidence = confidencePredictorOf(document) ?? null;
  const configurations = document.kind === "just-in-time" ? document.workflows.flatMap(wantedOfWorkflow) : [];
  const learns = lengths !== null || confidence !== null || needs.includes("lengths") || needs.includes("confidence");
  if (!learns && configurations.length === 0) return null;
  return {
    lengths,
    confidence,
    configurations,
    withMargins: scoresCallsFrom !== undefined,
    learns,
    models: modelsOf(document).slice(0, mostModels),
  };
}

function wantedOfWorkflow({ workflow: { name, agents }, predictor }: JustInTimePolicy["workflows"][number]) {
  const firstAgents = agents.filter(({ reads }) => reads.length === 0).map((agent) => agent.name);
  return predictor === undefined ? [] : [{ workflow: name, hash: predictor, firstAgents }];
}

/** The predictors that it names, by their hashes. */
export const hashesOf = ({ lengths, confidence, configurations }: Wanted): readonly string[] =>
  [lengths, confidence, ...configurations.map(({ hash }) => hash)].filter((hash) => hash !== null);

/** The prediction of one request for one policy, by model, or why there is none. */
export interface PolicyPrediction {
  readonly wanted: Wanted;
  readonly predicted: Predictions;
  /** The predictor of its workflow's configurations if the request is one of the first of its program; else null. */
  readonly searched: string | null;
  /** The search for the accurate configurations of its program, made of the program's first requests; null: none is made. */
  readonly search: ProgramSearch | null;
  /** Why a length or a confidence is missing; null: none is. */
  readonly absent: Absence | null;
}

/** The predictions of one request for each policy that decides on it. */
export interface Prediction {
  readonly policies: readonly PolicyPrediction[];
  readonly facts: Question["facts"];
  /** The part of the text that may be logged, packed; null if no predictor of lengths was asked, or it did not answer. */
  readonly sketch: string | null;
}

interface RequestPredictionsOptions {
  readonly service: PredictionService;
  readonly featureLog: FeatureLog;
  readonly counts: PredictionCounts;
  readonly limits: Pick<GatewayLimits, "predictionSeconds" | "searchSeconds">;
}

/** Predicts requests before policies decide about them, and logs their outcomes as training features. */
export class RequestPredictions {
  readonly service: PredictionService;
  readonly #options: RequestPredictionsOptions;
  /** The predictors' confidence at a program's first request, by predictor and program. */
  readonly #sure = new BoundedMap<Predictions>();
  readonly #searches = new ProgramSearches();
  /** For how long requests waited until an engine had room, under policies with predicted configurations. */
  readonly #waits = new RecentWaits();

  constructor(options: RequestPredictionsOptions) {
    this.service = options.service;
    this.#options = options;
  }

  /**
   * Wall milliseconds for a search, which runs while its request waits in the queue: most must end before their request's first stage can
   * start (Aragog, section 3.1, which takes the mean of recent waits; half of them are shorter).
   */
  get #searchMs(): number {
    const { searchSeconds, predictionSeconds } = this.#options.limits;
    return Math.min(Math.max(this.#waits.quantile(lateShare) ?? 0, 1000 * searchSeconds), 1000 * predictionSeconds);
  }

  /**
   * Notes the wait of a request, in wall milliseconds, under a policy with these queries. One that goes at the moment at which its search
   * ended has waited for that: an engine had room before.
   */
  waited(wanted: Wanted | null, queueMs: number, { searchedSeconds, dispatchedSeconds }: Waited): void {
    if (wanted === null || wanted.configurations.length === 0) return;
    const forSearch = searchedSeconds === dispatchedSeconds;
    this.#waits.note(forSearch ? 0 : queueMs);
    if (searchedSeconds !== null) this.#options.counts.waitedBeside(forSearch);
  }

  /**
   * Asks for what the policies want to know about a request; what does not arrive in time is absent. Searches for accurate configurations
   * begin, and are not awaited. Never rejects.
   */
  async about(asked: ModelRequest, wanted: readonly Wanted[]): Promise<Prediction> {
    const askedMs = performance.now();
    const sure = wanted.map(({ confidence }) => (confidence === null ? undefined : this.#sure.get(programKey(confidence, asked))));
    const asks = questionOf(asked, [], this.#searchMs);
    const asking = wanted.map(({ lengths, confidence, models }, at) => {
      return { lengths, models, confidence: sure[at] === undefined ? confidence : null, configurations: null, withMargins: false };
    });
    const searches = this.#search(asked, wanted, asks);
    const isAsked = asking.some(({ lengths, confidence }) => lengths !== null || confidence !== null);
    const came = isAsked ? await this.service.ask({ ...asks, wanted: asking }) : null;
    const policies = wanted.map((want, at): PolicyPrediction => {
      const known = { wanted: want, predicted: sure[at] ?? {}, ...(searches[at] ?? noSearch) };
      const own = asking[at];
      if (came === null || own === undefined) return { ...known, absent: null };
      if (typeof came === "string") return { ...known, absent: came };
      const predicted = came.predicted[at] ?? {};
      if (own.confidence !== null && isSession(asked) && this.service.absence(own.confidence) === null)
        this.#sure.put(programKey(own.confidence, asked), confidenceAlone(predicted));
      const [absent = null] = [own.lengths, own.confidence].flatMap((hash) => (hash === null ? [] : (this.service.absence(hash) ?? [])));
      return { ...known, predicted: joined(known.predicted, predicted), absent };
    });
    if (came !== null) {
      const outcome = policies.find(({ absent }) => absent !== null)?.absent ?? "predicted";
      this.#options.counts.asked(outcome, (performance.now() - askedMs) / 1000);
    }
    return { policies, facts: asks.facts, sketch: came === null || typeof came === "string" ? null : came.sketch };
  }

  /** By policy, the search that applies to the request: that of its program, or a new one. */
  #search(asked: ModelRequest, wanted: readonly Wanted[], asks: Question): readonly Pick<PolicyPrediction, "searched" | "search">[] {
    const programs = wanted.map((want) => programOf(want, asked));
    const requests = programs.map((program): SearchedRequest | null => {
      if (program === null || !isSession(asked)) return null;
      return { key: programKey(program.hash, asked), first: program.begins ? { agent: asked.stage, text: asks.text } : null };
    });
    const known = requests.map((request) => (request === null ? undefined : this.#searches.of(request)));
    const searched = programs.map((program) => (program?.begins ? program.hash : null));
    const queries = wanted.map(({ models, withMargins }, at): PredictorQuery => {
      const configurations = known[at] === undefined ? (searched[at] ?? null) : null;
      return { lengths: null, confidence: null, models, configurations, withMargins };
    });
    const begins = queries.some(({ configurations }) => configurations !== null);
    const coming = begins ? this.service.ask({ ...asks, wanted: queries }) : null;
    return queries.map(({ configurations }, at) => {
      const own = { searched: searched[at] ?? null, search: known[at] ?? null };
      if (configurations === null || coming === null) return own;
      const search = new ProgramSearch(this.#found(coming, { at, configurations, searchMs: asks.searchMs }));
      const request = requests[at] ?? null;
      if (request !== null) this.#searches.begin(request, search);
      return { ...own, search };
    });
  }

  /** What a search finds, counted. */
  async #found(coming: Promise<Answer | Absence>, { at, configurations, searchMs }: Sought): Promise<FoundConfigurations | Absence> {
    const beganMs = performance.now();
    const came = await coming;
    const found = typeof came === "string" ? came : came.configurations[at];
    const outcome = found ?? this.service.absence(configurations) ?? "failed";
    const took = { tookMs: performance.now() - beganMs, searchMs };
    this.#options.counts.searched(typeof outcome === "string" ? null : outcome, took);
    return outcome;
  }

  /** Logs the answers of a finished request for training: the features known at its arrival, and what was written. */
  remember({ facts, sketch }: Prediction, { asked, decision, startedAtMs }: Finished): void {
    for (const { model, verdict, outputTokens } of decision.stages) {
      if (verdict === "failed" || outputTokens === null) continue;
      const outcome = this.#options.featureLog.note({
        startedAtMs,
        finishedAtMs: decision.finishedAtMs,
        program: asked.programId,
        model,
        accepted: verdict === "accepted",
        outputTokens,
        mostTokens: asked.mostTokens,
        facts: { ...facts, sketch },
      });
      this.#options.counts.remembered(outcome);
    }
  }
}

/** In engine seconds; a search that ended before the request waited, or was not made, is null. */
interface Waited {
  readonly searchedSeconds: number | null;
  readonly dispatchedSeconds: number;
}

/** The query of a search among those of its question. */
interface Sought {
  readonly at: number;
  /** The predictor. */
  readonly configurations: string;
  readonly searchMs: number;
}

const noSearch = { searched: null, search: null };

interface Finished {
  readonly asked: ModelRequest;
  readonly decision: Omit<Decision, "sequence">;
  /** Unix milliseconds. */
  readonly startedAtMs: number;
}

/** The part of a prediction that a policy reads; null if it reads none or the request has no prediction. */
export function predictionFor(prediction: Prediction | null, wanted: Wanted | null): PolicyPrediction | null {
  if (wanted === null || prediction === null) return null;
  return prediction.policies.find((policy) => isSame(policy.wanted, wanted)) ?? { wanted, predicted: {}, ...noSearch, absent: "not-asked" };
}

export const isSame = (one: Wanted, other: Wanted): boolean => one === other || JSON.stringify(one) === JSON.stringify(other);

/**
 * The expected length, at a model, of its answer and of what its program has yet to write: the client's own statement about its program
 * takes precedence.
 */
export function expectedAt(
  model: string,
  { mostTokens, programTokens }: Pick<ModelRequest, "mostTokens" | "programTokens">,
  policyPrediction: PolicyPrediction | null,
): Pick<WaitingWork, "predictedTokens" | "predictedProgramTokens"> {
  const predicted = policyPrediction?.predicted[model];
  return {
    predictedTokens: predicted?.requestTokens ?? mostTokens ?? undefined,
    predictedProgramTokens: programTokens ?? predicted?.remainingTokens ?? undefined,
  };
}

/** A model's router score for it, 0..100: the client's own takes precedence. */
export function scoreOf(model: string, { routerScores }: Pick<ModelRequest, "routerScores">, policyPrediction: PolicyPrediction | null) {
  const own = routerScores.get(model);
  const confidence = policyPrediction?.predicted[model]?.confidence;
  return own ?? (confidence === undefined ? undefined : 100 * confidence);
}

/**
 * The predictor of its workflow's configurations, and whether its program begins with it; null if there is no predictor, or the request
 * names no agent.
 */
function programOf({ configurations }: Wanted, asked: ModelRequest): { readonly hash: string; readonly begins: boolean } | null {
  const call = callOf(asked);
  const own = call && configurations.find(({ workflow }) => workflow === call.workflow);
  return call && own ? { hash: own.hash, begins: own.firstAgents.includes(call.agent) } : null;
}

const isSession = ({ programId, decisionId }: ModelRequest): boolean => programId !== decisionId;

const programKey = (hash: string, asked: ModelRequest): string => `${hash} ${asked.programKey}`;

const confidenceAlone = (predicted: Predictions): Predictions =>
  Object.fromEntries(
    Object.entries(predicted).flatMap(([model, { confidence }]) => (confidence === undefined ? [] : [[model, { confidence }] as const])),
  );

function joined(known: Predictions, predicted: Predictions): Predictions {
  const models = new Set([...Object.keys(known), ...Object.keys(predicted)]);
  return Object.fromEntries([...models].map((model): [string, ModelPrediction] => [model, { ...known[model], ...predicted[model] }]));
}
