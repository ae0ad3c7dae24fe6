"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "@/components/api/trpc";
import { Button } from "@/components/ui/Button";
import { Panel } from "@/components/ui/Panel";
import { PanelState } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import { useUrlView } from "@/components/url/useUrlView";
import type { ClusterSummary } from "@/server/contracts/studio";
import { ensemblesCodec } from "../address/ensemblesCodec";
import { useEnsembles } from "../address/useEnsembles";
import { BatchList } from "./BatchList";
import { BatchPanel } from "./BatchPanel";
import { StartBatch } from "./StartBatch";

/** Polling intervals of the list: while a batch runs, and otherwise. */
const [RUNNING_MS, IDLE_MS] = [1_000, 5_000];

/** Batches: running and finished ones, the details of one, and the dialog that starts another. */
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
      title: "No batch yet",
      text: "A batch sends every question of a sample to an ensemble's experts, on free GPUs that load one expert after another. It calls the aggregator only where agreement is too low. After a restart of the studio it continues where it stopped.",
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
