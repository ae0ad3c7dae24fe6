import { Check } from "@/components/ui/Check";
import { SelectField } from "@/components/ui/Field";
import { ModelMark } from "@/components/ui/ModelChip";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import { NumberInput } from "@/components/ui/NumberInput";
import type { ReplicaShape } from "@/solver/hardware/parallelism";
import { constraintLimits } from "@/solver/plan/constraintLimits";
import type { ModelRule } from "./modelRules";
import { shapeText } from "./prepareConstraints";

const shapeKey = ({ tp, pp }: ReplicaShape): string => `${tp}x${pp}`;

/** The constraints on one model: whether it is used, how many replicas at least, in which shape, on which nodes. */
export function ModelRuleRow(props: {
  readonly model: string;
  readonly identity: ModelIdentity | undefined;
  readonly rule: ModelRule;
  /** Shapes that fit on this cluster. */
  readonly shapes: readonly ReplicaShape[];
  readonly nodes: readonly string[];
  readonly onChange: (rule: ModelRule) => void;
}) {
  const { model, identity, rule, nodes, onChange } = props;
  const shapes =
    rule.shape === null || props.shapes.some((shape) => shapeKey(shape) === shapeKey(rule.shape ?? shape))
      ? props.shapes
      : [rule.shape, ...props.shapes];
  return (
    <fieldset className="flex flex-col gap-2 border-b py-3 last:border-b-0">
      <legend className="sr-only">{model}</legend>
      <div className="flex flex-wrap items-end gap-x-4 gap-y-2">
        <div className="w-44 min-w-0">
          <Check checked={rule.used} onChange={(used) => onChange({ ...rule, used })}>
            {identity !== undefined && <ModelMark identity={identity} />}
            <span className="truncate" title={model}>
              {model}
            </span>
            <span className="sr-only"> may be used</span>
          </Check>
        </div>
        {rule.used ? (
          <>
            <div className="flex flex-col gap-1">
              <span aria-hidden="true" className="text-xs text-ink-3">
                Replicas at least
              </span>
              <NumberInput
                label={`Replicas of ${model} at least`}
                min={0}
                max={constraintLimits.replicas}
                step={1}
                whole
                value={rule.replicas}
                onChange={(replicas) => onChange({ ...rule, replicas })}
              />
            </div>
            <SelectField
              label="Shape"
              value={rule.shape === null ? "" : shapeKey(rule.shape)}
              options={[
                { value: "", text: "planner chooses" },
                ...shapes.map((shape) => ({ value: shapeKey(shape), text: shapeText(shape) })),
              ]}
              onChange={(key) => onChange({ ...rule, shape: shapes.find((shape) => shapeKey(shape) === key) ?? null })}
            />
            <SelectField
              label="Nodes"
              value={rule.where}
              options={[
                { value: "any", text: "any" },
                { value: "only", text: "only on …" },
                { value: "never", text: "never on …" },
              ]}
              onChange={(value) => {
                const where = value === "only" || value === "never" ? value : "any";
                const named = rule.nodes.length > 0 ? rule.nodes : nodes.slice(0, 1);
                onChange({ ...rule, where, nodes: where === "any" ? [] : named });
              }}
            />
          </>
        ) : (
          <span className="flex h-8 items-center text-sm text-ink-3">not used</span>
        )}
      </div>
      {rule.used && rule.where !== "any" && (
        <fieldset className="flex max-h-32 flex-wrap gap-x-4 overflow-y-auto pl-6">
          <legend className="sr-only">
            {model} {rule.where} on
          </legend>
          {nodes.map((node) => (
            <Check
              key={node}
              checked={rule.nodes.includes(node)}
              onChange={(checked) => {
                const named = checked ? [...rule.nodes, node] : rule.nodes.filter((each) => each !== node);
                onChange({ ...rule, nodes: named, where: named.length === 0 ? "any" : rule.where });
              }}
            >
              {node}
            </Check>
          ))}
        </fieldset>
      )}
    </fieldset>
  );
}
