import { z } from "zod";
import { type EmulatedCluster, type EmulatedOutcomes, emulatedClusterSchema } from "@/server/contracts/engine/emulatorAdmin";
import type { AdminClient } from "./adminClient";
import type { Answer, ObservedEngine } from "./connector";
import type { EngineHost, LookOptions } from "./engineHost";
import { type Look, waitUntil } from "./waitUntil";

/** An engine without requests ends at once; after a minute it counts as hung. */
const stopLimitMs = 60_000;

export interface EmulatorHostOptions {
  readonly emulator: AdminClient;
  /** The held-out prompts of a workload, in the emulator's format; null if the workload no longer exists. */
  readonly heldOutOutcomes: (workloadId: string) => EmulatedOutcomes | null;
}

/** The emulator: engines that follow a model of real ones, called over HTTP like real ones. */
export function createEmulatorHost({ emulator, heldOutOutcomes }: EmulatorHostOptions): EngineHost {
  async function readCluster({ signal, limitMs }: LookOptions): Promise<Answer<EmulatedCluster>> {
    const reply = await emulator("/cluster", { schema: emulatedClusterSchema, signal, limitMs });
    if (!reply.ok) return reply;
    return reply.value.value === null
      ? { ok: false, message: "The emulator answered with nothing." }
      : { ok: true, value: reply.value.value };
  }

  return {
    async observe(options) {
      const cluster = await readCluster(options);
      if (!cluster.ok) return cluster;
      const { gpu, nodes, engines, outcomes, timeScale, noise, dcgmUrl, judge } = cluster.value;
      const rest = { outcomes: outcomes?.name ?? null, timeScale, deviates: noise.enabled, dcgmUrls: [dcgmUrl], judge };
      return { ok: true, value: { gpu, nodes, engines: engines.map(observed), ...rest } };
    },
    async loadOutcomes(workloadId, { signal }) {
      const outcomes = heldOutOutcomes(workloadId);
      if (outcomes === null)
        return { ok: false, message: "The plan's workload was removed: the emulated engines have no prompts to replay." };
      const put = await emulator("/outcomes", { method: "PUT", body: outcomes, schema: z.unknown(), signal });
      return put.ok ? { ok: true, value: `${outcomes.promptIds.length} held-out prompts` } : put;
    },
    async start(engine, { signal }) {
      const cluster = await readCluster({ signal });
      if (!cluster.ok) return cluster;
      if (cluster.value.engines.some((one) => one.id === engine.id && one.state !== "stopping"))
        return { ok: true, value: "was up already" };
      const posted = await emulator("/engines", { method: "POST", body: engine, schema: z.unknown(), signal });
      return posted.ok ? { ok: true, value: "loading" } : posted;
    },
    async stop(engineId, options) {
      const { signal } = options;
      const path = `/engines/${encodeURIComponent(engineId)}`;
      const gone = await emulator(path, { method: "DELETE", schema: z.unknown(), signal, alsoFine: [404] });
      if (!gone.ok) return gone;
      return waitUntil(
        async (): Promise<Look> => {
          const cluster = await readCluster({ signal });
          if (!cluster.ok) return { waiting: cluster.message };
          return cluster.value.engines.some((one) => one.id === engineId) ? { waiting: "it is ending" } : { holds: "its GPUs are free" };
        },
        { ...options, limitMs: stopLimitMs },
      );
    },
  };
}

const observed = ({ id, model, gpu, tp, pp, placements, url, state }: EmulatedCluster["engines"][number]): ObservedEngine => ({
  id,
  model,
  gpu,
  tp,
  pp,
  placements,
  url,
  stopping: state === "stopping",
});
