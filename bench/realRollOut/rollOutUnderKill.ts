import { setTimeout as sleep } from "node:timers/promises";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import { isAt, type Kill, killAfterSeconds, type Moment, type RollOutPoint } from "./moments";
import { Operator } from "./operator";
import { realModels } from "./realEngines";
import { plans, type Scene } from "./scene";

/** How a roll-out there and back went. */
export interface RollOutEnd {
  readonly forwardSeconds: number;
  readonly backSeconds: number;
  /** From the start of the new engine to its first healthy answer; null: a kill was planned, which may disturb it. */
  readonly loadSeconds: number | null;
  /** What an operator did beyond the two orders to apply, each in words. */
  readonly acts: readonly string[];
  /** Why applications halted, in the words that an operator reads. */
  readonly halts: readonly string[];
}

/** What became of a planned kill. */
export interface DueKill {
  /** The killed process; null: none was. */
  readonly killed: string | null;
  /** Where the roll-out was when the kill was sent or, where its moment was missed, when it was due. */
  readonly point: RollOutPoint;
  /** The moment had passed or never came: nothing was killed. */
  readonly missed: boolean;
}

export interface KilledRollOut {
  /** null: none. */
  readonly kill: Kill | null;
  /** Of the engine that the cascade adds, without kills; null: not measured. */
  readonly loadSeconds: number | null;
  readonly signal: AbortSignal;
  /** Called when the kill is due. */
  readonly onKill: (due: DueKill) => void;
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

/** Traffic before, between and after the roll-outs. */
const restMs = 5_000;

/** A person orders no sooner after a death. */
const orderAfterMs = 2_000;

/** From the single model to the cascade, with a kill at a moment, and back without one. Rejects when aborted. */
export async function rollOutUnderKill(scene: Scene, { kill, loadSeconds, signal, onKill }: KilledRollOut): Promise<RollOutEnd> {
  const operator = new Operator(scene, signal);
  const killAt = async (moment: Moment, id: string | null): Promise<void> => {
    if (kill?.moment !== moment) return;
    if (id !== null) await untilAt(operator, moment, id, loadSeconds);
    const point = await operator.point(id, moment === "while the new engine loads" ? newSmall : null);
    const missed = !isAt(moment, point);
    const killed = kill.victim === "engine" ? engineAt[moment] : kill.victim;
    onKill({ killed: missed ? null : killed, point, missed });
    if (missed) return;
    if (kill.victim === "gateway") await scene.killGateway();
    else if (kill.victim === "studio") await scene.killStudio();
    else scene.killEngine(killed);
  };
  await sleep(restMs, undefined, { signal });
  await killAt("before it", null);
  if (kill?.moment === "before it") await sleep(orderAfterMs, undefined, { signal });
  const forwardMs = performance.now();
  const id = await operator.apply(plans.cascade.id);
  const [measuredLoadSeconds] = await Promise.all([
    kill === null ? operator.loadSeconds(id, newSmall) : null,
    operator.ended(id),
    killAt("while the old engine drains", id),
    killAt("while the new engine loads", id),
    killAt("at the switch", id),
  ]);
  if (kill?.moment === "after it") {
    await sleep(2_000, undefined, { signal });
    await killAt("after it", id);
    await sleep(restMs, undefined, { signal });
    // Only a person starts an engine of a plan in force again, by applying the plan again.
    if (kill.victim === "engine") {
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
  return { forwardSeconds, backSeconds, loadSeconds: measuredLoadSeconds, acts: operator.acts, halts: operator.halts };
}

/** Resolves at a moment of a running application, or when it has passed. */
function untilAt(operator: Operator, moment: Moment, id: string, loadSeconds: number | null): Promise<void> {
  switch (moment) {
    case "while the old engine drains":
      return operator.untilStep(id, "drain");
    case "while the new engine loads":
      return operator.untilLoading(id, newSmall, killAfterSeconds(loadSeconds));
    case "at the switch":
      return operator.untilStep(id, "switch-policy");
    case "before it":
    case "after it":
      return Promise.resolve();
  }
}
