import type { HandLabelOrder, LabelProgress, Outcome, ProfileTrust, SkipOrder } from "@/server/contracts/studio";
import { createLabelQueue, type LabelQueue, type Shown } from "@/server/profiling/measures/labelQueue";
import { type DecisionsOf, recheckOf } from "@/server/profiling/measures/recheck";
import { ADVISED_LABELS, trustReport } from "@/server/profiling/measures/trustReport";
import type { HandLabel } from "@/server/store/handLabelRepository";
import type { Store } from "@/server/store/store";
import type { Actor } from "../base/actor";

export interface TrustServiceOptions {
  readonly store: Store;
  readonly decisionsOf: DecisionsOf;
}

type Kind = HandLabelOrder["kind"];

const keyOf = ({ position, model, other }: Shown): string => `${position} ${model} ${other}`;

/** Time for which a task is reserved for the person who got it last. */
const HOLD_MS = 10 * 60_000;

/** Time after a person's last task after which skipped ones are shown to them again. */
const SITTING_MS = 4 * 3_600_000;

const GONE = { ok: false, message: "This profile has no such answer to label, or keeps its text no more." } as const;

/** A person who labels one kind of a job. */
interface Sitting {
  readonly jobId: string;
  readonly atMs: number;
  /** Their reserved tasks. */
  readonly held: ReadonlySet<string>;
  readonly skipped: ReadonlySet<string>;
}

const sittingOf = ({ jobId, kind }: { readonly jobId: string; readonly kind: Kind }, actor: string): string =>
  JSON.stringify([jobId, kind, actor]);

/** Manual labels, and the resulting assessment of a profile's measures. */
export function createTrustService({ store, decisionsOf }: TrustServiceOptions) {
  /** Computing the order of a large job takes a while; people label one job at a time. */
  let last: { readonly jobId: string; readonly kind: Kind; readonly queue: LabelQueue } | null = null;

  const sittings = new Map<string, Sitting>();
  const note = store.audit.noting("profile");

  /** The audit's line of one manual label. */
  function noteLabel(action: string, { profileId, model, otherModel, position, quality, actor }: Omit<HandLabel, "at">): void {
    const subject = store.profiles.get(profileId)?.request.name ?? profileId;
    const models = otherModel === "" ? model : `${model} against ${otherModel}`;
    note(actor, action, { subject, objectId: profileId }, `1 of ${models}: ${quality} at prompt ${position + 1}`);
  }

  function heldByOthers(jobId: string, own: string): ReadonlySet<string> {
    const holds = ([holder, sitting]: readonly [string, Sitting]) =>
      holder !== own && sitting.jobId === jobId && sitting.atMs + HOLD_MS >= Date.now();
    return new Set([...sittings].filter(holds).flatMap(([, { held }]) => [...held]));
  }

  function skippedBy(holder: string): ReadonlySet<string> {
    for (const [each, { atMs }] of sittings) if (atMs + SITTING_MS < Date.now()) sittings.delete(each);
    return sittings.get(holder)?.skipped ?? new Set();
  }

  function deskOf(jobId: string, kind: Kind): Outcome<{ readonly queue: LabelQueue }> {
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
    if (last?.jobId !== jobId || last.kind !== kind) last = { jobId, kind, queue: createLabelQueue(store, profile, kind) };
    return { ok: true, queue: last.queue };
  }

  return {
    /** The next task to label, blind, and not one reserved for another person; null as its task if everything is labelled. */
    next(jobId: string, kind: HandLabelOrder["kind"], actor: Actor): Outcome<{ readonly progress: LabelProgress }> {
      const found = deskOf(jobId, kind);
      if (!found.ok) return found;
      const labels = store.handLabels.list(jobId).filter(({ otherModel }) => (otherModel === "") === (kind === "one"));
      const labelled = new Set(labels.map(({ position, model, otherModel }) => keyOf({ position, model, other: otherModel })));
      const holder = sittingOf({ jobId, kind }, actor);
      const skipped = skippedBy(holder);
      const passed = [labelled, heldByOthers(jobId, holder), skipped];
      const tasks = found.queue.next((shown) => passed.some((keys) => keys.has(keyOf(shown))), 2);
      sittings.set(holder, { jobId, atMs: Date.now(), held: new Set(tasks.map(({ shown }) => keyOf(shown))), skipped });
      const [task = null, after = null] = tasks.map(({ index, shown }) => found.queue.task(index, shown));
      const left = [...skipped].filter((key) => !labelled.has(key)).length;
      return { ok: true, progress: { task, after, labelled: labels.length, skipped: left, advised: ADVISED_LABELS } };
    },
    /** A repeated label replaces one's own; refused if another person labelled it meanwhile. */
    label({ jobId, kind, index, quality }: HandLabelOrder, actor: Actor): Outcome<object> {
      const found = deskOf(jobId, kind);
      if (!found.ok) return found;
      const shown = found.queue.at(index);
      if (shown === null) return GONE;
      const { position, model, other } = shown;
      const key = { profileId: jobId, position, model, otherModel: other };
      const given = store.handLabels.get(key);
      if (given !== null && given.actor !== actor) {
        return { ok: false, message: `${given.actor} labelled this answer first. Their label is kept.` };
      }
      store.atomically(() => {
        store.handLabels.save({ ...key, quality, actor, at: new Date().toISOString() });
        noteLabel("label answer", { ...key, quality, actor });
      });
      return { ok: true };
    },
    /** For a person who cannot decide: nothing is stored, and the task is not shown to them again in this session. */
    skip(order: SkipOrder, actor: Actor): Outcome<object> {
      const found = deskOf(order.jobId, order.kind);
      if (!found.ok) return found;
      const shown = found.queue.at(order.index);
      if (shown === null) return GONE;
      const holder = sittingOf(order, actor);
      const skipped = new Set(skippedBy(holder)).add(keyOf(shown));
      const held = sittings.get(holder)?.held ?? new Set();
      sittings.set(holder, { jobId: order.jobId, atMs: Date.now(), held, skipped });
      return { ok: true };
    },
    /** Removes this person's last label; its task is shown again. */
    undo(jobId: string, kind: HandLabelOrder["kind"], actor: Actor): Outcome<object> {
      const label = store.handLabels.last(jobId, kind, actor);
      if (label === null) return { ok: false, message: "There is no label of yours to take back." };
      store.atomically(() => {
        store.handLabels.remove(label);
        noteLabel("take back label", label);
      });
      return { ok: true };
    },
    /** Compared with a quality floor, 0..100. */
    report(jobId: string, floor: number): Outcome<{ readonly trust: ProfileTrust }> {
      const profile = store.profiles.get(jobId);
      if (profile === null) return { ok: false, message: `There is no profile ${jobId}.` };
      return { ok: true, trust: { ...trustReport(store, profile, floor), recheck: recheckOf(store, profile, decisionsOf) } };
    },
  };
}
