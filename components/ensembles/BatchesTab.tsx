"use client";

import { useQuery } from "@tanstack/react-query";
import type { ClusterSummary } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import { Button } from "../ui/Button";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useUrlView } from "../url/useUrlView";
import { BatchList } from "./BatchList";
import { BatchPanel } from "./BatchPanel";
import { ensemblesCodec } from "./ensemblesCodec";
import { StartBatch } from "./StartBatch";
import { useEnsembles } from "./useEnsembles";

/** How often the list is read anew, while one of it runs and else. */
const [RUNNING_MS, IDLE_MS] = [1_000, 5_000];

/** Batches: what runs and ran, one of them whole, and the dialog that starts another. */
export function BatchesTab({ cluster }: { readonly cluster: ClusterSummary }) {
  const trpc = useTRPC();
  const [view, write] = useUrlView(ensemblesCodec);
  const ensembles = useEnsembles();
  const query = useQuery(
    trpc.batches.list.queryOptions(undefined, {
      refetchInterval: ({ state }) => (state.data?.some((batch) => batch.state === "running") ? RUNNING_MS : IDLE_MS),
    }),
  );
  const batches = query.data ?? [];
  const chosen = view.batch ?? batches[0]?.id ?? null;
  const start = () => write({ open: "start" }, "push");
  const status = queryStatus(query, {
    what: "Reading batches",
    empty: batches.length === 0 && {
      kind: "empty",
      title: "No batch was started yet",
      text: "A batch puts every question of a sample to an ensemble's experts, on free GPUs that load one expert after another, and asks the aggregator only where they agree too little. It goes on where it was if the studio is ended.",
      action: <Button onClick={start}>Start a batch</Button>,
    },
  });
  return (
    <>
      <Panel
        title="Batches"
        aside={
          <Button look="primary" onClick={start}>
            Start a batch
          </Button>
        }
      >
        <PanelState status={status}>
          {() => <BatchList batches={batches} chosen={chosen} onBatch={(batch) => write({ batch }, "push")} />}
        </PanelState>
      </Panel>
      {chosen !== null && (
        <BatchPanel
          key={chosen}
          id={chosen}
          listed={batches.find(({ id }) => id === chosen) ?? null}
          onSample={(sample) => write({ tab: "gate", sample, batch: null }, "push")}
          onRemoved={() => write({ batch: null }, "replace")}
        />
      )}
      {view.open === "start" && ensembles.data !== undefined && (
        <StartBatch
          cluster={cluster}
          ensembles={ensembles.data}
          chosen={view}
          onClose={() => write({ open: null }, "replace")}
          onStarted={(batch) => write({ open: null, batch, prompts: null }, "replace")}
        />
      )}
    </>
  );
}
