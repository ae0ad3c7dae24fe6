import type { ClusterReplica } from "../cluster/clusterEngines";
import type { Epoch, Uptime } from "./phasedPolicy";
import { clusterReplicas, gpusOf, type ReplicaChoice, type System } from "./system";

/** A system and the start of its roll-out. */
export interface PlannedFrom {
  readonly fromSeconds: number;
  readonly system: System;
}

export interface Rollout {
  readonly epochs: readonly Epoch[];
  /** The engines of all deployments. */
  readonly replicas: readonly ClusterReplica[];
  readonly uptimes: ReadonlyMap<string, Uptime>;
  /** Number of replicas that were restarted. */
  readonly reconfigured: number;
}

interface Running {
  readonly replica: ClusterReplica;
  readonly kind: string;
  readonly gpus: number;
  readonly fromSeconds: number;
}

/**
 * Rolls out cascades one after another by rolling update (Cascadia, appendix G): replicas that both have stay and serve; the others are
 * replaced one at a time, each down for `reconfigureSeconds`, old ones stopped only as their GPUs are needed. The new
 * thresholds become active once all are up. Not modelled: requests that a stopped replica still finishes, and the nodes on which GPUs
 * become free.
 */
export function rollout(
  plans: readonly PlannedFrom[],
  choice: ReplicaChoice & { readonly gpus: number; readonly reconfigureSeconds: number },
): Rollout {
  const uptimes = new Map<string, Uptime>();
  const replicas: ClusterReplica[] = [];
  const epochs: Epoch[] = [];
  let running: Running[] = [];
  let reconfigured = 0;
  for (const [version, { fromSeconds, system }] of plans.entries()) {
    const wanted = runningOf(system, choice, version);
    const kept: Running[] = [];
    const leaving = [...running];
    const coming = wanted.filter((one) => {
      const same = leaving.findIndex(({ kind }) => kind === one.kind);
      if (same >= 0) kept.push(...leaving.splice(same, 1));
      return same < 0;
    });
    let clock = fromSeconds;
    let free = choice.gpus - running.reduce((sum, { gpus }) => sum + gpus, 0);
    const stop = (one: Running): void => {
      uptimes.set(one.replica.id, { fromSeconds: one.fromSeconds, untilSeconds: clock });
      free += one.gpus;
    };
    const started = coming.map((one) => {
      while (free < one.gpus && leaving.length > 0) stop(leaving.shift() as Running);
      if (version > 0) clock += choice.reconfigureSeconds;
      free -= one.gpus;
      return { ...one, fromSeconds: clock };
    });
    leaving.forEach(stop);
    reconfigured += version > 0 ? started.length : 0;
    for (const one of started) {
      replicas.push(one.replica);
      uptimes.set(one.replica.id, { fromSeconds: one.fromSeconds, untilSeconds: Number.POSITIVE_INFINITY });
    }
    running = [...kept, ...started];
    epochs.push({
      fromSeconds: clock,
      stages: system.stages.map(({ model }) => choice.models.indexOf(model)),
      thresholds: system.routing.thresholds,
    });
  }
  return { epochs, replicas, uptimes, reconfigured };
}

const runningOf = (system: System, choice: ReplicaChoice, version: number): Running[] =>
  system.stages.flatMap((stage) =>
    stage.replicas.flatMap((group) => {
      const one = { ...system, stages: [{ ...stage, replicas: [group] }] };
      return clusterReplicas(one, choice).map((replica) => ({
        replica: { ...replica, id: `${version} ${replica.id}` },
        kind: `${stage.model} ${group.shape.tp}x${group.shape.pp}`,
        gpus: gpusOf(one) / group.count,
        fromSeconds: 0,
      }));
    }),
  );
