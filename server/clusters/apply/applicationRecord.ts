import type { JournalEvent } from "@/server/contracts/studio";
import type { StoredApplication } from "@/server/store/applicationRepository";
import type { StoredStep } from "@/server/store/documents/storedStep";
import type { Store } from "@/server/store/store";

/** A line for the journal, of a step or of the application as a whole. */
export interface Said {
  readonly stepId?: string;
  readonly event: JournalEvent | "said";
  readonly detail: string;
}

export interface RecordOptions {
  readonly store: Store;
  /** Called for every change, in the transaction that writes it, with the previous state. */
  readonly onChange: (application: StoredApplication, before: StoredApplication) => void;
}

/** Most lines about what steps wait for: a wait of hours must not fill the journal. */
const MOST_REPORTS = 300;

/** The state of an application, and its journal: each change and its journal lines are written together or not at all. */
export class ApplicationRecord {
  #application: StoredApplication;
  readonly #options: RecordOptions;
  #reports: number;

  constructor(application: StoredApplication, options: RecordOptions) {
    this.#application = application;
    this.#options = options;
    this.#reports = options.store.journal.countOf(application.id);
  }

  get application(): StoredApplication {
    return this.#application;
  }

  save(change: Partial<StoredApplication>, ...lines: readonly Said[]): void {
    const { store, onChange } = this.#options;
    const before = this.#application;
    const after = { ...before, ...change };
    store.atomically(() => {
      store.applications.save(after);
      for (const { stepId = null, event, detail } of lines) store.journal.add(after.id, { at: timestamp(), stepId, event, detail });
      onChange(after, before);
    });
    this.#application = after;
  }

  /** Changes one step; `event` is its journal event, absent: none. `detail`: a text other than the step's own. */
  step(index: number, change: Partial<StoredStep>, event?: JournalEvent | "said", detail?: string): void {
    const steps = this.#application.steps.map((step, at) => (at === index ? { ...step, ...change } : step));
    const changed = steps[index];
    if (changed === undefined) return;
    const told = detail ?? (event === "intended" ? changed.text : changed.detail);
    this.save({ steps }, ...(event === undefined ? [] : [{ stepId: changed.id, event, detail: told }]));
  }

  /** Reports what a step waits for. */
  report(index: number, detail: string): void {
    if (this.#application.steps[index]?.detail === detail) return;
    this.#reports += 1;
    this.step(index, { detail }, this.#reports > MOST_REPORTS ? undefined : "said");
  }
}

export const timestamp = (): string => new Date().toISOString();
