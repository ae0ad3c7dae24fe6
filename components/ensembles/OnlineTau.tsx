"use client";

import { useState } from "react";
import type { ServedEnsemble } from "@/server/contracts/studio";
import { formatTau, isSameTau } from "@/solver/ensemble/tauText";
import { useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { ReasonField } from "../ui/ReasonField";
import { stopOf } from "./prepareGate";
import { onlineStops, tauEffect } from "./prepareOnlineTau";
import { TauSlider } from "./TauSlider";
import { useEnsembleAct } from "./useEnsembles";

/** Tau of a served ensemble, in force from the next decision on once it is approved. */
export function OnlineTau({ clusterId, served }: { readonly clusterId: string; readonly served: ServedEnsemble }) {
  const client = useTRPCClient();
  const { ensemble } = served;
  const { name, tau, expertsPerQuestion } = ensemble;
  // What was moved holds for the tau it was moved from: another in force begins anew.
  const [draft, setDraft] = useState<{ readonly from: number; readonly to: number } | null>(null);
  const [reason, setReason] = useState("");
  const stops = onlineStops(served);
  const at = stopOf(stops, draft?.from === tau ? draft.to : tau);
  const chosen = stops[at]?.tau ?? tau;
  const changed = !isSameTau(chosen, tau);
  const change = `${formatTau(tau, expertsPerQuestion)} → ${formatTau(chosen, expertsPerQuestion)}`;
  const act = useEnsembleAct(
    (next: number) => client.ensembles.setTau.mutate({ clusterId, name, tau: next, reason }),
    () => setReason(""),
  );
  return (
    <form
      className="flex max-w-3xl min-w-0 flex-col gap-3"
      aria-label={`Tau of ${name}`}
      data-testid="online-tau"
      onSubmit={(event) => {
        event.preventDefault();
        if (changed && !act.isPending) act.mutate(chosen);
      }}
    >
      <TauSlider
        label="Skip the aggregator from tau"
        stops={stops}
        at={at}
        marked={{ at: stopOf(stops, tau), word: "in force" }}
        onStop={(index) => {
          act.reset();
          setDraft({ from: tau, to: stops[index]?.tau ?? tau });
        }}
      />
      {changed && (
        <div className="flex flex-wrap items-end gap-2">
          <ReasonField className="min-w-48 flex-1" label="Reason for the change (optional)" value={reason} onChange={setReason} />
          <Button onClick={() => setDraft(null)}>Leave it</Button>
          <Button type="submit" look="primary" disabled={act.isPending}>
            {act.isPending ? "Asking the gateway …" : `Approve ${change}`}
          </Button>
        </div>
      )}
      {/* Below the buttons: its length follows the counts. */}
      <p className="text-sm text-ink-2">{tauEffect(served, chosen)}</p>
      <ErrorLine error={act.error} />
      {act.isSuccess && !changed && (
        <p role="status" className="text-sm text-ink-2">
          In force: tau {formatTau(tau, expertsPerQuestion)}, from the next decision on.
        </p>
      )}
    </form>
  );
}
