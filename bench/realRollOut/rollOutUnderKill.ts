import { setTimeout as sleep } from "node:timers/promises";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import type { StoredApplication } from "@/server/store/applicationRepository";
import type { StepAction } from "@/server/store/documents/storedStep";
import { realModels } from "./realEngines";
import { plans, type Scene } from "./scene";

/** Moments of the roll-out from the single model to the cascade, in their order. */
export const moments = ["before it", "while the old engine drains", "while the new engine loads", "at the switch", "after it"] as const;
export type Moment = (typeof moments)[number];

export const victims = ["gateway", "studio", "engine"] as const;
type Victim = (typeof victims)[number];

export interface Kill {
  readonly victim: Victim;
  readonly moment: Moment;
}

export interface RollOutEnd {
  readonly forwardSeconds: number;
  readonly backSeconds: number;
  /** What an operator did beyond the two orders to apply, each in words. */
  readonly acts: readonly string[];
  /** Why applications halted, in the words that an operator reads. */
  readonly halts: readonly string[];
  /** The killed process; null: none was. */
  readonly killed: string | null;
}

const [oldLarge = "", keptLarge = ""] = targetEngines(plans.single).map(({ id }) => id);
const newSmall = targetEngines(plans.cascade).find(({ model }) => model === realModels.small)?.id ?? "";

/** At each moment the engine whose loss matters there. */
const engineAt: Readonly<Record<Moment, string>> = {
  "before it": keptLarge,
  "while the old engine drains": oldLarge,
  "while the new engine loads": newSmall,
  "at the switch": newSmall,
  "after it": newSmall,
};

const everyMs = 25;
/** Traffic before, between and after the roll-outs. */
const restMs = 5_000;
/** Time within a step before its kill. */
const intoLoadMs = 5_000;

/** From the single model to the cascade, with a kill at a moment, and back without one. Rejects when aborted. */
export async function rollOutUnderKill(scene: Scene, kill: Kill | null, signal: AbortSignal): Promise<RollOutEnd> {
  const operator = new Operator(scene, signal);
  let killed: string | null = null;
  const killNow = async (): Promise<void> => {
    if (kill === null) return;
    killed = kill.victim === "engine" ? engineAt[kill.moment] : kill.victim;
    if (kill.victim === "gateway") await scene.killGateway();
    else if (kill.victim === "studio") await scene.killStudio();
    else scene.killEngine(killed);
  };
  const isAt = (moment: Moment): boolean => kill?.moment === moment;
  await sleep(restMs, undefined, { signal });
  if (isAt("before it")) await killNow();
  const forwardMs = performance.now();
  const id = await operator.apply(plans.cascade.id);
  const during =
    isAt("while the old engine drains") || isAt("while the new engine loads") || isAt("at the switch")
      ? operator.untilAt(id, kill?.moment ?? "before it").then(killNow)
      : Promise.resolve();
  await Promise.all([operator.ended(id), during]);
  if (isAt("after it")) {
    await sleep(2_000, undefined, { signal });
    await killNow();
    await sleep(restMs, undefined, { signal });
    // Only a person starts an engine of a plan in force again, by applying the plan again.
    if (kill?.victim === "engine") {
      operator.note("applied the plan again");
      await operator.ended(await operator.apply(plans.cascade.id));
    }
  }
  const forwardSeconds = (performance.now() - forwardMs) / 1000;
  await sleep(restMs, undefined, { signal });
  const backMs = performance.now();
  await operator.ended(await operator.apply(plans.single.id));
  const backSeconds = (performance.now() - backMs) / 1000;
  await sleep(restMs, undefined, { signal });
  return { forwardSeconds, backSeconds, acts: operator.acts, halts: operator.halts, killed };
}

/** Applies plans, and continues applications that halted. */
export class Operator {
  readonly acts: string[] = [];
  readonly halts: string[] = [];
  readonly #scene: Scene;
  readonly #signal: AbortSignal;

  constructor(scene: Scene, signal: AbortSignal) {
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
      await this.#pause();
    }
  }

  /** Resolves when an application is done; continues it where it halted. */
  async ended(id: string): Promise<void> {
    for (;;) {
      const application = this.#of(id);
      if (application?.state === "paused" && application.halt !== null) {
        this.halts.push(application.halt.sentence);
        this.note("resumed the halted roll-out");
        this.#scene.order({ resume: id });
        while (this.#of(id)?.state === "paused") await this.#pause();
      }
      if (application?.endedAt != null) {
        if (application.state !== "done") throw new Error(`It ended ${application.state}: ${application.error}`);
        return;
      }
      await this.#pause();
    }
  }

  /** Resolves at a moment of a running application, or when it has passed. */
  async untilAt(id: string, moment: Moment): Promise<void> {
    const kind: StepAction["kind"] =
      moment === "at the switch" ? "switch-policy" : moment === "while the new engine loads" ? "verify" : "drain";
    for (;;) {
      const application = this.#of(id);
      const step = application?.steps.find((one) => one.kind === kind && (kind !== "switch-policy" || one.id === switchStep(application)));
      if (step !== undefined && step.state !== "waiting") break;
      if (application?.endedAt != null) break;
      await this.#pause();
    }
    if (kind === "verify") await sleep(intoLoadMs, undefined, { signal: this.#signal });
  }

  #of(id: string): StoredApplication | null {
    const { latest } = this.#scene;
    return latest?.id === id ? latest : null;
  }

  #pause(): Promise<void> {
    return sleep(everyMs, undefined, { signal: this.#signal });
  }
}

/** The step that puts the new plan's policy into force. */
const switchStep = ({ steps, planId }: StoredApplication): string | undefined =>
  steps.find(({ action }) => action.kind === "switch-policy" && action.routing.planId === planId)?.id;
