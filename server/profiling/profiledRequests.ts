import type { Measure } from "@/server/contracts/studio";
import type { LoadRequests } from "@/server/load/driver";
import type { Store } from "@/server/store/store";
import { exactMatch } from "@/solver/judging/exactMatch";
import type { Workload } from "@/solver/workload/workload";
import { bounded } from "./prepareCall";
import { replayableIds } from "./profileTable";

export interface ProfiledParts {
  readonly store: Pick<Store, "clusters" | "workloads" | "profiles" | "prompts">;
  readonly workloadId: string;
  readonly workload: Pick<Workload, "origin" | "outcomes">;
  readonly clusterId: string;
}

/**
 * The requests of a workload as the profile that measured it asked them, for a load that real engines answer. Texts go only to a cluster that
 * answered them in that profile, or for which Weir itself made the profile.
 *
 * @returns null: no such profile measured the workload, or its texts are deleted.
 */
export function profiledRequests({ store, workloadId, workload, clusterId }: ProfiledParts): LoadRequests | null {
  const profileId = store.workloads.summary(workloadId)?.profileId ?? null;
  const profile = profileId === null ? null : store.profiles.get(profileId);
  if (profile === null) return null;
  const { promptSetId, request } = profile;
  const hasAnswered = request.models.every(({ at }) => at.kind === "cluster" && at.clusterId === clusterId);
  if (!hasAnswered && profileId !== suggestedProfile(store, clusterId)) return null;
  const count = store.prompts.get(promptSetId)?.prompts ?? 0;
  const names = store.prompts.names(promptSetId, 0, count);
  if (names.length < count || count === 0) return null;
  const positions = new Map(replayableIds(names.map(({ id }) => id)).map((id, position) => [id, position]));
  const label = request.measures.find(({ id }) => id === workload.origin.measured?.label.id);
  const promptOf = (row: number) => {
    const position = positions.get(workload.outcomes.promptIds[row] ?? "");
    return position === undefined ? null : store.prompts.prompt(promptSetId, position);
  };
  return {
    body(row) {
      const prompt = promptOf(row);
      return prompt === null ? null : bounded(prompt.body, request.maxOutputTokens).body;
    },
    qualityOf: (row, answer) => qualityOf(answer, promptOf(row)?.reference ?? null, label),
  };
}

/** The profile behind the workload that Weir suggests for a cluster. Only Weir suggests workloads. */
function suggestedProfile({ clusters, workloads }: ProfiledParts["store"], clusterId: string): string | null {
  const suggested = clusters.get(clusterId)?.suggested ?? null;
  return suggested === null ? null : (workloads.summary(suggested.workloadId)?.profileId ?? null);
}

/** Quality that is known without asking anyone; null: the label is another's judgement, or there is no reference. */
function qualityOf(answer: string, reference: string | null, label: Measure | undefined): number | null {
  return label?.kind === "exact" && reference !== null ? exactMatch(answer, reference, label.extract) : null;
}
