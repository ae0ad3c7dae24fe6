"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTRPC } from "@/components/api/trpc";
import { useAllowed, useHindrance } from "@/components/api/useMe";
import { Button } from "@/components/ui/Button";
import { lockedStatus } from "@/components/ui/lockedStatus";
import { NumberGuard } from "@/components/ui/NumberGuard";
import { Panel } from "@/components/ui/Panel";
import { PanelState, type PanelStatus } from "@/components/ui/PanelState";
import { jointStatus } from "@/components/ui/queryStatus";
import { useUrlView } from "@/components/url/useUrlView";
import type { ClusterSummary, KeptEnsemble } from "@/server/contracts/studio";
import { type EnsemblesView, ensemblesCodec } from "../address/ensemblesCodec";
import { useEnsembleInView } from "../address/useEnsembleInView";
import { EnsembleBar } from "../edit/EnsembleBar";
import { EnsembleDialog } from "../edit/EnsembleDialog";
import { MeasuredSessions } from "./MeasuredSessions";
import { PlaceFields } from "./PlaceFields";
import { PlacementPanels } from "./PlacementPanels";
import { PlacementProgress } from "./PlacementProgress";
import { type PlaceGround, preparePlaceForm } from "./preparePlaceForm";
import { useAssignments } from "./useAssignments";
import { type Placing, usePlacement } from "./usePlacement";

type Write = (change: Partial<EnsemblesView>, how: "push" | "replace") => void;

/** A placement's state: why there is none, that it is being computed, what failed, or that an earlier one is shown. */
function placingStatus({ placement, error, cancelled, ask }: Placing, problem: string | null): PanelStatus {
  if (problem !== null) return { kind: "empty", title: "Nothing can be placed yet", text: problem };
  if (error !== null && placement === undefined) return { kind: "error", message: error.message, retry: ask };
  if (error !== null) return { kind: "stale", note: `${error.message} The placement shown is an earlier one.` };
  if (placement !== undefined) return { kind: "ready" };
  if (cancelled)
    return {
      kind: "empty",
      title: "Cancelled",
      text: "The placement was cancelled.",
      action: <Button onClick={ask}>Place experts</Button>,
    };
  return { kind: "loading", what: "Placing experts" };
}

function Placed(props: {
  readonly kept: KeptEnsemble;
  readonly ensembles: readonly KeptEnsemble[];
  readonly ground: PlaceGround;
  readonly view: EnsemblesView;
  readonly write: Write;
}) {
  const { kept, ensembles, ground, view, write } = props;
  const assigned = useAssignments(view.assigned, write);
  const { sent } = assigned;
  const form = useMemo(() => preparePlaceForm(kept.ensemble, view, ground, sent), [kept, view, ground, sent]);
  const hindrance = useHindrance("prepare");
  const mayAsk = useAllowed("prepare");
  const placing = usePlacement(mayAsk ? form.request : null);
  const { placement, current } = placing;
  return (
    <>
      <Panel title="Setup" aside={<PlacementProgress placing={placing} />}>
        <div className="flex flex-col gap-4">
          <EnsembleBar kept={kept} ensembles={ensembles} onChange={write} />
          <NumberGuard>
            {() => <PlaceFields form={form} view={view} assigned={assigned} onChange={(change) => write(change, "replace")} />}
          </NumberGuard>
        </div>
      </Panel>
      <PanelState status={hindrance === null ? placingStatus(placing, form.problem) : lockedStatus(hindrance)}>
        {() =>
          placement !== undefined && (
            <PlacementPanels
              placement={placement}
              current={current}
              isBusy={!current && !placing.cancelled && placing.error === null}
              baseline={view.schedule}
              onBaseline={(schedule) => write({ schedule }, "replace")}
            />
          )
        }
      </PanelState>
      <MeasuredSessions placement={placement ?? null} />
    </>
  );
}

/** Where the experts of an ensemble are placed: the inputs, and the placement compared with baselines. */
export function PlaceTab({ cluster }: { readonly cluster: ClusterSummary }) {
  const trpc = useTRPC();
  const [view, write] = useUrlView(ensemblesCodec);
  const { ensembles, kept, status } = useEnsembleInView(view.ensemble, write);
  const cards = useQuery(trpc.cards.list.queryOptions());
  const workloads = useQuery(trpc.workloads.list.queryOptions());
  const samples = useQuery(trpc.ensembles.samples.queryOptions());
  const prompts = useQuery(trpc.prompts.list.queryOptions());
  const ground = useMemo(
    () =>
      cards.data === undefined || workloads.data === undefined || samples.data === undefined || prompts.data === undefined
        ? null
        : { cluster: cluster.spec, cards: cards.data, workloads: workloads.data, samples: samples.data, prompts: prompts.data },
    [cluster.spec, cards.data, workloads.data, samples.data, prompts.data],
  );
  return (
    <>
      <PanelState status={status}>
        {() =>
          kept !== null &&
          (ground === null ? (
            <PanelState status={jointStatus([cards, workloads, samples, prompts], "Reading clusters and workloads")}>
              {() => null}
            </PanelState>
          ) : (
            <Placed key={kept.ensemble.name} kept={kept} ensembles={ensembles} ground={ground} view={view} write={write} />
          ))
        }
      </PanelState>
      {(view.open === "new" || (view.open === "edit" && kept !== null)) && (
        <EnsembleDialog
          kept={view.open === "edit" ? kept : null}
          onClose={() => write({ open: null }, "replace")}
          onKept={(ensemble) => write({ open: null, ensemble }, "replace")}
        />
      )}
    </>
  );
}
