import type { AddonKeeper } from "@/server/addons/addonKeeper";
import type { Outcome, RealSetup, RealSetupOrder, RealSetupStep, RealSetupStepName } from "@/server/contracts/studio";
import { realSetupSteps } from "@/server/contracts/studio/realSetup";
import type { Fleet } from "@/server/fleet/fleet";
import { reasonOf } from "@/server/lib/reasonOf";
import type { RealSetupRecord } from "@/server/store/documents/realSetupRecord";
import type { Store } from "@/server/store/store";
import { engineAddon, realClusterName } from "./realNames";
import { SetupFailure, type SetupStep, StoppedByPerson } from "./setupStep";

/** Readers of the state are told no more often. */
const TELL_MS = 250;

export interface RealSetupParts {
  readonly store: Pick<Store, "audit" | "clusters" | "realSetup">;
  readonly fleet: Pick<Fleet, "get">;
  readonly addons: Pick<AddonKeeper, "list">;
  readonly steps: Readonly<Record<RealSetupStepName, SetupStep>>;
  readonly detach: (clusterId: string, name: string, actor: string) => Promise<Outcome<object>>;
}

/**
 * Puts real models on this computer beside the emulated GPUs: installs the engine, writes the models' files, attaches a cluster, starts the
 * engines, and measures quality and speed. What follows, planning and applying, is the operator's. A set-up that runs when the studio ends
 * goes on when it starts again.
 */
export function createRealSetup({ store, fleet, addons, steps, detach }: RealSetupParts) {
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

  async function goOn(actor: string, signal: AbortSignal): Promise<void> {
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
    const done = goOn(actor, ending.signal)
      .catch((problem: unknown) => void process.stderr.write(`The set-up of real models ended: ${reasonOf(problem)}\n`))
      .finally(() => {
        if (run?.ending === ending) run = null;
        tell();
      });
    run = { ending, done };
  }

  function status(): RealSetup {
    const record = store.realSetup.get();
    const engine = addons.list().find(({ name }) => name === engineAddon);
    const row = record?.clusterId == null ? null : store.clusters.get(record.clusterId);
    const isDetached = record?.state === "ready" && row?.connection == null;
    const shape = {
      engineBytes: engine?.bytes ?? 0,
      clusterId: row?.connection == null ? null : row.id,
      workloadId: record?.workloadId ?? null,
      suggested: record?.suggested ?? null,
    };
    if (record === null) {
      const refusal = engine?.state.kind === "unsupported" ? engine.state.message : null;
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
          const told = new Promise<void>((resolve) => {
            wake = resolve;
          });
          yield status();
          await told;
          await new Promise((resolve) => setTimeout(resolve, TELL_MS));
        }
      } finally {
        listeners.delete(listener);
        signal.removeEventListener("abort", listener);
      }
    },
    /** Begins the set-up, or goes on with one that was stopped or failed. */
    start(order: RealSetupOrder, actor: string): Outcome<object> {
      const { state, message } = status();
      if (state === "running") return { ok: false, message: "The set-up runs already." };
      if (state === "ready") return { ok: false, message: "Real models are set up already. Remove them to set them up anew." };
      if (state === "unsupported") return { ok: false, message: message ?? "There is no engine for this computer." };
      const before = store.realSetup.get();
      save({ ...(before ?? nothing), order, actor, state: "running", message: null, steps: {} });
      note(actor, "start set-up of real models", realClusterName, before === null ? "" : "goes on with what was made before");
      begin(actor);
      return { ok: true };
    },
    /** Stops it where it is; started again it goes on from there. */
    async stop(actor: string): Promise<Outcome<object>> {
      if (run === null) return { ok: false, message: "The set-up does not run." };
      const { ending, done } = run;
      note(actor, "stop set-up of real models", realClusterName);
      ending.abort(new StoppedByPerson());
      await done;
      return { ok: true };
    },
    /** Detaches the cluster, and ends its engines and its judge. The engine's files, workloads, plans and history stay. */
    async remove(actor: string): Promise<Outcome<object>> {
      if (run !== null) return { ok: false, message: "The set-up runs: stop it first." };
      const record = store.realSetup.get();
      const cluster = record?.clusterId == null ? null : fleet.get(record.clusterId);
      if (record === null) return { ok: false, message: "Nothing is set up." };
      if (cluster !== null) {
        const found = await cluster.host.observe({});
        const detached = await detach(cluster.id, realClusterName, actor);
        if (!detached.ok) return detached;
        const options = { signal: AbortSignal.timeout(STOP_LIMIT_MS), report: () => undefined };
        for (const { id } of found.ok ? found.value.engines : []) {
          const stopped = await cluster.host.stop(id, options);
          if (!stopped.ok) return stopped;
        }
      }
      store.realSetup.remove();
      note(actor, "remove real models", realClusterName);
      tell();
      return { ok: true };
    },
    /** Stops working; a set-up that runs goes on at the next start of the studio. */
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
    : `It could not go on: ${reasonOf(problem).replace(/\.$/, "")}. Start again; the studio's log may say more.`;
