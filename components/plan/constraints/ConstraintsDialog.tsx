"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTRPC } from "@/components/api/trpc";
import { Button } from "@/components/ui/Button";
import { Modal } from "@/components/ui/Modal";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import type { ClusterSummary } from "@/server/contracts/studio";
import { gpuCount, gpuPrices, gpuTypes } from "@/solver/plan/clusterGpus";
import { type ConstraintsView, noConstraints } from "../address/constraintsCodec";
import { ClusterRules } from "./ClusterRules";
import { fittingShapes } from "./fittingShapes";
import { ModelRuleRow } from "./ModelRuleRow";
import { ruleOf, withRule } from "./modelRules";
import { RoutingRules } from "./RoutingRules";
import { YamlEditor } from "./YamlEditor";

/** All constraints of a plan in addition to its objective. Each change applies at once; the plan behind the dialog follows. */
export default function ConstraintsDialog(props: {
  readonly view: ConstraintsView;
  readonly cluster: ClusterSummary;
  readonly models: readonly string[];
  readonly identities: ReadonlyMap<string, ModelIdentity>;
  readonly onChange: (change: Partial<ConstraintsView>) => void;
  readonly onClose: () => void;
}) {
  const { view, cluster, models, onChange } = props;
  const { spec } = cluster;
  const { constraints } = view;
  const trpc = useTRPC();
  const cards = useQuery(trpc.cards.list.queryOptions()).data;
  const shapes = useMemo(() => new Map(models.map((model) => [model, fittingShapes(model, spec, cards)])), [models, spec, cards]);
  const prices = gpuPrices(spec);
  const usdPerHour = gpuTypes(spec).reduce((sum, type) => sum + gpuCount(spec, type) * (prices[type] ?? 0), 0);
  return (
    <Modal
      open
      onOpenChange={(open) => !open && props.onClose()}
      title="Constraints"
      description="Rules that every plan must meet, besides its objective. If not all can be met, the plan says which conflict and what would resolve it."
    >
      <div className="flex flex-col gap-5">
        <fieldset>
          <legend className="text-sm font-semibold">Models</legend>
          <p className="text-xs text-ink-3">
            “Replicas at least” pins a model: every plan has these replicas and their cost, even if the model gets no requests.
          </p>
          {models.map((model) => (
            <ModelRuleRow
              key={model}
              model={model}
              identity={props.identities.get(model)}
              rule={ruleOf(constraints, model)}
              shapes={shapes.get(model) ?? []}
              nodes={spec.nodes.map((node) => node.name)}
              onChange={(rule) => onChange({ constraints: withRule(constraints, model, rule) })}
            />
          ))}
        </fieldset>
        <ClusterRules
          constraints={constraints}
          usdPerHour={usdPerHour}
          runs={cluster.runningPlanId !== null}
          onChange={(change) => onChange({ constraints: { ...constraints, ...change } })}
        />
        <RoutingRules
          judge={view.judge}
          router={view.router}
          // The workload's own models answer, and no model may judge itself.
          models={(cards?.models ?? []).map(({ id }) => id).filter((id) => !models.includes(id))}
          onChange={onChange}
        />
        <YamlEditor constraints={constraints} onChange={(read) => onChange({ constraints: read })} />
        <div className="flex justify-end gap-2">
          <Button onClick={() => onChange({ constraints: noConstraints, judge: null, judgeSeconds: null, router: null })}>Clear all</Button>
          <Button look="primary" onClick={props.onClose}>
            Done
          </Button>
        </div>
      </div>
    </Modal>
  );
}
