import { useId } from "react";
import { type RubricKind, rubricProblem, rubricPrompt } from "@/solver/judging/judgePrompt";
import { Button } from "../ui/Button";

const places = { prompt: "{prompt}", answer: "{answer}", reference: "{reference}", other: "{other}" };
const ours = (kind: RubricKind): string => rubricPrompt(kind, places);

/** A judge's prompt: the built-in one, or the operator's own, which must have the required placeholders. */
export function RubricText(props: {
  readonly measure: string;
  readonly kind: RubricKind;
  readonly value: string | null;
  readonly onChange: (rubric: string | null) => void;
}) {
  const { measure, kind, value, onChange } = props;
  const id = useId();
  const problem = value === null ? null : rubricProblem(kind, value);
  return (
    <details>
      <summary className="text-xs text-ink-3">
        What the judge is asked: {value === null ? "our wording" : "your own wording"}
        <span className="sr-only">, {measure}</span>
      </summary>
      <div className="mt-2 flex flex-col gap-2">
        <label htmlFor={id} className="text-xs text-ink-3">
          Rubric of {measure}
        </label>
        <textarea
          id={id}
          rows={10}
          maxLength={8000}
          spellCheck={false}
          aria-invalid={problem !== null}
          aria-describedby={`${id}-says`}
          className="w-full rounded-md border border-line-strong bg-raised p-2 font-mono text-xs text-ink aria-invalid:border-bad"
          value={value ?? ours(kind)}
          onChange={(event) => onChange(event.target.value === ours(kind) ? null : event.target.value)}
        />
        <p id={`${id}-says`} className={`text-xs ${problem === null ? "text-ink-3" : "text-bad"}`}>
          {problem ??
            (kind === "rubric" && value === null
              ? "The gateway's judge uses the same wording while serving."
              : "Texts replace the placeholders in braces; long texts are shortened to their start and end.")}
        </p>
        {value !== null && (
          <div>
            <Button onClick={() => onChange(null)}>Restore our wording</Button>
          </div>
        )}
      </div>
    </details>
  );
}
