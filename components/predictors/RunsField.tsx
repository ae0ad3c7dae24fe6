import { FilePicker } from "../ui/FilePicker";
import { formatCounted } from "../ui/format";
import type { RunsSurvey } from "../ui/uploadFile";

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
        'JSONL, up to 64 MB, a run a line: {"input": "the prompt", "configuration": {"agent": "model"}, "quality": 0 to 100}. Only inputs with runs of every configuration count; at least 50.'
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
      : [`The size of ${withoutCard.join(", ")} is unknown: add a model card on Cards, then send it again.`]),
  ].join(" ");
}
