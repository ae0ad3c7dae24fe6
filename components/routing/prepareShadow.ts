import type { Shadow } from "@/server/contracts/studio";

/** One kind of outcome in the comparison of the two policies, with its share of the compared requests. */
export interface ShadowCount {
  readonly name: string;
  readonly count: number;
  readonly share: number | null;
}

interface ShadowRow {
  /** null: not known, because the answer was not requested. */
  readonly model: string | null;
  readonly actual: number | null;
  readonly candidate: number;
  readonly actualShare: number | null;
  readonly candidateShare: number | null;
}

export interface ShadowPicture {
  readonly starts: readonly ShadowCount[];
  readonly verdicts: readonly ShadowCount[];
  readonly finals: readonly ShadowRow[];
  /** Share of the answered requests for which the candidate's answer is known; null before the first. */
  readonly knownShare: number | null;
}

/** The gateway's names. */
const UNKNOWN = "unknown";

function counts(named: Readonly<Record<string, number>>): readonly ShadowCount[] {
  const total = Object.values(named).reduce((sum, count) => sum + count, 0);
  return Object.entries(named).map(([name, count]) => ({ name, count, share: total === 0 ? null : count / total }));
}

/** Where a candidate would have decided otherwise, in shares; models by how often they actually answer, unknown ones last. */
export function prepareShadow({ starts, verdicts, finalModels }: Pick<Shadow, "starts" | "verdicts" | "finalModels">): ShadowPicture {
  const rows = Object.entries(finalModels);
  const sum = (arm: "actual" | "candidate") => rows.reduce((total, [, row]) => total + row[arm], 0);
  const [actual, candidate] = [sum("actual"), sum("candidate")];
  const share = (count: number, of: number): number | null => (of === 0 ? null : count / of);
  return {
    starts: counts({ "same model": starts.same, "another model": starts.different }),
    verdicts: counts({
      same: verdicts.same,
      "accepts what is escalated": verdicts.acceptsMore,
      "escalates what is accepted": verdicts.escalatesMore,
    }),
    finals: rows
      .sort(([a, one], [b, other]) => Number(a === UNKNOWN) - Number(b === UNKNOWN) || other.actual - one.actual)
      .map(([model, row]) => ({
        model: model === UNKNOWN ? null : model,
        actual: model === UNKNOWN ? null : row.actual,
        candidate: row.candidate,
        actualShare: model === UNKNOWN ? null : share(row.actual, actual),
        candidateShare: share(row.candidate, candidate),
      })),
    knownShare: candidate === 0 ? null : 1 - (finalModels[UNKNOWN]?.candidate ?? 0) / candidate,
  };
}
