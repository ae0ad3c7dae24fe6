import { type LabTab, labTabs } from "./labCodec";

const names: Readonly<Record<LabTab, string>> = { race: "Race", runs: "Runs", predictors: "Predictors" };

/** The three things of this page: the race, what was run, and what predicts. */
export function LabTabs({ tab, onTab }: { readonly tab: LabTab; readonly onTab: (tab: LabTab) => void }) {
  return (
    <nav aria-label="Lab" className="flex gap-1 overflow-x-auto overflow-y-hidden border-b">
      {labTabs.map((each) => (
        <button
          key={each}
          type="button"
          aria-current={each === tab ? "page" : undefined}
          onClick={() => onTab(each)}
          className={`-mb-px flex h-9 items-center border-b-2 px-3 text-sm ${each === tab ? "border-accent font-medium text-ink" : "border-transparent text-ink-2 hover:text-ink"}`}
        >
          {names[each]}
        </button>
      ))}
    </nav>
  );
}
