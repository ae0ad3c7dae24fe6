/** A list of values in time, one of which is current. */
export interface SettingsHistory<Settings extends object> {
  /** Oldest first. */
  readonly past: readonly Settings[];
  readonly present: Settings;
  /** Undone, the next first. */
  readonly future: readonly Settings[];
  /** The settings that the last recorded change made, and when; null after an undo or redo, which no change continues. */
  readonly last: { readonly changed: string; readonly atMs: number } | null;
}

/** Changes of the same settings closer in time than this are one step: a key held on a slider is one change. */
const ONE_STEP_MS = 1000;
/** Steps kept: more are not undone one by one. */
const MAX_STEPS = 100;

export const startHistory = <Settings extends object>(present: Settings): SettingsHistory<Settings> => ({
  past: [],
  present,
  future: [],
  last: null,
});

/** Adds a change. Settings equal to the current ones change nothing; a change ends what could be redone. */
export function record<Settings extends object>(
  history: SettingsHistory<Settings>,
  next: Settings,
  atMs: number,
): SettingsHistory<Settings> {
  const { past, present, last } = history;
  const changed = differing(present, next).join(" ");
  if (changed === "") return history;
  const continues = last !== null && last.changed === changed && atMs - last.atMs < ONE_STEP_MS;
  return { past: continues ? past : [...past, present].slice(-MAX_STEPS), present: next, future: [], last: { changed, atMs } };
}

/** One step back; null where there is none. */
export function undo<Settings extends object>({ past, present, future }: SettingsHistory<Settings>): SettingsHistory<Settings> | null {
  const previous = past.at(-1);
  return previous === undefined ? null : { past: past.slice(0, -1), present: previous, future: [present, ...future], last: null };
}

/** One undone step forward; null where there is none. */
export function redo<Settings extends object>({ past, present, future }: SettingsHistory<Settings>): SettingsHistory<Settings> | null {
  const [next, ...rest] = future;
  return next === undefined ? null : { past: [...past, present], present: next, future: rest, last: null };
}

/** Names of the settings in which two differ. */
function differing<Settings extends object>(one: Settings, other: Settings): readonly (keyof Settings & string)[] {
  const names = Object.keys(other) as (keyof Settings & string)[];
  return names.filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
}
