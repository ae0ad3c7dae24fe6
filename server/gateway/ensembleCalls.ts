import { randomUUID } from "node:crypto";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { ensemblePrefix } from "@/server/contracts/gatewayEnsembles";
import type { Ensemble } from "@/solver/ensemble/ensembleDocument";
import { ANY_CATEGORY } from "@/solver/ensemble/ensembleDocument";
import { recruiter } from "@/solver/ensemble/recruit";
import { type ApiError, sendError } from "./apiError";
import type { BodyPlace } from "./bodyRoom";
import type { Caller } from "./callers";
import { shownName } from "./clientNames";
import type { EnsembleBook } from "./ensembleBook";
import { ensembleBodyRefusal } from "./ensembleRequest";
import { EnsembleRun } from "./ensembleRun";
import type { GatewayLimits } from "./limits";
import { type ModelRequest, programKeyOf } from "./modelRequest";
import type { OwnPort } from "./ownPort";
import type { Serving } from "./serving";

/** By which experts are chosen; a request without it is of any category. */
const categoryHeader = "x-weir-category";

interface EnsembleCallsOptions {
  readonly serving: Serving;
  readonly limits: GatewayLimits;
  readonly draining: () => boolean;
  readonly book: EnsembleBook;
  readonly ownPort: OwnPort;
  readonly onRefused: (served: string | null, status: number, key: string | null) => void;
}

/** A request whose body names an ensemble. */
export interface EnsembleArrival {
  readonly asked: ModelRequest;
  /** On the clock of `performance.now()`. */
  readonly startedMs: number;
  readonly caller: Caller;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Fired when the client goes away, and when the gateway ends. */
  readonly abort: AbortController;
  readonly place: BodyPlace;
  readonly idHeaders: OutgoingHttpHeaders;
}

/** Requests for ensembles, which the gateway answers by requests for their models to its own data port. */
export class EnsembleCalls {
  readonly #options: EnsembleCallsOptions;
  readonly #underWay = new Set<EnsembleRun>();

  constructor(options: EnsembleCallsOptions) {
    this.#options = options;
  }

  /** Whether a request is for an ensemble; under a panic none is. */
  takes({ model }: ModelRequest): boolean {
    return model.startsWith(ensemblePrefix) && !this.#options.serving.panicking;
  }

  /** Another configuration is in force: what is under way is decided by the thresholds as they are now. */
  installed(): void {
    const { serving, book } = this.#options;
    book.follow(serving.ensembles);
    for (const run of this.#underWay) run.look();
  }

  async serve(arrival: EnsembleArrival): Promise<void> {
    const { asked, caller, request, response, idHeaders } = arrival;
    const { serving, limits, book, ownPort, draining, onRefused } = this.#options;
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
    const id = `ensemble-${randomUUID()}`;
    const run = new EnsembleRun({
      ...{ arrival, id, ensemble, ownPort, limits },
      experts: recruiter(ensemble)(categoryOf(request)),
      timeScale: serving.config?.timeScale ?? 1,
      tau: () => (this.#find(asked.model) ?? ensemble).tau,
    });
    this.#underWay.add(run);
    try {
      const finished = await run.answer();
      if ("status" in finished) return onRefused(asked.model, finished.status, caller.key);
      book.finished(ensemble, finished);
      if (finished.call.outcome !== "failed") this.#capture(arrival);
    } finally {
      this.#underWay.delete(run);
      serving.endProgram(programKeyOf(id, caller.key));
    }
  }

  #find(model: string): Ensemble | undefined {
    return this.#options.serving.ensembles.find(({ name }) => `${ensemblePrefix}${name}` === model);
  }

  /** The question once, and not as each model was asked it. */
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
  const message = `There is no ${JSON.stringify(shownName(model))} here: the ensembles served are ${there}.`;
  return { status: 404, message, type: "not_found_error", param: "model", code: "model_not_found" };
}

function tooMany(calls: number): ApiError {
  const message = `${calls} requests of ensembles are under way, as many as this gateway answers at once.`;
  return { status: 429, message, type: "rate_limit_error", code: "too_many_ensemble_calls" };
}

const shuttingDown: ApiError = { status: 503, message: "The gateway is shutting down.", type: "server_error", code: "shutting_down" };
