"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../api/trpc";
import { Button } from "../ui/Button";
import { TextField } from "../ui/Field";
import { formatCounted } from "../ui/format";
import { PageHeader } from "../ui/PageHeader";
import { Panel } from "../ui/Panel";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useUrlView } from "../url/useUrlView";
import { AddGpu } from "./AddGpu";
import { AddModel } from "./AddModel";
import { type CardsView, cardsCodec } from "./cardsCodec";
import { FitChecker } from "./FitChecker";
import { GpuTable } from "./GpuTable";
import { ModelTable } from "./ModelTable";
import { type CardList, findCards } from "./prepareCards";

/** Cards: the planner's data on models and GPUs, the origin of the figures, and how to add your own. */
export function CardsScreen() {
  const query = useQuery(useTRPC().cards.list.queryOptions());
  const [view, write] = useUrlView(cardsCodec);
  const asked = queryStatus(query, { what: "Reading cards" });
  const problem = query.data?.problem ?? null;
  const status: PanelStatus =
    asked.kind === "ready" && problem !== null ? { kind: "partial", note: `your own cards are missing. ${problem}` } : asked;
  const [first, ...others] = query.data?.gpus ?? [];
  const close = () => write({ add: null }, "replace");
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="Cards">
        <div className="ml-auto flex flex-wrap gap-2">
          <Button onClick={() => write({ add: "gpu" }, "push")}>Add a GPU</Button>
          <Button look="primary" onClick={() => write({ add: "model" }, "push")}>
            Add a model
          </Button>
        </div>
      </PageHeader>
      <PanelState status={status}>
        {() => query.data !== undefined && <Cards cards={query.data} view={view} onChange={(change) => write(change, "replace")} />}
      </PanelState>
      {view.add === "model" && <AddModel onClose={close} />}
      {view.add === "gpu" && first !== undefined && <AddGpu gpus={[first, ...others]} onClose={close} />}
    </div>
  );
}

function Cards(props: { readonly cards: CardList; readonly view: CardsView; readonly onChange: (change: Partial<CardsView>) => void }) {
  const { cards, view, onChange } = props;
  const models = findCards(cards.models, view.find);
  const gpus = findCards(cards.gpus, view.find);
  const none = <p className="text-sm text-ink-3">No card matches “{view.find}”.</p>;
  return (
    <div className="flex flex-col gap-4">
      <FitChecker cards={cards} view={view} onChange={onChange} />
      <TextField
        label="Find a card"
        className="max-w-80"
        value={view.find}
        placeholder="such as qwen3 or l40s"
        onChange={(find) => onChange({ find })}
      />
      <Panel title="GPUs" aside={formatCounted(gpus.length, "card")}>
        {gpus.length === 0 ? none : <GpuTable gpus={gpus} />}
      </Panel>
      <Panel title="Models" aside={formatCounted(models.length, "card")}>
        {models.length === 0 ? none : <ModelTable models={models} />}
      </Panel>
    </div>
  );
}
