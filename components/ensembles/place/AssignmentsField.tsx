"use client";

import { useMutation } from "@tanstack/react-query";
import { Button } from "@/components/ui/Button";
import { FilePicker } from "@/components/ui/FilePicker";
import { formatCounted } from "@/components/ui/format";
import { uploadAssignments } from "@/components/ui/uploadFile";

/** A table of who answers what that was sent, and is kept for a day. */
export interface SentAssignments {
  readonly uploadId: string;
  readonly name: string;
  readonly questions: number;
}

/** A table that says which experts answer which question, instead of what the ensemble knows of them: a file to send, or the one that was sent. */
export function AssignmentsField(props: {
  /** null: none is taken. */
  readonly sent: SentAssignments | null;
  readonly onSent: (sent: SentAssignments | null) => void;
}) {
  const { sent, onSent } = props;
  const sending = useMutation({
    mutationFn: async (file: File) => ({ name: file.name, ...(await uploadAssignments(file)) }),
    onSuccess: ({ uploadId, name, survey }) => onSent({ uploadId, name, questions: survey.questions }),
  });
  if (sent !== null)
    return (
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <span className="font-medium">Who answers what</span>
        <span className="text-ink-2 [overflow-wrap:anywhere]">
          {sent.name}: experts of {formatCounted(sent.questions, "question")}.
        </span>
        <Button
          onClick={() => {
            sending.reset();
            onSent(null);
          }}
        >
          Leave it out
        </Button>
      </div>
    );
  return (
    <FilePicker
      label="Who answers what"
      hint="CSV with the columns id and expert, or a JSON line {id, experts} a question. Without it, the ensemble's skills decide."
      accept=".csv,.jsonl,.json,text/csv"
      sending={sending}
      onFile={sending.mutate}
    />
  );
}
