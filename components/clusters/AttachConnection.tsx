"use client";

import { useState } from "react";
import { useClusters } from "../shell/useCurrentCluster";
import { ErrorLine } from "../ui/ErrorLine";
import { TextField } from "../ui/Field";
import { Panel } from "../ui/Panel";
import { AttachButton } from "./AttachButton";
import { ConnectionEditor } from "./ConnectionEditor";
import { connectionExamples, type WrittenKind } from "./connectionExamples";
import { GatewayChoice } from "./GatewayChoice";
import { prepareWrittenAttach, studioGateway } from "./prepareAttach";
import { useAttach } from "./useAttach";

/** For clusters whose engines the studio starts and stops: a connection in YAML, tested before it is attached. */
export function AttachConnection({ kind }: { readonly kind: WrittenKind }) {
  const { title, says, text } = connectionExamples[kind];
  const [name, setName] = useState("");
  const [gateway, setGateway] = useState(studioGateway);
  const taken = (useClusters().data ?? []).map(({ spec }) => spec.name);
  const attach = useAttach();
  return (
    <Panel title={title}>
      <p className="mb-3 max-w-prose text-sm text-ink-2">{says}</p>
      <ConnectionEditor
        label="Connection, YAML or JSON"
        start={text}
        act={(connection) => {
          const { request, blocked } = prepareWrittenAttach(connection, { name, gateway }, taken);
          return (
            <form
              noValidate
              className="flex flex-col gap-4 border-t pt-4"
              onSubmit={(event) => {
                event.preventDefault();
                if (request !== null) attach.mutate(request);
              }}
            >
              <TextField
                label="Name"
                className="max-w-80"
                value={name}
                maxLength={80}
                placeholder={`such as ${kind}-1`}
                onChange={setName}
              />
              <GatewayChoice form={gateway} onChange={setGateway} />
              <ErrorLine error={attach.error} />
              <AttachButton ready={request !== null} busy={attach.isPending || attach.isSuccess} says={blocked ?? ""} />
            </form>
          );
        }}
      />
    </Panel>
  );
}
