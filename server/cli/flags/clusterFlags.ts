import type { Command } from "commander";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import { MOST_GPUS_PER_NODE, MOST_NODES, noGpuCard, type ReadCluster, readClusterFile } from "./clusterFile";
import { type LimitFlags, readLimits, withLimitFlags } from "./engineLimitFlags";
import { numberFlag } from "./flagValues";

export interface ClusterFlags extends LimitFlags {
  readonly cluster?: string;
  readonly gpu?: string;
  readonly nodes?: number;
  readonly gpusPerNode?: number;
  readonly usdPerGpuHour?: number;
}

const HELP = `
A cluster file names the gpu of its nodes, the nodes with name, gpus and, where it is another, gpu, and usdPerGpuHour and prices (by
type) where they are not the cards' list prices: {gpu: h100-sxm, nodes: [{name: a, gpus: 8}, {name: b, gpus: 4, gpu: l40s}]}`;

/** Adds the flags that describe a cluster: one GPU type by flags, several by a file. */
export const withClusterFlags = (command: Command): Command =>
  withLimitFlags(command)
    .option("--gpu <card>", "GPU type, such as h100-sxm")
    .option("--nodes <n>", "nodes of the cluster, called node1, node2 ...", numberFlag({ min: 1, max: MOST_NODES, whole: true }))
    .option("--gpus-per-node <n>", "GPUs of each node", numberFlag({ min: 1, max: MOST_GPUS_PER_NODE, whole: true }))
    .option("--usd-per-gpu-hour <usd>", "price of a GPU hour (default: the card's dated list price)", numberFlag({ min: 0, max: 1000 }))
    .option("--cluster <file>", "YAML of a cluster in place of the four above")
    .addHelpText("after", HELP);

/** The cluster that the flags or their file describe, or one sentence on what is wrong. */
export function readCluster(flags: ClusterFlags, cards: CardCatalogue): ReadCluster {
  const read = readBareCluster(flags, cards);
  if (!read.ok) return read;
  const limits = readLimits(flags);
  if (!limits.ok) return limits;
  if (Object.keys(limits.limits).length === 0) return read;
  return { ok: true, cluster: { ...read.cluster, engineLimits: [{ ...limits.limits, source: "operator" }] } };
}

function readBareCluster(flags: ClusterFlags, { gpus }: CardCatalogue): ReadCluster {
  const { cluster: file, gpu, nodes, gpusPerNode } = flags;
  if (file !== undefined) {
    const also = Object.entries(flagNames).find(([flag]) => flags[flag as keyof typeof flagNames] !== undefined);
    if (also !== undefined) return { ok: false, message: `--cluster describes the whole cluster: leave out ${also[1]}.` };
    return readClusterFile(file, gpus);
  }
  if (gpu === undefined || nodes === undefined || gpusPerNode === undefined)
    return { ok: false, message: "Give --cluster, or --gpu, --nodes and --gpus-per-node." };
  const card = cardOf(gpus, gpu);
  if (card === undefined) return { ok: false, message: `--gpu: ${noGpuCard(gpu, gpus)}.` };
  const usdPerGpuHour = flags.usdPerGpuHour ?? card.usdPerGpuHour;
  if (usdPerGpuHour === null) return { ok: false, message: `--usd-per-gpu-hour: no list price is known for ${gpu}; give one.` };
  const list = Array.from({ length: nodes }, (_, index) => ({ name: `node${index + 1}`, gpus: gpusPerNode }));
  const name = `${nodes} x ${gpusPerNode} ${gpu}`;
  return { ok: true, cluster: { id: "described", name, kind: "described", gpu, nodes: list, usdPerGpuHour } };
}

const flagNames = { gpu: "--gpu", nodes: "--nodes", gpusPerNode: "--gpus-per-node", usdPerGpuHour: "--usd-per-gpu-hour" } as const;
