import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { calibrate } from "@/server/calibration/calibrate";
import { profileInUse } from "@/server/calibration/profileInUse";
import type { CardStore } from "@/server/cards/cardStore";
import { secretOrigins } from "@/server/contracts/engine/secretOrigins";
import type { MadeProfile, Measuring, MeasuringAnnouncement, MeasuringOrder, MeasuringWatch, Outcome } from "@/server/contracts/studio";
import { addressOf } from "@/server/engineClient/address";
import { keyAt } from "@/server/fleet/connection";
import type { Fleet } from "@/server/fleet/fleet";
import { reasonOf } from "@/server/lib/reasonOf";
import { type InspectedEngine, inspectEngine } from "@/server/measuring/inspectEngine";
import { type MeasuredCards, measuredCards } from "@/server/measuring/measuredCards";
import {
  announce,
  type Measured,
  type MeasureEvent,
  type MeasureRequest,
  measureEngine,
  unknownLoad,
  usualConcurrency,
} from "@/server/measuring/measureEngine";
import type { Store } from "@/server/store/store";
import type { FitMeasured, FitMeasuredOptions } from "@/solver/calibration/fitMeasured";
import type { MeasuredRun } from "@/solver/calibration/measuredRun";
import { freeProfileName, isMeasured } from "@/solver/hardware/engineProfile";
import { joinMeasured, type MeasuredProfile, measuredProfile, withCards } from "@/solver/hardware/measuredProfile";
import type { Actor } from "../base/actor";
import { connectedEngine } from "./connectedEngine";
import { planInForce } from "./planInForce";

interface MeasuringParts {
  readonly store: Store;
  readonly cards: CardStore;
  readonly fleet: Pick<Fleet, "list">;
  /** Keeps a profile in the store. */
  readonly keep: (profile: MeasuredProfile, actor: Actor) => Outcome<{ readonly id: string }>;
}

/** Everything about a measurement that is known before any load. */
interface Prepared {
  readonly target: MeasureRequest["target"];
  readonly inspected: InspectedEngine;
  readonly filed: MeasuredCards;
  readonly announced: MeasuringAnnouncement;
}

type Points = Measuring["points"];

/** How often `wait` reports progress. */
const TELL_MS = 500;

/**
 * `Measure this engine`: one measurement at a time, in memory; it continues when the page is left. Its profile joins the measured engines of
 * the profile in use, so that plans choose among all of them.
 */
export function createMeasuringService({ store, cards, fleet, keep }: MeasuringParts) {
  let current: { measuring: Measuring; readonly stop: AbortController } | null = null;
  const note = store.audit.noting("calibration");

  const isUnderWay = (): boolean => current?.measuring.state.kind === "running";
  const update = (change: Partial<Measuring>): void => {
    if (current !== null) current.measuring = { ...current.measuring, ...change };
  };

  /** A key that is used for the first time is entered for the engine's address: to order a measurement there is an operator's act. */
  async function prepare(order: MeasuringOrder, actor: Actor): Promise<Outcome<Prepared>> {
    const address = addressOf(order.url);
    if (!address.ok) return { ok: false, message: `This address cannot be asked: ${address.fault}.` };
    const target = { url: address.url, ...(order.key === undefined ? {} : { key: order.key }) };
    for (const { key, origin } of secretOrigins.enter(keyAt(order.key, address.url)))
      store.audit.note(actor, "enter key", secretOrigins.nameOf(key), `for ${origin}`);
    const found = await inspectEngine(target, order.model ?? undefined);
    if (found.kind === "refused") return { ok: false, message: found.message };
    const { inspected } = found;
    const { servingOthers } = order;
    const refusal = unknownLoad({ target, inspected, servingOthers }) ?? (servingOthers ? null : planInForce(address.url, fleet.list()));
    if (refusal !== null) return { ok: false, message: refusal };
    const { engine, version, served } = inspected;
    const attached = connectedEngine({ url: address.url, served }, fleet.list());
    // Plans know an attached engine's model by the card that it was attached with, whatever the engine calls it.
    const named = { ...inspected, served: attached?.model ?? served };
    const filed = await measuredCards(named, { url: address.url, gpu: order.gpu ?? undefined }, cards.read());
    if (!filed.ok) return filed;
    const budget = { seconds: 60 * order.minutes, tokens: order.tokens };
    const load = announce({ inspected, budget, mostConcurrency: order.concurrency ?? usualConcurrency(inspected) });
    const shapes = {
      shape: { tp: order.tp, pp: order.pp },
      attachedShape: attached === null ? null : { tp: attached.tp, pp: attached.pp },
    };
    const announced = { engine, version, served, model: filed.model, gpu: filed.gpu, ...shapes, ...budget, ...limitsOf(load) };
    return { ok: true, target, inspected, filed, announced };
  }

  /** What an event of the measurement changes in its state. */
  function changeOf(event: MeasureEvent): Partial<Measuring> {
    switch (event.kind) {
      case "warming-up":
        return { doing: "Warming up" };
      case "running":
        return {
          doing: `Run ${event.runs + 1}: ${event.next.inputTokens} tokens in, ${event.next.outputTokens} out, ${event.next.concurrency} in flight`,
          left: event.left,
        };
      case "ran":
        return { points: [...(current?.measuring.points ?? []), { run: event.run, errors: null }], left: event.left };
      case "left-out":
        return { doing: `A run was left out: ${event.message}` };
      case "fitting":
        return { doing: `Fitting ${event.runs} runs` };
    }
  }

  /** Keeps the profile of a measurement; the change of state that this is. */
  function finish(measured: Measured, { filed, inspected }: Prepared, actor: Actor): Partial<Measuring> {
    const refused = (message: string): Partial<Measuring> => ({ state: { kind: "refused", message } });
    if (measured.kind === "refused") return refused(measured.message);
    const { engine } = measured.fit;
    const name = freeProfileName(
      `${engine.model} on ${engine.gpu}, measured ${engine.measuredOn.asOf}`,
      store.calibrations.list().map(({ profile }) => profile),
    );
    const own = measuredProfile({ id: randomUUID(), name, engine: inspected.engine, cards: filed.cards }, [engine]);
    const used = profileInUse(store);
    const profile = isMeasured(used) ? joinMeasured([used, own]) : own;
    const added = cards.change((known) => withCards(known, filed.cards));
    if (!added.ok) return refused(added.message);
    const kept = keep(profile, actor);
    if (!kept.ok) return refused(kept.message);
    const { points, errorsOf } = pointsOf(measured.fit);
    return { state: { kind: "measured", profile, stopped: measured.stopped, errorsOf }, points, doing: "Measured" };
  }

  async function run(prepared: Prepared, order: MeasuringOrder, { stop, actor }: { stop: AbortController; actor: Actor }): Promise<void> {
    const { target, inspected, filed, announced } = prepared;
    const { model, gpu } = filed;
    const { shape } = announced;
    try {
      const measured = await measureEngine(
        {
          ...{ target, inspected, model, gpu, shape, servingOthers: order.servingOthers },
          budget: { seconds: announced.seconds, tokens: announced.tokens },
          mostConcurrency: announced.mostConcurrency,
        },
        { signal: stop.signal, onEvent: (event) => update(changeOf(event)), fit: fitInThread },
      );
      update(finish(measured, prepared, actor));
    } catch (problem) {
      update({ state: { kind: "refused", message: `The measurement failed: ${reasonOf(problem)}.` } });
    }
  }

  /** Ends the load; what was measured is fitted. */
  function stop(): Outcome<object> {
    if (current === null || !isUnderWay()) return { ok: false, message: "No measurement is under way." };
    current.stop.abort();
    return { ok: true };
  }

  return {
    /** The load that a measurement would send; nothing is sent yet but questions about the engine. */
    async announce(order: MeasuringOrder, actor: Actor): Promise<Outcome<{ readonly announced: MeasuringAnnouncement }>> {
      const prepared = await prepare(order, actor);
      return prepared.ok ? { ok: true, announced: prepared.announced } : prepared;
    },
    /** Begins the load. Refused while another measurement is under way. */
    async start(order: MeasuringOrder, actor: Actor): Promise<Outcome<object>> {
      if (isUnderWay()) return { ok: false, message: "A measurement is under way: wait for it, or stop it." };
      const prepared = await prepare(order, actor);
      if (!prepared.ok) return prepared;
      if (isUnderWay()) return { ok: false, message: "A measurement is under way: wait for it, or stop it." };
      const ending = new AbortController();
      const { announced } = prepared;
      const left = { seconds: announced.seconds, tokens: announced.tokens };
      const startedAt = new Date().toISOString();
      current = {
        stop: ending,
        measuring: { order, announced, startedAt, left, doing: "Looking for load of others", points: [], state: { kind: "running" } },
      };
      note(
        actor,
        "measure engine",
        { subject: announced.served, objectId: announced.model },
        `at most ${announced.tokens} tokens in ${order.minutes} minutes`,
      );
      void run(prepared, order, { stop: ending, actor });
      return { ok: true };
    },
    /** The measurement under way, or the last one of this run of the studio; null before any. */
    state: (): Measuring | null => current?.measuring ?? null,
    /**
     * Waits for the measurement under way.
     *
     * @returns the profile that it made and its runs; or why there is none.
     * @throws the signal's reason if it aborts, which ends the load.
     */
    async wait({ signal, onState }: MeasuringWatch): Promise<Outcome<MadeProfile>> {
      for (;;) {
        if (current === null) return { ok: false, message: "No measurement is under way." };
        const { state, points } = current.measuring;
        if (state.kind === "refused") return { ok: false, message: state.message };
        if (state.kind === "measured") return { ok: true, profileId: state.profile.id, points };
        onState(current.measuring);
        await sleep(TELL_MS, undefined, { signal }).catch((stopped: unknown) => {
          stop();
          throw stopped;
        });
      }
    },
    stop,
  };
}

const limitsOf = ({ mostConcurrency, contextTokens, showsOthers }: ReturnType<typeof announce>) => ({
  ...{ mostConcurrency, contextTokens, showsOthers },
});

/** Fits in the thread of calibrations, so that the studio keeps answering. */
async function fitInThread(runs: readonly MeasuredRun[], options: FitMeasuredOptions): Promise<FitMeasured> {
  for await (const reply of calibrate({ kind: "measured", runs, options }, new AbortController().signal)) {
    if (reply.kind === "measured") return reply.answer;
  }
  throw new Error("its thread ended without a fit");
}

/** The runs with their errors: of fits that had not seen them, or of the fit to all where none was kept aside. */
export function pointsOf({ keptAside, trained }: Pick<Extract<FitMeasured, { outcome: "fitted" }>, "keptAside" | "trained">) {
  const errorsOf = keptAside.length > 0 ? ("kept-aside" as const) : ("fit" as const);
  const points: Points = (errorsOf === "fit" ? trained : keptAside).map(({ run, errors, p95 }) => ({ run, errors: { ...errors, p95 } }));
  return { points, errorsOf };
}
