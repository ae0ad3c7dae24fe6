import type { ComponentProps } from "react";
import { FilePicker } from "../ui/FilePicker";
import { formatCounted } from "../ui/format";
import type { RunsSurvey } from "../ui/uploadFile";

/** A file of executed runs, and its survey. */
export function RunsField(props: Pick<ComponentProps<typeof FilePicker>, "sending" | "onFile"> & { readonly survey: RunsSurvey | null }) {
  return (
    <FilePicker
      label="Executed runs"
      hint={
        'JSONL, up to 64 MB, a run a line: {"input": "the prompt", "configuration": {"agent": "model"}, "quality": 0 to 100}. Only inputs with runs of every configuration count; at least 50.'
      }
      accept=".jsonl,.ndjson,application/jsonl,application/x-ndjson"
      sending={props.sending}
      note={props.survey && says(props.survey)}
      onFile={props.onFile}
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
