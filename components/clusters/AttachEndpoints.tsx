"use client";

import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { useTRPC } from "../api/trpc";
import { useClusters } from "../shell/useCurrentCluster";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { ErrorLine } from "../ui/ErrorLine";
import { SelectField, TextField } from "../ui/Field";
import { formatCounted } from "../ui/format";
import { Notes } from "../ui/Notes";
import { Panel } from "../ui/Panel";
import { AttachButton } from "./AttachButton";
import { EndpointExtrasFields } from "./EndpointExtrasFields";
import { EndpointRowForm } from "./EndpointRowForm";
import { GatewayChoice } from "./GatewayChoice";
import { noExtras, prepareAttach, studioGateway, suggestedName } from "./prepareAttach";
import { type EndpointEdits, prepareEndpointRows } from "./prepareEndpointRows";
import { useAttach } from "./useAttach";
import { useEndpointTry } from "./useEndpointTry";

const placeholder = "http://gpu-1:8000\ngpu-2:8000/v1\ncurl http://gpu-3:8000/v1/models";

/** From pasted addresses to a live page: each address is tested at once, and missing values are asked for next to it. */
export function AttachEndpoints() {
  const id = useId();
  const [text, setText] = useState("");
  const [edits, setEdits] = useState<Readonly<Record<string, EndpointEdits>>>({});
  // null until a name is typed, so that it follows the pasted addresses.
  const [typedName, setTypedName] = useState<string | null>(null);
  const [gateway, setGateway] = useState(studioGateway);
  const [extras, setExtras] = useState(noExtras);
  const [confirmed, setConfirmed] = useState(false);
  const cards = useQuery(useTRPC().cards.list.queryOptions()).data;
  const taken = (useClusters().data ?? []).map(({ spec }) => spec.name);
  const { attempt, fault, tryAgain } = useEndpointTry(text);
  const attach = useAttach();

  const rows = prepareEndpointRows(attempt, edits, cards);
  const name = typedName ?? suggestedName(rows, taken);
  const prepared = prepareAttach(rows, { name, gateway, extras, confirmed }, taken);
  const edit = (url: string, change: EndpointEdits): void => {
    setConfirmed(false);
    setEdits((known) => ({ ...known, [url]: { ...known[url], ...change } }));
  };
  const drafted = rows.flatMap(({ url, draft }) => (draft === null ? [] : [{ url, gpu: draft.gpu }]));
  const [first] = drafted;
  const sameGpu = first !== undefined && drafted.every(({ gpu }) => gpu === first.gpu) ? first.gpu : "";
  const { request } = prepared;
  return (
    <form
      className="flex flex-col gap-4"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (request !== null) attach.mutate(request);
      }}
    >
      <Panel title="1. Paste your URLs">
        <label htmlFor={id} className="mb-1 block text-sm text-ink-2">
          Addresses of engines that already run (vLLM, SGLang, llama.cpp, TensorRT-LLM, anything with the OpenAI API), as a list or as curl
          lines. Nothing is changed on them.
        </label>
        <textarea
          id={id}
          // biome-ignore lint/a11y/noAutofocus: this page was opened to paste here.
          autoFocus
          rows={Math.min(12, Math.max(4, text.split("\n").length + 1))}
          spellCheck={false}
          autoComplete="off"
          aria-invalid={attempt.refused !== null}
          aria-describedby={`${id}-fault`}
          placeholder={placeholder}
          className="w-full rounded-md border border-line-strong bg-raised p-2 font-mono text-xs text-ink aria-invalid:border-bad"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <p id={`${id}-fault`} role="alert" className="text-sm text-bad empty:hidden">
          {attempt.refused ?? fault ?? ""}
        </p>
        <Notes items={attempt.notes} className="mt-1 text-sm text-warn" />
      </Panel>
      {rows.length > 0 && (
        <Panel
          title="2. Check what was found"
          aside={
            <Button
              disabled={attempt.waiting.length > 0}
              onClick={() => tryAgain(attempt.endpoints, { generate: true })}
              title="Each engine generates one token"
            >
              Test with one token each
            </Button>
          }
        >
          <p role="status" className="text-sm text-ink-2">
            {attempt.waiting.length > 0
              ? `Trying ${attempt.waiting.length === 1 ? "one address" : `${attempt.waiting.length} addresses`} …`
              : prepared.says}
          </p>
          {drafted.length > 1 && (
            <SelectField
              label="GPU type of all engines"
              className="mt-2 max-w-72"
              value={sameGpu}
              options={[
                ...(sameGpu === "" ? [{ value: "", text: "various" }] : []),
                ...(cards?.gpus ?? []).map((card) => ({ value: card.id, text: card.id })),
              ]}
              onChange={(gpu) => {
                if (gpu !== "") for (const { url } of drafted) edit(url, { gpu });
              }}
            />
          )}
          <ul className="flex list-none flex-col">
            {rows.map((row) => {
              const endpoint = attempt.endpoints.find(({ url }) => url === row.url);
              return (
                endpoint !== undefined && (
                  <EndpointRowForm
                    key={row.url}
                    row={row}
                    endpoint={endpoint}
                    cards={cards}
                    onEdit={(change) => edit(row.url, change)}
                    onTryAgain={(again) => tryAgain([again])}
                  />
                )
              );
            })}
          </ul>
          {prepared.guesses > 0 && (
            <Check checked={confirmed} onChange={setConfirmed}>
              The guessed values are right ({formatCounted(prepared.guesses, "value")}). If not confirmed, they stay marked as guessed.
            </Check>
          )}
        </Panel>
      )}
      {rows.length > 0 && (
        <Panel title="3. Attach">
          <div className="flex flex-col gap-4">
            <TextField label="Name" className="max-w-80" value={name} maxLength={80} onChange={setTypedName} />
            <GatewayChoice form={gateway} onChange={setGateway} />
            <EndpointExtrasFields extras={extras} models={prepared.models} onChange={setExtras} />
            <ErrorLine error={attach.error} />
            <AttachButton ready={request !== null} busy={attach.isPending || attach.isSuccess} says={prepared.blocked ?? prepared.says} />
          </div>
        </Panel>
      )}
    </form>
  );
}
