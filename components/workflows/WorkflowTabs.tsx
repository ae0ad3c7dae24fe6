import { Tabs } from "../ui/Tabs";
import { type WorkflowTab, workflowTabs } from "./workflowsCodec";

const names: Readonly<Record<WorkflowTab, string>> = { learnt: "Learnt", declared: "Declared", "just-in-time": "Just in time" };

/** The three things of this page: what calls have taught, what was declared, and which models are chosen just in time. */
export function WorkflowTabs({ tab, onTab }: { readonly tab: WorkflowTab; readonly onTab: (tab: WorkflowTab) => void }) {
  return <Tabs label="Workflows" names={names} tabs={workflowTabs} tab={tab} onTab={onTab} />;
}
