import type { PromptSet } from "@/server/contracts/studio";
import { answerParts } from "@/solver/gates/gateDocument";
import { partWords } from "@/solver/gates/gates";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { NumberField, SelectField, TextField } from "../ui/Field";
import { Notes } from "../ui/Notes";
import { JudgeDetails, JudgeSelect } from "./JudgeFields";
import { isJudged, kindWords, measureKinds } from "./measureWords";
import { measureNotes } from "./prepareRequest";
import type { EndpointCluster } from "./profileEndpoints";
import type { MeasureForm } from "./profileForm";
import { RubricText } from "./RubricText";

/** One measure of the quality of answers. */
export function MeasureFields(props: {
  readonly value: MeasureForm;
  readonly set: PromptSet;
  /** Models of the candidates. */
  readonly models: readonly string[];
  readonly ground: readonly EndpointCluster[];
  readonly onChange: (measure: MeasureForm) => void;
  /** null: it is the only one. */
  readonly onRemove: (() => void) | null;
}) {
  const { value, set, models, ground, onChange, onRemove } = props;
  const put = (change: Partial<MeasureForm>): void => onChange({ ...value, ...change });
  const { kind } = value;
  const name = value.name.trim() || "this measure";
  const notes = measureNotes(value, { set, models, clusters: ground });
  return (
    <fieldset className="flex min-w-0 flex-col gap-3 rounded-md border p-3" data-testid="measure">
      <legend className="px-1 text-xs text-ink-3">{name}</legend>
      <div className="flex flex-wrap items-end gap-3">
        <TextField
          label="Name of the measure"
          className="flex-1 basis-36"
          value={value.name}
          maxLength={80}
          onChange={(next) => put({ name: next })}
        />
        <SelectField
          label="How it measures"
          className="flex-1 basis-52"
          value={kind}
          options={measureKinds.map((each) => ({ value: each, text: kindWords[each].name }))}
          onChange={(chosen) => put({ kind: chosen, rubric: null })}
        />
        {isJudged(kind) && (
          <>
            <JudgeSelect value={value.judge} ground={ground} onChange={(judge) => put({ judge })} />
            <NumberField label="Readings" min={1} max={5} whole value={value.repeats} onChange={(repeats) => put({ repeats })} />
          </>
        )}
        {onRemove !== null && (
          <Button aria-label={`Remove ${name}`} onClick={onRemove}>
            Remove
          </Button>
        )}
      </div>
      {kind === "pairwise" && (
        <div className="flex flex-wrap items-end gap-x-4 gap-y-2">
          <SelectField
            label="Compared with the answers of"
            value={models.includes(value.against) ? value.against : (models.at(-1) ?? "")}
            options={models.map((model) => ({ value: model, text: model }))}
            onChange={(against) => put({ against })}
          />
          <Check checked={value.swap} onChange={(swap) => put({ swap })}>
            Ask in both orders, to detect verdicts that depend on the order
          </Check>
        </div>
      )}
      <p className="text-xs text-ink-3">
        {kindWords[kind].says}
        {isJudged(kind) &&
          " More than one reading of each answer shows the judge's noise, at so many times its cost; the first one counts."}
      </p>
      {isJudged(kind) && (
        <>
          <JudgeDetails measure={name} value={value.judge} onChange={(judge) => put({ judge })} />
          <RubricText measure={name} kind={kind} value={value.rubric} onChange={(rubric) => put({ rubric })} />
        </>
      )}
      {kind === "exact" && (
        <SelectField
          label="What is compared"
          className="max-w-72"
          value={value.extract}
          options={answerParts.map((each) => ({ value: each, text: partWords[each] }))}
          onChange={(extract) => put({ extract })}
        />
      )}
      {kind === "unit-test" && (
        <div className="flex flex-wrap items-end gap-3">
          <TextField
            label="Command that ends with 0 where the answer passes"
            className="flex-1 basis-72"
            value={value.command}
            placeholder="python3 test.txt"
            maxLength={2000}
            hint="Run in an empty folder with the answer in answer.txt, its first fenced block in code.txt and the prompt's test in test.txt. No shell reads it."
            onChange={(command) => put({ command })}
          />
          <NumberField
            label="Time limit"
            unit="s"
            min={1}
            max={120}
            value={value.timeoutSeconds}
            onChange={(timeoutSeconds) => put({ timeoutSeconds })}
          />
        </div>
      )}
      <Notes items={notes} className="text-xs text-warn" />
    </fieldset>
  );
}
