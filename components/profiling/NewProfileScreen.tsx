"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { PromptSet } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import { intervalText, retentionText } from "../prompts/prepareSample";
import { ClusterLink } from "../shell/ClusterLink";
import { useCurrentCluster } from "../shell/useCurrentCluster";
import { Button, buttonClass } from "../ui/Button";
import { SelectField, TextField } from "../ui/Field";
import { formatCount, formatCounted } from "../ui/format";
import { PageHeader } from "../ui/PageHeader";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useSessionState } from "../ui/useSessionState";
import { codecOf, text } from "../url/addressFields";
import { useUrlView } from "../url/useUrlView";
import { WorkloadTabs } from "../workloads/WorkloadTabs";
import { CandidateList } from "./CandidateList";
import { EstimatePanel } from "./EstimatePanel";
import { GateFields } from "./GateFields";
import { LimitFields } from "./LimitFields";
import { MeasureFields } from "./MeasureFields";
import { prepareRequest } from "./prepareRequest";
import { type ProfileForm, startingForm, startingMeasures, startingModels, withMeasure } from "./profileForm";
import { useProfileEndpoints } from "./useProfileEndpoints";

/** The view of a new profile; the rest of the form is too long for an address and is stored in the tab's storage. */
const newProfileCodec = codecOf({
  /** Id of the sample; null: the newest. */
  set: text(),
});

/** The form of one sample, initialised from its storage and from the available models. */
function Filled(props: {
  readonly set: PromptSet;
  readonly ground: NonNullable<ReturnType<typeof useProfileEndpoints>>;
  /** Names of existing profiles. */
  readonly names: readonly string[];
}) {
  const { set, ground: found, names } = props;
  const { ground, sizes } = found;
  const currentId = useCurrentCluster()?.spec.id ?? null;
  const [kept, keep] = useSessionState<ProfileForm>(`weir.profile.${set.id}`);
  const form = useMemo(() => {
    // A form that an earlier version of the page stored has not all fields.
    const told = { ...startingForm(set, names), ...kept };
    return {
      ...told,
      chosen: told.chosen ?? startingModels(ground, currentId),
      measures: told.measures ?? startingMeasures(set, ground, currentId),
    };
  }, [kept, set, names, ground, currentId]);
  const { request, blocked } = useMemo(() => prepareRequest(form, set, sizes), [form, set, sizes]);
  const put = (change: Partial<ProfileForm>): void => keep({ ...(kept ?? startingForm(set, names)), ...change });
  const models = [...form.chosen, ...form.elsewhere].map(({ model }) => model.trim()).filter(Boolean);
  const byMeasure = (id: string) => form.measures.findIndex((each) => each.id === id);
  return (
    <>
      <Panel title="2. Models that answer">
        <CandidateList ground={ground} chosen={form.chosen} elsewhere={form.elsewhere} onChange={put} />
      </Panel>
      <Panel title="3. Measures of their answers" aside={formatCounted(form.measures.length, "measure")}>
        <div className="flex flex-col gap-4">
          <p className="max-w-prose text-sm text-ink-2">
            A workload needs two measures: the gate's score while serving, from a judge, and the quality label, from another measure. With
            one measure for both, thresholds have no trade-off.
          </p>
          {form.measures.map((measure) => (
            <MeasureFields
              key={measure.id}
              value={measure}
              set={set}
              models={models}
              ground={ground}
              onChange={(next) => put({ measures: form.measures.with(byMeasure(measure.id), next) })}
              onRemove={form.measures.length === 1 ? null : () => put({ measures: form.measures.filter(({ id }) => id !== measure.id) })}
            />
          ))}
          <div>
            <Button disabled={form.measures.length >= 8} onClick={() => put({ measures: withMeasure(form.measures, ground, currentId) })}>
              Add a measure
            </Button>
          </div>
          <GateFields form={form} onChange={put} />
        </div>
      </Panel>
      <Panel title="4. Limits">
        <div className="flex flex-col gap-3">
          <TextField label="Name of the profile" className="max-w-96" value={form.name} maxLength={80} onChange={(name) => put({ name })} />
          <LimitFields form={form} onChange={put} />
        </div>
      </Panel>
      <EstimatePanel set={set} request={request} blocked={blocked} onStarted={() => keep(null)} />
    </>
  );
}

/** A new profile: its prompts, models, measures and limits, and the estimate. */
export function NewProfileScreen() {
  const trpc = useTRPC();
  const query = useQuery(trpc.prompts.list.queryOptions());
  const { data: profiles } = useQuery(trpc.profiles.list.queryOptions());
  const names = useMemo(() => (profiles ?? []).map(({ request }) => request.name), [profiles]);
  const [view, write] = useUrlView(newProfileCodec);
  const ground = useProfileEndpoints();
  const sets = (query.data ?? []).filter(({ deleted }) => !deleted);
  const set = view.set === null ? sets[0] : sets.find(({ id }) => id === view.set);
  const status = queryStatus(query, {
    what: "Reading samples",
    empty: query.data !== undefined &&
      sets.length === 0 && {
        kind: "empty",
        title: "No sample to profile",
        text: "Take a sample of your prompts first: upload a file, or take them from a gateway.",
        action: (
          <ClusterLink to="/workloads/prompts?upload=1" className={buttonClass("primary")}>
            Upload prompts
          </ClusterLink>
        ),
      },
  });
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="New profile">
        <p className="min-w-0 text-sm text-ink-3">
          Models answer your prompts, measures score the answers, and the result becomes a workload.
        </p>
      </PageHeader>
      <WorkloadTabs />
      <PanelState status={status}>
        {() => (
          <div className="flex flex-col gap-4">
            <Panel title="1. Prompts">
              <div className="flex flex-col gap-2">
                <SelectField
                  label="Sample"
                  className="max-w-96"
                  value={set?.id ?? ""}
                  options={[
                    ...(set === undefined ? [{ value: "", text: "choose one" }] : []),
                    ...sets.map(({ id, name, prompts }) => ({ value: id, text: `${name} (${formatCounted(prompts, "prompt")})` })),
                  ]}
                  onChange={(id) => id !== "" && write({ set: id }, "push")}
                />
                {set === undefined ? (
                  <p role="status" className="text-sm text-warn">
                    That sample does not exist, or its texts were deleted: choose another one.
                  </p>
                ) : (
                  <p className="text-sm text-ink-2">
                    {formatCount(set.prompts)} of {formatCount(set.population)} prompts of {set.from}.{" "}
                    {set.interval.points > 0 && `A mean quality of them is that of the whole to ${intervalText(set.interval)}. `}Texts are
                    kept {retentionText(set)}.
                  </p>
                )}
              </div>
            </Panel>
            {set !== undefined &&
              (ground === null ? (
                <PanelState status={{ kind: "loading", what: "Reading running models" }}>{() => null}</PanelState>
              ) : (
                <Filled key={set.id} set={set} ground={ground} names={names} />
              ))}
          </div>
        )}
      </PanelState>
    </div>
  );
}
