"use client";

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useTRPC } from "../api/trpc";
import { formatCount } from "../ui/format";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useUrlView } from "../url/useUrlView";
import { applyCodec } from "./applyCodec";
import { ExportButtons } from "./ExportButtons";
import { prepareFiles, type ShownFile, type ShownLine } from "./prepareFiles";
import { signs } from "./signs";

const grounds = { "+": "bg-good-soft", "-": "bg-bad-soft", "=": "" } as const;

/** `told`: whether the sign is read out too. A file that is all new, or all removed, states it once in its summary. */
function Line({ line, told }: { readonly line: ShownLine; readonly told: boolean }) {
  const sign = signs[line.sign];
  return (
    <span className={`flex w-max min-w-full ${grounds[line.sign]}`}>
      <span aria-hidden="true" className="w-10 shrink-0 pr-2 text-right text-ink-3 select-none">
        {line.after ?? line.before}
      </span>
      <span aria-hidden="true" className={`w-4 shrink-0 select-none ${sign.tone}`}>
        {line.sign === "=" ? " " : sign.mark}
      </span>
      {told && line.sign !== "=" && <span className="sr-only">{sign.word}: </span>}
      <span>{line.text === "" ? " " : line.text}</span>
    </span>
  );
}

const skippedText = (count: number): string => `${formatCount(count)} unchanged ${count === 1 ? "line" : "lines"}`;

function File({ file, open }: { readonly file: ShownFile; readonly open: boolean }) {
  const sign = signs[file.sign];
  return (
    <details open={open} className="border-b py-1 last:border-0">
      <summary className="text-sm">
        <span className={sign.tone}>
          <span aria-hidden="true" className="mr-1 inline-block w-2 font-mono">
            {sign.mark}
          </span>
          {sign.word}
        </span>{" "}
        <span className="font-mono text-xs [overflow-wrap:anywhere]">{file.name}</span>{" "}
        <span className="text-xs text-ink-3">
          {file.sign === "=" ? "" : `${formatCount(file.added)} lines in, ${formatCount(file.removed)} out`}
        </span>
      </summary>
      {!file.matched && <p className="mt-1 text-xs text-ink-3">The two files differ too much for a line-by-line comparison.</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <pre tabIndex={0} className="mt-1 max-h-96 overflow-auto rounded bg-sunken py-2 font-mono text-xs">
        {file.hunks.map((hunk) => (
          <span key={`${hunk.lines[0]?.before} ${hunk.lines[0]?.after}`} className="block">
            {hunk.skipped > 0 && <span className="block px-3 text-ink-3">… {skippedText(hunk.skipped)}</span>}
            {hunk.lines.map((line) => (
              <Line key={`${line.before} ${line.after}`} line={line} told={file.sign === "~"} />
            ))}
          </span>
        ))}
        {file.skippedAtEnd > 0 && <span className="block px-3 text-ink-3">… {skippedText(file.skippedAtEnd)}</span>}
        {file.left > 0 && (
          <span className="block px-3 text-ink-3">… {formatCount(file.left)} more lines: export the file to read them all</span>
        )}
      </pre>
    </details>
  );
}

function Files({ planId, clusterId }: { readonly planId: string; readonly clusterId: string }) {
  const trpc = useTRPC();
  const [{ hideUnchanged }] = useUrlView(applyCodec);
  const query = useQuery(trpc.plans.generated.queryOptions({ planId, clusterId }));
  const { data } = query;
  const files = useMemo(() => (data?.ok === true ? prepareFiles(data.files, hideUnchanged) : []), [data, hideUnchanged]);
  const refused = data?.ok === false && { kind: "empty" as const, title: "No files to show", text: data.message };
  const same = files.length === 0 && {
    kind: "empty" as const,
    title: "No file changes",
    text: "The files of this plan equal the current ones. Show unchanged lines to read them.",
  };
  return (
    <PanelState status={queryStatus(query, { what: "Writing the files", empty: refused || same })}>
      {() => (
        <div data-testid="manifests">
          {files.map((file, index) => (
            <File key={file.name} file={file} open={index === 0} />
          ))}
        </div>
      )}
    </PanelState>
  );
}

/** The plan as files for this cluster, compared with what is there now; asked for only when it is opened. */
export function ManifestPanel({ planId, clusterId }: { readonly planId: string; readonly clusterId: string }) {
  const [{ manifests }, setView] = useUrlView(applyCodec);
  return (
    <details
      open={manifests}
      onToggle={(event) => {
        const { open } = event.currentTarget;
        if (open !== manifests) setView({ manifests: open }, "replace");
      }}
      className="border-t pt-3"
    >
      <summary className="text-sm font-medium text-ink-2">Generated files</summary>
      {manifests && (
        <div className="mt-2 flex flex-col gap-3">
          <Files planId={planId} clusterId={clusterId} />
          <ExportButtons planId={planId} clusterId={clusterId} />
        </div>
      )}
    </details>
  );
}
