import { answerParts, confidenceMeasures } from "@/solver/gates/gateDocument";
import { measureWords, partWords } from "@/solver/gates/gates";
import type { ImportedColumn } from "@/solver/workload/gateColumns";
import { NumberField, type Option, SelectField } from "../ui/Field";
import type { Comparison, GateColumnsChoice } from "./prepareImport";

/** What the gate columns of an imported table hold, which the table does not say. */
export function GateColumnFields(props: {
  readonly columns: readonly ImportedColumn[];
  readonly comparisons: readonly Option<Comparison>[];
  readonly value: GateColumnsChoice;
  readonly onChange: (value: GateColumnsChoice) => void;
}) {
  const { columns, comparisons, value } = props;
  if (columns.length === 0) return null;
  const put = (change: Partial<GateColumnsChoice>) => props.onChange({ ...value, ...change });
  const reads = columns.includes("confidence");
  const compares = columns.includes("agreement");
  const needsPart = (reads && value.measure === "answer-span") || (compares && value.comparison !== "unknown");
  return (
    <fieldset className="flex flex-wrap items-end gap-x-4 gap-y-3">
      <legend className="mb-1 text-xs text-ink-3">Gate columns of the table</legend>
      {reads && (
        <SelectField
          label="Confidence is the"
          value={value.measure}
          options={confidenceMeasures.map((each) => ({ value: each, text: measureWords[each] }))}
          onChange={(measure) => put({ measure })}
        />
      )}
      {compares && (
        <SelectField
          label="Agreement is with"
          value={value.comparison}
          options={comparisons}
          onChange={(comparison) => put({ comparison })}
        />
      )}
      {compares && value.comparison === "samples" && (
        <>
          <NumberField label="Samples" min={1} max={8} whole value={value.samples} onChange={(samples) => put({ samples })} />
          <NumberField label="Temperature" min={0} max={2} value={value.temperature} onChange={(temperature) => put({ temperature })} />
        </>
      )}
      {needsPart && (
        <SelectField
          label="What of the answers"
          value={value.part}
          options={answerParts.map((each) => ({ value: each, text: partWords[each] }))}
          onChange={(part) => put({ part })}
        />
      )}
    </fieldset>
  );
}
