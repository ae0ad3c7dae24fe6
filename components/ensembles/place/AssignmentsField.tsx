"use client";

import { useMutation } from "@tanstack/react-query";
import { Button } from "@/components/ui/Button";
import { FilePicker } from "@/components/ui/FilePicker";
import { formatCounted } from "@/components/ui/format";
import { uploadAssignments } from "@/components/ui/uploadFile";

/** An uploaded table that assigns questions to experts; kept for a day. */
export interface SentAssignments {
  readonly uploadId: string;
  readonly name: string;
  readonly questions: number;
}

/** A table that assigns questions to experts, in place of the ensemble's skills: a file to upload, or the uploaded one. */
export function AssignmentsField(props: {
  /** null: none is used. */
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
