"use client";

import { useQuery } from "@tanstack/react-query";
import type { LabSpec, LabSuggestion, LabWorkflow, WorkloadSummary } from "@/server/contracts/studio";
import { raceLimits } from "@/solver/lab/raceLimits";
import { useTRPC } from "../api/trpc";
import { usePlanChoices } from "../routing/usePlanChoices";
import { useCurrentCluster } from "../shell/useCurrentCluster";
import { Button } from "../ui/Button";
import { NumberField, SelectField } from "../ui/Field";
import { formatCounted, formatRate } from "../ui/format";
import { Knob } from "../ui/Knob";
import { Notes } from "../ui/Notes";
import { OriginBadges } from "../workloads/OriginBadges";
import { areStale, fitRace, lackingModels } from "./composeSystem";
import { DetailFields } from "./DetailFields";
import { EngineFields } from "./EngineFields";
import { Fold } from "./Fold";
import { MixFields } from "./MixFields";
import { PlanPicker } from "./PlanPicker";
import { enginesText, setupWorkloads } from "./prepareSetup";
import { RateFields } from "./RateFields";
import { SystemEditor } from "./SystemEditor";
import { SystemList } from "./SystemList";

const MOST_SEEDS = 20;

/** The effect of a wrong answer of a helper agent, in words. */
function misleadingSays(chance: number): string {
  if (chance === 0) return "Helping agents, such as planners, do not change the answers of others.";
  return `Where a helping agent is wrong, ${Math.round(100 * chance)} of 100 agents that read it are wrong too.`;
}

/**
 * What stages of one program have in common, in words. A stage uses its program's own prompt with a probability of the root of the
 * correlation.
 */
function correlationSays(correlation: number): string {
  if (correlation === 1) return "Every stage of a program is as hard and as long as its prompt makes it.";
  if (correlation === 0) return "Each stage of a program comes from another prompt: a long or failed stage does not predict the next.";
  const own = Math.round(Math.sqrt(correlation) * 100);
  return `Length and success of two stages of a program correlate by ${correlation}: ${own} of 100 stages use answers to the program's own prompt, the rest use answers to another prompt.`;
}

/** All inputs of a run's figures, to read and change. */
export function SetupPanel(props: {
  readonly spec: LabSpec;
  readonly suggestion: LabSuggestion | undefined;
  readonly workloads: readonly WorkloadSummary[];
  readonly workflows: readonly LabWorkflow[];
  readonly onWorkload: (workloadId: string) => void;
  readonly onPlan: (planId: string) => void;
  readonly onChange: (change: Partial<LabSpec>, how: "push" | "replace") => void;
}) {
  const { spec, suggestion, workloads, onChange } = props;
  const cluster = useCurrentCluster();
  const { data: cards } = useQuery(useTRPC().cards.list.queryOptions());
  const workload = workloads.find(({ id }) => id === spec.workloadId);
  const clusterId = cluster?.spec.id ?? "";
  const plans = usePlanChoices(clusterId, cluster !== null);
  const mixText = spec.mix.map(({ workflow }) => props.workflows.find(({ name }) => name === workflow)?.title ?? workflow).join("; ");
  const stale = suggestion !== undefined && areStale(spec.systems, suggestion);
  const lacking = suggestion === undefined ? [] : lackingModels(spec.systems, spec.replicas);
  return (
    <div className="flex flex-col">
      <div className="flex flex-wrap items-end gap-x-6 gap-y-3 pb-3">
        <SelectField
          className="w-96 max-w-full"
          label="Workload"
          value={spec.workloadId}
          options={setupWorkloads(workloads, spec.workloadId)}
          onChange={props.onWorkload}
        />
        <NumberField
          label="Programs of each rate and seed"
          value={spec.programs}
          min={20}
          max={100_000}
          step={100}
          whole
          onChange={(programs) => onChange({ programs }, "replace")}
        />
        <NumberField
          label="Seeds"
          value={spec.seeds.length}
          min={1}
          max={MOST_SEEDS}
          whole
          onChange={(count) => onChange({ seeds: Array.from({ length: count }, (_, at) => at + 1) }, "replace")}
        />
        <SelectField
          label="Arrivals of programs"
          value={spec.arrivals}
          options={[
            { value: "poisson", text: "at random (Poisson)" },
            { value: "workload", text: "like the workload's requests" },
          ]}
          onChange={(arrivals) => onChange({ arrivals }, "push")}
        />
        {workload !== undefined && (
          <p className="flex min-h-8 items-center gap-2 text-xs text-ink-3">
            {formatCounted(workload.heldOutPrompts, "held-out prompt")} to draw programs from
            <OriginBadges workload={workload} />
          </p>
        )}
      </div>
      <div className="border-t py-3">
        <h3 className="mb-2 text-sm font-medium">Rates</h3>
        <RateFields
          rates={spec.rates}
          saturation={suggestion?.saturationRate ?? null}
          onRates={(rates) => onChange({ rates }, "replace")}
        />
      </div>
      <Fold title="Programs" says={mixText}>
        <div className="flex flex-col gap-4 pt-3">
          <MixFields workflows={props.workflows} mix={spec.mix} onMix={(mix) => onChange({ mix }, "replace")} />
          <div className="flex max-w-xl flex-col gap-4">
            <Knob
              label="Correlation of a program's stages"
              value={spec.correlation}
              min={0}
              max={1}
              step={0.05}
              unit=""
              note={`${correlationSays(spec.correlation)} This is modelled: prompts were answered one by one, not in programs.`}
              onDraft={(correlation) => onChange({ correlation }, "replace")}
              onCommit={(correlation) => onChange({ correlation }, "replace")}
              onReset={spec.correlation === 0.5 ? null : () => onChange({ correlation: 0.5 }, "replace")}
            />
            <Knob
              label="Chance that a wrong answer misleads"
              value={spec.misleads ?? 0}
              min={0}
              max={1}
              step={0.05}
              unit=""
              note={`${misleadingSays(spec.misleads ?? 0)} No published measurement exists.`}
              onDraft={(misleads) => onChange({ misleads }, "replace")}
              onCommit={(misleads) => onChange({ misleads }, "replace")}
              onReset={spec.misleads === undefined ? null : () => onChange({ misleads: undefined }, "replace")}
            />
          </div>
        </div>
      </Fold>
      <Fold title="Engines" says={enginesText(spec.replicas)}>
        <div className="flex flex-col gap-3 pt-3">
          <EngineFields
            replicas={spec.replicas}
            models={workload?.models.map(({ model }) => model) ?? []}
            gpus={cards?.gpus.map(({ id }) => id) ?? []}
            onReplicas={(replicas) => onChange({ replicas }, "replace")}
          />
          {plans.length > 0 && (
            <SelectField
              className="w-96 max-w-full"
              label="Engines of a saved plan"
              value=""
              options={[{ value: "", text: "choose a plan …" }, ...plans.map(({ option }) => option)]}
              hint="Restarts the description with the plan's engines."
              onChange={(planId) => planId !== "" && props.onPlan(planId)}
            />
          )}
        </div>
      </Fold>
      <Fold
        title="Details"
        says={`waiting in the ${spec.queue === "centre" ? "centre" : "engines"}, telemetry every ${spec.telemetrySeconds} s, overheads, price`}
      >
        <DetailFields spec={spec} onChange={(change) => onChange(change, "replace")} />
      </Fold>
      <div className="flex flex-col gap-3 border-t pt-3">
        <h3 className="text-sm font-medium">Systems</h3>
        {suggestion !== undefined && (stale || lacking.length > 0) && (
          <div role="status" className="flex flex-wrap items-center gap-3 rounded-md bg-warn-soft px-3 py-1.5 text-sm text-warn">
            <span className="min-w-0 flex-1 basis-60">
              {lacking.length > 0
                ? `Some systems send requests to ${lacking.join(", ")}, which no engine above serves. Fitting adapts the systems that can run without it and removes the others.`
                : "Some systems balance and order by figures of engines other than those above."}
            </span>
            <Button onClick={() => onChange({ systems: fitRace(spec.systems, suggestion, spec.replicas) }, "push")}>
              Fit them to these engines
            </Button>
          </div>
        )}
        <SystemList
          systems={spec.systems}
          suggested={suggestion?.systems ?? []}
          replicas={spec.replicas}
          onSystems={(systems) => onChange({ systems }, "push")}
        />
        <Notes items={raceLimits(spec)} className="max-w-prose text-xs text-ink-3" />
        {cluster !== null && (
          <PlanPicker
            clusterId={clusterId}
            systems={spec.systems}
            onAdd={(system) => onChange({ systems: [...spec.systems, system] }, "push")}
          />
        )}
        {suggestion !== undefined && (
          <Fold title="Compose a system" says="route × order × place">
            <SystemEditor
              suggestion={suggestion}
              replicas={spec.replicas}
              systems={spec.systems}
              onAdd={(system) => onChange({ systems: [...spec.systems, system] }, "push")}
            />
          </Fold>
        )}
      </div>
    </div>
  );
}

/** A summary of the setup in a few lines, shown next to the figures. */
export function SetupSummary(props: { readonly spec: LabSpec; readonly workloadName: string; readonly workflows: readonly LabWorkflow[] }) {
  const { spec } = props;
  const titles = spec.mix.map(({ workflow }) => props.workflows.find(({ name }) => name === workflow)?.title ?? workflow);
  const facts = [
    ["Workload", props.workloadName],
    [
      "Programs",
      `${titles.join("; ")}. ${formatCounted(spec.programs, "program")} of each rate and seed, correlation ${spec.correlation}${spec.misleads === undefined ? "" : `, a wrong answer misleads with a chance of ${spec.misleads}`}`,
    ],
    ["Engines", enginesText(spec.replicas)],
    ["Rates", spec.rates.map(formatRate).join(", ")],
    [
      "Requests wait",
      spec.queue === "centre" ? "in the centre" : `in the engines${spec.aging === null ? ", without aging" : ", with aging"}`,
    ],
  ];
  return (
    <dl className="grid gap-x-4 gap-y-1 text-sm sm:grid-cols-[max-content_1fr]">
      {facts.map(([name, text]) => (
        <div key={name} className="contents">
          <dt className="text-ink-3">{name}</dt>
          <dd className="min-w-0 max-sm:mb-1 [overflow-wrap:anywhere]">{text}</dd>
        </div>
      ))}
    </dl>
  );
}
