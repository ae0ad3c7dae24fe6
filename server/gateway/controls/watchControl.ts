import type { Logger } from "pino";
import type { z } from "zod";
import {
  type MirrorRequest,
  type Mirror as MirrorSummary,
  mirrorRequestSchema,
  type ShadowRequest,
  type Shadow as ShadowSummary,
  type Signature,
  shadowRequestSchema,
} from "@/server/contracts/gateway/gatewayControls";
import { simpleGatesOf } from "@/solver/gates/gateDocument";
import { gatesOf } from "@/solver/plan/policySchema";
import { policyRefusal } from "@/solver/policies/policyRefusal";
import { type ApiError, badRequest, conflict, nothingToEnd } from "../http/apiError";
import type { BodyMemoryBudget } from "../http/bodyMemoryBudget";
import type { GatewayLimits } from "../http/limits";
import type { Usage } from "../http/usage";
import { withReason } from "../lib/auditLog";
import type { Mutex } from "../lib/mutex";
import { shortId } from "../lib/planName";
import type { Serving } from "../serving/serving";
import { percent } from "./canarySteps";
import { hashRefusal } from "./candidateRefusal";
import type { Control, ControlDeps } from "./control";
import { Mirror, type MirrorOutcome } from "./mirror";
import type { MirrorSamples } from "./mirrorSamples";
import { Shadow } from "./shadow";

/** The counters that watchers and captures write. */
interface WatchMetrics {
  recordDifference(difference: "start" | "accepts" | "escalates"): void;
  recordCopy(outcome: MirrorOutcome): void;
  recordCopyTokens(usage: Usage): void;
}

/** Dependencies of watchers. */
export interface WatchDeps extends ControlDeps {
  readonly metrics: WatchMetrics;
  readonly limits: GatewayLimits;
  /** Memory of request bodies. */
  readonly bodies: BodyMemoryBudget;
  readonly samples: MirrorSamples;
  readonly mutex: Mutex;
  readonly log: Logger;
}

/** Observes live traffic and acts on none of it. */
export interface Watcher<Document> {
  summary(): Document;
  close(): void;
}

interface WatchOptions<Request, Document> {
  readonly name: "shadow" | "mirror";
  readonly schema: z.ZodType<Request>;
  /** What an earlier start kept. */
  readonly kept: Request | null;
  /** @returns the error if the configuration makes it impossible. */
  readonly start: (request: Request) => Watcher<Document> | ApiError;
  /** What it does: a sentence without its full stop. */
  readonly describe: (request: Request) => string;
}

/** A watcher that an operator starts and ends. After a restart it starts over with the same request. */
export class WatchControl<Request extends Signature, Document> implements Control<Request, Document> {
  readonly schema: z.ZodType<Request>;
  readonly #deps: ControlDeps;
  readonly #options: WatchOptions<Request, Document>;
  #watcher: Watcher<Document> | null = null;

  constructor(deps: WatchDeps, options: WatchOptions<Request, Document>) {
    this.schema = options.schema;
    this.#deps = deps;
    this.#options = options;
    const refusal = options.kept === null ? null : this.#start(options.kept);
    if (refusal !== null) deps.log.warn({ reason: refusal.message }, `the stored ${options.name} is not resumed`);
  }

  async begin(request: Request): Promise<ApiError | null> {
    const { store, audit } = this.#deps;
    const { name, describe } = this.#options;
    const refusal = this.#start(request);
    if (refusal !== null) return refusal;
    await store.keep({ [name]: request });
    await audit.note({ by: request.by, action: `${name} started`, detail: withReason(describe(request), request.reason) });
    return null;
  }

  read(): Document | null {
    return this.#watcher?.summary() ?? null;
  }

  async end({ by, reason }: Signature): Promise<ApiError | null> {
    const { store, audit } = this.#deps;
    const { name } = this.#options;
    if (this.#watcher === null) return nothingToEnd(`There is no ${name} to end.`);
    this.close();
    await store.keep({ [name]: null });
    await audit.note({ by, action: `${name} ended`, detail: withReason(`The ${name} ended`, reason) });
    return null;
  }

  close(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }

  #start(request: Request): ApiError | null {
    const started = this.#options.start(request);
    if ("status" in started) return started;
    this.close();
    this.#watcher = started;
    return null;
  }
}

/** Why a mirror cannot start. */
const unscored = "No judge is configured and no stage has another gate, so the answers of copies could not be scored.";

/** Whether a stage of the policy in force has a gate that asks no judge. */
const hasGates = ({ config }: Serving): boolean =>
  config !== null && gatesOf(config.policy).some((gate) => simpleGatesOf(gate).every(({ kind }) => kind !== "judge"));

/** A mirror that an operator controls. */
export function mirrorControl(deps: WatchDeps): WatchControl<MirrorRequest, MirrorSummary> {
  const { serving, store, metrics, limits, bodies, samples } = deps;
  return new WatchControl(deps, {
    name: "mirror",
    schema: mirrorRequestSchema,
    kept: store.kept.mirror,
    describe: ({ share, maxInFlight }) =>
      `${percent(share)} of the cascade's requests are sent through all stages, at most ${maxInFlight} at once`,
    start(request) {
      if (serving.judge === null && !hasGates(serving)) return conflict(unscored);
      const mirror = new Mirror({
        request,
        serving,
        limits,
        bodies,
        samples,
        onCopy: (outcome) => metrics.recordCopy(outcome),
        onAnswer: (usage) => metrics.recordCopyTokens(usage),
      });
      serving.mirror = mirror;
      return {
        summary: () => mirror.summary(),
        close() {
          mirror.close();
          if (serving.mirror === mirror) serving.mirror = null;
        },
      };
    },
  });
}

/**
 * A just-in-time policy has nothing to compare with: it chooses where a request starts only when engines have room, and a shadow has no
 * engines.
 */
const unshadowed = "A just-in-time policy chooses a model when an engine has room, and a shadow has no engines: try it as a canary.";
const unseen = "The policy in force chooses a model when an engine has room, so a shadow has no start to compare with.";

/** A shadow that an operator controls. A failed one can still be read until it is ended or replaced; a restart does not resume it. */
export function shadowControl(deps: WatchDeps): WatchControl<ShadowRequest, ShadowSummary> {
  const { serving, store, audit, metrics, mutex, log } = deps;
  const onFailed = (reason: string): void => {
    log.error({ reason }, "the shadow failed and is ended");
    const noted = mutex.run(async () => {
      await store.keep({ shadow: null });
      await audit.note({ by: "gateway", action: "shadow ended", detail: `The shadow failed and ended: ${reason}` });
    });
    noted.catch((error) => log.error({ err: error }, "the end of the shadow could not be stored"));
  };
  return new WatchControl(deps, {
    name: "shadow",
    schema: shadowRequestSchema,
    kept: store.kept.shadow,
    describe: ({ candidate: { planId, policyHash } }) =>
      `The policy ${shortId(policyHash)} of the plan ${shortId(planId)} decides on live traffic without acting`,
    start(request) {
      const { candidate } = request;
      const refusal = policyRefusal(candidate.policy) ?? hashRefusal(candidate);
      if (refusal !== null) return badRequest(refusal);
      if (candidate.policy.kind === "just-in-time") return badRequest(unshadowed);
      if (serving.config?.policy.kind === "just-in-time") return conflict(unseen);
      const missing = serving.artifacts.refusal(candidate.policy);
      if (missing !== null) return conflict(missing);
      const shadow = new Shadow({ request, onDifference: (difference) => metrics.recordDifference(difference), onFailed });
      serving.shadow = shadow;
      return {
        summary: () => shadow.summary(),
        close() {
          if (serving.shadow === shadow) serving.shadow = null;
        },
      };
    },
  });
}
