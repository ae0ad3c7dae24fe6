import { Check } from "@/components/ui/Check";
import { NumberInput } from "@/components/ui/NumberInput";
import { constraintLimits } from "@/solver/plan/constraintLimits";
import type { PlanConstraints } from "@/solver/plan/constraints";

/** A limit that can be off: its label, then the number while it is on. */
function OptionalNumber(props: {
  readonly words: string;
  readonly unit: string;
  readonly value: number | null;
  /** Its value when it is turned on. */
  readonly begin: number;
  readonly min: number;
  readonly max: number;
  readonly step?: number;
  readonly disabled?: boolean;
  readonly note?: string;
  readonly onChange: (value: number | null) => void;
}) {
  const { words, unit, value } = props;
  return (
    <div className="flex flex-wrap items-center gap-x-3">
      <Check
        checked={value !== null}
        disabled={props.disabled === true && value === null}
        onChange={(on) => props.onChange(on ? props.begin : null)}
      >
        {words}
      </Check>
      {value !== null && (
        <span className="flex flex-wrap items-center gap-1.5">
          <NumberInput
            label={words}
            min={props.min}
            max={props.max}
            step={props.step ?? 1}
            value={value}
            whole={props.step === undefined}
            onChange={props.onChange}
          />
          <span className="text-xs text-ink-3">{unit}</span>
        </span>
      )}
      {props.note !== undefined && <span className="text-xs text-ink-3">{props.note}</span>}
    </div>
  );
}

/** The constraints on the deployment as a whole. */
export function ClusterRules(props: {
  readonly constraints: PlanConstraints;
  /** Cost of all GPUs of the cluster: the initial value of the cost cap. */
  readonly usdPerHour: number;
  readonly runs: boolean;
  readonly onChange: (change: Partial<PlanConstraints>) => void;
}) {
  const { constraints, onChange } = props;
  return (
    <fieldset className="flex flex-col">
      <legend className="mb-1 text-sm font-semibold">The whole deployment</legend>
      <OptionalNumber
        words="Replicas of every model at least"
        unit="replicas"
        value={constraints.minReplicasPerModel}
        begin={2}
        min={1}
        max={constraintLimits.replicas}
        onChange={(minReplicasPerModel) => onChange({ minReplicasPerModel })}
      />
      <Check checked={constraints.surviveNodeLoss} onChange={(surviveNodeLoss) => onChange({ surviveNodeLoss })}>
        Survive the loss of any one node, within the plan's latency
      </Check>
      <OptionalNumber
        words="Cost at most"
        unit="$ an hour"
        value={constraints.maxUsdPerHour}
        begin={Math.floor(props.usdPerHour)}
        min={0}
        max={constraintLimits.usdPerHour}
        step={0.01}
        onChange={(maxUsdPerHour) => onChange({ maxUsdPerHour })}
      />
      <OptionalNumber
        words="Replicas started or stopped at most"
        unit="against what runs"
        value={constraints.maxChangedReplicas}
        begin={4}
        min={0}
        max={constraintLimits.replicas}
        disabled={!props.runs}
        {...(props.runs ? {} : { note: "No plan runs on this cluster." })}
        onChange={(maxChangedReplicas) => onChange({ maxChangedReplicas })}
      />
      <Check checked={!constraints.idleGpus} onChange={(busy) => onChange({ idleGpus: !busy })}>
        Leave no GPU of the cluster idle
      </Check>
    </fieldset>
  );
}
