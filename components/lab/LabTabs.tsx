import { Tabs } from "../ui/Tabs";
import { type LabTab, labTabs } from "./labCodec";

const names: Readonly<Record<LabTab, string>> = { race: "Race", runs: "Runs", predictors: "Predictors" };

/** The three things of this page: the race, what was run, and what predicts. */
export function LabTabs({ tab, onTab }: { readonly tab: LabTab; readonly onTab: (tab: LabTab) => void }) {
  return <Tabs label="Lab" names={names} tabs={labTabs} tab={tab} onTab={onTab} />;
}
