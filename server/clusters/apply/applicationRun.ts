import type { ApplicationState, Halt } from "@/server/contracts/studio";
import { reasonOf } from "@/server/lib/reasonOf";
import type { StoredApplication } from "@/server/store/applicationRepository";
import type { StoredStep } from "@/server/store/documents/storedStep";
import type { Answer, Connector, Observation, StepOptions } from "../connector/connector";
import { type PlannedStep, planSteps } from "../steps/planSteps";
import { openVerification } from "../verification/verification";
import { ApplicationRecord, type RecordOptions, type Said, timestamp } from "./applicationRecord";
import { nextStepNumber, waitingStep } from "./applicationSteps";
import { Interruption } from "./interruption";
import { reachCluster } from "./reachCluster";
import { rollOutOf } from "./rollOutOf";

export interface RunDeps extends RecordOptions {
  readonly connector: Connector;
}

/**
 * Carries out one application: the grace period in which it can still be cancelled, then step after step, each written to the journal
 * before it begins, after it was done, and once its effect was verified. If the studio is killed in between, the next one plans again from
 * the observed state.
 */
export class ApplicationRun {
  readonly #record: ApplicationRecord;
  readonly #deps: RunDeps;
  readonly #interruption = new Interruption();
  /** The remaining steps have another goal, or another start, than the present ones. */
  #outdated = false;

  constructor(application: StoredApplication, deps: RunDeps) {
    this.#deps = deps;
    this.#record = new ApplicationRecord(application, deps);
  }

  get application(): StoredApplication {
    return this.#record.application;
  }

  /** Runs to the end, or until `close`. `interrupted`: an earlier studio had begun it. */
  async run({ interrupted }: { readonly interrupted: boolean }): Promise<void> {
    if (interrupted) {
      this.#record.save({}, said("The studio restarted and continues this."));
      this.#outdated = this.application.state !== "grace";
    }
    await this.#grace();
    while (!this.#interruption.closed && this.application.endedAt === null) await this.#next();
  }

  /** Begins no further step; the running one is finished. */
  pause(): void {
    this.#record.save({ state: "paused", graceEndsAt: null }, said("Paused."));
    this.#interruption.wake();
  }

  /** Continues from the present state, so that a failed step is tried again. */
  resume(): void {
    this.#record.save({ state: "running", halt: null }, said("Resumed."));
    this.#outdated = true;
    this.#interruption.wake();
  }

  /** Pauses because of a regression, or rolls back if that was requested. */
  halt(halt: Halt): void {
    if (this.application.state === "running" && !this.application.undoing) this.#stop(halt);
  }

  /**
   * Ends the running step and undoes the completed ones; if no rollback is possible, the state is kept, and its engines continue to serve.
   */
  abort(): void {
    const begun = this.application.steps.some((step) => step.state !== "waiting");
    if (!begun) this.#end("aborted", null);
    else if (this.application.hasWayBack) this.#undo("Aborted: what was done is undone.", { halt: null });
    else
      this.#end(
        "failed",
        "Given up where it stood: what was in force before is no plan that is kept here, so nothing is undone. Apply a plan.",
      );
    this.#interruption.cut();
  }

  /** Stops without a change in the store: the next studio continues from here. */
  close(): void {
    this.#interruption.close();
  }

  #stop(halt: Halt): void {
    // A pause by a person leaves the decision to that person.
    const { rollBackOnRegression, state } = this.application;
    if (rollBackOnRegression && state !== "paused") this.#undo(`Undone by itself: ${halt.sentence}`, { halt, error: halt.sentence });
    else this.#pauseFor(halt);
  }

  #pauseFor(halt: Halt, change: Partial<StoredApplication> = {}, lines: readonly Said[] = []): void {
    this.#record.save({ ...change, state: "paused", halt }, ...lines, said(`Halted: ${halt.sentence}`));
    this.#interruption.wake();
  }

  #undo(why: string, change: Partial<StoredApplication>): void {
    this.#record.save({ ...change, undoing: true, state: "running", graceEndsAt: null }, said(why));
    this.#outdated = true;
    this.#interruption.cut();
  }

  async #grace(): Promise<void> {
    const { state, startedAt, graceEndsAt } = this.application;
    if (state === "grace" && graceEndsAt !== null) {
      const endsMs = Date.parse(graceEndsAt);
      // A clock that is set back meanwhile does not make it longer.
      await this.#interruption.unlessWoken(Math.min(endsMs - Date.now(), endsMs - Date.parse(startedAt)));
    }
    if (this.application.state === "grace" && !this.#interruption.closed) this.#record.save({ state: "running", graceEndsAt: null });
  }

  async #next(): Promise<void> {
    if (this.#outdated) return this.#planAnew();
    if (this.application.state === "paused") return this.#interruption.unlessWoken();
    const index = this.application.steps.findIndex((step) => step.state === "waiting");
    return index === -1 ? this.#finish() : this.#perform(index);
  }

  /** Effects of completed steps may be gone by now: it is finished only if no step is left to do from the present state. */
  async #finish(): Promise<void> {
    const observation = await this.#observe();
    if (observation === null || this.application.state === "paused") return;
    // If nothing is in force, the gateway may continue to list engines that no longer exist.
    const matters = ({ action }: PlannedStep): boolean => this.#goalId !== null || action.kind !== "switch-policy";
    const left = observation.ok
      ? this.#stepsFrom(observation.value).flatMap((step) => (matters(step) ? step.text : []))
      : [observation.message];
    if (left.length === 0) return this.#end(this.application.undoing ? "rolled-back" : "done");
    this.#giveUp(`After the last step it is not as planned, what is left: ${left.join("; ")}.`);
  }

  async #perform(index: number): Promise<void> {
    const step = this.#stepAt(index);
    this.#record.step(index, { state: "running", startedAt: timestamp() }, "intended");
    const { connector, store } = this.#deps;
    const signal = this.#interruption.begin();
    const options: StepOptions = { signal, planId: this.#goalId, report: (detail) => this.#record.report(index, detail) };
    const acted = await this.#guarded(async () => {
      const silent = await this.#gateObstacle(step.action, signal);
      return silent === null ? connector.applyStep(step.action, options) : { ok: false, message: silent };
    }, signal);
    if (acted === null) return;
    if (!acted.ok) return this.#fail(index, acted.message);
    store.atomically(() => {
      this.#record.step(index, { detail: acted.value }, "done");
      if ("routing" in step.action) this.#noteInForce(step.action.routing.planId);
    });
    const quiet = { ...options, report: () => undefined };
    const verified = await this.#guarded(() => connector.verifyStep(step.action, quiet), signal);
    if (verified === null) return;
    if (!verified.ok) return this.#fail(index, `it was done (${acted.value}), and its effect is not there. ${verified.message}`);
    this.#record.step(index, { state: "done", endedAt: timestamp() }, "verified", verified.value);
  }

  /** Why the plan's gates have no scores on its engines, before requests go to them: those that were started since could not be asked before. */
  async #gateObstacle(action: StoredStep["action"], signal: AbortSignal): Promise<string | null> {
    const { planId, undoing, kind } = this.application;
    const { connector, store } = this.#deps;
    if (action.kind !== "switch-policy" || undoing || kind === "rollback" || planId === null) return null;
    const plan = store.plans.get(planId);
    return plan === null ? null : connector.gateObstacle(plan.policy, signal);
  }

  #stepAt(index: number): StoredStep {
    const step = this.application.steps[index];
    if (step === undefined) throw new Error(`There is no step ${index}.`);
    return step;
  }

  #fail(index: number, message: string): void {
    const { text } = this.#stepAt(index);
    const error = `${text}: ${message}`;
    this.#deps.store.atomically(() => {
      this.#record.step(index, { state: "failed", detail: message, endedAt: timestamp() }, "failed");
      this.#giveUp(error);
    });
  }

  /** A partly applied plan is no final state: only a rollback that cannot continue either counts as failed. */
  #giveUp(sentence: string): void {
    if (this.application.undoing) this.#end("failed", sentence);
    else this.#stop({ at: timestamp(), because: "step", sentence });
  }

  /** The result of the work; null if it was aborted by `abort` or `close`. */
  async #guarded<Value>(work: () => Promise<Answer<Value>>, signal: AbortSignal): Promise<Answer<Value> | null> {
    try {
      const answer = await work();
      return signal.aborted ? null : answer;
    } catch (error) {
      if (signal.aborted) return null;
      return { ok: false, message: `the studio failed: ${reasonOf(error)}` };
    }
  }

  get #goalId(): string | null {
    const { undoing, planId, previousPlanId } = this.application;
    return undoing ? previousPlanId : planId;
  }

  /** The plan in force is the one that the gateway received last. */
  #noteInForce(planId: string | null): void {
    const { clusters, plans } = this.#deps.store;
    const { clusterId } = this.application;
    // A gateway may run a plan that another studio set.
    if (clusters.get(clusterId)?.runningPlanId === planId || (planId !== null && plans.get(planId) === null)) return;
    clusters.setRunning(clusterId, planId === null ? null : { planId, since: timestamp() });
  }

  /** Replaces the steps that are not done by those that lead to the goal from the present state. */
  async #planAnew(): Promise<void> {
    const { store } = this.#deps;
    const observation = await this.#observe();
    if (observation === null) return;
    this.#outdated = false;
    const { undoing, steps } = this.application;
    const cut = steps.flatMap(({ id, state, text }): Said[] => (state === "running" ? [{ stepId: id, event: "cut", detail: text }] : []));
    // Steps that were begun remain visible: they may have left something. During a rollback, so do steps that were never begun.
    const before = (undoing ? steps : steps.filter(({ state }) => state !== "waiting")).map(skipped);
    if (!observation.ok) {
      // Without an observation neither the roll-out nor a rollback can continue, requested or not.
      const halt: Halt = { at: timestamp(), because: "step", sentence: observation.message };
      return this.#pauseFor(halt, { steps: before }, cut);
    }
    const planned = this.#stepsFrom(observation.value);
    const first = nextStepNumber(steps);
    store.atomically(() => {
      // The studio may have been killed after the gateway accepted a policy and before that was written to the store.
      this.#noteInForce(observation.value.routing.planId);
      const planAnew = said(`Planned again from what is there: ${planned.length} steps to go.`);
      this.#record.save({ steps: [...before, ...planned.map((step, index) => waitingStep(step, first + index))] }, ...cut, planAnew);
    });
  }

  #stepsFrom(observation: Observation): readonly PlannedStep[] {
    const { store, connector } = this.#deps;
    const goal = this.#goalId === null ? null : store.plans.get(this.#goalId);
    return planSteps(rollOutOf(observation, goal, connector.emulated));
  }

  /** null if it was aborted. */
  #observe(): Promise<Answer<Observation> | null> {
    const signal = this.#interruption.begin();
    return this.#guarded(() => reachCluster(this.#deps.connector, signal), signal);
  }

  #end(state: ApplicationState, error = this.application.error): void {
    const { planId, steps } = this.application;
    const change = {
      ...{ state, error, endedAt: timestamp(), graceEndsAt: null, steps: steps.map(skipped) },
      ...(state === "done" && planId !== null ? { verification: openVerification(Date.now()) } : {}),
    };
    this.#record.save(change, said(error === null ? `Ended: ${state}.` : `Ended: ${state}. ${error}`));
  }
}

const said = (detail: string): Said => ({ event: "said", detail });

const skipped = (step: StoredStep): StoredStep =>
  step.state === "waiting" || step.state === "running" ? { ...step, state: "skipped", endedAt: timestamp() } : step;
