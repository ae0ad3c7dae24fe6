"use client";

import { useState } from "react";
import { useEnsembleAct } from "@/components/api/acts";
import { useTRPCClient } from "@/components/api/trpc";
import { Button } from "@/components/ui/Button";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { ReasonField } from "@/components/ui/ReasonField";
import type { ServedEnsemble } from "@/server/contracts/studio";
import { formatTau, isSameTau } from "@/solver/ensemble/gate/tauText";
import { stopOf } from "../gate/prepareGate";
import { TauSlider } from "../gate/TauSlider";
import { onlineStops, tauEffect } from "./prepareOnlineTau";

/** Tau of a served ensemble, in force from the next decision after it is approved. */
export function OnlineTau({ clusterId, served }: { readonly clusterId: string; readonly served: ServedEnsemble }) {
  const client = useTRPCClient();
  const { ensemble } = served;
  const { name, tau, expertsPerQuestion } = ensemble;
  // A draft belongs to the tau in force when it was made; another tau in force resets it.
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
          <Button onClick={() => setDraft(null)}>Cancel</Button>
          <Button type="submit" look="primary" disabled={act.isPending}>
            {act.isPending ? "Waiting for the gateway …" : `Approve ${change}`}
          </Button>
        </div>
      )}
      {/* Below the buttons, because its length follows the counts. */}
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
