"use client";

import Link from "next/link";
import { useState } from "react";
import type { ClusterEngine } from "@/server/contracts/studio";
import { StateWord } from "../ui/Badge";
import { Button, buttonClass } from "../ui/Button";
import { Modal } from "../ui/Modal";
import { ModelName } from "../ui/ModelChip";
import { NoteList } from "../ui/Notes";
import { Table } from "../ui/Table";
import { useModelIdentities } from "../ui/useModelIdentities";
import { EngineLogText } from "./EngineLogText";
import { absenceText, engineText, engineTone, measurePath, shapeText } from "./prepareCard";

/** The end of an engine's log over the page. */
function EngineLog(props: { readonly clusterId: string; readonly engineId: string; readonly onClose: () => void }) {
  return (
    <Modal
      open
      onOpenChange={(open) => open || props.onClose()}
      title={`Log of ${props.engineId}`}
      description="The last lines, with keys hidden."
    >
      <EngineLogText clusterId={props.clusterId} engineId={props.engineId} />
    </Modal>
  );
}

/** To Calibration, where the engine's address, model, card and shape are filled in. */
function MeasureLink({ engine, clusterId }: { readonly engine: ClusterEngine; readonly clusterId: string }) {
  const path = measurePath(engine, clusterId);
  if (path === null) return null;
  return (
    <Link href={path} className={buttonClass("quiet")} aria-label={`Measure ${engine.id}`}>
      Measure
    </Link>
  );
}

const columns = [
  { key: "engine", name: "Engine" },
  { key: "state", name: "State" },
  { key: "model", name: "Model" },
  { key: "type", name: "Server" },
  { key: "shape", name: "On" },
  { key: "absent", name: "Not reported" },
  { key: "actions", name: "Actions", numeric: true },
];

/** The current engines: type, location, and which figures their metrics lack; each can be measured. */
export function ClusterEngines({ clusterId, engines }: { readonly clusterId: string; readonly engines: readonly ClusterEngine[] }) {
  const [log, setLog] = useState<string | null>(null);
  const identities = useModelIdentities([...new Set(engines.map(({ model }) => model))]);
  return (
    <>
      <Table caption="Engines" columns={columns}>
        {engines.map((engine) => (
          <tr key={engine.id} className="align-top">
            <td>
              <span className="block min-w-40 [overflow-wrap:anywhere]">{engine.id}</span>
              <span className="block text-xs text-ink-3 [overflow-wrap:anywhere]">{engine.url}</span>
            </td>
            <td>
              <StateWord tone={engineTone(engine)}>{engine.state}</StateWord>
            </td>
            <td>
              <ModelName model={engine.model} identities={identities} />
            </td>
            <td className="whitespace-nowrap">{engineText(engine)}</td>
            <td>
              <span className="block whitespace-nowrap">{shapeText(engine)}</span>
              <span className="block text-xs text-ink-3">{engine.place}</span>
            </td>
            <td className="max-w-72 text-xs">
              {engine.absent.length === 0 ? (
                <span className="text-ink-3">{absenceText(engine)}</span>
              ) : (
                <details>
                  <summary className="whitespace-nowrap">{engine.absent.length} missing</summary>
                  <NoteList items={engine.absent} className="list-none" />
                </details>
              )}
            </td>
            <td className="text-right whitespace-nowrap">
              <MeasureLink engine={engine} clusterId={clusterId} />
              <Button look="quiet" aria-label={`Log of ${engine.id}`} onClick={() => setLog(engine.id)}>
                Log
              </Button>
            </td>
          </tr>
        ))}
      </Table>
      {log !== null && <EngineLog clusterId={clusterId} engineId={log} onClose={() => setLog(null)} />}
    </>
  );
}
