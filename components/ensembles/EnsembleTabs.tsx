import { Tabs } from "../ui/Tabs";
import { type EnsembleTab, ensembleTabs } from "./ensemblesCodec";

const names: Readonly<Record<EnsembleTab, string>> = { place: "Place", gate: "Gate", online: "Online", batches: "Batches" };

/** What is decided of an ensemble and what runs of it: where its experts go, when its aggregator is asked, what is served, what is worked off. */
export function EnsembleTabs({ tab, onTab }: { readonly tab: EnsembleTab; readonly onTab: (tab: EnsembleTab) => void }) {
  return <Tabs label="Ensembles" names={names} tabs={ensembleTabs} tab={tab} onTab={onTab} />;
}
