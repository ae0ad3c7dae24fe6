import { type WorkflowTab, workflowTabs } from "./workflowsCodec";

const names: Readonly<Record<WorkflowTab, string>> = { learnt: "Learnt", declared: "Declared", "just-in-time": "Just in time" };

/** The three things of this page: what calls have taught, what was declared, and which models are chosen just in time. */
export function WorkflowTabs({ tab, onTab }: { readonly tab: WorkflowTab; readonly onTab: (tab: WorkflowTab) => void }) {
  return (
    <nav aria-label="Workflows" className="flex gap-1 overflow-x-auto overflow-y-hidden border-b">
      {workflowTabs.map((each) => (
        <button
          key={each}
          type="button"
          aria-current={each === tab ? "page" : undefined}
          onClick={() => onTab(each)}
          className={`-mb-px flex h-9 items-center border-b-2 px-3 text-sm whitespace-nowrap ${each === tab ? "border-accent font-medium text-ink" : "border-transparent text-ink-2 hover:text-ink"}`}
        >
          {names[each]}
        </button>
      ))}
    </nav>
  );
}
