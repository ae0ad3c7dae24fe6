import type { Command } from "commander";
import { workloadHash } from "@/server/workloads/workloadCodec";
import { DEFAULT_JUDGE, type PlanningSituation } from "@/solver/cascade/explore/situation";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import type { CardCatalogue } from "@/solver/hardware/catalogue";
import { JUDGE_SECONDS_BOUNDS } from "@/solver/judging/judgeTime";
import { type ClusterFlags, readCluster, withClusterFlags } from "./clusterFlags";
import { numberFlag } from "./flagValues";
import { PROFILE_FLAG, readProfile } from "./profileFlag";
import { readCards, readWorkload, type WorkloadFlags, withWorkloadFlags } from "./workloadFlags";

export interface SituationFlags extends WorkloadFlags, ClusterFlags {
  readonly rate: number;
  readonly judgeSeconds?: number;
  readonly judgeUsd?: number;
  readonly profile?: string;
}

type Read =
  | { readonly ok: true; readonly situation: PlanningSituation; readonly catalogue: CardCatalogue }
  | { readonly ok: false; readonly message: string };

/** Adds the flags that say what is planned for: a workload, a rate and a cluster. */
export const withSituationFlags = (command: Command): Command =>
  withClusterFlags(
    withWorkloadFlags(command).requiredOption("--rate <rps>", "requests per second to plan for", numberFlag({ min: 0.001, max: 1e6 })),
  )
    .option("--judge-seconds <s>", `time of one judge call (default: ${DEFAULT_JUDGE.secondsPerCall})`, numberFlag(JUDGE_SECONDS_BOUNDS))
    .option("--judge-usd <usd>", `price of one judge call (default: ${DEFAULT_JUDGE.usdPerCall})`, numberFlag({ min: 0, max: 100 }))
    .option(...PROFILE_FLAG);

/** Reads files and flags into what the planner takes, or says in one sentence what is wrong. */
export async function readSituation(flags: SituationFlags): Promise<Read> {
  const cards = readCards(flags);
  if (!cards.ok) return cards;
  const profile = readProfile(flags.profile);
  if (!profile.ok) return profile;
  const described = readCluster(flags, cards.catalogue);
  if (!described.ok) return described;
  const read = await readWorkload(flags, cards.catalogue);
  if (!read.ok) return read;
  const { workload } = read;
  const { judgeSeconds: secondsPerCall = DEFAULT_JUDGE.secondsPerCall, judgeUsd: usdPerCall = DEFAULT_JUDGE.usdPerCall } = flags;
  return {
    ok: true,
    catalogue: cards.catalogue,
    situation: {
      workload,
      workloadId: workloadHash(workload),
      cluster: described.cluster,
      userCards: cards.userCards,
      engineProfile: profile.profile ?? vllmProfile,
      requestsPerSecond: flags.rate,
      judge: { kind: "fixed", secondsPerCall, usdPerCall, source: { kind: flags.judgeSeconds === undefined ? "assumed" : "entered" } },
    },
  };
}
