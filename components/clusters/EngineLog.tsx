"use client";

import { Modal } from "../ui/Modal";
import { EngineLogText } from "./EngineLogText";

/** The end of an engine's log over the page. */
export function EngineLog(props: { readonly clusterId: string; readonly engineId: string; readonly onClose: () => void }) {
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
