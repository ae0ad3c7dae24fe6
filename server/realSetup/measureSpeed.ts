import { randomUUID } from "node:crypto";
import type { CardStore } from "@/server/cards/cardStore";
import type { Outcome } from "@/server/contracts/studio";
import type { Fleet } from "@/server/fleet/fleet";
import { measureEngine } from "@/server/measuring/measureEngine";
import type { Store } from "@/server/store/store";
import type { MeasuredRun } from "@/solver/calibration/measuredRun";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { MeasuredEngine } from "@/solver/hardware/measuredEngine";
import { measuredProfile } from "@/solver/hardware/measuredProfile";
import { freeName, realModelNames } from "./realNames";
import { must, SetupFailure, type SetupStep, type StepContext } from "./setupStep";
import { clusterOf } from "./startEngines";

/** For each engine: enough for a fit, and short enough to wait for. */
const BUDGET = { minutes: 0.6, tokens: 200_000 } as const;

/** A first plan is for this share of what one engine of the large model answers: judge, gateway and client use the same cores. */
const FIRST_SHARE = 0.25;
const FIRST_FLOOR = 80;

export interface SpeedParts {
  readonly fleet: Pick<Fleet, "get">;
  readonly cards: CardStore;
  readonly store: Pick<Store, "calibrations">;
  readonly calibrations: {
    importProfile(profile: EngineProfile, actor: string): Outcome<{ readonly id: string }>;
    use(id: string, actor: string): Outcome<object>;
  };
}

/** Measures both engines one after the other while nothing else is sent to them, and plans with the measured speeds from now on. */
export const measureSpeed =
  (parts: SpeedParts): SetupStep =>
  async (context) => {
    const { calibrations, store } = parts;
    const { actor, record, keep } = context;
    const { speedId } = record();
    if (speedId !== null && store.calibrations.list().some(({ profile }) => profile.id === speedId)) {
      must(calibrations.use(speedId, actor));
      return "The engines were measured before; plans use it.";
    }
    const engines: MeasuredEngine[] = [];
    let runs: readonly MeasuredRun[] = [];
    for (const model of realModelNames) {
      const measured = await measuredModel(model, parts, context);
      engines.push(measured.engine);
      // The large model is last.
      runs = measured.runs;
    }
    const name = freeName("Real models on this computer", new Set(store.calibrations.list().map(({ profile }) => profile.name)));
    const { id } = must(calibrations.importProfile(measuredProfile({ id: randomUUID(), name, engine: "llama.cpp" }, engines), actor));
    keep({ speedId: id, suggested: { requestsPerSecond: firstRate(runs), qualityFloor: FIRST_FLOOR } });
    must(calibrations.use(id, actor));
    return `Both engines were measured in ${engines.reduce((sum, { measuredOn }) => sum + measuredOn.runs, 0)} runs; plans use it.`;
  };

async function measuredModel(model: string, { fleet, cards }: SpeedParts, { signal, record, say }: StepContext) {
  const cluster = clusterOf(fleet, record().clusterId ?? "");
  const found = await cluster.connector.observe(signal);
  if (!found.ok) throw new SetupFailure(found.message);
  const { engines, routing } = found.value;
  if (routing.active.length > 0)
    throw new SetupFailure("A plan is in force, and measuring would take its engines: roll it back or detach the cluster, then start again.");
  const engine = engines.find((one) => one.model === model && !one.stopping);
  if (engine === undefined) throw new SetupFailure(`The engine of ${model} ended: start again to start it.`);
  say(`Measuring ${model}`);
  const measured = await measureEngine(
    { url: engine.url, model, budget: BUDGET, gpu: engine.gpu, cards: cards.read().catalogue, servingOthers: false },
    { signal, onEvent: (event) => event.kind === "progress" && say(`Measuring ${model}: ${event.says}`, event.share) },
  );
  if (measured.kind === "refused") throw new SetupFailure(measured.message);
  return measured;
}

/** Requests per second of a first plan, of two digits. */
function firstRate(runs: readonly MeasuredRun[]): number {
  const most = Math.max(...runs.map(({ requests, seconds }) => requests / seconds));
  return Math.max(0.5, Number((FIRST_SHARE * most).toPrecision(2)));
}
