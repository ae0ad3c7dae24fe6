import type { HandLabelOrder } from "@/server/contracts/studio";
import { createLabelDesk, type LabelDesk, type Shown } from "@/server/profiling/measures/labelDesk";
import { type DecisionsOf, recheckOf } from "@/server/profiling/measures/recheck";
import { ADVISED_LABELS, trustReport } from "@/server/profiling/measures/trustReport";
import type { Store } from "@/server/store/store";
import type { TrustService } from "./profilingServices";

export interface TrustServiceOptions {
  readonly store: Store;
  readonly decisionsOf: DecisionsOf;
}

type Kind = HandLabelOrder["kind"];

const keyOf = ({ position, model, other }: Shown): string => `${position} ${model} ${other}`;

/** How long a task is kept from others for the person who was given it last. */
const HOLD_MS = 10 * 60_000;

/** Labels given by hand, and what they say of a profile's measures. */
export function createTrustService({ store, decisionsOf }: TrustServiceOptions): TrustService {
  /** The order of a large job takes a while to be made; people label one job at a time. */
  let last: { readonly jobId: string; readonly kind: Kind; readonly desk: LabelDesk } | null = null;

  /** The tasks that each person has before them. */
  const held = new Map<string, { readonly jobId: string; readonly keys: ReadonlySet<string>; readonly untilMs: number }>();

  function heldByOthers(jobId: string, own: string): ReadonlySet<string> {
    for (const [holder, { untilMs }] of held) if (untilMs < Date.now()) held.delete(holder);
    return new Set([...held].flatMap(([holder, of]) => (holder === own || of.jobId !== jobId ? [] : [...of.keys])));
  }

  function deskOf(
    jobId: string,
    kind: Kind,
  ): { readonly ok: true; readonly desk: LabelDesk } | { readonly ok: false; readonly message: string } {
    const profile = store.profiles.get(jobId);
    if (profile === null) return { ok: false, message: `There is no profile ${jobId}.` };
    if (!profile.request.keepAnswers) {
      return {
        ok: false,
        message:
          "This profile kept no answers, so there is nothing to label. Profile the sample again with answers kept; a few hundred prompts are enough.",
      };
    }
    if (store.prompts.count(profile.promptSetId) === 0) {
      return { ok: false, message: "The texts of these prompts and answers were deleted. Labels that were given stay." };
    }
    if (kind === "two" && profile.request.models.length < 2) {
      return { ok: false, message: "This profile has one model, so there are no two answers to compare. Label single answers." };
    }
    if (last?.jobId !== jobId || last.kind !== kind) last = { jobId, kind, desk: createLabelDesk(store, profile, kind) };
    return { ok: true, desk: last.desk };
  }

  return {
    next(jobId, kind, actor) {
      const found = deskOf(jobId, kind);
      if (!found.ok) return found;
      const labels = store.handLabels.list(jobId).filter(({ otherModel }) => (otherModel === "") === (kind === "one"));
      const labelled = new Set(labels.map(({ position, model, otherModel }) => keyOf({ position, model, other: otherModel })));
      const holder = JSON.stringify([jobId, kind, actor]);
      const others = heldByOthers(jobId, holder);
      const tasks = found.desk.next((shown) => labelled.has(keyOf(shown)) || others.has(keyOf(shown)), 2);
      held.set(holder, { jobId, keys: new Set(tasks.map(({ shown }) => keyOf(shown))), untilMs: Date.now() + HOLD_MS });
      const [task = null, after = null] = tasks.map(({ index, shown }) => found.desk.task(index, shown));
      return { ok: true, progress: { task, after, labelled: labels.length, advised: ADVISED_LABELS } };
    },
    label({ jobId, kind, index, quality }, actor) {
      const found = deskOf(jobId, kind);
      if (!found.ok) return found;
      const shown = found.desk.at(index);
      if (shown === null) return { ok: false, message: "This profile has no such answer to label, or keeps its text no more." };
      const { position, model, other } = shown;
      const key = { profileId: jobId, position, model, otherModel: other };
      const given = store.handLabels.get(key);
      if (given !== null && given.actor !== actor) {
        return { ok: false, message: `${given.actor} labelled this one meanwhile. That label stays; the next one comes up.` };
      }
      store.handLabels.save({ ...key, quality, actor, at: new Date().toISOString() });
      return { ok: true };
    },
    undo(jobId, kind, actor) {
      const label = store.handLabels.last(jobId, kind, actor);
      if (label === null) return { ok: false, message: "There is no label of yours to take back." };
      store.handLabels.remove(label);
      return { ok: true };
    },
    report(jobId, floor) {
      const profile = store.profiles.get(jobId);
      if (profile === null) return { ok: false, message: `There is no profile ${jobId}.` };
      return { ok: true, trust: { ...trustReport(store, profile, floor), recheck: recheckOf(store, profile, decisionsOf) } };
    },
  };
}
