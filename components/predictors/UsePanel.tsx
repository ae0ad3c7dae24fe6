"use client";

import { useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import type { ArtefactKind, ListedArtefact } from "@/server/contracts/studio";
import { MOST_TAU } from "@/solver/plan/planSlack";
import { usePredictorAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { useClusterLink, useCurrentCluster } from "../shell/useCurrentCluster";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { NumberField, SelectField, TextField } from "../ui/Field";
import { shortHash } from "../ui/format";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { composeRouting, orders, type RoutingForm } from "./composeRouting";
import { preparePredictor } from "./preparePredictor";

const orderWords: Readonly<Record<(typeof orders)[number], string>> = {
  fcfs: "first come, first served",
  sjf: "shortest request first",
  stjf: "shortest program first",
};

const untouched: RoutingForm = { route: "same", tau: 0.5, margin: 0, order: "stjf", lengths: "", confidence: "" };

/** Makes a plan that uses predictors from a stored one: the same engines, another policy. It is approved and applied like any other. */
export function UsePanel({ artefacts }: { readonly artefacts: readonly ListedArtefact[] }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const router = useRouter();
  const link = useClusterLink();
  const cluster = useCurrentCluster();
  const clusterId = cluster?.spec.id ?? null;
  const plans = useQuery(trpc.plans.list.queryOptions({ clusterId }, { enabled: clusterId !== null }));
  const [planId, setPlanId] = useState<string | null>(null);
  const [form, setForm] = useState(untouched);
  const [name, setName] = useState("");
  const put = (change: Partial<RoutingForm>) => setForm((old) => ({ ...old, ...change }));
  const chosen = plans.data?.find(({ id }) => id === planId) ?? plans.data?.[0];
  const kept = useQuery(trpc.plans.get.queryOptions({ planId: chosen?.id ?? "" }, { enabled: chosen !== undefined }));
  const suggestion = useQuery({
    queryKey: ["lab.suggest", "of a plan", chosen?.id],
    queryFn: async () =>
      unwrapOutcome(await client.lab.suggest.mutate({ workloadId: chosen?.workloadId ?? "", planId: chosen?.id ?? "" })).suggestion,
    enabled: chosen !== undefined && form.route === "slack",
    retry: false,
  });
  const keep = usePredictorAct(client.plans.reroute.mutate, ({ id }) => router.push(link(`/apply/${id}`)));
  const made = kept.data === undefined ? null : composeRouting(form, kept.data.plan, suggestion.data ?? null);
  const waits = form.route === "slack" && suggestion.isFetching;
  const refusal = made !== null && "refused" in made && !waits ? made.refused : null;
  const trained = (kind: ArtefactKind) => [
    { value: "", text: "none" },
    ...artefacts
      .filter((one) => one.kind === kind)
      .map((one) => ({ value: one.hash, text: `${preparePredictor(one).title}, ${shortHash(one.hash)}` })),
  ];
  const status = queryStatus(plans, {
    what: "Reading plans",
    empty: plans.data?.length === 0 && {
      kind: "empty",
      title: "No saved plan",
      text: "A predictor runs on the engines of a plan. Make a plan on the Plan page and save it.",
    },
  });
  return (
    <Panel title="Use in a plan">
      <PanelState status={clusterId === null ? { kind: "loading", what: "Reading clusters" } : status}>
        {() => (
          <form
            className="flex flex-col gap-3"
            aria-label="Plan that uses predictors"
            onSubmit={(event) => {
              event.preventDefault();
              if (chosen !== undefined && made !== null && "policy" in made)
                keep.mutate({
                  planId: chosen.id,
                  name: name.trim() || `${chosen.name}, with predictors`.slice(0, 80),
                  policy: made.policy,
                });
            }}
          >
            <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
              <SelectField
                label="On the engines of"
                value={chosen?.id ?? ""}
                options={(plans.data ?? []).map((plan) => ({ value: plan.id, text: `${plan.name}, ${shortHash(plan.id)}` }))}
                onChange={setPlanId}
              />
              <SelectField
                label="Route"
                value={form.route}
                options={[
                  { value: "same", text: "as that plan routes" },
                  { value: "slack", text: "surest within a slack (Chimera)" },
                ]}
                onChange={(route) => put({ route })}
              />
              {form.route === "slack" && (
                <>
                  <NumberField label="Slack τ" value={form.tau} min={0} max={MOST_TAU} step={0.25} onChange={(tau) => put({ tau })} />
                  <NumberField
                    label="Margin of confidence"
                    value={form.margin}
                    min={0}
                    max={1}
                    step={0.05}
                    onChange={(margin) => put({ margin })}
                  />
                </>
              )}
              <SelectField
                label="Order"
                value={form.order}
                options={orders.map((value) => ({ value, text: orderWords[value] }))}
                onChange={(order) => put({ order })}
              />
              <SelectField label="Lengths by" value={form.lengths} options={trained("lengths")} onChange={(lengths) => put({ lengths })} />
              <SelectField
                label="Confidence by"
                value={form.confidence}
                options={trained("confidence")}
                onChange={(confidence) => put({ confidence })}
              />
              <TextField
                label="Name of the plan"
                value={name}
                maxLength={80}
                placeholder={`${chosen?.name ?? ""}, with predictors`}
                onChange={setName}
              />
            </div>
            <div className="flex flex-wrap items-center gap-3">
              <Button type="submit" disabled={made === null || "refused" in made || waits || keep.isPending}>
                {keep.isPending ? "Saving …" : "Save as a plan"}
              </Button>
              <p role="status" className="min-w-0 flex-1 basis-60 text-xs text-ink-3 [overflow-wrap:anywhere]">
                {waits
                  ? "Reading its engines …"
                  : (suggestion.error?.message ??
                    refusal ??
                    "It keeps the figures of its source plan, which do not cover this policy: race it first. It is approved and applied like any plan, and the gateway receives the predictors with it.")}
              </p>
            </div>
            <ErrorLine error={keep.error} />
          </form>
        )}
      </PanelState>
    </Panel>
  );
}
