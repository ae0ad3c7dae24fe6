import { setTimeout as sleep } from "node:timers/promises";
import { awaitEngine } from "@/server/clusters/connector/awaitEngine";
import { engineId } from "@/server/clusters/steps/targetEngines";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { JudgeTest, Outcome } from "@/server/contracts/studio";
import type { ConnectedCluster, Fleet } from "@/server/fleet/fleet";
import { realModelNames } from "./realNames";
import { SetupFailure, type SetupStep, type StepContext } from "./setupStep";

/** A small model loads in seconds; a busy computer takes longer. */
const LOAD_LIMIT_MS = 120_000;
const GATEWAY_LIMIT_MS = 60_000;
const JUDGE_LIMIT_MS = 60_000;
const EVERY_MS = 500;

export interface StartParts {
  readonly fleet: Pick<Fleet, "get">;
  readonly attach: { measureJudge(clusterId: string): Promise<Outcome<{ readonly test: JudgeTest }>> };
}

/** Starts an engine of one thread for each model, as a plan would, and waits for them, the gateway and the judge. */
export const startEngines =
  ({ fleet, attach }: StartParts): SetupStep =>
  async (context) => {
    const clusterId = context.record().clusterId ?? "";
    const cluster = clusterOf(fleet, clusterId);
    for (const order of await missingEngines(cluster, context.signal)) {
      context.say(`Starting ${order.model}`);
      const options = { signal: context.signal, report: (detail: string) => context.say(`${order.model}: ${detail}`) };
      const started = await cluster.host.start(order, options);
      if (!started.ok) throw new SetupFailure(started.message);
      const ready = await awaitEngine(cluster.host, order, { ...options, limitMs: LOAD_LIMIT_MS });
      if (!ready.ok) throw new SetupFailure(`${order.model} does not serve. ${ready.message}`);
    }
    await untilSeen(cluster, context);
    await untilJudged(clusterId, attach, context);
    return "Both engines, the gateway and the judge answer.";
  };

/** @throws SetupFailure if the studio does not watch it. */
export function clusterOf(fleet: Pick<Fleet, "get">, clusterId: string): ConnectedCluster {
  const cluster = fleet.get(clusterId);
  if (cluster === null) throw new SetupFailure("The studio is not connected to the cluster: start again to attach it.");
  return cluster;
}

/** An order for each model that no engine serves, on the first free cores, under the name that a plan would give it. */
async function missingEngines({ host }: ConnectedCluster, signal: AbortSignal): Promise<readonly EngineOrder[]> {
  const found = await host.observe({ signal });
  if (!found.ok) throw new SetupFailure(found.message);
  const { engines, nodes, gpu } = found.value;
  const [node] = nodes;
  if (node === undefined) throw new SetupFailure("This computer shows no cores.");
  const taken = new Set([...engines.flatMap(({ placements }) => placements.flatMap(({ gpus }) => gpus)), ...held(node)]);
  const free = Array.from({ length: node.gpus }, (_, core) => core).filter((core) => !taken.has(core));
  const missing = realModelNames.filter((model) => engines.every((engine) => engine.model !== model || engine.stopping));
  return missing.map((model, index) => {
    const core = free[index];
    if (core === undefined)
      throw new SetupFailure(
        `No core is free for ${model}: ${engines.map(({ id }) => id).join(", ")} hold them. Roll back or detach what runs there.`,
      );
    const placements = [{ node: node.name, gpus: [core] }];
    const served = { model, precision: "bf16" } as const;
    const shape = { tp: 1, pp: 1 };
    return { id: engineId(served, shape, placements), ...served, gpu, ...shape, placements };
  });
}

const held = ({ heldGpus = [] }: { readonly heldGpus?: readonly { readonly gpu: number }[] }): readonly number[] =>
  heldGpus.map(({ gpu }) => gpu);

/** Engines are asked where the studio has seen them, which needs the gateway. */
async function untilSeen(cluster: ConnectedCluster, { signal, say }: StepContext): Promise<void> {
  const deadline = performance.now() + GATEWAY_LIMIT_MS;
  for (;;) {
    const { answer } = cluster.seen();
    const isSeen = answer.ok && realModelNames.every((model) => answer.value.engines.some((engine) => engine.model === model));
    if (isSeen) return;
    const why = answer.ok ? "The studio has not seen both engines yet." : answer.message;
    if (performance.now() > deadline) throw new SetupFailure(why);
    say(`Waiting for the gateway. ${why}`);
    await sleep(EVERY_MS, undefined, { signal });
  }
}

async function untilJudged(clusterId: string, attach: StartParts["attach"], { signal, say }: StepContext): Promise<void> {
  const deadline = performance.now() + JUDGE_LIMIT_MS;
  for (;;) {
    say("Testing the judge");
    const tested = await attach.measureJudge(clusterId);
    signal.throwIfAborted();
    if (tested.ok && tested.test.fault === null) return;
    const why = tested.ok ? (tested.test.findings.at(-1)?.sentence ?? "The judge gave no score.") : tested.message;
    if (performance.now() > deadline) throw new SetupFailure(why);
    await sleep(EVERY_MS, undefined, { signal });
  }
}
