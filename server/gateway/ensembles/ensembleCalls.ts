import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { ensemblePrefix } from "@/server/contracts/gateway/gatewayEnsembles";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { ANY_CATEGORY } from "@/solver/ensemble/gate/ensembleDocument";
import { recruiter } from "@/solver/ensemble/replay/recruit";
import { type ApiError, sendError, shuttingDown } from "../http/apiError";
import { shownName } from "../http/clientNames";
import type { GatewayLimits } from "../http/limits";
import type { LoopbackClient } from "../http/loopbackClient";
import { type ModelRequest, partsProgram, programKeyOf } from "../http/modelRequest";
import type { Serving } from "../serving/serving";
import { ensembleBodyRefusal } from "./ensembleRequest";
import { type EnsembleArrival, EnsembleRun } from "./ensembleRun";
import type { EnsembleStats } from "./ensembleStats";

/** Category by which experts are chosen; a request without it is of any category. */
const categoryHeader = "x-weir-category";

interface EnsembleCallsOptions {
  readonly serving: Serving;
  readonly limits: GatewayLimits;
  readonly draining: () => boolean;
  readonly stats: EnsembleStats;
  readonly loopback: LoopbackClient;
  readonly onRefused: (served: string | null, status: number, key: string | null) => void;
}

/** Serves requests for ensembles by requests for their models to the gateway's own data port. */
export class EnsembleCalls {
  readonly #options: EnsembleCallsOptions;
  readonly #underWay = new Set<EnsembleRun>();

  constructor(options: EnsembleCallsOptions) {
    this.#options = options;
  }

  /** Whether a request is for an ensemble; never during a panic. */
  takes({ model }: ModelRequest): boolean {
    return model.startsWith(ensemblePrefix) && !this.#options.serving.panicking;
  }

  /** Called when another configuration is in force: the new thresholds apply to requests in flight. */
  installed(): void {
    const { serving, stats } = this.#options;
    stats.follow(serving.ensembles);
    for (const run of this.#underWay) run.look();
  }

  async serve(arrival: EnsembleArrival): Promise<void> {
    const { asked, caller, request, response, idHeaders } = arrival;
    const { serving, limits, stats, loopback, draining, onRefused } = this.#options;
    const refuse = (served: string | null, error: ApiError, headers: OutgoingHttpHeaders = {}): void => {
      onRefused(served, error.status, caller.key);
      sendError(response, error, { ...idHeaders, ...headers });
    };
    const ensemble = this.#find(asked.model);
    if (ensemble === undefined) return refuse(null, unknownEnsemble(asked.model, serving.ensembles));
    const refusal = ensembleBodyRefusal(asked);
    if (refusal !== null) return refuse(asked.model, { status: 400, ...refusal, type: "invalid_request_error", code: "unsupported_value" });
    if (draining()) return refuse(asked.model, shuttingDown, { "retry-after": "1" });
    if (this.#underWay.size >= limits.ensembleCalls) return refuse(asked.model, tooMany(limits.ensembleCalls), { "retry-after": "1" });
    const id = partsProgram(asked);
    const run = new EnsembleRun({
      ...{ arrival, id, ensemble, loopback, limits },
      experts: recruiter(ensemble)(categoryOf(request)),
      timeScale: serving.config?.timeScale ?? 1,
      tau: () => (this.#find(asked.model) ?? ensemble).tau,
    });
    this.#underWay.add(run);
    try {
      const finished = await run.answer();
      if ("status" in finished) return onRefused(asked.model, finished.status, caller.key);
      stats.finished(ensemble, finished);
      if (finished.call.outcome !== "failed") this.#capture(arrival);
    } finally {
      this.#underWay.delete(run);
      serving.endProgram(programKeyOf(id, caller.key));
    }
  }

  #find(model: string): Ensemble | undefined {
    return this.#options.serving.ensembles.find(({ name }) => `${ensemblePrefix}${name}` === model);
  }

  /** Captures the question once, and not the request to each model. */
  #capture({ asked, caller: { key, objective }, startedMs, response }: EnsembleArrival): void {
    const { serving } = this.#options;
    const atMs = Date.now() - (performance.now() - startedMs);
    const offer = (): void => serving.capture?.offer({ asked, key, objective, atMs });
    if (response.writableFinished) offer();
    else response.once("finish", offer);
  }
}

function categoryOf({ headers: { [categoryHeader]: category } }: IncomingMessage): string {
  return typeof category === "string" && category.trim() !== "" ? category.trim() : ANY_CATEGORY;
}

function unknownEnsemble(model: string, ensembles: readonly Ensemble[]): ApiError {
  const there = ensembles.length === 0 ? "none" : ensembles.map(({ name }) => `${ensemblePrefix}${name}`).join(", ");
  const message = `There is no ${JSON.stringify(shownName(model))} here. Ensembles: ${there}.`;
  return { status: 404, message, type: "not_found_error", param: "model", code: "model_not_found" };
}

function tooMany(calls: number): ApiError {
  const message = `${calls} ensemble requests are in progress, the gateway's limit.`;
  return { status: 429, message, type: "rate_limit_error", code: "too_many_ensemble_calls" };
}
