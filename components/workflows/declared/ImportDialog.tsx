"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useDeclaredAct } from "@/components/api/acts";
import { isUnanswered } from "@/components/api/isUnanswered";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { unwrapOutcome } from "@/components/api/unwrapOutcome";
import { Button } from "@/components/ui/Button";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { AreaField, SelectField } from "@/components/ui/Field";
import { Modal } from "@/components/ui/Modal";
import { NoteList } from "@/components/ui/Notes";
import { useDebounced } from "@/components/ui/useDebounced";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import { useSessionState } from "@/components/ui/useSessionState";
import type { DeclaredWorkflow, ReadWorkflow } from "@/server/contracts/studio";
import { workflows } from "@/solver/workflow/templates";
import { documentOfWorkflow } from "@/solver/workflow/workflowDocuments";
import { DeclaredGraph } from "./DeclaredGraph";
import { prepareDeclared } from "./prepareDeclared";

/** Delay after the last change before a text is read. */
const STILL_MS = 300;
/** The studio's limits. */
const LONGEST_TEXT = 500_000;

/** Modelled workflows as examples: those of one shape. */
const examples = workflows.filter(({ otherShapes = [] }) => otherShapes.length === 0);

function Preview({ read }: { readonly read: ReadWorkflow }) {
  const picture = useMemo(() => prepareDeclared(read.document), [read]);
  const identities = useModelIdentities([...new Set(read.document.agents.flatMap(({ models }) => models ?? []))]);
  return (
    <div className="flex min-w-0 flex-col gap-2" data-testid="import-preview">
      <h3 className="text-sm font-semibold">{read.document.name}</h3>
      <DeclaredGraph picture={picture} identities={identities} />
      {read.notes.length > 0 && <NoteList label="Assumptions" items={read.notes} className="list-disc pl-5 text-sm text-ink-2" />}
    </div>
  );
}

/** The description of the dialog when it edits a workflow. */
const editSays = ({ document, version }: DeclaredWorkflow): string =>
  `Saved as version ${version + 1}, or under another name as another workflow. Plans that run ${document.name} keep their own copy. Predictors still apply if its agents, their inputs and their models stay the same; instructions may change.`;

/** Adds or edits a workflow: pasted, from a file, or a stored one; drawn as soon as it can be read, saved on confirmation. */
export function ImportDialog(props: {
  /** The workflow to edit; null: another is added. */
  readonly edited: DeclaredWorkflow | null;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onKept: (name: string) => void;
}) {
  const { edited, open, onClose, onKept } = props;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const original = useMemo(() => (edited === null ? "" : JSON.stringify(edited.document, null, 2)), [edited]);
  const [draft, setDraft] = useSessionState<{ readonly text: string }>(
    edited === null ? "declared-workflow" : `declared-workflow ${edited.document.name} ${edited.version}`,
  );
  const [tooLong, setTooLong] = useState<string | null>(null);
  const text = draft?.text ?? original;
  const still = useDebounced(text, STILL_MS);
  const query = useQuery({
    queryKey: [...trpc.declaredWorkflows.pathKey(), "read", still],
    queryFn: async ({ signal }) => unwrapOutcome(await client.declaredWorkflows.read.mutate({ text: still }, { signal })).read,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: open && still.trim() !== "",
    retry: (failures, error) => failures < 2 && isUnanswered(error),
  });
  const read = still === text && text.trim() !== "" ? query.data : undefined;
  const keep = useDeclaredAct(
    (kept: string) => client.declaredWorkflows.keep.mutate({ text: kept }),
    ({ name }) => {
      setDraft(null);
      onKept(name);
    },
  );
  const put = (next: string, from: string) => {
    keep.reset();
    const fits = next.length <= LONGEST_TEXT;
    setTooLong(fits ? null : `${from} is longer than ${LONGEST_TEXT.toLocaleString("en")} characters, the limit for a workflow graph.`);
    if (fits) setDraft(next === original ? null : { text: next });
  };
  return (
    <Modal
      open={open}
      onOpenChange={(next) => !next && onClose()}
      title={edited === null ? "Import a workflow" : `Edit ${edited.document.name}`}
      description={
        edited === null
          ? "A Weir document, the graph that LangGraph writes (graph.get_graph().to_json()), or the dump of a DSPy program. It is saved only after you confirm it."
          : editSays(edited)
      }
    >
      <div className="flex flex-col gap-3">
        <AreaField label="JSON" rows={edited === null ? 8 : 16} code value={text} onChange={(next) => put(next, "The text")} />
        <div className="flex flex-wrap items-end gap-3">
          <label className="inline-flex h-8 cursor-pointer items-center rounded-md border border-line-strong bg-raised px-3 text-sm font-medium text-ink focus-within:outline-2 focus-within:outline-accent hover:bg-sunken">
            Choose a file
            <input
              type="file"
              accept="application/json,.json"
              className="sr-only"
              onChange={(event) => {
                const file = event.target.files?.[0];
                if (file !== undefined) void file.text().then((content) => put(content, file.name));
                event.target.value = "";
              }}
            />
          </label>
          {edited === null && (
            <SelectField
              className="min-w-56 flex-1"
              label="Or start with a modelled one"
              value=""
              options={[{ value: "", text: "choose …" }, ...examples.map(({ name, title }) => ({ value: name, text: title }))]}
              onChange={(name) => {
                const example = examples.find((each) => each.name === name);
                if (example !== undefined) put(JSON.stringify(documentOfWorkflow(example), null, 2), example.name);
              }}
            />
          )}
        </div>
        <ErrorLine error={tooLong === null ? (text.trim() === "" ? null : query.error) : { message: tooLong }} />
        {read !== undefined && query.error === null && <Preview read={read} />}
        <ErrorLine error={keep.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            disabled={read === undefined || query.error !== null || keep.isPending || (edited !== null && text === original)}
            onClick={() => keep.mutate(text)}
          >
            {keep.isPending ? "Saving …" : "Save"}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
