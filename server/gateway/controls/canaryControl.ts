import type { Logger } from "pino";
import type { Decision, GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { type Canary, type CanaryRequest, canaryRequestSchema, type Signature } from "@/server/contracts/gateway/gatewayControls";
import { learntOf } from "@/solver/plan/policySchema";
import { clientGone } from "../http/abortError";
import { type ApiError, badRequest, conflict, nothingToEnd } from "../http/apiError";
import { type AuditNote, withReason } from "../lib/auditLog";
import type { Mutex } from "../lib/mutex";
import { isSamePlan, type PlanName, shortId } from "../lib/planName";
import { stableShare } from "../lib/stableShare";
import type { Configuration } from "../serving/configuration";
import { beginningOf, outlook, percent, withFinished } from "./canarySteps";
import { candidateRefusal } from "./candidateRefusal";
import type { Control, ControlDeps } from "./control";

/** What a canary acts on. */
export interface CanaryDeps extends ControlDeps {
  readonly configuration: Configuration;
  readonly mutex: Mutex;
  readonly log: Logger;
}

type Finished = Pick<Decision, "planId" | "policyHash" | "canary" | "status" | "endToEndSeconds">;

/** The author in the audit log of what the gateway did by itself. */
const itself = "gateway";
const longestTimerMs = 2 ** 31 - 1;
/** Caused by a lack of room in a queue or at engines: a candidate that needs more capacity than there is fails those programs. */
const tooManyRequests = 429;
/** Timers may fire a little early by the wall clock. */
const timerSlackMs = 10;

/** Lets a candidate take a growing share of the programs, then puts it into force or returns all programs to the policy in force. */
export class CanaryControl implements Control<CanaryRequest, Canary> {
  readonly schema = canaryRequestSchema;
  readonly #deps: CanaryDeps;
  #canary: Canary | null;
  /** The plan in force when the canary began here. */
  #base: PlanName | null = null;
  #promoting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: CanaryDeps) {
    this.#deps = deps;
    this.#canary = deps.store.kept.canary;
  }

  /** Resumes the stored canary: at the same step, with new counts. */
  async resume(): Promise<void> {
    const canary = this.#canary;
    if (canary?.state !== "running") return;
    const { audit, configuration } = this.#deps;
    const { current } = configuration;
    if (current !== null && isSamePlan(canary.candidate, current)) {
      const detail = `The policy ${shortId(canary.candidate.policyHash)} is in force.`;
      await this.#end("promoted", detail);
      // The previous gateway process ended between the two steps.
      if (audit.latestChange?.action !== "canary promoted") await audit.note({ by: itself, action: "canary promoted", detail });
      return;
    }
    const refusal = candidateRefusal(canary.candidate, current, this.#deps.serving.artifacts);
    if (refusal !== null) return this.withdraw(refusal.message, itself);
    this.#enter({ ...canary, ...beginningOf(canary.step, Date.now()) });
  }

  async prepare({ candidate }: CanaryRequest): Promise<void> {
    const { configuration, serving } = this.#deps;
    if (candidateRefusal(candidate, configuration.current, serving.artifacts) === null)
      await serving.predictions.service.prepare(new Set(learntOf(candidate.policy)));
  }

  async begin(request: CanaryRequest): Promise<ApiError | null> {
    const { store } = this.#deps;
    const { current } = this.#deps.configuration;
    const { candidate, shares, by, reason } = request;
    if (shares.at(-1) !== 1 || shares.some((share, at) => share <= (shares[at - 1] ?? 0)))
      return badRequest(`The shares are ${shares.join(", ")}; they must rise, and the last must be 1.`);
    const refusal = candidateRefusal(candidate, current, this.#deps.serving.artifacts);
    if (refusal !== null) return refusal;
    if (current !== null && isSamePlan(candidate, current)) return conflict("The candidate is the policy in force already.");
    if (this.#canary?.state === "running") return conflict("A canary runs already; end it first.");
    if (store.kept.panic !== null) return conflict("A panic is in force; clear it first.");
    const nowMs = Date.now();
    this.#enter({ ...request, state: "running", sinceMs: nowMs, ...beginningOf(0, nowMs), endReason: "" });
    const steps = shares.map(percent).join(", then ");
    const detail = withReason(`The policy ${shortId(candidate.policyHash)} takes ${steps} of the programs`, reason);
    await this.#keep({ by, action: "canary started", detail });
    return null;
  }

  read(): Canary | null {
    return this.#canary;
  }

  async end({ by, reason }: Signature): Promise<ApiError | null> {
    if (this.#canary?.state !== "running") return nothingToEnd("No canary runs.");
    await this.withdraw(withReason(`${by} ended it`, reason), by);
    return null;
  }

  /** Ends the canary if it runs: all requests follow the policy in force. */
  async withdraw(reason: string, by: string): Promise<void> {
    if (this.#canary?.state !== "running") return;
    const kept = this.#end("withdrawn", reason);
    await this.#deps.audit.note({ by, action: "canary withdrawn", detail: reason });
    await kept;
  }

  /** Called when another configuration is in force. */
  installed(config: GatewayConfig): void {
    if (this.#canary?.state !== "running" || this.#base === null) return;
    const reason = isSamePlan(this.#base, config)
      ? candidateRefusal(this.#canary.candidate, config, this.#deps.serving.artifacts)?.message
      : "Another plan or policy came into force.";
    if (reason !== undefined) this.#unwatched(this.withdraw(reason, itself));
  }

  /** Called when a request is finished or was shed. */
  finished({ planId, policyHash, canary = false, status, endToEndSeconds }: Finished): void {
    if (this.#canary?.state !== "running" || this.#base === null) return;
    const { candidate, stop } = this.#canary;
    if (!isSamePlan(canary ? candidate : this.#base, { planId, policyHash })) return;
    const slow = stop.slow !== null && endToEndSeconds > stop.slow.endToEndSeconds;
    // A client that disconnected is no evidence, unless it had waited longer than it should have to.
    if (status === clientGone && !slow) return;
    const arm = canary ? "candidateArm" : "currentArm";
    this.#canary = { ...this.#canary, ...withFinished(this.#canary, { arm, failed: status >= 500 || status === tooManyRequests, slow }) };
    if (canary) this.#look();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    if (this.#canary?.state !== "running") return;
    const next = outlook(this.#canary, this.#canary, Date.now());
    if (next.kind === "stop") this.#unwatched(this.#stop(next.reason));
    if (next.kind === "promote" && !this.#promoting) this.#unwatched(this.#promote());
    if (next.kind !== "advance") return;
    const { finished, failed, slow } = this.#canary.candidateArm;
    this.#enter({ ...this.#canary, ...next.progress });
    const share = percent(this.#canary.shares[next.progress.step] ?? 1);
    const detail = `The candidate takes ${share} of the programs, after ${finished} requests of which ${failed} failed and ${slow} were slow.`;
    this.#unwatched(this.#keep({ by: itself, action: "canary step", detail }));
  }

  async #stop(reason: string): Promise<void> {
    const kept = this.#end("stopped", reason);
    await this.#deps.audit.note({ by: itself, action: "canary stopped", detail: reason });
    await kept;
  }

  /** Makes the candidate the configuration's plan; requests that wait for it continue. */
  async #promote(): Promise<void> {
    this.#promoting = true;
    const { configuration, mutex } = this.#deps;
    await mutex
      .run(async () => {
        const canary = this.#canary;
        if (canary?.state !== "running") return;
        const { candidate, candidateArm } = canary;
        const detail = `The policy ${shortId(candidate.policyHash)} is in force, after ${candidateArm.finished} requests of all programs.`;
        // Set before the change, so that the change of configuration is not taken for another operator's.
        this.#canary = { ...canary, state: "promoted", endReason: detail };
        try {
          const refusal = await configuration.adopt(
            candidate,
            { by: itself, action: "canary promoted", detail },
            this.#deps.store.kept.proofs.canary,
          );
          if (refusal !== null) {
            this.#canary = canary;
            return await this.#stop(refusal.message);
          }
        } catch (error) {
          this.#enter({ ...canary, ...beginningOf(canary.step, Date.now()) });
          throw error;
        }
        await this.#end("promoted", detail);
      })
      .finally(() => {
        this.#promoting = false;
      });
  }

  #enter(canary: Canary): void {
    const { candidate, shares, step, stepSeconds } = canary;
    const share = shares[step] ?? 1;
    this.#canary = canary;
    this.#base = this.#deps.configuration.current;
    this.#deps.serving.setCanary({ candidate, takes: (programId) => stableShare(`${candidate.policyHash} ${programId}`) < share });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), Math.min(longestTimerMs, stepSeconds * 1000 + timerSlackMs)).unref();
  }

  /** Takes effect at once; durable when it returns. */
  #end(state: Canary["state"], endReason: string): Promise<void> {
    const { serving, store } = this.#deps;
    clearTimeout(this.#timer);
    if (this.#canary !== null) this.#canary = { ...this.#canary, state, endReason };
    if (state === "promoted") serving.setCanary(null);
    else serving.dropCanary();
    return store.keep({ canary: this.#canary });
  }

  async #keep(note: AuditNote): Promise<void> {
    const { store, audit } = this.#deps;
    await Promise.all([store.keep({ canary: this.#canary }), audit.note(note)]);
  }

  /** Runs a change that no caller waits for. */
  #unwatched(change: Promise<void>): void {
    change.catch((error: unknown) => this.#deps.log.error({ err: error }, "a step of the canary could not be kept"));
  }
}
