import type { LabReplicas } from "@/server/contracts/studio";
import { Button } from "../ui/Button";
import { NumberField, SelectField } from "../ui/Field";
import { requestsAtOnce, withRequestsAtOnce } from "./prepareSetup";

const precisions = ["bf16", "fp8", "int4"] as const;
const options = (values: readonly string[]) => values.map((value) => ({ value, text: value }));
/** A value that the list lacks is offered too if the description has it. */
const withOwn = (values: readonly string[], own: string) => (values.includes(own) ? values : [own, ...values]);

/** The engines that serve every system of a race, except systems with their own engines. */
export function EngineFields(props: {
  readonly replicas: readonly LabReplicas[];
  readonly models: readonly string[];
  readonly gpus: readonly string[];
  readonly onReplicas: (replicas: LabReplicas[]) => void;
}) {
  const { replicas } = props;
  const replace = (index: number, engine: LabReplicas) => props.onReplicas(replicas.map((each, at) => (at === index ? engine : each)));
  const last = replicas.at(-1);
  return (
    <div className="flex flex-col gap-2">
      <ul aria-label="Engines" className="flex list-none flex-col gap-2">
        {replicas.map((each, index) => (
          <li key={index} className="flex flex-wrap items-end gap-x-3 gap-y-1 border-b pb-2">
            <SelectField
              label="Model"
              className="w-44"
              value={each.model}
              options={options(withOwn(props.models, each.model))}
              onChange={(model) => replace(index, { ...each, model })}
            />
            <SelectField
              label="GPU"
              className="w-36"
              value={each.gpu}
              options={options(withOwn(props.gpus, each.gpu))}
              onChange={(gpu) => replace(index, { ...each, gpu })}
            />
            <SelectField
              label="Precision"
              value={each.precision}
              options={options(precisions)}
              onChange={(precision) =>
                replace(index, { ...each, precision: precisions.find((one) => one === precision) ?? each.precision })
              }
            />
            <NumberField label="tp" value={each.tp} min={1} max={64} whole onChange={(tp) => replace(index, { ...each, tp })} />
            <NumberField label="pp" value={each.pp} min={1} max={64} whole onChange={(pp) => replace(index, { ...each, pp })} />
            <NumberField
              label="Engines"
              value={each.count}
              min={1}
              max={256}
              whole
              onChange={(count) => replace(index, { ...each, count })}
            />
            <NumberField
              label="Requests at once"
              value={requestsAtOnce(each)}
              min={1}
              max={4096}
              whole
              onChange={(requests) => replace(index, withRequestsAtOnce(each, requests))}
            />
            <Button
              look="quiet"
              aria-label={`Leave out row ${index + 1}, ${each.model}`}
              disabled={replicas.length === 1}
              onClick={() => props.onReplicas(replicas.filter((_, at) => at !== index))}
            >
              Leave out
            </Button>
          </li>
        ))}
      </ul>
      <p className="text-xs text-ink-3">
        Requests at once are what each engine runs side by side (max-num-seqs); vLLM's default is {requestsAtOnce({})}. With fewer, the
        others wait and the order matters.
      </p>
      {last !== undefined && (
        <div>
          <Button
            onClick={() => {
              const model = props.models.find((one) => replicas.every((each) => each.model !== one)) ?? last.model;
              props.onReplicas([...replicas, { ...last, model, count: 1 }]);
            }}
          >
            Add engines
          </Button>
        </div>
      )}
    </div>
  );
}
