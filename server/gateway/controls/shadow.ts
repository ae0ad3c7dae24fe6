import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { ShadowRequest, Shadow as ShadowSummary } from "@/server/contracts/gateway/gatewayControls";
import { BoundedMap } from "@/solver/collections/boundedMap";
import type { ScoredAnswer } from "@/solver/nextModel/nextModel";
import { canonicalJson } from "@/solver/plan/canonical";
import { gatesOf, modelsOf } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { Action, Policy, PolicyEvent, RouterScores, WaitingWork } from "@/solver/policies/core/policy";
import type { Wanted } from "../prediction/prediction";
import { expectedAt, predictionFor, scoreOf, wantedBy } from "../prediction/requestPredictions";
import type { DecisionObserver, StartedRequest, StatedRequest } from "../serving/trafficObserver";
import type { JudgedWork } from "../serving/watchedPolicy";

interface ShadowOptions {
  readonly request: ShadowRequest;
  /** Called for each start and each judged answer on which the candidate decides differently. */
  readonly onDifference: (difference: "start" | "accepts" | "escalates") => void;
  /** The candidate failed, which ended the shadow; no request is affected. */
  readonly onFailed: (reason: string) => void;
}

/** A request in flight, as the candidate would handle it. */
interface Followed {
  readonly startStage: number;
  readonly routerScores: RouterScores;
  /** Its scored answers so far, by the candidate's stages. */
  readonly answers: ScoredAnswer[];
  /** The expected length, and the agent's forecast, at one of the candidate's stages. */
  readonly expected: (stage: number) => Pick<WaitingWork, "predictedTokens" | "predictedProgramTokens" | "forecast">;
  /** The candidate's verdict on each model's judged answer. */
  readonly verdicts: Map<string, Action>;
  /** Whether the candidate has seen the request join a queue; it does not see models that it lacks. */
  observed: boolean;
  queuedBefore: boolean;
}

/** Final model of requests whose outcome under the candidate is unknown. */
const unknownModel = "unknown";

/**
 * A second policy that decides on the live traffic of the cascade without acting. It sees the load of each model, but has its own stages. A
 * program keeps the model that the candidate would have given it. Requests that were in flight when the shadow began are not seen, so a
 * policy with state knows the whole load only when those are answered.
 */
export class Shadow implements DecisionObserver {
  readonly request: ShadowRequest;
  /** What the candidate asks of predictors; null: nothing. */
  readonly wanted: Wanted | null;
  readonly #options: ShadowOptions;
  readonly #policy: Policy;
  readonly #models: readonly string[];
  /** The candidate's gates by stage, in their canonical form. */
  readonly #gates: readonly string[];
  readonly #followed = new BoundedMap<Followed>();
  readonly #sinceMs = Date.now();
  #requests = 0;
  readonly #starts = { same: 0, different: 0 };
  readonly #verdicts = { same: 0, acceptsMore: 0, escalatesMore: 0 };
  #notComparable = 0;
  readonly #finalModels = new Map<string, { actual: number; candidate: number }>();
  #endReason = "";

  /** Throws with the reason if the candidate's policy is invalid. */
  constructor(options: ShadowOptions) {
    this.request = options.request;
    this.#options = options;
    this.#policy = buildPolicy(options.request.candidate.policy);
    this.#models = modelsOf(options.request.candidate.policy);
    this.#gates = gatesOf(options.request.candidate.policy).map((gate) => canonicalJson(gate));
    this.wanted = wantedBy(options.request.candidate.policy, this.#policy);
  }

  /** Called when a request starts, before it joins the queue of `model`, and again if a new configuration reroutes it. */
  start(asked: StatedRequest, { request, model, prediction, forecast }: StartedRequest): void {
    this.#guarded(() => {
      const policyPrediction = predictionFor(prediction, this.wanted);
      const routerScores: RouterScores = (own) => scoreOf(own, asked, policyPrediction);
      const { stage } = this.#policy.start({ ...request, routerScores });
      const again = this.#followed.get(asked.decisionId) !== undefined;
      const reads = this.#policy.needs.includes("workflows");
      const expected = (own: number) => {
        const at = this.#models[own] ?? "";
        return { ...expectedAt(at, asked, policyPrediction), forecast: reads ? forecast(at) : undefined };
      };
      this.#followed.put(asked.decisionId, {
        ...{ startStage: stage, routerScores, answers: [], expected },
        ...{ verdicts: new Map(), observed: false, queuedBefore: false },
      });
      if (again) return;
      this.#requests += 1;
      const same = this.#policy.modelOfStage(stage) === model;
      this.#starts[same ? "same" : "different"] += 1;
      if (!same) this.#options.onDifference("start");
    });
  }

  observe(event: PolicyEvent, model: string | null): void {
    this.#guarded(() => {
      if (event.kind === "ended") return this.#policy.observe(event);
      const followed = this.#followed.get("work" in event ? event.work.id : event.workId);
      if (followed === undefined) return;
      if (event.kind !== "queued") {
        if (followed.observed) this.#policy.observe(event);
        if (event.kind === "left" || event.kind === "finished") followed.observed = false;
        return;
      }
      const { work } = event;
      const stage = this.#models.indexOf(model ?? "");
      if (!followed.queuedBefore && stage !== followed.startStage) {
        // It joins the queue that the candidate would have put it in and leaves at once: from then on its program is known to the
        // candidate.
        const { startStage } = followed;
        this.#policy.observe({ kind: "queued", work: { ...work, stage: startStage, ...followed.expected(startStage) } });
        this.#policy.observe({ kind: "left", workId: work.id, nowSeconds: work.queuedSinceSeconds });
      }
      followed.queuedBefore = true;
      followed.observed = stage >= 0;
      if (followed.observed) this.#policy.observe({ kind: "queued", work: { ...work, stage, ...followed.expected(stage) } });
    });
  }

  /** An answer that another gate scored cannot be compared: the candidate's would have given another score. */
  judged({ work, model, gate, verdict, view }: JudgedWork): void {
    this.#guarded(() => {
      const followed = this.#followed.get(work.id);
      if (followed === undefined) return;
      const stage = this.#models.indexOf(model);
      const { routerScores, answers } = followed;
      const waiting = [{ ...work, stage, evidence: { routerScores, answers: [...answers] } }];
      if (stage >= 0 && work.state.kind === "answered") answers.push({ stage, score: work.state.judgedScore });
      const [own] = this.#compares(stage, gate) ? this.#policy.decide({ ...view, waiting }) : [];
      if (own === undefined) {
        this.#notComparable += 1;
        return;
      }
      followed.verdicts.set(model, own);
      if (own.kind === verdict.kind) this.#verdicts.same += 1;
      else if (own.kind === "accept") this.#verdicts.acceptsMore += 1;
      else this.#verdicts.escalatesMore += 1;
      if (own.kind !== verdict.kind) this.#options.onDifference(own.kind === "accept" ? "accepts" : "escalates");
    });
  }

  /**
   * Called when a request is finished. A request that the cascade answered has a final model; others, such as those that a panic took, have
   * none.
   */
  finished({ id, status, stages }: Pick<Decision, "id" | "status" | "stages">, { cascade }: { readonly cascade: boolean }): void {
    this.#guarded(() => {
      const followed = this.#followed.get(id);
      if (followed === undefined) return;
      this.#followed.delete(id);
      const last = stages.at(-1);
      if (!cascade || status !== 200 || last?.verdict !== "accepted") return;
      if (last.judgeSeconds === null && last.gate === undefined && this.#judges(this.#models.indexOf(last.model))) this.#notComparable += 1;
      this.#final(last.model).actual += 1;
      this.#final(this.#finalModel(followed)).candidate += 1;
    });
  }

  summary(): ShadowSummary {
    return {
      ...this.request,
      sinceMs: this.#sinceMs,
      requests: this.#requests,
      starts: { ...this.#starts },
      verdicts: { ...this.#verdicts },
      notComparable: this.#notComparable,
      finalModels: Object.fromEntries([...this.#finalModels].map(([model, counts]) => [model, { ...counts }])),
      endReason: this.#endReason,
    };
  }

  /** Whether a score by a gate tells what the candidate does: the same gate gives it, or the candidate accepts the answer whatever its score. */
  #compares(stage: number, gate: string): boolean {
    return this.#gates[stage] !== undefined && (!this.#policy.judges(stage) || this.#gates[stage] === gate);
  }

  #judges(stage: number): boolean {
    return stage >= 0 && this.#policy.judges(stage);
  }

  /** The model whose answer the client would have received: the path through the candidate's stages, as far as its verdicts are known. */
  #finalModel({ startStage, verdicts }: Followed): string {
    let stage = startStage;
    for (const _ of this.#models) {
      const model = this.#policy.modelOfStage(stage);
      if (!this.#policy.judges(stage)) return model;
      const verdict = verdicts.get(model);
      if (verdict?.kind === "accept") return model;
      if (verdict?.kind !== "escalate") return unknownModel;
      stage = verdict.stage;
    }
    return unknownModel;
  }

  #final(model: string): { actual: number; candidate: number } {
    const counts = this.#finalModels.get(model) ?? { actual: 0, candidate: 0 };
    this.#finalModels.set(model, counts);
    return counts;
  }

  #guarded(look: () => void): void {
    if (this.#endReason !== "") return;
    try {
      look();
    } catch (error) {
      this.#endReason = error instanceof Error && error.message !== "" ? error.message : String(error);
      this.#options.onFailed(this.#endReason);
    }
  }
}
