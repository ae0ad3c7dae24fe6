import type { Command } from "commander";
import { workloadHash } from "@/server/workloads/workloadCodec";
import { DEFAULT_JUDGE, type PlanningSituation } from "@/solver/cascade/explore/situation";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import { JUDGE_SECONDS_BOUNDS } from "@/solver/judging/judgeTime";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import { MOST_GPUS_PER_NODE, MOST_NODES, noGpuCard, readClusterFile } from "./clusterFile";
import { type LimitFlags, readLimits, withLimitFlags } from "./engineLimitFlags";
import { must, refuse } from "./exitCodes";
import { numberFlag } from "./flagValues";
import { PROFILE_FLAG, readProfile, withProfileCards } from "./profileFlag";
import { readCards, readWorkload, type WorkloadFlags, withWorkloadFlags } from "./workloadFlags";

export interface SituationFlags extends WorkloadFlags, ClusterFlags {
  readonly rate: number;
  readonly judgeSeconds?: number;
  readonly judgeUsd?: number;
  readonly profile?: string;
  readonly dataMayLeave?: true;
}

/** Adds the flags of the situation: a workload, a rate and a cluster. */
export const withSituationFlags = (command: Command): Command =>
  withClusterFlags(
    withWorkloadFlags(command).requiredOption("--rate <rps>", "requests per second to plan for", numberFlag({ min: 0.001, max: 1e6 })),
  )
    .option("--judge-seconds <s>", `time of one judge call (default: ${DEFAULT_JUDGE.secondsPerCall})`, numberFlag(JUDGE_SECONDS_BOUNDS))
    .option("--judge-usd <usd>", `price of one judge call (default: ${DEFAULT_JUDGE.usdPerCall})`, numberFlag({ min: 0, max: 100 }))
    .option("--data-may-leave", "let requests of this workload leave the house for hosted models of the cluster file")
    .option(...PROFILE_FLAG);

/**
 * Reads files and flags into the planner's input.
 * @throws Refusal
 */
export async function readSituation(
  flags: SituationFlags,
): Promise<{ readonly situation: PlanningSituation; readonly catalogue: CardCatalogue }> {
  const engineProfile = readProfile(flags.profile) ?? vllmProfile;
  const { catalogue, userCards } = withProfileCards(readCards(flags), engineProfile);
  const cluster = readCluster(flags, catalogue);
  const { workload } = must(await readWorkload(flags, catalogue));
  const { judgeSeconds: secondsPerCall = DEFAULT_JUDGE.secondsPerCall, judgeUsd: usdPerCall = DEFAULT_JUDGE.usdPerCall } = flags;
  return {
    catalogue,
    situation: {
      workload,
      workloadId: workloadHash(workload),
      cluster,
      userCards,
      engineProfile,
      requestsPerSecond: flags.rate,
      ...(flags.dataMayLeave === undefined ? {} : { dataMayLeave: true as const }),
      judge: { kind: "fixed", secondsPerCall, usdPerCall, source: { kind: flags.judgeSeconds === undefined ? "assumed" : "entered" } },
    },
  };
}

interface ClusterFlags extends LimitFlags {
  readonly cluster?: string;
  readonly gpu?: string;
  readonly nodes?: number;
  readonly gpusPerNode?: number;
  readonly usdPerGpuHour?: number;
}

const HELP = `
A cluster file names the gpu of its nodes, the nodes with name, gpus and, where it is another, gpu, and usdPerGpuHour and prices (by
type) where they are not the cards' list prices: {gpu: h100-sxm, nodes: [{name: a, gpus: 8}, {name: b, gpus: 4, gpu: l40s}]}
Under hosted it lists models of the workload that providers serve: {model: claude, kind: anthropic, url: "https://api.anthropic.com",
maxInFlight: 20, usdPerMillionInputTokens: 3, usdPerMillionOutputTokens: 15, ttftSeconds: 0.8, secondsPerOutputToken: 0.015}`;

/** Adds the flags that describe a cluster: one GPU type by flags, several by a file. */
const withClusterFlags = (command: Command): Command =>
  withLimitFlags(command)
    .option("--gpu <card>", "GPU type, such as h100-sxm")
    .option("--nodes <n>", "nodes of the cluster, called node1, node2 ...", numberFlag({ min: 1, max: MOST_NODES, whole: true }))
    .option("--gpus-per-node <n>", "GPUs of each node", numberFlag({ min: 1, max: MOST_GPUS_PER_NODE, whole: true }))
    .option("--usd-per-gpu-hour <usd>", "price of a GPU hour (default: the card's dated list price)", numberFlag({ min: 0, max: 1000 }))
    .option("--cluster <file>", "YAML of a cluster in place of the four above")
    .addHelpText("after", HELP);

/**
 * The cluster described by the flags or their file.
 * @throws Refusal
 */
function readCluster(flags: ClusterFlags, cards: CardCatalogue): ClusterSpec {
  const cluster = readBareCluster(flags, cards);
  const limits = readLimits(flags);
  return Object.keys(limits).length === 0 ? cluster : { ...cluster, engineLimits: [{ ...limits, source: "operator" }] };
}

function readBareCluster(flags: ClusterFlags, { gpus }: CardCatalogue): ClusterSpec {
  const { cluster: file, gpu, nodes, gpusPerNode } = flags;
  if (file !== undefined) {
    const also = Object.entries(flagNames).find(([flag]) => flags[flag as keyof typeof flagNames] !== undefined);
    if (also !== undefined) return refuse(`--cluster describes the whole cluster: leave out ${also[1]}.`);
    return readClusterFile(file, gpus);
  }
  if (gpu === undefined || nodes === undefined || gpusPerNode === undefined)
    return refuse("Give --cluster, or --gpu, --nodes and --gpus-per-node.");
  const card = cardOf(gpus, gpu);
  if (card === undefined) return refuse(`--gpu: ${noGpuCard(gpu, gpus)}.`);
  const usdPerGpuHour = flags.usdPerGpuHour ?? card.usdPerGpuHour;
  if (usdPerGpuHour === null) return refuse(`--usd-per-gpu-hour: no list price is known for ${gpu}; give one.`);
  const list = Array.from({ length: nodes }, (_, index) => ({ name: `node${index + 1}`, gpus: gpusPerNode }));
  const name = `${nodes} x ${gpusPerNode} ${gpu}`;
  return { id: "described", name, kind: "described", gpu, nodes: list, usdPerGpuHour };
}

const flagNames = { gpu: "--gpu", nodes: "--nodes", gpusPerNode: "--gpus-per-node", usdPerGpuHour: "--usd-per-gpu-hour" } as const;
