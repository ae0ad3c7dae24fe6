import type { Command } from "commander";
import { DEFAULT_JUDGE, type PlanningSituation } from "@/server/planning/planningRequest";
import { workloadHash } from "@/server/planning/workloadCodec";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { cardOf } from "@/solver/hardware/catalogue";
import { numberFlag } from "./flagValues";
import { PROFILE_FLAG, readProfile } from "./profileFlag";
import { readCards, readWorkload, type WorkloadFlags, withWorkloadFlags } from "./workloadFlags";

export interface SituationFlags extends WorkloadFlags {
  readonly rate: number;
  readonly gpu: string;
  readonly nodes: number;
  readonly gpusPerNode: number;
  readonly usdPerGpuHour?: number;
  readonly judgeSeconds: number;
  readonly judgeUsd: number;
  readonly profile?: string;
}

type Read = { readonly ok: true; readonly situation: PlanningSituation } | { readonly ok: false; readonly message: string };

/** A cluster larger than this is a typing error. */
const MOST_NODES = 1024;

/** Adds the flags that say what is planned for: a workload, a rate and a cluster. */
export const withSituationFlags = (command: Command): Command =>
  withWorkloadFlags(command)
    .requiredOption("--rate <rps>", "requests per second to plan for", numberFlag({ min: 0.001, max: 1e6 }))
    .requiredOption("--gpu <card>", "GPU type, such as h100-sxm")
    .requiredOption("--nodes <n>", "nodes of the cluster", numberFlag({ min: 1, max: MOST_NODES, whole: true }))
    .requiredOption("--gpus-per-node <n>", "GPUs of each node", numberFlag({ min: 1, max: 16, whole: true }))
    .option("--judge-seconds <s>", "time of one judge call", numberFlag({ min: 0, max: 600 }), DEFAULT_JUDGE.secondsPerCall)
    .option(...PROFILE_FLAG)
    .option("--judge-usd <usd>", "price of one judge call", numberFlag({ min: 0, max: 100 }), DEFAULT_JUDGE.usdPerCall)
    .option("--usd-per-gpu-hour <usd>", "price of a GPU hour (default: the card's dated list price)", numberFlag({ min: 0, max: 1000 }));

/** Reads files and flags into what the planner takes, or says in one sentence what is wrong. */
export async function readSituation(flags: SituationFlags): Promise<Read> {
  const cards = readCards(flags);
  if (!cards.ok) return cards;
  const profile = readProfile(flags.profile);
  if (!profile.ok) return profile;
  const { gpus } = cards.catalogue;
  const gpu = cardOf(gpus, flags.gpu);
  if (gpu === undefined) {
    return { ok: false, message: `--gpu: there is no GPU card "${flags.gpu}"; known: ${Object.keys(gpus).join(", ")}.` };
  }
  const usdPerGpuHour = flags.usdPerGpuHour ?? gpu.usdPerGpuHour;
  if (usdPerGpuHour === null) return { ok: false, message: `--usd-per-gpu-hour: no list price is known for ${flags.gpu}; give one.` };
  const read = await readWorkload(flags, cards.catalogue);
  if (!read.ok) return read;
  const nodes = Array.from({ length: flags.nodes }, (_, index) => ({ name: `node${index + 1}`, gpus: flags.gpusPerNode }));
  const cluster = {
    id: "described",
    name: `${flags.nodes} x ${flags.gpusPerNode} ${flags.gpu}`,
    kind: "described" as const,
    gpu: flags.gpu,
    nodes,
    usdPerGpuHour,
  };
  const { workload } = read;
  const judge = { kind: "fixed" as const, secondsPerCall: flags.judgeSeconds, usdPerCall: flags.judgeUsd };
  const { userCards } = cards;
  const engineProfile = profile.profile ?? vllmProfile;
  return {
    ok: true,
    situation: { workload, workloadId: workloadHash(workload), cluster, userCards, engineProfile, requestsPerSecond: flags.rate, judge },
  };
}
