import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { parameterCount } from "@/solver/hardware/architecture";
import type { Precision } from "@/solver/hardware/modelCard";
import { useAct } from "../api/acts";
import { type Inputs, useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { AreaField, SelectField, TextField } from "../ui/Field";
import { formatCount } from "../ui/format";
import { Modal } from "../ui/Modal";
import { Notes } from "../ui/Notes";
import { PermittedButton } from "../ui/PermittedButton";
import { architectureText, paramsText } from "./prepareCards";

type Model = Inputs["cards"]["addModel"];

const words = (values: readonly string[]) => values.map((value) => ({ value, text: value }));

/** Adds a model: paste its configuration, review what was read, save it. */
export function AddModel({ onClose }: { readonly onClose: () => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [text, setText] = useState("");
  const [model, setModel] = useState<Model | null>(null);
  const read = useAct(
    (json: string) => client.cards.readModel.mutate({ text: json }),
    (answer) => setModel(answer.model),
  );
  const add = useMutation({
    mutationFn: async (card: Model) => unwrapOutcome(await client.cards.addModel.mutate(card)),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: trpc.pathKey() });
      onClose();
    },
  });
  const failed = model === null ? read.error : add.error;
  return (
    <Modal
      open
      onOpenChange={(open) => open || onClose()}
      title="Add a model"
      description="Paste the config.json of a Hugging Face repository, or a model card from cards.json. It is stored only after you confirm it."
    >
      {model === null ? (
        <PasteForm text={text} onText={setText} busy={read.isPending} onRead={() => read.mutate(text)} />
      ) : (
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            add.mutate(model);
          }}
        >
          <WhatWasRead model={model} notes={read.data?.notes ?? []} />
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField
              label="Id, used in plans and tables"
              value={model.id}
              maxLength={80}
              onChange={(id) => setModel({ ...model, id: id.trim() })}
            />
            <TextField
              label="Where the figures come from"
              value={model.source}
              maxLength={500}
              onChange={(source) => setModel({ ...model, source })}
            />
            <SelectField
              label="Weights are served in"
              value={model.precision}
              options={words(["bf16", "fp8", "int4"])}
              onChange={(precision) => setModel({ ...model, precision: precision as Precision })}
            />
            <SelectField
              label="KV cache is kept in"
              value={model.kvBytesPerValue === 1 ? "fp8" : "bf16"}
              options={words(["bf16", "fp8"])}
              onChange={(kv) => setModel({ ...model, kvBytesPerValue: kv === "fp8" ? 1 : 2 })}
            />
          </div>
          <div className="flex justify-end gap-2">
            <Button onClick={() => setModel(null)}>Read another</Button>
            <PermittedButton
              permission="prepare"
              type="submit"
              look="primary"
              disabled={add.isPending || model.id === "" || model.source.trim() === ""}
            >
              Add model
            </PermittedButton>
          </div>
        </form>
      )}
      <ErrorLine error={failed} />
    </Modal>
  );
}

function PasteForm(props: {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly busy: boolean;
  readonly onRead: () => void;
}) {
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        props.onRead();
      }}
    >
      <AreaField
        label="config.json"
        rows={10}
        code
        placeholder='{ "model_type": "llama", "hidden_size": 4096, … }'
        value={props.text}
        onChange={props.onText}
      />
      <div className="flex flex-wrap items-center gap-2">
        <input
          type="file"
          accept=".json,application/json"
          aria-label="Choose a file"
          className="min-w-0 text-sm file:mr-3 file:h-8 file:rounded-md file:border file:border-line-strong file:bg-raised file:px-3 file:text-sm file:font-medium file:text-ink"
          onChange={async (event) => {
            const file = event.target.files?.[0];
            if (file !== undefined) props.onText(await file.text());
          }}
        />
        <PermittedButton
          permission="prepare"
          type="submit"
          look="primary"
          className="ml-auto"
          disabled={props.busy || props.text.trim() === ""}
        >
          Read it
        </PermittedButton>
      </div>
    </form>
  );
}

function WhatWasRead({ model, notes }: { readonly model: Model; readonly notes: readonly string[] }) {
  const { architecture } = model;
  const { attention, feedForward } = architectureText(architecture);
  const lines = [
    ["Parameters", paramsText({ architecture, paramsB: parameterCount(architecture) / 1e9 })],
    ["Layers", `${architecture.layers}, ${formatCount(architecture.hidden)} wide`],
    ["Attention", attention],
    ["Feed-forward", feedForward],
    ["Vocabulary", `${formatCount(architecture.vocabulary)}${architecture.tiedEmbeddings ? ", one table for input and output" : ""}`],
    ["Context", `${formatCount(model.maxContextTokens)} tokens`],
  ];
  return (
    <>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
        {lines.map(([name, value]) => (
          <div key={name} className="contents">
            <dt className="text-ink-3">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Notes items={notes} className="text-sm text-ink-2" />
    </>
  );
}
