import { setTimeout as sleep } from "node:timers/promises";
import type { StoredApplication } from "@/server/store/applicationRepository";
import { hasReached, isNext, type MomentStep, type NewEngineState, pointOf, type RollOutPoint } from "./moments";
import type { Scene } from "./scene";

const everyMs = 25;
/** The pause before a step that lasts some milliseconds. */
const briefMs = 2;

/** What an operator sees and orders. */
export type OperatedScene = Pick<Scene, "latest" | "application" | "order" | "begunEngine" | "isHealthy">;

/** Applies plans, and continues applications that halted. */
export class Operator {
  readonly acts: string[] = [];
  readonly halts: string[] = [];
  readonly #scene: OperatedScene;
  readonly #signal: AbortSignal;

  constructor(scene: OperatedScene, signal: AbortSignal) {
    this.#scene = scene;
    this.#signal = signal;
  }

  note(act: string): void {
    this.acts.push(act);
  }

  /** Begins an application; returns its id. */
  async apply(planId: string): Promise<string> {
    const before = this.#scene.latest?.id;
    this.#scene.order({ apply: planId });
    for (;;) {
      const latest = this.#scene.latest;
      if (latest !== null && latest.id !== before) return latest.id;
      await this.#pause(briefMs);
    }
  }

  /** Resolves when an application is done; continues it where it halted. */
  async ended(id: string): Promise<void> {
    for (;;) {
      const application = this.#of(id);
      if (application.state === "paused" && application.halt !== null) {
        this.halts.push(application.halt.sentence);
        this.note("resumed the halted roll-out");
        this.#scene.order({ resume: id });
        while (this.#of(id).state === "paused") await this.#pause();
      }
      if (application.endedAt !== null) {
        if (application.state !== "done") throw new Error(`It ended ${application.state}: ${application.error}`);
        return;
      }
      await this.#pause();
    }
  }

  /** Resolves when an application has reached its step of a kind, or ended without it. */
  async untilStep(id: string, kind: MomentStep): Promise<void> {
    for (let application = this.#of(id); !hasReached(kind, application); application = this.#of(id))
      await this.#pause(isNext(kind, application) ? briefMs : everyMs);
  }

  /** Resolves so many seconds after an application started an engine, or when the application has ended. */
  async untilLoading(id: string, engineId: string, seconds: number): Promise<void> {
    for (;;) {
      const begun = this.#begun(id, engineId);
      if (this.#of(id).endedAt !== null || (begun !== null && Date.now() - begun.atMs >= 1000 * seconds)) return;
      await this.#pause();
    }
  }

  /** Seconds from the start of an engine by an application to its first healthy answer; null: the application ended without it. */
  async loadSeconds(id: string, engineId: string): Promise<number | null> {
    for (;;) {
      const hasEnded = this.#of(id).endedAt !== null;
      const begun = this.#begun(id, engineId);
      if (begun !== null && (await this.#scene.isHealthy(begun.url))) return (Date.now() - begun.atMs) / 1000;
      if (hasEnded) return null;
      await this.#pause();
    }
  }

  /**
   * Where a roll-out is now. The application is read last: a kill that is sent at once comes to that step.
   * @param id null: it was not begun.
   * @param newEngineId an engine that it starts; null: its state is not asked for, which takes a moment.
   */
  async point(id: string | null, newEngineId: string | null): Promise<RollOutPoint> {
    const newEngine = id === null || newEngineId === null ? undefined : await this.#stateOf(id, newEngineId);
    return pointOf(id === null ? null : this.#of(id), newEngine);
  }

  async #stateOf(id: string, engineId: string): Promise<NewEngineState> {
    const begun = this.#begun(id, engineId);
    if (begun === null) return "absent";
    return (await this.#scene.isHealthy(begun.url)) ? "healthy" : "loading";
  }

  /** An engine that this application started; a record of an earlier one may be there. */
  #begun(id: string, engineId: string): ReturnType<OperatedScene["begunEngine"]> {
    const begun = this.#scene.begunEngine(engineId);
    return begun !== null && begun.atMs >= Date.parse(this.#of(id).startedAt) ? begun : null;
  }

  #of(id: string): StoredApplication {
    const application = this.#scene.application(id);
    if (application === null) throw new Error(`There is no application ${id}.`);
    return application;
  }

  #pause(ms = everyMs): Promise<void> {
    return sleep(ms, undefined, { signal: this.#signal });
  }
}
