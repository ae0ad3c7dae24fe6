import type { KeyTerms } from "@/server/contracts/studio";
import { type KeyLimitName, keyLimits } from "@/solver/wording/keyLimits";

/** What a key allows, as the form has it. */
export interface KeyDraft {
  readonly requestsPerMinute: number | null;
  readonly limits: Readonly<Partial<Record<KeyLimitName, number | undefined>>>;
  /** Share of a limit from which its use is reported; null: never. */
  readonly warnPercent: number | null;
  /** Names separated by commas; empty: all. */
  readonly models: string;
  readonly team: string;
  readonly project: string;
  /** Empty: as each request says. */
  readonly objective: string;
}

/** Terms as a draft. */
export function draftOf({ requestsPerMinute, limits, models, labels, objective }: KeyTerms): KeyDraft {
  const { warnAt, ...amounts } = limits ?? {};
  return {
    ...{ requestsPerMinute, limits: amounts, warnPercent: warnAt === undefined ? null : Math.round(100 * warnAt) },
    ...{ models: models?.join(", ") ?? "", team: labels?.team ?? "", project: labels?.project ?? "", objective: objective ?? "" },
  };
}

/** A draft as terms. A share to warn at means nothing without a limit. */
export function termsOf({ requestsPerMinute, limits, warnPercent, models, team, project, objective }: KeyDraft): KeyTerms {
  const names = models
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const labels = { ...(team.trim() !== "" && { team: team.trim() }), ...(project.trim() !== "" && { project: project.trim() }) };
  const hasLimit = keyLimits.some(({ name }) => limits[name] !== undefined);
  return {
    requestsPerMinute,
    limits: hasLimit ? { ...limits, ...(warnPercent !== null && { warnAt: warnPercent / 100 }) } : null,
    models: names.length === 0 ? null : names,
    labels: Object.keys(labels).length === 0 ? null : labels,
    objective: objective === "" ? null : objective,
  };
}

/** A draft as the API takes it. */
export function sentTerms(draft: KeyDraft) {
  const { models, ...terms } = termsOf(draft);
  return { ...terms, models: models === null ? null : [...models] };
}
