"use client";

import { useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { orderNames, placeNames } from "@/solver/lab/partNames";
import { changeQueueing, type Queueing, queueingOf } from "@/solver/policies/changeQueueing";
import { usePlanAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { ClusterLink } from "../shell/ClusterLink";
import { useClusterLink } from "../shell/useCurrentCluster";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { ErrorLine } from "../ui/ErrorLine";
import { SelectField, TextField } from "../ui/Field";
import { orderKinds, orderSaysUnder, orderUnder, placeKinds, placeSays } from "./queueingText";
import { usePlanChoices } from "./usePlanChoices";

/** Makes a plan with the engines and routes of another and a different order and place. It is approved and applied like any plan. */
export function OrderForm({ clusterId, inForce }: { readonly clusterId: string; readonly inForce: string }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const router = useRouter();
  const link = useClusterLink();
  const choices = usePlanChoices(clusterId, true);
  const [planId, setPlanId] = useState(inForce);
  const [change, setChange] = useState<Partial<Queueing>>({});
  const [name, setName] = useState("");
  const plan = useQuery(trpc.plans.get.queryOptions({ planId }, { staleTime: Number.POSITIVE_INFINITY })).data?.plan;
  const make = usePlanAct(client.plans.reroute.mutate, ({ id }) => router.push(link(`/apply/${id}`)));
  const form = plan === undefined ? null : { ...queueingOf(plan.policy), ...change };
  const made = plan === undefined || form === null ? null : changeQueueing(form, plan.policy);
  const others = choices.filter(({ plan: { id } }) => id !== inForce).map(({ option }) => option);
  const inForceText = choices.find(({ plan: { id } }) => id === inForce)?.option.text ?? "";
  const suggested = form === null ? "" : `${form.order} and ${form.place}, ${plan?.metadata.name.slice(0, 50)}`;
  return (
    <form
      noValidate
      className="flex flex-col gap-3"
      aria-label="Order and place of a plan"
      onSubmit={(event) => {
        event.preventDefault();
        if (made !== null && "policy" in made && !make.isPending)
          make.mutate({ planId, name: name.trim() || suggested, policy: made.policy });
      }}
    >
      <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
        <SelectField
          className="w-96 max-w-full"
          label="On the engines and routes of"
          value={planId}
          options={[{ value: inForce, text: `in force: ${inForceText}` }, ...others]}
          onChange={(id) => {
            setPlanId(id);
            setChange({});
          }}
        />
        <SelectField
          label="Order"
          value={form?.order ?? ""}
          options={orderKinds.map((kind) => ({ value: kind, text: plan === undefined ? orderNames[kind] : orderUnder(plan.policy, kind) }))}
          disabled={form === null}
          onChange={(order) => setChange({ ...change, order })}
        />
        <SelectField
          label="Where to"
          value={form?.place ?? ""}
          options={placeKinds.map((kind) => ({ value: kind, text: placeNames[kind] }))}
          disabled={form === null}
          onChange={(place) => setChange({ ...change, place })}
        />
        <Check checked={form?.affinity ?? false} onChange={(affinity) => setChange({ ...change, affinity })}>
          A program returns to its last replica
        </Check>
        <TextField
          className="w-96 max-w-full"
          label="Name of the plan"
          value={name}
          maxLength={80}
          placeholder={suggested}
          onChange={setName}
        />
      </div>
      {plan !== undefined && form !== null && (
        <dl className="grid grid-cols-[auto_1fr] gap-x-2 text-xs text-ink-3">
          <dt className="font-medium">Who goes first:</dt>
          <dd>{orderSaysUnder(plan.policy, form.order)}</dd>
          <dt className="font-medium">Where to:</dt>
          <dd>{placeSays[form.place]}</dd>
        </dl>
      )}
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" look="primary" disabled={made === null || "refused" in made}>
          {make.isPending ? "Saving …" : "Make the plan and review it"}
        </Button>
        <p role="status" className="min-w-0 flex-1 basis-60 text-xs text-ink-3 [overflow-wrap:anywhere]">
          {made === null ? (
            "Reading the plan …"
          ) : "refused" in made ? (
            made.refused
          ) : (
            <>
              It keeps the plan's figures, which do not cover another order: <ClusterLink to="/lab">race it in the Lab</ClusterLink> first.
              {planId === inForce && " No engine is started or stopped for it."}
            </>
          )}
        </p>
      </div>
      <ErrorLine error={make.error} />
    </form>
  );
}
