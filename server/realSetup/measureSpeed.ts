import { profileInUse } from "@/server/calibration/profileInUse";
import type { MadeProfile, Measuring, MeasuringOrder, MeasuringWatch, Outcome } from "@/server/contracts/studio";
import type { Fleet } from "@/server/fleet/fleet";
import type { Store } from "@/server/store/store";
import { isMeasured } from "@/solver/hardware/engineProfile";
import { covers } from "@/solver/hardware/measuredProfile";
import { realModelNames } from "./realNames";
import { SetupFailure, type SetupStep, type StepContext, unwrap } from "./setupStep";
import { clusterOf } from "./startEngines";

/** Enough for a fit, and short enough to wait for: the large model takes longer for an answer. */
const MINUTES = { "arith-small": 0.5, "arith-large": 0.8 } as const;
/** What a busy computer takes, where that was too short. */
const MORE_MINUTES = 2.5;
const TOKENS = 300_000;

/** A first plan is for this share of what one engine of the large model answers: judge, gateway and client use the same cores. */
const FIRST_SHARE = 0.25;
const FIRST_FLOOR = 80;

export interface SpeedParts {
  readonly fleet: Pick<Fleet, "get">;
  readonly store: Pick<Store, "calibrations">;
  /** `Measure this engine`, whose profile joins the measured engines of the one in use. */
  readonly measuring: {
    start(order: MeasuringOrder, actor: string): Promise<Outcome<object>>;
    wait(watch: MeasuringWatch): Promise<Outcome<MadeProfile>>;
  };
  readonly calibrations: { use(id: string, actor: string): Outcome<object>; remove(id: string, actor: string): Outcome<object> };
}

/**
 * Measures both engines one after the other while nothing else is sent to them, and plans with the measured speeds from now on. It keeps
 * which profile plans used before.
 */
export const measureSpeed =
  (parts: SpeedParts): SetupStep =>
  async (context) => {
    const { calibrations, store } = parts;
    const { actor, record, keep } = context;
    const { speedId } = record();
    const before = store.calibrations.list().find(({ profile }) => profile.id === speedId)?.profile;
    if (before !== undefined) {
      const used = profileInUse(store);
      // Engines that were measured since are in it too.
      const isCovered = isMeasured(used) && isMeasured(before) && covers(used, before);
      if (!isCovered) putInUse(before.id, parts, context);
      return "The engines were measured before; plans use it.";
    }
    let [last, runs] = [null as string | null, 0];
    for (const [index, model] of realModelNames.entries()) {
      const { profileId, points } = await measured(model, index / realModelNames.length, parts, context);
      putInUse(profileId, parts, context);
      // The next profile has its engine too.
      if (last !== null) unwrap(calibrations.remove(last, actor));
      last = profileId;
      runs += points.length;
      if (index === realModelNames.length - 1)
        keep({ speedId: profileId, suggested: { requestsPerSecond: firstRate(points), qualityFloor: FIRST_FLOOR } });
    }
    return `Both engines were measured in ${runs} runs; plans use it.`;
  };

/** Plans use a profile of the set-up from now on. @throws SetupFailure. */
function putInUse(by: string, { store, calibrations }: SpeedParts, { actor, record, keep }: StepContext): void {
  const before = profileInUse(store).id;
  const { replaced } = record();
  // One that the set-up put in use itself is none to go back to.
  if (before !== by) keep({ replaced: { id: before === replaced?.by ? replaced.id : before, by } });
  unwrap(calibrations.use(by, actor));
}

/** @param share of the step that is done before. */
async function measured(model: (typeof realModelNames)[number], share: number, parts: SpeedParts, context: StepContext) {
  let why = "";
  for (const minutes of [MINUTES[model], MORE_MINUTES]) {
    const ended = await measuredWithin(minutes, { model, share }, parts, context);
    if (ended.ok) return ended;
    why = ended.message;
  }
  throw new SetupFailure(`${model} was not measured. ${why} Start again to measure it.`);
}

async function measuredWithin(
  minutes: number,
  { model, share }: { readonly model: string; readonly share: number },
  { fleet, measuring }: SpeedParts,
  context: StepContext,
) {
  const { signal, actor, say } = context;
  const { url, gpu } = await idleEngine(model, fleet, context);
  const load = { minutes, tokens: TOKENS, concurrency: null, servingOthers: false };
  unwrap(await measuring.start({ url, model, gpu, tp: 1, pp: 1, ...load }, actor));
  const onState = ({ doing, left, announced }: Measuring): void => {
    const done = Math.min(1, Math.max(0, 1 - left.seconds / announced.seconds));
    say(`${model}: ${doing}`, share + done / realModelNames.length);
  };
  return measuring.wait({ signal, onState });
}

/** The engine of a model on the cluster, which no plan uses. @throws SetupFailure. */
async function idleEngine(model: string, fleet: Pick<Fleet, "get">, { record, signal }: StepContext) {
  const found = await clusterOf(fleet, record().clusterId ?? "").connector.observe(signal);
  if (!found.ok) throw new SetupFailure(found.message);
  const { engines, routing } = found.value;
  if (routing.active.length > 0)
    throw new SetupFailure(
      "A plan is in force, and measuring would take its engines: roll it back or detach the cluster, then start again.",
    );
  const engine = engines.find((one) => one.model === model && !one.stopping);
  if (engine === undefined) throw new SetupFailure(`The engine of ${model} ended: start again to start it.`);
  return engine;
}

/** Requests per second of a first plan, of two digits. */
function firstRate(points: Measuring["points"]): number {
  const most = Math.max(...points.map(({ run }) => run.requests / run.seconds));
  return Math.max(0.5, Number((FIRST_SHARE * most).toPrecision(2)));
}
