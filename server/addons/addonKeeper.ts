import type { AddonState, AddonView } from "@/server/contracts/studio";
import { type Addon, packagesFor, thisPlatform } from "./addon";
import { installedRecord } from "./addonFolder";
import { addons } from "./catalogue";
import { type InstallOptions, installAddon, readyState, stoppedState, unsupportedState } from "./installAddon";

/** The add-ons of one folder, with those that are being installed by this process. */
export interface AddonKeeper {
  /** Every add-on with its state. */
  list(): readonly AddonView[];
  /** The state of one. @throws RangeError for an unknown name. */
  state(name: string): AddonState;
  /**
   * Installs it; a second call while one is at work joins it. A caller's signal ends the call, and the installation with the last caller.
   *
   * @throws RangeError for an unknown name.
   */
  install(name: string, options?: Pick<InstallOptions, "signal" | "onLine">): Promise<AddonState>;
  /** Ends an installation of this process, if there is one. */
  stop(name: string): void;
}

const linesKept = 20;

interface Work {
  readonly lines: string[];
  readonly listeners: Set<(line: string) => void>;
  readonly ending: AbortController;
  readonly done: Promise<AddonState>;
  /** Callers that still wait for it. */
  waiting: number;
}

/** The keeper of a folder of add-ons (`addonsFolder`). */
export function createAddonKeeper(folder: string, known: readonly Addon[] = addons): AddonKeeper {
  const works = new Map<string, Work>();
  const failures = new Map<string, AddonState>();

  const addonOf = (name: string): Addon => {
    const addon = known.find((one) => one.name === name);
    if (addon === undefined) throw new RangeError(`There is no add-on "${name}": known are ${known.map((one) => one.name).join(", ")}.`);
    return addon;
  };

  function stateOf(addon: Addon): AddonState {
    const work = works.get(addon.name);
    if (work !== undefined) return { kind: "installing", lines: [...work.lines] };
    const record = installedRecord(folder, addon);
    if (record !== null) return readyState(addon, record);
    const platform = thisPlatform();
    if (packagesFor(addon, platform) === undefined) return unsupportedState(addon, platform);
    return failures.get(addon.name) ?? { kind: "absent" };
  }

  function begin(addon: Addon): Work {
    const ending = new AbortController();
    const lines: string[] = [];
    const listeners = new Set<(line: string) => void>();
    const onLine = (line: string): void => {
      lines.push(line);
      if (lines.length > linesKept) lines.shift();
      for (const listener of listeners) listener(line);
    };
    // Begins after the listeners of the first caller are in place.
    const done = Promise.resolve()
      .then(() => installAddon(addon, folder, { signal: ending.signal, onLine }))
      .then((state) => {
        works.delete(addon.name);
        if (state.kind === "failed") failures.set(addon.name, state);
        else failures.delete(addon.name);
        return state;
      });
    const work = { lines, listeners, ending, done, waiting: 0 };
    works.set(addon.name, work);
    return work;
  }

  return {
    list: () => known.map((addon) => ({ ...viewOf(addon), state: stateOf(addon) })),
    state: (name) => stateOf(addonOf(name)),
    async install(name, { signal, onLine } = {}) {
      const addon = addonOf(name);
      const work = works.get(name) ?? begin(addon);
      let leave = (): void => undefined;
      const left = new Promise<AddonState>((resolve) => {
        leave = () => {
          work.waiting -= 1;
          if (work.waiting === 0) work.ending.abort();
          else resolve(stoppedState);
        };
      });
      work.waiting += 1;
      if (onLine !== undefined) work.listeners.add(onLine);
      signal?.addEventListener("abort", leave, { once: true });
      if (signal?.aborted) leave();
      try {
        return await Promise.race([work.done, left]);
      } finally {
        signal?.removeEventListener("abort", leave);
        if (onLine !== undefined) work.listeners.delete(onLine);
      }
    },
    stop: (name) => works.get(addonOf(name).name)?.ending.abort(),
  };
}

const viewOf = ({ name, title, description, bytes }: Addon) => ({ name, title, description, bytes });
