"use client";

import { useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { gracePoints, graceText } from "@/solver/plan/grace";
import { cascadeOf } from "@/solver/plan/policySchema";
import { changeGrace, graceAbove } from "@/solver/policies/changeGrace";
import { usePlanAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { useClusterLink } from "../shell/useCurrentCluster";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { ErrorLine } from "../ui/ErrorLine";
import { NumberField } from "../ui/Field";

/** The bound where a plan has none. */
const WAITING = 20;

/** Makes a plan with the engines and routes of the one in force that allows grace or not. It is approved and applied like any plan. */
export function GraceForm({ planId }: { readonly planId: string }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const router = useRouter();
  const link = useClusterLink();
  const [change, setChange] = useState<{ readonly on?: boolean; readonly waiting?: number }>({});
  const { data, error } = useQuery(trpc.plans.get.queryOptions({ planId }, { staleTime: Number.POSITIVE_INFINITY }));
  const make = usePlanAct(client.plans.reroute.mutate, ({ id }) => router.push(link(`/apply/${id}`)));
  const plan = data?.plan;
  const cascade = plan === undefined ? null : cascadeOf(plan.policy);
  const planned = cascade?.grace;
  const on = change.on ?? planned !== undefined;
  const waiting = change.waiting ?? planned?.waiting ?? WAITING;
  const grace = planned?.waiting === waiting ? planned : graceAbove(waiting);
  const made = plan === undefined ? null : changeGrace(on ? grace : null, plan.policy);
  const falls = cascade === null ? [] : gracePoints(cascade);
  return (
    <form
      noValidate
      className="flex flex-col gap-3"
      aria-label="Grace of a plan"
      onSubmit={(event) => {
        event.preventDefault();
        if (plan === undefined || made === null || !("policy" in made) || make.isPending) return;
        make.mutate({ planId, name: `${on ? "grace" : "no grace"}, ${plan.metadata.name.slice(0, 60)}`, policy: made.policy });
      }}
    >
      <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
        <Check checked={on} disabled={cascade === null} onChange={(checked) => setChange({ ...change, on: checked })}>
          Lower thresholds while a later stage is overloaded
        </Check>
        <NumberField
          label="Requests that may wait for a later stage"
          value={waiting}
          min={1}
          max={1_000_000}
          whole
          disabled={!on}
          onChange={(value) => setChange({ ...change, waiting: value })}
        />
      </div>
      <p className="text-sm text-ink-2">
        With grace, {graceText(grace)}. Fewer answers are escalated then: quality falls a little and answers come sooner. No threshold
        leaves its approved range or rises above the plan's.
      </p>
      {cascade !== null && cascade.thresholds.length > 0 && on && (
        <p className="text-xs text-ink-3">
          {cascade.thresholds
            .map((own, stage) => `${cascade.stages[stage]?.model ?? ""} from ${own} to at least ${own - (falls[stage] ?? 0)}`)
            .join(", ")}
          .
        </p>
      )}
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" look="primary" disabled={made === null || "refused" in made}>
          {make.isPending ? "Saving …" : "Make the plan and review it"}
        </Button>
        <p role="status" className="min-w-0 flex-1 basis-60 text-xs text-ink-3 [overflow-wrap:anywhere]">
          {made === null ? "Reading the plan …" : "refused" in made ? made.refused : "No engine is started or stopped for it."}
        </p>
      </div>
      <ErrorLine error={make.error ?? error} />
    </form>
  );
}
