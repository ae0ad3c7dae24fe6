"use client";

import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { LabReplicas, LabSuggestion, LabSystem } from "@/server/contracts/studio";
import { orderNames, placeNames } from "@/solver/lab/partNames";
import { systemRefusal } from "@/solver/lab/systemRefusal";
import { MOST_TAU } from "@/solver/plan/planSlack";
import { useTRPC } from "../api/trpc";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { NumberField, type Option, SelectField, TextField } from "../ui/Field";
import { shortHash } from "../ui/format";
import {
  cascadeAmong,
  composeSystem,
  enginesModels,
  MOST_BEAM_WIDTH,
  newForm,
  orders,
  places,
  repeatRefusal,
  routed,
} from "./composeSystem";
import { systemText } from "./prepareSystems";

const configurationSources: readonly Option<(typeof newForm)["configurations"]>[] = [
  { value: "learnt", text: "heads trained for the run" },
  { value: "oracle", text: "the truth (an oracle)" },
];

const sources: readonly Option[] = [
  { value: "none", text: "nothing" },
  { value: "learnt", text: "predictors trained for the run" },
  { value: "oracle", text: "the truth (an oracle)" },
];

/** A custom system, composed of a route, an order, a place and the sources of their inputs. */
export function SystemEditor(props: {
  readonly suggestion: LabSuggestion;
  readonly replicas: readonly LabReplicas[];
  /** The systems of the race. */
  readonly systems: readonly LabSystem[];
  readonly onAdd: (system: LabSystem) => void;
}) {
  const { suggestion, replicas } = props;
  const [form, setForm] = useState(newForm);
  const refusalId = useId();
  const artefacts = useQuery(useTRPC().artefacts.list.queryOptions()).data ?? [];
  const put = (change: Partial<typeof form>) => setForm((old) => ({ ...old, ...change }));
  const trained = (kind: "lengths" | "confidence"): readonly Option[] =>
    artefacts
      .filter((each) => each.kind === kind)
      .map(({ hash, version, training }) => ({ value: hash, text: `${training.workloadName} v${version}, ${shortHash(hash)}` }));
  const cascade = cascadeAmong([...suggestion.systems, ...props.systems]);
  const made = composeSystem(form, suggestion, cascade);
  const refusal = "refused" in made ? made.refused : (systemRefusal(made, replicas) ?? repeatRefusal(made, props.systems));
  const slack = form.route === "slack";
  return (
    <form
      className="flex flex-col gap-3 pt-3"
      aria-label="System of your own"
      onSubmit={(event) => {
        event.preventDefault();
        if (refusal === null && !("refused" in made)) props.onAdd(made);
      }}
    >
      <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
        <TextField label="Name of the system" value={form.name} maxLength={80} onChange={(name) => put({ name })} />
        <SelectField
          label="Route: which model"
          value={form.route}
          options={[
            { value: "slack", text: "surest within a slack (Chimera)" },
            { value: "balanced", text: "fewest waiting and running (vLLM)" },
            { value: "just-in-time", text: "chosen at each stage, just in time (Aragog)" },
            ...(cascade === null ? [] : [{ value: "joint", text: "rounds by worth, single requests by a cascade" }]),
            ...enginesModels(replicas).map((model) => ({ value: model, text: `all to ${model}` })),
          ]}
          onChange={(route) => setForm((old) => routed(old, route))}
        />
        {form.route === "just-in-time" && (
          <NumberField
            label="Beam width"
            value={form.beamWidth}
            min={1}
            max={MOST_BEAM_WIDTH}
            whole
            onChange={(beamWidth) => put({ beamWidth })}
          />
        )}
        {(form.route === "just-in-time" || form.route === "joint") && (
          <SelectField
            label="Accurate configurations from"
            value={form.configurations}
            options={configurationSources}
            onChange={(configurations) => put({ configurations })}
          />
        )}
        {slack && (
          <>
            <NumberField label="Slack τ" value={form.tau} min={0} max={MOST_TAU} step={0.25} onChange={(tau) => put({ tau })} />
            <NumberField
              label="Margin of confidence"
              value={form.deltaScore}
              min={0}
              max={1}
              step={0.05}
              onChange={(deltaScore) => put({ deltaScore })}
            />
          </>
        )}
        <SelectField
          label="Order: which request goes first"
          value={form.order}
          options={orders.map((value) => ({ value, text: orderNames[value] }))}
          onChange={(order) => put({ order })}
        />
        <SelectField
          label="Place: which replica"
          value={form.place}
          options={places.map((value) => ({ value, text: placeNames[value] }))}
          onChange={(place) => put({ place })}
        />
        <SelectField
          label="Lengths from"
          value={form.lengths}
          options={[...sources, { value: "input", text: "input length" }, ...trained("lengths")]}
          onChange={(lengths) => put({ lengths })}
        />
        <SelectField
          label="Confidence from"
          value={form.confidence}
          options={[...sources, ...trained("confidence")]}
          onChange={(confidence) => put({ confidence })}
        />
      </div>
      <div className="flex flex-wrap gap-x-6">
        <Check checked={form.affinity} onChange={(affinity) => put({ affinity })}>
          A program returns to its last replica
        </Check>
        {slack && (
          <Check checked={form.changesModel} onChange={(changesModel) => put({ changesModel })}>
            A program may change its model under pressure
          </Check>
        )}
        {slack && (
          <Check checked={form.priced} onChange={(priced) => put({ priced })}>
            Busy models have a price
          </Check>
        )}
      </div>
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" disabled={refusal !== null} aria-describedby={refusalId}>
          Add this system
        </Button>
        <p
          id={refusalId}
          role="status"
          data-testid="system-refusal"
          className={`min-w-0 flex-1 basis-60 text-sm [overflow-wrap:anywhere] ${refusal === null ? "text-ink-3" : "text-bad"}`}
        >
          {refusal ?? ("refused" in made ? "" : systemText(made))}
        </p>
      </div>
    </form>
  );
}
