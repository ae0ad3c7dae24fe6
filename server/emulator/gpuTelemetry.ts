import { createServer, type Server } from "node:http";
import { fenced, notFound, pathOf, sendError } from "@/server/contracts/http/apiServer";
import type { GpuCard } from "@/solver/hardware/gpus";
import { MEMORY_SHARE } from "@/solver/hardware/memoryFit";
import { mixSeed } from "@/solver/numeric/random";
import type { Engine } from "./emulatedEngine";
import type { ClusterShape } from "./settings";

/** dcgm's profiling counters are averages over a sampling period of this order. */
const SAMPLE_MS = 1000;

const BYTES_PER_MIB = 1024 * 1024;

/** Memory that the driver reserves on a data-centre card, in MiB (608 on an L40S by dcgm-exporter). */
const RESERVED_MIB = 608;

/** Idle power as a share of the board limit, and the limit if the card states none. An L40S idles at 36 of 350 W. */
const IDLE_POWER_SHARE = 0.1;
const UNSTATED_POWER_WATTS = 400;

/** Temperature of an idle card in °C, and the difference to a fully busy one. */
const IDLE_CELSIUS = 32;
const BUSY_CELSIUS = 40;

interface GpuState {
  /** 0..1 over the last sample period. */
  readonly busyShare: number;
  readonly memoryShare: number;
}

const IDLE_GPU: GpuState = { busyShare: 0, memoryShare: 0 };

/** The dcgm-exporter of the whole emulated cluster. */
export interface GpuTelemetry {
  readonly server: Server;
  /** The text of `/metrics`. */
  text(): string;
  stop(): void;
}

/**
 * Emulates dcgm-exporter for every GPU of every node. A GPU's utilisation is the share of time in which its engine had a step in progress;
 * its memory fills while weights load and is then constant, since engines allocate their KV cache in advance.
 */
export function createGpuTelemetry(cluster: ClusterShape, card: GpuCard, engines: () => Iterable<Engine>): GpuTelemetry {
  const before = new WeakMap<Engine, ReturnType<Engine["busy"]>>();
  const busyShares = new WeakMap<Engine, number>();

  const sample = (): void => {
    for (const engine of engines()) {
      const now = engine.busy();
      const last = before.get(engine) ?? { busySeconds: 0, nowSeconds: 0 };
      const passed = now.nowSeconds - last.nowSeconds;
      if (passed > 0) busyShares.set(engine, Math.min(1, (now.busySeconds - last.busySeconds) / passed));
      before.set(engine, now);
    }
  };
  const timer = setInterval(sample, SAMPLE_MS);

  const text = (): string => {
    const states = new Map<string, GpuState>();
    for (const engine of engines()) {
      const state = { busyShare: busyShares.get(engine) ?? 0, memoryShare: MEMORY_SHARE * engine.loadedShare() };
      for (const { node, gpus } of engine.request.placements) for (const gpu of gpus) states.set(`${node}/${gpu}`, state);
    }
    return exposition(cluster, card, (node, gpu) => states.get(`${node}/${gpu}`) ?? IDLE_GPU);
  };

  const onRequest = fenced((request, response) => {
    if (request.method !== "GET" || pathOf(request) !== "/metrics") sendError(response, notFound(request));
    else response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(text());
  });
  const server = createServer(onRequest);
  return { server, text, stop: () => clearInterval(timer) };
}

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly value: (state: GpuState, card: GpuCard) => number;
}

const usedMib = ({ memoryShare }: GpuState, { memoryBytes }: GpuCard): number => Math.round((memoryShare * memoryBytes) / BYTES_PER_MIB);

const METRICS: readonly Metric[] = [
  { name: "DCGM_FI_DEV_GPU_UTIL", help: "GPU utilization (in %).", value: ({ busyShare }) => Math.round(100 * busyShare) },
  { name: "DCGM_FI_PROF_GR_ENGINE_ACTIVE", help: "Ratio of time the graphics engine is active.", value: ({ busyShare }) => busyShare },
  { name: "DCGM_FI_DEV_FB_USED", help: "Framebuffer memory used (in MiB).", value: usedMib },
  {
    name: "DCGM_FI_DEV_FB_FREE",
    help: "Framebuffer memory free (in MiB).",
    value: (state, card) => Math.floor(card.memoryBytes / BYTES_PER_MIB) - RESERVED_MIB - usedMib(state, card),
  },
  { name: "DCGM_FI_DEV_FB_RESERVED", help: "Framebuffer memory reserved (in MiB).", value: () => RESERVED_MIB },
  {
    name: "DCGM_FI_DEV_POWER_USAGE",
    help: "Power draw (in W).",
    value: ({ busyShare }, { powerWatts }) =>
      (powerWatts ?? UNSTATED_POWER_WATTS) * (IDLE_POWER_SHARE + (1 - IDLE_POWER_SHARE) * busyShare),
  },
  {
    name: "DCGM_FI_DEV_GPU_TEMP",
    help: "GPU temperature (in C).",
    value: ({ busyShare }) => Math.round(IDLE_CELSIUS + BUSY_CELSIUS * busyShare),
  },
];

function exposition(cluster: ClusterShape, card: GpuCard, stateOf: (node: string, gpu: number) => GpuState): string {
  const lines: string[] = [];
  for (const { name, help, value } of METRICS) {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`);
    for (const node of cluster.nodes) {
      for (let gpu = 0; gpu < node.gpus; gpu++) {
        lines.push(`${name}{${labels(node.name, gpu, card)}} ${value(stateOf(node.name, gpu), card)}`);
      }
    }
  }
  return `${lines.join("\n")}\n`;
}

function labels(node: string, gpu: number, card: GpuCard): string {
  const hex = ["a", "b", "c", "d"].map((part) => mixSeed(node, gpu, part).toString(16).padStart(8, "0")).join("");
  const uuid = `GPU-${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  // The escapes of a JSON string are valid in a label value.
  return `gpu="${gpu}",UUID="${uuid}",device="nvidia${gpu}",modelName=${JSON.stringify(card.name)},Hostname=${JSON.stringify(node)}`;
}
