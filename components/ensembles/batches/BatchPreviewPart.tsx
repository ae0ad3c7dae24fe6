import { useMemo } from "react";
import { NoteList } from "@/components/ui/Notes";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import type { BatchPreview } from "@/server/contracts/studio";
import { GanttChart } from "../gantt/GanttChart";
import { prepareBatchPreview } from "./prepareBatchPreview";

/** A preview of a batch: sessions on its GPUs, its expected end, and the assumptions. */
export function BatchPreviewPart({ preview }: { readonly preview: BatchPreview }) {
  const models = useMemo(
    () => [...new Set([...preview.schedules.flatMap(({ workers }) => workers.flat().map(({ model }) => model)), preview.aggregator.model])],
    [preview],
  );
  const identities = useModelIdentities(models);
  const picture = useMemo(() => prepareBatchPreview(preview, identities), [preview, identities]);
  return (
    <section aria-label="Preview" className="flex flex-col gap-3" data-testid="batch-preview">
      <p className="text-sm text-ink-2">{picture.says}</p>
      {picture.gantt !== null && <GanttChart picture={picture.gantt} caption={picture.gantt.drawings.map(({ says }) => says).join(" ")} />}
      {preview.notes.length > 0 && <NoteList label="What is assumed" items={preview.notes} className="list-disc pl-5 text-xs text-ink-3" />}
    </section>
  );
}
