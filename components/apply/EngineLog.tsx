"use client";

import { useState } from "react";
import { EngineLogText } from "../clusters/EngineLogText";

/** What an engine wrote last, under the step that waits for it. */
export function EngineLog({ clusterId, engineId }: { readonly clusterId: string; readonly engineId: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="min-w-0 open:basis-full" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="text-xs text-ink-3">
        Log<span className="sr-only"> of {engineId}</span>
      </summary>
      {open && <EngineLogText clusterId={clusterId} engineId={engineId} />}
    </details>
  );
}
