import { formatCounted } from "../ui/format";
import { FilePicker } from "../workloads/FilePicker";
import type { RunsSurvey } from "../workloads/uploadFile";

/** A file of executed runs, and what was found in it. */
export function RunsField({
  survey,
  busy,
  error,
  onFile,
}: {
  readonly survey: RunsSurvey | null;
  readonly busy: boolean;
  readonly error: string | null;
  readonly onFile: (file: File) => void;
}) {
  return (
    <FilePicker
      label="Executed runs"
      hint={
        'JSONL, up to 64 MB, a run a line: {"input": "the prompt", "configuration": {"agent": "model"}, "quality": 0 to 100}. Inputs are learnt of whose every configuration was run; 50 at least.'
      }
      accept=".jsonl,.ndjson,application/jsonl,application/x-ndjson"
      busy={busy}
      note={survey === null ? null : says(survey)}
      error={error}
      onFile={onFile}
    />
  );
}

function says({ runs, otherLines, models, withoutCard }: RunsSurvey): string {
  return [
    `${formatCounted(runs, "run")} on ${[...models, ...withoutCard].join(", ")}.`,
    ...(otherLines === 0 ? [] : [`Left out: ${formatCounted(otherLines, "line")} that ${otherLines === 1 ? "is" : "are"} no run.`]),
    ...(withoutCard.length === 0
      ? []
      : [
          `How large ${withoutCard.join(", ")} ${withoutCard.length === 1 ? "is" : "are"} is not known: add a model card on Cards, then send it again.`,
        ]),
  ].join(" ");
}
