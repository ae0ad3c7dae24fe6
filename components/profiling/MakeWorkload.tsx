import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useId, useMemo, useState } from "react";
import type { ProfileJob } from "@/server/contracts/studio";
import { answerParts } from "@/solver/gates/gateDocument";
import { partWords } from "@/solver/gates/gates";
import type { Extraction } from "@/solver/judging/extract";
import { useProfileAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { ArrivalsChooser, startingArrivals } from "../arrivals/ArrivalsChooser";
import { ClusterLink } from "../shell/ClusterLink";
import { Button, buttonClass } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { SelectField, TextField } from "../ui/Field";
import { formatCounted } from "../ui/format";
import { Notes } from "../ui/Notes";
import { Panel } from "../ui/Panel";
import { type MeasureChoice, makingText, NO_PEER, prepareMakeWorkload } from "./prepareMakeWorkload";
import { useWorkloadInMaking } from "./useWorkloadInMaking";

interface Chosen {
  readonly gate: string | null;
  readonly label: string | null;
  readonly peer: string;
  readonly part: Extraction | null;
}

/** A choice of measures; those that cannot be chosen say why. */
function Choice(props: {
  readonly legend: string;
  readonly says: string;
  readonly choices: readonly MeasureChoice[];
  readonly value: string | null;
  readonly onChange: (id: string) => void;
}) {
  const name = useId();
  return (
    <fieldset className="min-w-0">
      <legend className="text-sm font-medium">{props.legend}</legend>
      <p className="mb-1 text-xs text-ink-3">{props.says}</p>
      {props.choices.map((choice) => (
        <label
          key={choice.id}
          className={`flex min-h-8 flex-wrap items-center gap-x-2 text-sm ${choice.refusal === null ? "" : "text-ink-3"}`}
        >
          <input
            type="radio"
            name={name}
            className="size-4 accent-(--accent)"
            checked={choice.id === props.value}
            disabled={choice.refusal !== null}
            onChange={() => props.onChange(choice.id)}
          />
          <span className="min-w-0 [overflow-wrap:anywhere]">{choice.name}</span>
          {choice.refusal !== null && <span className="text-xs">{choice.refusal}</span>}
        </label>
      ))}
    </fieldset>
  );
}

/** Workloads made from a job. */
function Made({ ids }: { readonly ids: readonly string[] }) {
  const { data: known = [] } = useQuery(useTRPC().workloads.list.queryOptions());
  const nameOf = (id: string, at: number): string => {
    const workload = known.find((each) => each.id === id);
    return workload === undefined ? `Workload ${at + 1}` : `${workload.name} v${workload.version}`;
  };
  return (
    <ul aria-label="Workloads made of it" className="flex list-none flex-wrap gap-2">
      {ids.map((id, index) => (
        <li key={id}>
          <ClusterLink to={`/workloads/${id}`} className={buttonClass("plain")}>
            {nameOf(id, index)}
          </ClusterLink>
        </li>
      ))}
    </ul>
  );
}

/** Makes a workload from the measurements: which measure is the judged score, which the label, and which arrivals are added. */
export function MakeWorkload({ job }: { readonly job: ProfileJob }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [chosen, setChosen] = useState<Chosen>({ gate: null, label: null, peer: NO_PEER, part: null });
  const [name, setName] = useState(job.request.name);
  const [arrivals, setArrivals] = useState(startingArrivals);
  const [ready, setReady] = useState(false);
  const picture = useMemo(() => prepareMakeWorkload(job, { ...chosen, name }), [job, chosen, name]);
  const { gate, label, peers, part, blocked } = picture;
  const make = useProfileAct(
    (order: { readonly gate: string; readonly label: string }) => {
      const peer = chosen.peer === NO_PEER ? null : { model: chosen.peer, answer: part };
      return client.profiles.toWorkload.mutate({ jobId: job.id, name: name.trim(), ...order, peer, ...arrivals });
    },
    () => queries.invalidateQueries(trpc.workloads.pathFilter()),
  );
  const cancel = useProfileAct(() => client.profiles.cancelWorkload.mutate({ jobId: job.id }));
  const inMaking = useWorkloadInMaking(job.id, make.isPending);
  const isMaking = make.isPending || inMaking !== null;
  const earlier = job.workloadIds.filter((id) => !make.data?.ids.includes(id));
  return (
    <Panel title="Make a workload of it">
      <form
        noValidate
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (gate !== null && label !== null && blocked === null && ready && !isMaking) make.mutate({ gate, label });
        }}
      >
        {earlier.length > 0 && (
          <div className="flex flex-wrap items-center gap-3 text-sm">
            <span className="text-ink-2">Workloads made from it:</span>
            <Made ids={earlier} />
          </div>
        )}
        <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
          <Choice
            legend="The gate's score"
            says="The score that decides, while serving, whether an answer is accepted."
            choices={picture.gates}
            value={gate}
            onChange={(id) => setChosen({ ...chosen, gate: id, label: chosen.label === id ? null : chosen.label })}
          />
          <Choice
            legend="The quality label"
            says="The label that quality floors apply to."
            choices={picture.labels}
            value={label}
            onChange={(id) => setChosen({ ...chosen, gate, label: id })}
          />
        </div>
        {peers !== null && (
          <div className="flex flex-wrap items-end gap-x-6 gap-y-3">
            <SelectField
              label="Agreement is with"
              hint="A peer answers for gates alone: it is no stage of a plan that uses it."
              value={chosen.peer}
              options={peers}
              onChange={(peer) => setChosen({ ...chosen, peer })}
            />
            {chosen.peer !== NO_PEER && (
              <SelectField
                label="What of the answers is compared"
                value={part}
                options={answerParts.map((each) => ({ value: each, text: partWords[each] }))}
                onChange={(next) => setChosen({ ...chosen, part: next })}
              />
            )}
          </div>
        )}
        <TextField label="Name of the workload" className="max-w-96" value={name} maxLength={80} onChange={setName} />
        <ArrivalsChooser value={arrivals} onChange={setArrivals} onReady={setReady} />
        <Notes items={picture.notes} className="max-w-prose text-xs text-warn" />
        <ErrorLine error={make.error ?? cancel.error} />
        <div className="flex flex-wrap items-center justify-end gap-3">
          {isMaking && (
            <p role="status" className="min-w-0 flex-1 basis-60 text-sm text-ink-2">
              {makingText(inMaking)}
            </p>
          )}
          {isMaking && (
            <Button onClick={() => cancel.mutate()} disabled={cancel.isPending}>
              Cancel
            </Button>
          )}
          {blocked !== null && <p className="min-w-0 flex-1 basis-60 text-sm text-ink-2">{blocked}</p>}
          <Button type="submit" look="primary" disabled={blocked !== null || !ready || isMaking}>
            {isMaking ? "Creating …" : "Make workload"}
          </Button>
        </div>
        {make.data !== undefined && (
          <div role="status" className="flex flex-wrap items-center gap-3 rounded-md bg-good-soft px-3 py-2 text-sm text-good">
            <span>
              {formatCounted(make.data.ids.length, "workload")} made
              {make.data.leftOut === 0 ? "" : `; ${formatCounted(make.data.leftOut, "prompt")} without an answer or a score left out`}.
            </span>
            <Made ids={make.data.ids} />
          </div>
        )}
      </form>
    </Panel>
  );
}
