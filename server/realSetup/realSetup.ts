import type { AddonKeeper } from "@/server/addons/addonKeeper";
import { profileInUse, profileOf } from "@/server/calibration/profileInUse";
import type { Outcome, RealSetup, RealSetupOrder, RealSetupStep, RealSetupStepName } from "@/server/contracts/studio";
import { realSetupSteps } from "@/server/contracts/studio/realSetup";
import type { Fleet } from "@/server/fleet/fleet";
import { reasonOf } from "@/server/lib/reasonOf";
import type { RealSetupRecord } from "@/server/store/documents/realSetupRecord";
import type { Store } from "@/server/store/store";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import { engineAddon, realClusterName } from "./realNames";
import { SetupFailure, type SetupStep, StoppedByPerson } from "./setupStep";

/** Shortest time between two notices to readers of the state. */
const TELL_MS = 250;

export interface RealSetupParts {
  readonly store: Pick<Store, "applications" | "audit" | "calibrations" | "clusters" | "realSetup">;
  readonly fleet: Pick<Fleet, "get">;
  readonly addons: Pick<AddonKeeper, "list">;
  readonly steps: Readonly<Record<RealSetupStepName, SetupStep>>;
  /** Why this computer cannot run the engines, whatever is installed; null: it can. */
  readonly obstacle: () => string | null;
  readonly detach: (clusterId: string, name: string, actor: string) => Promise<Outcome<object>>;
  /** Uses an engine profile for plans. */
  readonly putInUse: (id: string, actor: string) => Outcome<object>;
}

/**
 * Puts real models on this computer beside the emulated GPUs: installs the engine, writes the models' files, attaches a cluster, starts the
 * engines, and measures quality and speed. What follows, planning and applying, is the operator's. A set-up that runs when the studio ends
 * continues when it starts again.
 */
export function createRealSetup({ store, fleet, addons, steps, detach, putInUse, obstacle }: RealSetupParts) {
  const note = store.audit.noting("cluster");
  const listeners = new Set<() => void>();
  let progress: number | null = null;
  let run: { readonly ending: AbortController; readonly done: Promise<void> } | null = null;

  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  const save = (record: RealSetupRecord): void => {
    store.realSetup.save(record);
    tell();
  };
  const present = (): RealSetupRecord => {
    const record = store.realSetup.get();
    if (record === null) throw new Error("The set-up was removed while it ran.");
    return record;
  };
  const setStep = (name: RealSetupStepName, step: NonNullable<RealSetupRecord["steps"][RealSetupStepName]>): void => {
    const record = present();
    save({ ...record, steps: { ...record.steps, [name]: step } });
  };
  const now = (): string => new Date().toISOString();

  async function runStep(name: RealSetupStepName, actor: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const startedAt = now();
    let says = "";
    progress = null;
    setStep(name, { state: "running", says, startedAt, endedAt: null });
    const ended = (state: "done" | "failed" | "stopped", text: string): void =>
      setStep(name, { state, says: text, startedAt, endedAt: now() });
    try {
      const result = await steps[name]({
        ...{ signal, actor, record: present },
        keep: (made) => save({ ...present(), ...made }),
        say(text, share = null) {
          [says, progress] = [text, share];
          tell();
          shown = { name, says };
        },
      });
      ended("done", result);
    } catch (problem) {
      if (signal.aborted) {
        if (signal.reason instanceof StoppedByPerson) ended("stopped", says);
      } else ended("failed", sentenceOf(problem));
      throw problem;
    }
  }
  /** What the running step says, which changes too often for the disk. */
  let shown: { readonly name: RealSetupStepName; readonly says: string } | null = null;

  async function runSteps(actor: string, signal: AbortSignal): Promise<void> {
    try {
      for (const name of realSetupSteps) await runStep(name, actor, signal);
      save({ ...present(), state: "ready", message: null });
      note(actor, "set up real models", { subject: realClusterName, objectId: present().clusterId ?? "" }, "engines run, measured");
    } catch (problem) {
      if (signal.aborted && !(signal.reason instanceof StoppedByPerson)) return;
      if (signal.aborted) save({ ...present(), state: "stopped", message: null });
      else save({ ...present(), state: "failed", message: sentenceOf(problem) });
    }
  }

  function begin(actor: string): void {
    const ending = new AbortController();
    shown = null;
    const done = runSteps(actor, ending.signal)
      .catch((problem: unknown) => void process.stderr.write(`The set-up of real models ended: ${reasonOf(problem)}\n`))
      .finally(() => {
        if (run?.ending === ending) run = null;
        tell();
      });
    run = { ending, done };
  }

  /** The profile that plans used before the set-up's own; null: they use another than its own, or it is gone. */
  function replacedProfile({ replaced }: Pick<RealSetupRecord, "replaced">): EngineProfile | null {
    return replaced === undefined || profileInUse(store).id !== replaced.by ? null : profileOf(store, replaced.id);
  }

  function status(): RealSetup {
    const record = store.realSetup.get();
    const engine = addons.list().find(({ name }) => name === engineAddon);
    const row = record?.clusterId == null ? null : store.clusters.get(record.clusterId);
    const isDetached = record?.state === "ready" && row?.connection == null;
    const inUse = profileInUse(store);
    const shape = {
      replaces: inUse.id === record?.replaced?.by ? null : inUse.name,
      restores: record === null ? null : (replacedProfile(record)?.name ?? null),
      engineBytes: engine?.bytes ?? 0,
      clusterId: row?.connection == null ? null : row.id,
      workloadId: record?.workloadId ?? null,
      suggested: record?.suggested ?? null,
    };
    if (record === null) {
      const refusal = obstacle() ?? (engine?.state.kind === "unsupported" ? engine.state.message : null);
      return { ...shape, state: refusal === null ? "absent" : "unsupported", message: refusal, steps: realSetupSteps.map(waiting) };
    }
    return {
      ...shape,
      state: isDetached ? "stopped" : record.state,
      message: isDetached ? "Its cluster was detached. Start again to attach it; what was measured is kept." : record.message,
      steps: realSetupSteps.map((name) => stepOf(name, record)),
    };
  }

  function stepOf(name: RealSetupStepName, { steps: kept, state }: RealSetupRecord): RealSetupStep {
    const step = kept[name];
    if (step === undefined) return waiting(name);
    const { startedAt, endedAt } = step;
    const isRunning = step.state === "running" && state === "running";
    const seconds = Math.max(0, ((endedAt === null ? Date.now() : Date.parse(endedAt)) - Date.parse(startedAt)) / 1000);
    const says = isRunning && shown?.name === name ? shown.says : step.says;
    return { name, state: step.state, says, progress: isRunning ? progress : null, seconds };
  }

  async function stopEngines(clusterId: string): Promise<Outcome<object>> {
    const cluster = fleet.get(clusterId);
    if (cluster === null)
      return {
        ok: false,
        message: "The studio is not connected to the cluster, and cannot end its engines: detach it under Clusters first.",
      };
    if (store.applications.open().some((one) => one.clusterId === clusterId))
      return { ok: false, message: "A plan is being applied there: wait until it ends, or abort it." };
    const found = await cluster.host.observe({});
    if (!found.ok) return { ok: false, message: `Its engines cannot be seen, so nothing was removed. ${found.message}` };
    const options = { signal: AbortSignal.timeout(STOP_LIMIT_MS), report: () => undefined };
    for (const { id } of found.value.engines) {
      const stopped = await cluster.host.stop(id, options);
      if (!stopped.ok) return { ok: false, message: stopped.message };
    }
    return { ok: true };
  }

  const interrupted = store.realSetup.get();
  if (interrupted?.state === "running") begin(interrupted.actor);

  return {
    status,
    /** The state now, and again whenever it changes, until the signal fires. */
    async *follow(signal: AbortSignal): AsyncGenerator<RealSetup> {
      let wake = (): void => undefined;
      const listener = (): void => wake();
      listeners.add(listener);
      signal.addEventListener("abort", listener);
      try {
        while (!signal.aborted) {
          const changed = new Promise<void>((resolve) => {
            wake = resolve;
          });
          yield status();
          await changed;
          await new Promise((resolve) => setTimeout(resolve, TELL_MS));
        }
      } finally {
        listeners.delete(listener);
        signal.removeEventListener("abort", listener);
      }
    },
    /** Begins the set-up, or continues one that was stopped or failed. */
    start(order: RealSetupOrder, actor: string): Outcome<object> {
      const { state, message } = status();
      if (state === "running") return { ok: false, message: "The set-up runs already." };
      if (state === "ready") return { ok: false, message: "Real models are set up already. Remove them before you set them up again." };
      if (state === "unsupported") return { ok: false, message: message ?? "There is no engine for this computer." };
      const before = store.realSetup.get();
      save({ ...(before ?? nothing), order, actor, state: "running", message: null, steps: {} });
      note(actor, "start set-up of real models", realClusterName, before === null ? "" : "continues from what was made before");
      begin(actor);
      return { ok: true };
    },
    /** Stops it where it is; started again it continues from there. */
    async stop(actor: string): Promise<Outcome<object>> {
      if (run === null) return { ok: false, message: "The set-up does not run." };
      const { ending, done } = run;
      note(actor, "stop set-up of real models", realClusterName);
      ending.abort(new StoppedByPerson());
      await done;
      return { ok: true };
    },
    /**
     * Ends the engines, and detaches the cluster, which ends its judge. Where plans still use the set-up's engine profile, they use the one
     * from before it again. The engine's files, profiles, workloads, plans and history stay. What cannot be ended stays attached.
     */
    async remove(actor: string): Promise<Outcome<object>> {
      if (run !== null) return { ok: false, message: "The set-up runs: stop it first." };
      const record = store.realSetup.get();
      if (record === null) return { ok: false, message: "Nothing is set up." };
      const row = record.clusterId === null ? null : store.clusters.get(record.clusterId);
      if (row !== null && row.connection !== null) {
        const stopped = await stopEngines(row.id);
        if (!stopped.ok) return stopped;
        const detached = await detach(row.id, row.spec.name, actor);
        if (!detached.ok) return detached;
      }
      const before = replacedProfile(record);
      const restored = before === null ? { ok: true as const } : putInUse(before.id, actor);
      if (!restored.ok) return restored;
      store.realSetup.remove();
      note(actor, "remove real models", realClusterName);
      tell();
      return { ok: true };
    },
    /** Stops working; a set-up that runs continues at the next start of the studio. */
    async close(): Promise<void> {
      run?.ending.abort(new Error("The studio ends."));
      await run?.done;
    },
  };
}

const STOP_LIMIT_MS = 90_000;

const nothing = {
  ...{ clusterId: null, workloadId: null, suggested: null, promptSetId: null, profileId: null, speedId: null },
} satisfies Partial<RealSetupRecord>;

const waiting = (name: RealSetupStepName): RealSetupStep => ({ name, state: "waiting", says: "", progress: null, seconds: null });

/** A failure has its sentence; of anything else what the system says. */
const sentenceOf = (problem: unknown): string =>
  problem instanceof SetupFailure
    ? problem.message
    : `The step failed: ${reasonOf(problem).replace(/\.$/, "")}. Start again; the studio's log may say more.`;
