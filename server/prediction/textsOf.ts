import { replayableIds } from "@/server/profiling/profileTable";
import type { Store } from "@/server/store/store";
import { lastUserText } from "@/solver/prediction/lastUserText";

type Kept = Pick<Store, "workloads" | "profiles" | "prompts">;

/** Prompts that are read at once. */
const PROMPTS_A_READ = 500;

/**
 * The predictors' input from a workload's prompts, by row of its outcome table: the last user message of each. null for a prompt that is
 * not found; null for all if the workload, or its base workload, was not made from a profile, or its prompts were deleted. Reads the store:
 * seconds for 20,000 prompts, so call it in a thread.
 */
export function textsOf(store: Kept, workloadId: string, promptIds: readonly string[]): readonly (string | null)[] | null {
  const { prompts } = store;
  const set = promptSetOf(store, workloadId);
  if (set === null) return null;
  const names: string[] = [];
  const texts: (string | null)[] = [];
  for (let from = 0; from < set.prompts; from += PROMPTS_A_READ)
    for (const { position, prompt } of prompts.some(set.id, from, from + PROMPTS_A_READ)) {
      names[position] = prompt.id;
      texts[position] = lastUserText(prompt.body.messages);
    }
  const positions = new Map(replayableIds(Array.from({ length: set.prompts }, (_, at) => names[at] ?? "")).map((id, at) => [id, at]));
  const found = promptIds.map((id) => texts[positions.get(id) ?? -1] ?? null);
  return found.some((text) => text !== null) ? found : null;
}

/** The set of prompts on which a workload's outcomes were measured; null if there is none, or its prompts were deleted. */
export function promptSetOf({ workloads, profiles, prompts }: Kept, workloadId: string) {
  const profileId = profileOf(workloads, workloadId);
  const profile = profileId === null ? null : profiles.get(profileId);
  const set = profile === null ? null : prompts.get(profile.promptSetId);
  return set === null || set.deleted ? null : set;
}

/** The profile that a workload's outcomes were measured by: with other arrivals they are still its. */
function profileOf(workloads: Store["workloads"], id: string): string | null {
  const seen = new Set<string>();
  for (let at: string | null = id; at !== null && !seen.has(at); ) {
    seen.add(at);
    const summary = workloads.summary(at);
    if (summary === null) return null;
    if (summary.profileId !== null) return summary.profileId;
    at = summary.parentId;
  }
  return null;
}
