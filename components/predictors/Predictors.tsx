"use client";

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { useTRPC } from "../api/trpc";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { PredictorItem } from "./PredictorItem";
import { TrainPanel } from "./TrainPanel";
import { UsePanel } from "./UsePanel";

/** Trained predictors: the training form, the existing ones with their error on held-out data, and plans that use them. */
export function Predictors({ workloadId }: { readonly workloadId: string | null }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const query = useQuery(trpc.artefacts.list.queryOptions());
  const reread = useCallback(() => {
    void queries.invalidateQueries(trpc.artefacts.list.pathFilter());
    // Plans of slack dispatch use the newest predictor of confidence.
    for (const job of ["dispatch", "exact-plan"]) queries.removeQueries({ queryKey: [job] });
  }, [queries, trpc]);
  const artefacts = query.data ?? [];
  const status = queryStatus(query, {
    what: "Reading predictors",
    empty: query.data?.length === 0 && {
      kind: "empty",
      title: "No predictor yet",
      text: "A predictor estimates, before generation, how long answers will be or which model will be right. Plans use it to order and route requests, and the Lab compares it with the truth.",
    },
  });
  return (
    <>
      <TrainPanel workloadId={workloadId} onTrained={reread} />
      <Panel title="Predictors">
        <PanelState status={status}>
          {() => (
            <ul className="list-none">
              {artefacts.map((artefact) => (
                <PredictorItem key={artefact.hash} artefact={artefact} />
              ))}
            </ul>
          )}
        </PanelState>
      </Panel>
      {artefacts.length > 0 && <UsePanel artefacts={artefacts} />}
    </>
  );
}
