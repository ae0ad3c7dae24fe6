import { setTimeout as sleep } from "node:timers/promises";
import type { ApplicationState } from "@/server/contracts/studio";
import type { StoredApplication } from "@/server/store/applicationRepository";
import type { Store } from "@/server/store/store";
import type { StoredStep } from "@/server/store/storedStep";
import { waitingStep } from "./applicationSteps";
import type { Answer, Connector, Observation } from "./connector";
import { planSteps } from "./planSteps";
import { rollOutOf } from "./rollOutOf";
import { waitUntil } from "./waitUntil";

export interface RunSurroundings {
  readonly store: Store;
  readonly connector: Connector;
  /** Told after every change that was written down. */
  readonly onChange: (application: StoredApplication) => void;
}

/** A cluster that was restarted together with the studio comes back within this time. */
const reachLimitMs = 60_000;

/**
 * Carries one application out: the grace in which it can still be taken back, then step after step, each written down
 * before it begins and after it ends. A studio that is killed in between goes on by planning anew from what it finds.
 */
export class ApplicationRun {
  #application: StoredApplication;
  readonly #surroundings: RunSurroundings;
  #interrupt = new AbortController();
  #closing = false;
  #aborting = false;

  constructor(application: StoredApplication, surroundings: RunSurroundings) {
    this.#application = application;
    this.#surroundings = surroundings;
  }

  get application(): StoredApplication {
    return this.#application;
  }

  /** Runs to the end, or until `close`. `interrupted`: an earlier studio had begun it. */
  async run({ interrupted }: { readonly interrupted: boolean }): Promise<void> {
    if (interrupted && this.#application.state !== "grace") await this.#planAnew();
    await this.#grace();
    while (!this.#closing && this.#application.endedAt === null) await this.#next();
  }

  /** No further step begins; the one that runs is finished. */
  pause(): void {
    this.#save({ state: "paused", graceEndsAt: null });
    this.#wake();
  }

  resume(): void {
    this.#save({ state: "running" });
    this.#wake();
  }

  /** Ends the step that runs and undoes what was done. */
  abort(): void {
    this.#aborting = true;
    this.#wake({ cutStep: true });
  }

  /** Stops without a word in the store: the next studio goes on from here. */
  close(): void {
    this.#closing = true;
    this.#wake({ cutStep: true });
  }

  async #grace(): Promise<void> {
    const { state, graceEndsAt } = this.#application;
    if (state === "grace" && graceEndsAt !== null) await this.#unlessWoken(Date.parse(graceEndsAt) - Date.now());
    if (this.#application.state === "grace" && !this.#aborting && !this.#closing) this.#save({ state: "running", graceEndsAt: null });
  }

  async #next(): Promise<void> {
    if (this.#aborting) return this.#turnBack();
    if (this.#application.state === "paused") return this.#unlessWoken();
    const index = this.#application.steps.findIndex((step) => step.state === "waiting");
    if (index === -1) return this.#end(this.#application.undoing ? "rolled-back" : "done", null);
    return this.#perform(index);
  }

  async #perform(index: number): Promise<void> {
    const step = this.#application.steps[index];
    if (step === undefined) return;
    this.#setStep(index, { state: "running", startedAt: timestamp() });
    const { signal } = this.#interrupt;
    const report = (detail: string): void => this.#setStep(index, { detail });
    const answer = await this.#guarded(() => this.#surroundings.connector.applyStep(step.action, { signal, report }), signal);
    if (answer === null) return;
    if (!answer.ok) {
      this.#setStep(index, { state: "failed", detail: answer.message, endedAt: timestamp() });
      return this.#end("failed", `${step.text}: ${answer.message}`);
    }
    this.#surroundings.store.atomically(() => {
      this.#setStep(index, { state: "done", detail: answer.value, endedAt: timestamp() });
      if ("routing" in step.action) this.#noteInForce(step.action.routing.planId);
    });
  }

  /** What the work gave; null when it was cut off by `abort` or `close`. */
  async #guarded(work: () => Promise<Answer<string>>, signal: AbortSignal): Promise<Answer<string> | null> {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) return null;
      return { ok: false, message: `the studio failed: ${error instanceof Error ? error.message : String(error)}` };
    }
  }

  /** The plan in force is what the gateway was told last. */
  #noteInForce(planId: string | null): void {
    const { clusters, plans } = this.#surroundings.store;
    const { clusterId } = this.#application;
    // A gateway may run a plan that another studio gave it.
    if (clusters.get(clusterId)?.runningPlanId === planId || (planId !== null && plans.get(planId) === null)) return;
    clusters.setRunning(clusterId, planId === null ? null : { planId, since: timestamp() });
  }

  async #turnBack(): Promise<void> {
    this.#aborting = false;
    const begun = this.#application.steps.some((step) => step.state !== "waiting");
    if (!begun) return this.#end("aborted", null);
    this.#save({ undoing: true, state: "running", graceEndsAt: null });
    await this.#planAnew();
  }

  /** Replaces what has not been done by the steps that lead to the goal from what is found now. */
  async #planAnew(): Promise<void> {
    const { store, connector } = this.#surroundings;
    const { undoing, planId, previousPlanId, steps } = this.#application;
    const goalId = undoing ? previousPlanId : planId;
    const goal = goalId === null ? null : store.plans.get(goalId);
    const observation = await this.#observe();
    if (observation === null) return;
    if (!observation.ok) return this.#end("failed", observation.message);
    // The studio may have been killed after the gateway took a policy and before that was written down.
    this.#noteInForce(observation.value.routing.planId);
    const planned = planSteps(rollOutOf(observation.value, goal, connector.emulated));
    // On the way back the steps that were cut off stay in sight; after a restart they are simply planned again.
    const before = undoing ? steps.map(skipped) : steps.filter((step) => step.state === "done" || step.state === "skipped");
    this.#save({ steps: [...before, ...planned.map((step, index) => waitingStep(step, before.length + index))] });
  }

  /** What is found, waiting for a cluster that is just coming up; null when closing. */
  async #observe(): Promise<Answer<Observation> | null> {
    const { signal } = this.#interrupt;
    let found: Answer<Observation> | null = null;
    const look = async () => {
      found = await this.#surroundings.connector.observe(signal);
      return found.ok ? { holds: "" } : { waiting: found.message };
    };
    await this.#guarded(() => waitUntil(look, { signal, report: () => undefined, limitMs: reachLimitMs }), signal);
    return signal.aborted ? null : found;
  }

  #end(state: ApplicationState, error: string | null): void {
    const steps = state === "aborted" ? this.#application.steps.map(skipped) : this.#application.steps;
    this.#save({ state, error, steps, endedAt: timestamp(), graceEndsAt: null });
  }

  #setStep(index: number, change: Partial<StoredStep>): void {
    this.#save({ steps: this.#application.steps.map((step, at) => (at === index ? { ...step, ...change } : step)) });
  }

  #save(change: Partial<StoredApplication>): void {
    this.#application = { ...this.#application, ...change };
    this.#surroundings.store.applications.save(this.#application);
    this.#surroundings.onChange(this.#application);
  }

  #waker = new AbortController();

  /** Ends a pause or the grace; with `cutStep` also the step that runs. */
  #wake({ cutStep = false } = {}): void {
    this.#waker.abort();
    this.#waker = new AbortController();
    if (!cutStep) return;
    this.#interrupt.abort();
    if (!this.#closing) this.#interrupt = new AbortController();
  }

  /** Sleeps for a time, or without one until woken. */
  async #unlessWoken(ms = 2 ** 31 - 1): Promise<void> {
    await sleep(Math.max(0, ms), undefined, { signal: this.#waker.signal }).catch(() => undefined);
  }
}

const timestamp = (): string => new Date().toISOString();

const skipped = (step: StoredStep): StoredStep =>
  step.state === "waiting" || step.state === "running" ? { ...step, state: "skipped", endedAt: timestamp() } : step;
